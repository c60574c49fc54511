//! Two databases behind one face: statements in, rows out.

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions as _, Connection as _, PgPool, Postgres, SqliteConnection, SqlitePool, Transaction,
    migrate::MigrateError,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use super::{
    args::Arg,
    migrations,
    queries::{LINE_SETUP, Query},
    row::Row,
    wal,
};

/// An open database whose tables are up to date.
pub(crate) enum Db {
    /// One connection writes, so that writers queue here and not in SQLite's lock; readers never wait for it.
    Sqlite { writer: Box<Pen>, readers: SqlitePool },
    /// Several nodes may share it.
    Postgres {
        /// For reading.
        pool: PgPool,
        /// For writing: however many read, whoever writes need not wait for them.
        writer: PgPool,
        /// The connection on which hints of other nodes arrive. Made when somebody listens.
        listener: PgPool,
    },
}

/// What an acknowledged commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Safety {
    /// The loss of power.
    PowerLoss,
    /// The end of the program; a machine that stops may lose it.
    None,
}

/// The one connection that writes to SQLite. Not in a pool: that would test it after each use, which takes a turn with
/// SQLite's thread just when those who wait for the commit are to be told.
pub(crate) struct Pen {
    options: SqliteConnectOptions,
    /// `None` once the database is closed.
    connection: Mutex<Option<SqliteConnection>>,
    /// The database whose log gets room ahead; see [`wal`].
    room: Option<PathBuf>,
}

/// The connection in the hand of whoever writes.
pub(crate) struct Held<'db> {
    options: &'db SqliteConnectOptions,
    connection: MappedMutexGuard<'db, SqliteConnection>,
}

