//! Hints between nodes, by PostgreSQL's NOTIFY.
//!
//! Never in the transaction of a commit: PostgreSQL lets only one transaction that notifies commit at a time.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{PgPool, postgres::PgListener};

use super::{Sql, db::Db, while_doing};
use crate::{Heard, Hints, ReadError};

/// The channel has the name of the schema in it: a database may hold several stores.
const TELL: &str = "SELECT pg_notify('warren_hints_' || current_schema(), $1)";
const CHANNEL: &str = "SELECT 'warren_hints_' || current_schema()";

struct Notify {
    pool: PgPool,
    listener: PgPool,
}

struct Listening(PgListener);

/// The connection was lost, and with it whatever was told meanwhile.
#[derive(Debug, thiserror::Error)]
#[error("the connection was lost")]
struct Cut;

impl Sql {
    /// How nodes that share the database tell each other something.
    pub(crate) fn hints(&self) -> Option<Arc<dyn Hints>> {
        match &*self.db {
            Db::Sqlite { .. } => None,
            Db::Postgres { pool, listener, .. } => {
                Some(Arc::new(Notify { pool: pool.clone(), listener: listener.clone() }))
            }
        }
    }
}

#[async_trait]
impl Hints for Notify {
    async fn tell(&self, hint: &str) -> Result<(), ReadError> {
        let told = sqlx::query(TELL).bind(hint).execute(&self.pool).await;
        told.map(drop).map_err(while_doing("tell other servers what was written"))
    }

    async fn listen(&self) -> Result<Box<dyn Heard>, ReadError> {
        let listening = async {
            let channel: String = sqlx::query_scalar(CHANNEL).fetch_one(&self.pool).await?;
            let mut listener = PgListener::connect_with(&self.listener).await?;
            listener.listen(&channel).await?;
            Ok::<_, sqlx::Error>(listener)
        };
        let listener = listening.await.map_err(while_doing("listen to other servers"))?;
        Ok(Box::new(Listening(listener)))
    }
}

#[async_trait]
impl Heard for Listening {
    async fn next(&mut self) -> Result<String, ReadError> {
        let doing = "hear what other servers wrote";
        match self.0.try_recv().await {
            Ok(Some(hint)) => Ok(hint.payload().to_owned()),
            Ok(None) => Err(ReadError { doing, source: Box::new(Cut) }),
            Err(error) => Err(ReadError { doing, source: Box::new(error) }),
        }
    }
}
