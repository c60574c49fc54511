//! Versions.

use async_trait::async_trait;
use warren_domain::{BlobHash, Partition, Seq, SessionId, Version, VersionCause};

use super::{
    Sql,
    args::{Arg, args},
    queries::{VERSION_EXPIRE, VERSION_GET, VERSION_LABEL, VERSION_LIST, VERSION_ROOTS},
    row::{Row, to_json, undecodable},
    sessions::page,
    while_doing,
};
use crate::{Page, ReadError, Root, VersionRecord, Versions};

/// What is kept is not a cause this program knows.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not the cause of a version")]
struct NoCause(String);

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

    async fn label_version(
        &self,
        session: SessionId,
        version: Version,
        label: Option<&str>,
    ) -> Result<bool, ReadError> {
        let labelled = self.db.write(VERSION_LABEL, args![session, version, label.map(str::to_owned)]).await;
        labelled.map(|n| n > 0).map_err(while_doing("label the version"))
    }

    async fn expire_version(&self, session: SessionId, version: Version) -> Result<bool, ReadError> {
        let expired = self.db.write(VERSION_EXPIRE, args![session, version]).await;
        expired.map(|n| n > 0).map_err(while_doing("let go of the version"))
    }

    async fn version_roots(&self, partition: &Partition) -> Result<Vec<Root>, ReadError> {
        let rows = self.db.read(VERSION_ROOTS, args![partition]).await;
        let root = |row: &Row| {
            let hash = |column| Ok::<_, sqlx::Error>(row.maybe_text(column)?.map(BlobHash));
            Ok(Root { tree: hash("tree")?, memory: hash("memory")? })
        };
        rows.and_then(|rows| rows.iter().map(root).collect())
            .map_err(while_doing("list what the versions keep"))
    }
}

pub(super) fn version_args(record: &VersionRecord) -> Result<Vec<Arg>, sqlx::Error> {
    Ok(args![
        record.session_id,
        record.version,
        record.base,
        record.cause.as_str(),
        record.run_id,
        record.seq,
        record.created_at,
        record.tree.as_ref(),
        to_json(&record.transcripts)?,
        to_json(&record.usage)?,
        record.label.clone(),
        record.memory.as_ref(),
        i64::try_from(record.size_bytes).unwrap_or(i64::MAX),
        to_json(&record.files)?,
        i64::try_from(record.blocks).unwrap_or(i64::MAX),
        to_json(&record.excluded)?,
        i64::from(record.shared),
        record.restored,
        i64::from(record.expired),
        to_json(&record.skipped)?,
        to_json(&record.unstable)?,
    ])
}

fn read_version(row: &Row) -> Result<VersionRecord, sqlx::Error> {
    let cause = row.text("cause")?;
    Ok(VersionRecord {
        session_id: row.id("session_id")?,
        version: Version(row.number("version")?),
        base: Version(row.number("base")?),
        cause: VersionCause::parse(&cause).ok_or_else(|| undecodable(NoCause(cause)))?,
        run_id: row.maybe_id("run_id")?,
        seq: Seq(row.number("seq")?),
        created_at: row.time("created_at")?,
        tree: row.maybe_text("tree")?.map(BlobHash),
        memory: row.maybe_text("memory")?.map(BlobHash),
        transcripts: row.json("transcripts")?,
        size_bytes: row.number("size_bytes")?,
        files: row.json("files")?,
        blocks: row.number("blocks")?,
        excluded: row.json("excluded")?,
        skipped: row.json("skipped")?,
        unstable: row.json("unstable")?,
        shared: row.int("shared")? != 0,
        restored: row.maybe_number("restored")?.map(Version),
        expired: row.int("expired")? != 0,
        usage: row.json("usage")?,
        label: row.maybe_text("label")?,
    })
}