/// A transaction on either. It must be ended by [`Tx::commit`] or [`Tx::rollback`]: only the writer has one, and the
/// writer is never dropped half-way.
pub(crate) enum Tx<'db> {
    Sqlite(Held<'db>),
    Postgres(Transaction<'static, Postgres>),
}

/// Why a commit failed.
pub(crate) enum Failed {
    /// Nothing of it happened.
    Before(sqlx::Error),
    /// The database was told to commit and did not say that it had: nobody knows, so nothing may be tried again.
    AtCommit(sqlx::Error),
}

impl Failed {
    /// Nothing happened, and the next try may go well: a connection was lost or none was free, or the database gave this
    /// transaction up for another's sake.
    pub(crate) fn may_pass(&self) -> bool {
        let Failed::Before(error) = self else { return false };
        match error {
            // The last one: a connection that was closed while it was made gives a wrong answer.
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
            // A lost connection, a server that stops or starts, a deadlock, a transaction that cannot be put in an order.
            sqlx::Error::Database(error) => error.code().is_some_and(|code| {
                code.starts_with("08") || code.starts_with("57P0") || ["40001", "40P01"].contains(&&*code)
            }),
            _ => false,
        }
    }
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
/// One for the writer of logs; the others for what is written by itself.
const POSTGRES_WRITERS: u32 = 4;
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
    pub(crate) async fn sqlite(path: &Path, safety: Safety) -> Result<Self, ConnectError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(match safety {
                // Full, not normal: what was acknowledged is on disk.
                Safety::PowerLoss => SqliteSynchronous::Full,
                Safety::None => SqliteSynchronous::Off,
            })
            .busy_timeout(Duration::from_secs(10))
            .foreign_keys(true)
            .pragma("cache_size", "-1024")
            // What SQLite may have to undo of a statement: for a batch of many logs it would write a file each time.
            .pragma("temp_store", "MEMORY")
            .pragma("wal_autocheckpoint", wal::PAGES.to_string())
            .pragma("journal_size_limit", "67108864")
            .disable_statement_logging();
        let room = (safety == Safety::PowerLoss).then(|| path.to_owned());
        let writer = Box::new(Pen::new(options.clone().pragma("cache_size", "-4096"), room).await?);
        if let Some(database) = &writer.room {
            writer.make_room(database).await.map_err(ConnectError::Connect)?;
        }
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
            .options([
                // Whatever the server's default is: an acknowledged commit is on disk.
                ("synchronous_commit", "on"),
                // A node that is stopped or cut off in the middle of a transaction frees its locks: others wait for them.
                ("idle_in_transaction_session_timeout", "5s"),
                ("tcp_keepalives_idle", "10"),
                ("tcp_keepalives_interval", "5"),
                ("tcp_keepalives_count", "3"),
            ])
            .disable_statement_logging();
        let listener = PgPoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(Duration::from_secs(5))
            .connect_lazy_with(options.clone());
        let writer = PgPoolOptions::new()
            .max_connections(POSTGRES_WRITERS)
            .idle_timeout(IDLE)
            .connect_lazy_with(options.clone());
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS)
            .idle_timeout(IDLE)
            .connect_with(options)
            .await
            .map_err(ConnectError::Connect)?;
        migrations::postgres().run(&pool).await.map_err(ConnectError::Migrate)?;
        Ok(Db::Postgres { pool, writer, listener })
    }

    /// Rows as they are now.
    pub(crate) async fn read(&self, query: Query, args: Vec<Arg>) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Db::Sqlite { readers, .. } => {
                let rows = bound!(query.sqlite, args).fetch_all(readers).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Db::Postgres { pool, .. } => {
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
                let mut held = writer.take().await?;
                Ok(bound!(query.sqlite, args).execute(&mut *held.connection).await?.rows_affected())
            }
            Db::Postgres { pool, .. } => {
                Ok(bound!(query.postgres, args).execute(pool).await?.rows_affected())
            }
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
                let mut held = writer.take().await?;
                let rows = bound!(query.sqlite, args).fetch_all(&mut *held.connection).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Db::Postgres { writer, .. } => {
                let rows = bound!(query.postgres, args).fetch_all(writer).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// Carries out a whole transaction in one turn. Durable when it returns.
    pub(crate) async fn transact(&self, query: Query, args: Vec<Arg>) -> Result<Vec<Row>, Failed> {
        match self {
            // `query` begins and ends the transaction.
            Db::Sqlite { writer, .. } => {
                let mut held = writer.take().await.map_err(Failed::Before)?;
                match bound!(query.sqlite, args).fetch_all(&mut *held.connection).await {
                    Ok(rows) => Ok(rows.into_iter().map(Row::Sqlite).collect()),
                    Err(error) if held.rollback().await => Err(Failed::Before(error)),
                    Err(error) => Err(Failed::AtCommit(error)),
                }
            }
            // `query` is one statement.
            Db::Postgres { writer, .. } => {
                let mut connection = writer.acquire().await.map_err(Failed::Before)?;
                match bound!(query.postgres, args).fetch_all(&mut *connection).await {
                    Ok(rows) => Ok(rows.into_iter().map(Row::Postgres).collect()),
                    Err(error @ sqlx::Error::Database(_)) => Err(Failed::Before(error)),
                    Err(error) => Err(Failed::AtCommit(error)),
                }
            }
        }
    }

    /// Carries out [`LINE_WRITE`]. Says whether the log was as it expects it; durable when it returns.
    ///
    /// [`LINE_WRITE`]: super::queries::LINE_WRITE
    pub(crate) async fn write_line(&self, query: Query, args: Vec<Arg>) -> Result<bool, Failed> {
        let Db::Sqlite { writer, .. } = self else {
            return Ok(!self.transact(query, args).await?.is_empty());
        };
        let mut held = writer.take().await.map_err(Failed::Before)?;
        match bound!(query.sqlite, args).execute(&mut *held.connection).await {
            Ok(_) => Ok(true),
            Err(error) if is_by_trigger(&error) => Ok(false),
            Err(error) => {
                // Nothing is open that could be given up, so this makes a new connection.
                held.rollback().await;
                Err(Failed::AtCommit(error))
            }
        }
    }

    /// Begins a transaction that will write, with a first statement.
    pub(crate) async fn begin(
        &self,
        query: Query,
        args: Vec<Arg>,
    ) -> Result<(Tx<'_>, Vec<Row>), sqlx::Error> {
        let mut tx = match self {
            // `query` begins the transaction.
            Db::Sqlite { writer, .. } => Tx::Sqlite(writer.take().await?),
            Db::Postgres { writer, .. } => Tx::Postgres(writer.begin().await?),
        };
        match tx.read(query, args).await {
            Ok(rows) => Ok((tx, rows)),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// Removes from the disk what erased sessions left in SQLite's write-ahead log. Their rows are overwritten already.
    /// PostgreSQL does the like when it vacuums and recycles its own log.
    pub(crate) async fn forget_erased(&self) -> Result<(), sqlx::Error> {
        let Db::Sqlite { writer, .. } = self else { return Ok(()) };
        writer.take().await?.empty_log().await?;
        match &writer.room {
            Some(database) => writer.make_room(database).await,
            None => Ok(()),
        }
    }

    /// Closes every connection. What is read or written afterwards fails.
    pub(crate) async fn close(&self) {
        match self {
            Db::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Db::Postgres { pool, writer, listener } => {
                listener.close().await;
                pool.close().await;
                writer.close().await;
            }
        }
    }
}

impl Pen {
    /// Opens the database and brings its tables up to date.
    async fn new(options: SqliteConnectOptions, room: Option<PathBuf>) -> Result<Self, ConnectError> {
        let mut connection = options.connect().await.map_err(ConnectError::Connect)?;
        // Not `run`: what it returns cannot be awaited in a task.
        let migrations = migrations::sqlite();
        migrations.run_direct(None, &mut connection, false).await.map_err(ConnectError::Migrate)?;
        set_up(&mut connection).await.map_err(ConnectError::Connect)?;
        Ok(Self { options, connection: Mutex::new(Some(connection)), room })
    }

    /// See [`wal`]. Without the room commits are slower and no less safe.
    async fn make_room(&self, database: &Path) -> Result<(), sqlx::Error> {
        let mut held = self.take().await?;
        // Nobody else may write while the file grows: what they write goes to its end.
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *held.connection).await?;
        if let Err(error) = wal::make_room(database.to_owned()).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "there is no room for commits to come");
        }
        if held.rollback().await { Ok(()) } else { Err(sqlx::Error::WorkerCrashed) }
    }

    /// Waits until nobody else writes.
    async fn take(&self) -> Result<Held<'_>, sqlx::Error> {
        let connection = MutexGuard::try_map(self.connection.lock().await, Option::as_mut);
        let connection = connection.map_err(|_| sqlx::Error::PoolClosed)?;
        Ok(Held { options: &self.options, connection })
    }

    async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database was not closed well");
        }
    }
}

