//! Versions: listed, compared, named, made, and forked.

mod changes;
mod diff;
mod files;
mod fork;
mod unsaved;

use async_trait::async_trait;
use warren_domain::{Head, SessionId, Version};
use warren_store::VersionRecord;

pub(super) use self::files::{tree_of, unread};
use super::SessionManager;
use crate::{
    api::{DiffWanted, Fork, Forked, SessionError, VersionDiff, VersionList, Versions},
    session::{Errand, Request, expired},
    views,
};

#[async_trait]
impl Versions for SessionManager {
    async fn version_list(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<VersionList, SessionError> {
        let record = self.record(session).await?;
        let page = self.shared.parts.store.versions.versions(session, before, limit).await;
        let page = page.map_err(|error| SessionError::internal("list the versions", error))?;
        let is_dirty = self.is_dirty(session).await?;
        Ok(VersionList { page, latest: record.version, is_dirty })
    }

    async fn version_get(&self, session: SessionId, version: Version) -> Result<VersionRecord, SessionError> {
        let found = self.shared.parts.store.versions.version(session, version).await;
        let found = found.map_err(|error| SessionError::internal("read the version", error))?;
        found.ok_or_else(|| SessionError::not_found("version", version))
    }

    async fn version_label(
        &self,
        session: SessionId,
        version: Version,
        label: Option<String>,
    ) -> Result<VersionRecord, SessionError> {
        self.version_get(session, version).await?;
        let store = &self.shared.parts.store;
        let labelled = store.versions.label_version(session, version, label.as_deref()).await;
        if labelled.map_err(|error| SessionError::internal("label the version", error))? {
            self.version_get(session, version).await
        } else {
            Err(expired(version))
        }
    }

    async fn version_diff(
        &self,
        session: SessionId,
        version: Version,
        against: Option<Version>,
        wanted: DiffWanted,
    ) -> Result<VersionDiff, SessionError> {
        let to = self.version_get(session, version).await?;
        let from = self.version_get(session, against.unwrap_or(to.base)).await?;
        self.diff(session, &from, &to, &wanted).await
    }

    async fn version_commit(&self, session: SessionId) -> Result<VersionRecord, SessionError> {
        let made = self.ask(session, |reply| Request::Errand(Errand::Commit(reply))).await?;
        self.version_get(session, made).await
    }

    async fn version_restore(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<VersionRecord, SessionError> {
        let made = self.ask(session, |reply| Request::Errand(Errand::Restore(version, reply))).await?;
        self.version_get(session, made).await
    }

    async fn session_fork(&self, fork: Fork) -> Result<Forked, SessionError> {
        self.fork(fork).await
    }
}

impl SessionManager {
    /// Whether there is more than the latest version.
    pub(super) async fn is_dirty(&self, session: SessionId) -> Result<bool, SessionError> {
        match self.roster.is_dirty(session) {
            Some(is_dirty) => Ok(is_dirty),
            None => self.is_dirty_by_its_log(session).await,
        }
    }

    /// What the log of a session that is not in memory says.
    async fn is_dirty_by_its_log(&self, session: SessionId) -> Result<bool, SessionError> {
        let current = views::current(self.shared.parts.source(), session).await;
        let current = current.map_err(|error| SessionError::internal("read the log", error))?;
        let state = current.view.state.session;
        // A run that nobody carries on was cut, even if nobody has said so yet.
        Ok(state.head != Head::Clean || state.running().is_some())
    }
}
