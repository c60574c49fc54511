//! Two databases behind one face: statements in, rows out.

use std::{path::Path, time::Duration};

use sqlx::{
    ConnectOptions as _, PgPool, Postgres, Sqlite, SqlitePool, Transaction,
    migrate::MigrateError,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{args::Arg, queries::Query, row::Row};

/// An open database whose tables are up to date.
pub(crate) enum Db {
    /// One connection writes, so that writers queue here and not in SQLite's lock; readers never wait for it.
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    /// Several nodes may share it.
    Postgres { pool: PgPool },
}

/// A transaction on either. It must be ended by [`Tx::commit`] or [`Tx::rollback`]: only the writer has one, and the
/// writer is never dropped half-way.
pub(crate) enum Tx {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// Why a commit failed.
pub(crate) enum Failed {
    /// Nothing of it happened.
    Before(sqlx::Error),
    /// The database was told to commit and did not say that it had: nobody knows, so nothing may be tried again.
    AtCommit(sqlx::Error),
}

/// Why a database could not be opened.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Connect(sqlx::Error),
    Migrate(MigrateError),
}

/// How many readers at once; each costs a thread and a small cache only while it is used.
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;
/// A connection that nobody needs is closed, so that an idle server is small.
const IDLE: Duration = Duration::from_secs(30);

/// Gives a statement its values.
macro_rules! bound {
    ($query:expr, $args:expr) => {{
        let mut query = sqlx::query($query);
        for arg in $args {
            query = match arg {
                Arg::Text(text) => query.bind(text),
                Arg::Int(number) => query.bind(number),
                Arg::Real(number) => query.bind(number),
                Arg::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}

impl Db {
    pub(crate) async fn sqlite(path: &Path) -> Result<Self, ConnectError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // Full, not normal: what was acknowledged survives the loss of power.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(10))
            .foreign_keys(true)
            .pragma("cache_size", "-1024")
            // What SQLite may have to undo of a statement: for a batch of many logs it would write a file each time.
            .pragma("temp_store", "MEMORY")
            .pragma("wal_autocheckpoint", "4000")
            .pragma("journal_size_limit", "67108864")
            .disable_statement_logging();
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_with(options.clone().pragma("cache_size", "-4096"))
            .await
            .map_err(ConnectError::Connect)?;
        sqlx::migrate!("migrations/sqlite").run(&writer).await.map_err(ConnectError::Migrate)?;
        let readers = SqlitePoolOptions::new()
            .max_connections(SQLITE_READERS)
            .idle_timeout(IDLE)
            .test_before_acquire(false)
            .connect_lazy_with(options.pragma("query_only", "true").row_buffer_size(512));
        Ok(Db::Sqlite { writer, readers })
    }

    pub(crate) async fn postgres(url: &str) -> Result<Self, ConnectError> {
        let options: PgConnectOptions = url.parse().map_err(ConnectError::Connect)?;
        let options = options
            .application_name("warren")
            // Whatever the server's default is: an acknowledged commit is on disk.
            .options([("synchronous_commit", "on")])
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS)
            .idle_timeout(IDLE)
            .connect_with(options)
            .await
            .map_err(ConnectError::Connect)?;
        sqlx::migrate!("migrations/postgres").run(&pool).await.map_err(ConnectError::Migrate)?;
        Ok(Db::Postgres { pool })
    }

    /// Rows as they are now.
    pub(crate) async fn read(&self, query: Query, args: Vec<Arg>) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Db::Sqlite { readers, .. } => {
                let rows = bound!(query.sqlite, args).fetch_all(readers).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Db::Postgres { pool } => {
                let rows = bound!(query.postgres, args).fetch_all(pool).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// The first row, if there is one.
    pub(crate) async fn read_one(&self, query: Query, args: Vec<Arg>) -> Result<Option<Row>, sqlx::Error> {
        Ok(self.read(query, args).await?.into_iter().next())
    }

    /// Carries out one statement by itself. Returns how many rows it changed.
    pub(crate) async fn write(&self, query: Query, args: Vec<Arg>) -> Result<u64, sqlx::Error> {
        match self {
            Db::Sqlite { writer, .. } => {
                Ok(bound!(query.sqlite, args).execute(writer).await?.rows_affected())
            }
            Db::Postgres { pool } => Ok(bound!(query.postgres, args).execute(pool).await?.rows_affected()),
        }
    }

    /// Carries out one statement that returns the rows it changed.
    pub(crate) async fn write_returning(
        &self,
        query: Query,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Db::Sqlite { writer, .. } => {
                let rows = bound!(query.sqlite, args).fetch_all(writer).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Db::Postgres { .. } => self.read(query, args).await,
        }
    }

    /// Begins a transaction that will write, with a first statement.
    pub(crate) async fn begin(&self, query: Query, args: Vec<Arg>) -> Result<(Tx, Vec<Row>), sqlx::Error> {
        let mut tx = match self {
            // `query` begins the transaction.
            Db::Sqlite { writer, .. } => Tx::Sqlite(writer.acquire().await?),
            Db::Postgres { pool } => Tx::Postgres(pool.begin().await?),
        };
        match tx.read(query, args).await {
            Ok(rows) => Ok((tx, rows)),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// Closes every connection. What is read or written afterwards fails.
    pub(crate) async fn close(&self) {
        match self {
            Db::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Postgres { pool } => pool.close().await,
        }
    }
}

impl Tx {
    pub(crate) async fn read(&mut self, query: Query, args: Vec<Arg>) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Tx::Sqlite(tx) => {
                let rows = bound!(query.sqlite, args).fetch_all(&mut **tx).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Tx::Postgres(tx) => {
                let rows = bound!(query.postgres, args).fetch_all(&mut **tx).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    pub(crate) async fn write(&mut self, query: Query, args: Vec<Arg>) -> Result<u64, sqlx::Error> {
        match self {
            Tx::Sqlite(tx) => Ok(bound!(query.sqlite, args).execute(&mut **tx).await?.rows_affected()),
            Tx::Postgres(tx) => Ok(bound!(query.postgres, args).execute(&mut **tx).await?.rows_affected()),
        }
    }

    /// Ends the transaction with a last statement. Durable when it returns.
    pub(crate) async fn commit(mut self, query: Query, args: Vec<Arg>) -> Result<(), Failed> {
        match self.write(query, args).await {
            Ok(_) => match self {
                // `query` has ended the transaction.
                Tx::Sqlite(_) => Ok(()),
                Tx::Postgres(tx) => tx.commit().await.map_err(Failed::AtCommit),
            },
            Err(error) if self.rollback().await => Err(Failed::Before(error)),
            Err(error) => Err(Failed::AtCommit(error)),
        }
    }

    /// Gives everything up. Says whether there was something to give up, as far as the database knows.
    pub(crate) async fn rollback(self) -> bool {
        match self {
            Tx::Sqlite(mut connection) => {
                let undone = sqlx::query("ROLLBACK").execute(&mut *connection).await;
                if undone.is_err() {
                    // Whatever state it is in, nobody else shall find it so.
                    connection.close_on_drop();
                }
                undone.is_ok()
            }
            Tx::Postgres(tx) => tx.rollback().await.is_ok(),
        }
    }
}
