//! Versions.

use async_trait::async_trait;
use warren_domain::{BlobHash, Seq, SessionId, Version};

use super::{
    Sql,
    args::{Arg, args},
    queries::{VERSION_GET, VERSION_LIST},
    row::{Row, to_json},
    sessions::page,
    while_doing,
};
use crate::{Page, ReadError, VersionRecord, Versions};

#[async_trait]
impl Versions for Sql {
    async fn version(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<Option<VersionRecord>, ReadError> {
        let row = self.db.read_one(VERSION_GET, args![session, version]).await;
        row.and_then(|row| row.as_ref().map(read_version).transpose())
            .map_err(while_doing("read the version"))
    }

    async fn versions(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<Page<VersionRecord>, ReadError> {
        let rows = self.db.read(VERSION_LIST, args![session, before, i64::from(limit) + 1]).await;
        rows.and_then(|rows| page(&rows, limit, read_version)).map_err(while_doing("list the versions"))
    }
}

pub(super) fn version_args(record: &VersionRecord) -> Result<Vec<Arg>, sqlx::Error> {
    Ok(args![
        record.session_id,
        record.version,
        record.base,
        &record.cause,
        record.run_id,
        record.seq,
        record.created_at,
        record.tree.as_ref(),
        to_json(&record.transcripts)?,
        to_json(&record.usage)?,
        record.label.clone(),
    ])
}

fn read_version(row: &Row) -> Result<VersionRecord, sqlx::Error> {
    Ok(VersionRecord {
        session_id: row.id("session_id")?,
        version: Version(row.number("version")?),
        base: Version(row.number("base")?),
        cause: row.text("cause")?,
        run_id: row.maybe_id("run_id")?,
        seq: Seq(row.number("seq")?),
        created_at: row.time("created_at")?,
        tree: row.maybe_text("tree")?.map(BlobHash),
        transcripts: row.json("transcripts")?,
        usage: row.json("usage")?,
        label: row.maybe_text("label")?,
    })
}
