//! Opens a store. The caller names the backend; nobody after it knows which one it is.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use sqlx::migrate::MigrateError;
use warren_env::{Env, Tasks};

use crate::{
    Store,
    blobs::ObjectBlobs,
    sql::{ConnectError, Db, Safety, Sql},
};

/// What to open.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where records and logs are.
    pub database: Database,
    /// The directory of blobs; made if it is absent.
    pub blobs_dir: PathBuf,
}

/// Where records and logs are.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file of ours alone; made if it is absent.
    Sqlite(PathBuf),
    /// A file of ours alone that may be lost with the machine's power.
    Scratch(PathBuf),
    /// A database that several nodes may share, as `postgres://user:secret@host/name`.
    Postgres(String),
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory the file belongs in could not be made.
    #[error("failed to create the directory of the database file `{path}`")]
    Directory {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No connection.
    #[error("failed to connect to {which}")]
    Connect {
        /// The file, or that it is PostgreSQL. Never the address: it may hold a secret.
        which: String,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The tables could not be brought up to date: they may come from a newer version of this program.
    #[error("failed to migrate {which}")]
    Migrate {
        /// As in `Connect`.
        which: String,
        /// Why.
        #[source]
        source: MigrateError,
    },
    /// The blobs' directory is not usable.
    #[error("failed to open the directory of blobs `{path}`")]
    Blobs {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: object_store::Error,
    },
}

/// Opens a store, bringing its tables up to date.
///
/// The writer runs in `tasks`. When that is cancelled, it finishes what waits and closes the database; commits after that
/// are refused. So give it a group of its own, and cancel it last.
///
/// # Errors
/// When the database or the directory of blobs cannot be opened.
pub async fn open(options: Options, env: Env, tasks: &Tasks) -> Result<Store, OpenError> {
    let blobs = ObjectBlobs::in_directory(&options.blobs_dir)
        .map_err(|source| OpenError::Blobs { path: options.blobs_dir, source })?;
    let db = connect(options.database).await?;
    let sql = Arc::new(Sql::start(db, env, tasks));
    let hints = sql.hints();
    Ok(Store {
        hints,
        log: sql.clone(),
        sessions: sql.clone(),
        runs: sql.clone(),
        approvals: sql.clone(),
        versions: sql.clone(),
        replays: sql.clone(),
        transcripts: sql.clone(),
        leases: sql.clone(),
        profiles: sql.clone(),
        tokens: sql.clone(),
        projects: sql.clone(),
        providers: sql.clone(),
        views: sql,
        blobs: Arc::new(blobs),
    })
}

/// Opens an empty store that nobody needs once `directory` is gone. Nothing waits for the disk, so that a replay costs what
/// its tools cost.
///
/// # Errors
/// As [`open`].
pub async fn scratch(directory: &Path, env: Env, tasks: &Tasks) -> Result<Store, OpenError> {
    let database = Database::Scratch(directory.join("scratch.db"));
    open(Options { database, blobs_dir: directory.join("blobs") }, env, tasks).await
}

async fn connect(database: Database) -> Result<Db, OpenError> {
    let (which, opened) = match database {
        Database::Sqlite(ref path) | Database::Scratch(ref path) => {
            if let Some(parent) = path.parent() {
                let made = tokio::fs::create_dir_all(parent).await;
                made.map_err(|source| OpenError::Directory { path: path.clone(), source })?;
            }
            let safety = match database {
                Database::Scratch(_) => Safety::None,
                Database::Sqlite(_) | Database::Postgres(_) => Safety::PowerLoss,
            };
            (format!("the database file `{}`", path.display()), Db::sqlite(path, safety).await)
        }
        Database::Postgres(url) => ("PostgreSQL".to_owned(), Db::postgres(&url).await),
    };
    opened.map_err(|error| match error {
        ConnectError::Connect(source) => OpenError::Connect { which, source },
        ConnectError::Migrate(source) => OpenError::Migrate { which, source },
    })
}
