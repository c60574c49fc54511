//! The logs: what is written goes to the writer, reads go straight to the table.

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{Seq, SessionId};

use super::{
    Sql,
    args::args,
    queries::{ENTRY_READ, LOG_HEAD},
    while_doing,
};
use crate::{Commit, CommitError, Compaction, EventLog, LogEntry, ReadError};

#[async_trait]
impl EventLog for Sql {
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        self.writer.commit(commit).await
    }

    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError> {
        let rows = self.db.read(ENTRY_READ, args![session, after, limit]).await;
        rows.and_then(|rows| {
            rows.iter()
                .map(|row| Ok(LogEntry { seq: Seq(row.number(0)?), json: Bytes::from(row.bytes(1)?) }))
                .collect()
        })
        .map_err(while_doing("read the log"))
    }

    async fn head(&self, session: SessionId) -> Result<Option<Seq>, ReadError> {
        let row = self.db.read_one(LOG_HEAD, args![session]).await;
        row.and_then(|row| row.map(|row| row.number(0).map(Seq)).transpose())
            .map_err(while_doing("read the head of the log"))
    }

    async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError> {
        self.writer.compact(session, piece).await
    }
}
