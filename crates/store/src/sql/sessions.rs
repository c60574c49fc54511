//! Sessions as they are listed, and the end of them.

use async_trait::async_trait;
use warren_domain::{
    AgentType, Fence, ForkedFrom, Partition, ProfileId, ProfileOwner, ProfileRef, Seq, SessionId, Version,
};

use super::{
    Sql,
    args::{Arg, args},
    queries::{FILE_LIST, SESSION_GET, SESSION_LIST, SESSION_STORED},
    row::{Row, to_json},
    while_doing,
};
use crate::{Page, ReadError, SessionQuery, SessionRecord, Sessions, StoredBytes, WorkspaceFile, WriteError};

#[async_trait]
impl Sessions for Sql {
    async fn session(&self, session: SessionId) -> Result<Option<SessionRecord>, ReadError> {
        let row = self.db.read_one(SESSION_GET, args![session]).await;
        row.and_then(|row| row.as_ref().map(read_session).transpose())
            .map_err(while_doing("read the session"))
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Page<SessionRecord>, ReadError> {
        self.list(query).await.map_err(while_doing("list the sessions"))
    }

    async fn erase(&self, session: SessionId, fence: Fence) -> Result<bool, WriteError> {
        self.writer.erase(session, fence).await
    }

    async fn stored(&self, session: SessionId) -> Result<Option<StoredBytes>, ReadError> {
        let row = self.db.read_one(SESSION_STORED, args![session]).await;
        let read = |row: Row| Ok(StoredBytes { session: row.number(0)?, project: row.number(1)? });
        row.and_then(|row| row.map(read).transpose()).map_err(while_doing("read what is stored"))
    }

    async fn files(&self, session: SessionId) -> Result<Vec<WorkspaceFile>, ReadError> {
        let rows = self.db.read(FILE_LIST, args![session]).await;
        rows.and_then(|rows| rows.iter().map(|row| row.json(0)).collect())
            .map_err(while_doing("list the files"))
    }
}

impl Sql {
    async fn list(&self, query: &SessionQuery) -> Result<Page<SessionRecord>, sqlx::Error> {
        let args = args![
            query.partition.as_ref(),
            query.project,
            query.agent_type.as_ref(),
            query.text.as_deref().map(containing),
            query.only.as_ref().map(to_json).transpose()?,
            query.before,
            // One more than asked for tells whether there is more.
            i64::from(query.limit) + 1,
            query.workspace,
        ];
        let rows = self.db.read(SESSION_LIST, args).await?;
        page(&rows, query.limit, read_session)
    }
}

/// At most `limit` rows, and whether there were more.
pub(super) fn page<T>(
    rows: &[Row],
    limit: u32,
    read: impl Fn(&Row) -> Result<T, sqlx::Error>,
) -> Result<Page<T>, sqlx::Error> {
    let limit = limit as usize;
    let items = rows.iter().take(limit).map(read).collect::<Result<_, _>>()?;
    Ok(Page { items, more: rows.len() > limit })
}

/// A name as it is searched for.
pub(super) fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// A pattern for texts that contain this one.
fn containing(text: &str) -> String {
    let literal = folded(text).replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{literal}%")
}

pub(super) fn session_args(record: &SessionRecord) -> Result<Vec<Arg>, sqlx::Error> {
    Ok(args![
        record.session_id,
        &record.partition,
        record.project_id,
        record.workspace_id,
        &record.agent_type,
        &record.profile.id,
        record.name.clone(),
        record.name.as_deref().map(folded).unwrap_or_default(),
        to_json(&record.metadata)?,
        to_json(&record.options)?,
        record.forked_from.map(|fork| fork.session_id),
        record.forked_from.map(|fork| fork.version),
        record.created_at,
        record.made_by.clone(),
        Some(owner_text(record.profile.owner).to_owned()),
    ])
}

fn owner_text(owner: ProfileOwner) -> &'static str {
    match owner {
        ProfileOwner::Partition => "partition",
        ProfileOwner::Project => "project",
    }
}

fn read_owner(row: &Row) -> Result<ProfileOwner, sqlx::Error> {
    let text = row.text("profile_owner")?;
    let known = [ProfileOwner::Partition, ProfileOwner::Project];
    let found = known.into_iter().find(|owner| owner_text(*owner) == text);
    found.ok_or_else(|| sqlx::Error::Decode(format!("`{text}` is not the owner of a profile").into()))
}

fn read_session(row: &Row) -> Result<SessionRecord, sqlx::Error> {
    let forked_session: Option<SessionId> = row.maybe_id("forked_session")?;
    let forked_version = row.maybe_number("forked_version")?.map(Version);
    Ok(SessionRecord {
        session_id: row.id("session_id")?,
        partition: Partition(row.text("partition")?),
        project_id: row.id("project_id")?,
        workspace_id: row.id("workspace_id")?,
        agent_type: AgentType(row.text("agent_type")?),
        profile: ProfileRef { owner: read_owner(row)?, id: ProfileId(row.text("profile")?) },
        name: row.maybe_text("name")?,
        metadata: row.json("metadata")?,
        options: row.json("options")?,
        forked_from: forked_session
            .zip(forked_version)
            .map(|(session_id, version)| ForkedFrom { session_id, version }),
        made_by: row.maybe_text("made_by")?,
        created_at: row.time("created_at")?,
        last_activity: row.time("last_activity")?,
        head: Seq(row.number("head")?),
        version: Version(row.number("version")?),
    })
}