/// Gives a connection that writes what only it has.
async fn set_up(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(LINE_SETUP).execute(connection).await.map(drop)
}

async fn connect_again(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    set_up(&mut connection).await?;
    Ok(connection)
}

/// A trigger of ours has refused it: SQLite's `SQLITE_CONSTRAINT_TRIGGER`.
fn is_by_trigger(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "1811")
}

impl Held<'_> {
    /// Moves everything from the log into the database, and cuts the log. Waits for readers, but not long: what is left
    /// then goes with the next time.
    async fn empty_log(&mut self) -> Result<(), sqlx::Error> {
        let statements = "PRAGMA secure_delete = OFF; PRAGMA busy_timeout = 500; PRAGMA wal_checkpoint(TRUNCATE); \
                          PRAGMA busy_timeout = 10000";
        sqlx::raw_sql(statements).execute(&mut *self.connection).await.map(drop)
    }

    /// As [`Tx::rollback`].
    async fn rollback(mut self) -> bool {
        let undone = sqlx::query("ROLLBACK").execute(&mut *self.connection).await;
        if undone.is_err() {
            // Whatever state it is in, nobody else shall find it so. If there is no other, the next one fails here too.
            match connect_again(self.options).await {
                Ok(fresh) => *self.connection = fresh,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the database does not open again"
                    );
                }
            }
        }
        undone.is_ok()
    }
}

impl Tx<'_> {
    pub(crate) async fn read(&mut self, query: Query, args: Vec<Arg>) -> Result<Vec<Row>, sqlx::Error> {
        match self {
            Tx::Sqlite(tx) => {
                let rows = bound!(query.sqlite, args).fetch_all(&mut *tx.connection).await?;
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
            Tx::Sqlite(tx) => {
                Ok(bound!(query.sqlite, args).execute(&mut *tx.connection).await?.rows_affected())
            }
            Tx::Postgres(tx) => Ok(bound!(query.postgres, args).execute(&mut **tx).await?.rows_affected()),
        }
    }

    /// From now on SQLite writes zeros where it deletes, until [`Db::forget_erased`].
    pub(crate) async fn overwrite_what_is_deleted(&mut self) -> Result<(), sqlx::Error> {
        let Tx::Sqlite(held) = self else { return Ok(()) };
        sqlx::raw_sql("PRAGMA secure_delete = ON").execute(&mut *held.connection).await.map(drop)
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
            Tx::Sqlite(held) => held.rollback().await,
            Tx::Postgres(tx) => tx.rollback().await.is_ok(),
        }
    }
}
