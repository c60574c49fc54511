//! Files of versions, read without a sandbox.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, ErrorCode, Partition, SessionId, Timestamp, Version};
use warren_snapshots::{Archive, FileReader, Item, ItemKind, ReadTreeError, TreeId};
use warren_store::VersionRecord;

use crate::{
    api::{
        Pieces, SessionError, TreeEntry, TreeFile, UnsavedChanges, VersionChanges, VersionFiles,
        Versions as _, not_read,
    },
    manager::SessionManager,
    session::{
        expired,
        tree::{ROOTS, WORKSPACE_ROOT, inward, outward, tree_id},
    },
};

#[async_trait]
impl VersionFiles for SessionManager {
    async fn version_files(
        &self,
        session: SessionId,
        version: Version,
        path: &str,
    ) -> Result<Vec<TreeEntry>, SessionError> {
        let (partition, tree) = self.tree(session, version).await?;
        let wanted = inward(path).ok_or_else(|| no_path(path))?;
        match self.shared.parts.snapshots.list(&partition, tree, &wanted).await {
            Ok(items) => Ok(items.iter().map(entry).collect()),
            // A session without any files still has its places for them.
            Err(ReadTreeError::NotFound { .. }) if ROOTS.iter().any(|(root, _)| *root == wanted) => {
                Ok(Vec::new())
            }
            Err(error) => Err(unread(path, error)),
        }
    }

    async fn version_file(
        &self,
        session: SessionId,
        version: Version,
        path: &str,
        range: Option<Range<u64>>,
    ) -> Result<TreeFile, SessionError> {
        let (partition, tree) = self.tree(session, version).await?;
        let wanted = inward(path).ok_or_else(|| no_path(path))?;
        let read = self.shared.parts.snapshots.read(&partition, tree, &wanted, range).await;
        let mut reader = read.map_err(|error| unread(path, error))?;
        // Before anything is answered: what is damaged at its beginning can still be named.
        let first = reader.next().await.map_err(not_read)?;
        Ok(TreeFile {
            size_bytes: reader.size(),
            hash: BlobHash(reader.hash().to_string()),
            range: reader.range(),
            pieces: Box::new(Reading { first, reader }),
        })
    }

    async fn version_changes(
        &self,
        session: SessionId,
        version: Version,
        against: Option<Version>,
    ) -> Result<VersionChanges, SessionError> {
        self.changes(session, version, against).await
    }

    async fn unsaved_changes(&self, session: SessionId) -> Result<UnsavedChanges, SessionError> {
        self.unsaved(session).await
    }

    async fn version_archive(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<Box<dyn Pieces>, SessionError> {
        let (partition, tree) = self.tree(session, version).await?;
        let snapshots = &self.shared.parts.snapshots;
        let archive = match snapshots.archive(&partition, tree, WORKSPACE_ROOT).await {
            // A session without any files has an empty archive.
            Err(ReadTreeError::NotFound { .. }) => snapshots.archive(&partition, TreeId::empty(), "").await,
            other => other,
        };
        Ok(Box::new(Archiving(archive.map_err(not_read)?)))
    }
}

impl SessionManager {
    async fn tree(&self, session: SessionId, version: Version) -> Result<(Partition, TreeId), SessionError> {
        let record = self.version_get(session, version).await?;
        let partition = self.record(session).await?.partition;
        Ok((partition, tree_of(&record)?))
    }
}

/// The tree of a version whose files are kept.
pub(in crate::manager) fn tree_of(version: &VersionRecord) -> Result<TreeId, SessionError> {
    if version.expired {
        return Err(expired(version.version));
    }
    tree_id(version.tree.as_ref()).map_err(|error| SessionError::internal("read the version", error))
}

pub(super) fn entry(item: &Item) -> TreeEntry {
    TreeEntry {
        name: item.name.clone(),
        path: outward(&item.path),
        kind: match item.kind {
            ItemKind::File => "file",
            ItemKind::Directory => "directory",
            ItemKind::Symlink => "symlink",
        },
        size_bytes: item.size_bytes,
        mode: item.mode,
        modified_at: Timestamp::from_millis(item.mtime_ns / 1_000_000),
        hash: item.hash.map(|hash| BlobHash(hash.to_string())),
        target: item.target.clone(),
    }
}

fn no_path(path: &str) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message: format!("`{}` is not a path of a version", path.escape_debug()),
        hint: Some("a path is relative to the workspace, or begins with `/workspace`, `/user-input` or `/home/agent`".to_owned()),
    }
}

pub(in crate::manager) fn unread(path: &str, error: ReadTreeError) -> SessionError {
    match error {
        ReadTreeError::NotFound { .. } => SessionError::not_found("file", path.escape_debug()),
        ReadTreeError::WrongKind { .. } => {
            SessionError::Invalid { code: ErrorCode::BadRequest, message: error.to_string(), hint: None }
        }
        other => not_read(other),
    }
}

struct Reading {
    /// The piece that was read ahead.
    first: Option<Bytes>,
    reader: FileReader,
}

#[async_trait]
impl Pieces for Reading {
    async fn next(&mut self) -> Result<Option<Bytes>, SessionError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.reader.next().await.map_err(not_read),
        }
    }
}

struct Archiving(Archive);

#[async_trait]
impl Pieces for Archiving {
    async fn next(&mut self) -> Result<Option<Bytes>, SessionError> {
        self.0.next().await.map_err(not_read)
    }
}
