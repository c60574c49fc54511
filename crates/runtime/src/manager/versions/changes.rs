//! What became of imported files: every path of the workspace that differs, to bring it back to where it came from.

use warren_domain::{Partition, SessionId, Version, VersionCause};
use warren_snapshots::Difference;
use warren_store::VersionRecord;

use super::files::{entry, tree_of};
use crate::{
    api::{PathChange, SessionError, VersionChanges, Versions as _, not_read},
    manager::SessionManager,
    session::tree::{WORKSPACE_ROOT, outward},
};

/// Versions that are looked at in one go when the imported one is searched.
const PAGE: u32 = 500;

/// Forks of forks are followed so far.
const MAX_FORKS: usize = 100;

impl SessionManager {
    pub(super) async fn changes(
        &self,
        session: SessionId,
        version: Version,
        against: Option<Version>,
    ) -> Result<VersionChanges, SessionError> {
        let to = self.version_get(session, version).await?;
        let from = match against {
            Some(against) => self.version_get(session, against).await?,
            None => self.imported(session, version).await?,
        };
        let partition = self.record(session).await?.partition;
        let beneath = format!("{WORKSPACE_ROOT}/");
        let found = self.differences(&partition, &from, &to).await?.into_iter();
        let found = found.filter(|found| found.path.starts_with(&beneath));
        let changes = found.map(|found| PathChange {
            path: outward(&found.path),
            before: found.before.as_ref().map(entry),
            after: found.after.as_ref().map(entry),
        });
        Ok(VersionChanges { from, to, changes: changes.collect() })
    }

    /// Everything that two versions do not have alike, directories too, by path: what `…/changes` and `…/diff` both show.
    pub(super) async fn differences(
        &self,
        partition: &Partition,
        from: &VersionRecord,
        to: &VersionRecord,
    ) -> Result<Vec<Difference>, SessionError> {
        let (before, after) = (tree_of(from)?, tree_of(to)?);
        self.shared.parts.snapshots.changes(partition, before, after).await.map_err(not_read)
    }

    /// The version that has the files as they were imported last, seen from `version`: of this session, or of the one it was
    /// forked from. What a session started with, if nothing was ever imported.
    async fn imported(&self, session: SessionId, version: Version) -> Result<VersionRecord, SessionError> {
        let (mut at, mut upto) = (session, version);
        for _ in 0..MAX_FORKS {
            if let Some(found) = self.imported_here(at, upto).await? {
                return Ok(found);
            }
            // One that was erased leads no further.
            let Ok(record) = self.record(at).await else { break };
            let Some(origin) = record.forked_from else { break };
            (at, upto) = (origin.session_id, origin.version);
        }
        self.version_get(session, Version(0)).await
    }

    async fn imported_here(
        &self,
        session: SessionId,
        upto: Version,
    ) -> Result<Option<VersionRecord>, SessionError> {
        let mut before = Some(Version(upto.0.saturating_add(1)));
        loop {
            let page = self.shared.parts.store.versions.versions(session, before, PAGE).await;
            let page = page.map_err(|error| SessionError::internal("list the versions", error))?;
            before = page.items.last().map(|last| last.version);
            // Nobody made the template's files, so they are no changes.
            let is_it = |version: &VersionRecord| {
                matches!(version.cause, VersionCause::Import | VersionCause::Template)
                    && version.tree.is_some()
            };
            if let Some(found) = page.items.into_iter().find(is_it) {
                return Ok(Some(found));
            }
            if !page.more {
                return Ok(None);
            }
        }
    }
}
