//! The fake runtime's versions: those that are in the store, without files.

use std::ops::Range;

use async_trait::async_trait;
use warren_domain::{SessionId, Version};
use warren_runtime::api::{
    DiffWanted, Fork, Forked, Pieces, SessionError, TreeEntry, TreeFile, UnsavedChanges, VersionChanges,
    VersionDiff, VersionFiles, VersionList, VersionRecord, Versions,
};

use crate::fake::FakeRuntime;

fn none<T>(version: Version) -> Result<T, SessionError> {
    Err(SessionError::NotFound { kind: "version", id: version.to_string() })
}

#[async_trait]
impl Versions for FakeRuntime {
    async fn version_list(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<VersionList, SessionError> {
        let page = self.store.versions.versions(session, before, limit).await.expect("the store");
        Ok(VersionList { page, latest: Version(0), is_dirty: false })
    }

    async fn version_get(&self, session: SessionId, version: Version) -> Result<VersionRecord, SessionError> {
        let found = self.store.versions.version(session, version).await.expect("the store");
        found.map_or_else(|| none(version), Ok)
    }

    async fn version_label(
        &self,
        _: SessionId,
        version: Version,
        _: Option<String>,
    ) -> Result<VersionRecord, SessionError> {
        none(version)
    }

    async fn version_diff(
        &self,
        _: SessionId,
        version: Version,
        _: Option<Version>,
        _: DiffWanted,
    ) -> Result<VersionDiff, SessionError> {
        none(version)
    }

    async fn version_commit(&self, _: SessionId) -> Result<VersionRecord, SessionError> {
        none(Version(0))
    }

    async fn version_restore(&self, _: SessionId, version: Version) -> Result<VersionRecord, SessionError> {
        none(version)
    }

    async fn session_fork(&self, fork: Fork) -> Result<Forked, SessionError> {
        none(fork.version.unwrap_or_default())
    }
}

#[async_trait]
impl VersionFiles for FakeRuntime {
    async fn version_files(
        &self,
        _: SessionId,
        version: Version,
        _: &str,
    ) -> Result<Vec<TreeEntry>, SessionError> {
        none(version)
    }

    async fn version_file(
        &self,
        _: SessionId,
        version: Version,
        _: &str,
        _: Option<Range<u64>>,
    ) -> Result<TreeFile, SessionError> {
        none(version)
    }

    async fn version_changes(
        &self,
        _: SessionId,
        version: Version,
        _: Option<Version>,
    ) -> Result<VersionChanges, SessionError> {
        none(version)
    }

    async fn unsaved_changes(&self, _: SessionId) -> Result<UnsavedChanges, SessionError> {
        none(Version(0))
    }

    async fn version_archive(&self, _: SessionId, version: Version) -> Result<Box<dyn Pieces>, SessionError> {
        none(version)
    }
}
