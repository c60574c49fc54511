//! The contracts on SQLite and PostgreSQL: the same code and nearly the same SQL on both.
//!
//! [`db`] is the thin layer that hides which of the two it is. Everything that grows with the work of agents goes
//! through one [`writer`], which puts whatever waits into one transaction; the rest are single statements.

mod approvals;
mod args;
mod batch;
mod db;
mod hints;
mod leases;
mod log;
mod migrations;
mod profiles;
mod projects;
mod providers;
mod queries;
mod replays;
mod row;
mod runs;
mod sessions;
mod tokens;
mod transcripts;
mod versions;
mod views;
mod wal;
mod writer;

use std::sync::Arc;

use warren_env::{Env, Tasks};

pub(crate) use db::{ConnectError, Db, Safety};

use crate::ReadError;

/// Every contract but the blobs.
#[derive(Clone)]
pub(crate) struct Sql {
    db: Arc<Db>,
    writer: writer::Handle,
}

impl Sql {
    /// Takes over a database whose tables are there, and starts its writer.
    pub(crate) fn start(db: Db, env: Env, tasks: &Tasks) -> Self {
        let db = Arc::new(db);
        let writer = writer::start(Arc::clone(&db), env, tasks);
        Self { db, writer }
    }
}

/// Says what was tried when a statement failed.
fn while_doing<E>(doing: &'static str) -> impl FnOnce(E) -> ReadError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |source| ReadError { doing, source: Box::new(source) }
}
