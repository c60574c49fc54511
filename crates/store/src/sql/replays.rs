//! What was carried out once more.

use async_trait::async_trait;
use warren_domain::{BlobHash, NodeId, ReplayId, SessionId};

use super::{
    Sql,
    args::args,
    queries::{REPLAY_GET, REPLAY_LIST, REPLAY_PUT},
    row::{Row, to_json},
    sessions::page,
    while_doing,
};
use crate::{Page, ReadError, ReplayRecord, Replays};

#[async_trait]
impl Replays for Sql {
    async fn put_replay(&self, replay: &ReplayRecord) -> Result<(), ReadError> {
        let write = async {
            let args = args![
                replay.replay_id,
                replay.session_id,
                &replay.node,
                replay.started_at,
                replay.ended_at,
                to_json(&replay.report)?,
                replay.log.as_ref(),
            ];
            self.db.write(REPLAY_PUT, args).await.map(drop)
        };
        write.await.map_err(while_doing("keep the replay"))
    }

    async fn replay(&self, session: SessionId, replay: ReplayId) -> Result<Option<ReplayRecord>, ReadError> {
        let row = self.db.read_one(REPLAY_GET, args![session, replay]).await;
        row.and_then(|row| row.as_ref().map(read_replay).transpose()).map_err(while_doing("read the replay"))
    }

    async fn replays(
        &self,
        session: SessionId,
        before: Option<ReplayId>,
        limit: u32,
    ) -> Result<Page<ReplayRecord>, ReadError> {
        let rows = self.db.read(REPLAY_LIST, args![session, before, i64::from(limit) + 1]).await;
        rows.and_then(|rows| page(&rows, limit, read_replay)).map_err(while_doing("list the replays"))
    }
}

fn read_replay(row: &Row) -> Result<ReplayRecord, sqlx::Error> {
    Ok(ReplayRecord {
        replay_id: row.id("replay_id")?,
        session_id: row.id("session_id")?,
        node: NodeId(row.text("node")?),
        started_at: row.time("started_at")?,
        ended_at: row.maybe_time("ended_at")?,
        report: row.json("report")?,
        log: row.maybe_text("log")?.map(BlobHash),
    })
}
