//! Files as the latest version has them: for sessions whose directories are gone, or hold something older.

use futures::{StreamExt as _, stream};
use warren_domain::{BlobHash, Partition};
use warren_sandbox::FilesAt;
use warren_snapshots::{FileReader, Item, ItemKind, ReadTreeError, Snapshots, TreeId};
use warren_store::{SessionRecord, VersionRecord};

use super::blocking;
use crate::{
    api::{FileContent, FileEntry, FileKind, FilePart, SessionError, Versions as _, not_read},
    manager::{
        SessionManager,
        versions::{tree_of, unread},
    },
    places::{Belief, Places},
    session::{
        latest_of_workspace,
        tree::{USER_INPUT_ROOT, WORKSPACE_ROOT},
    },
    volumes::{Volume, VolumePath},
};

/// One root of a version's tree.
pub(super) struct Kept {
    snapshots: Snapshots,
    partition: Partition,
    tree: TreeId,
    root: &'static str,
}

impl SessionManager {
    /// The latest version, if it is what a sandbox would be given now: the directory is gone, or it holds another version.
    pub(super) async fn kept(
        &self,
        record: &SessionRecord,
        places: &Places,
        volume: Volume,
    ) -> Result<Option<Kept>, SessionError> {
        let (root, directory) = match volume {
            Volume::Workspace => (WORKSPACE_ROOT, &places.workspace),
            Volume::UserInput => (USER_INPUT_ROOT, &places.user_input),
            Volume::Instructions | Volume::Knowledge => return Ok(None),
        };
        let stays = self.shared.parts.backend.files() == FilesAt::Host;
        let (looked, at) = (places.clone(), directory.clone());
        let (held, is_there) = blocking(move || (looked.held(), stays && looked.is_there(&at))).await?;
        let held = held.filter(|held| is_there && held.version == record.version);
        // What is in no version is there as it is, whatever became of it.
        if let Some(held) = held
            && (held.belief == Belief::Certain || self.is_dirty(record.session_id).await?)
        {
            return Ok(None);
        }
        let latest = if volume == Volume::Workspace && self.is_shared(record).await? {
            // What is there is everybody's, whatever this session's version is; and what is gone is what anybody left last.
            if is_there { None } else { self.latest_of_workspace(record).await? }
        } else {
            Some(self.version_get(record.session_id, record.version).await?)
        };
        // What a session starts with is in no tree, unless somebody went back to it. It is where it is, or there is none.
        let is_known = |latest: &VersionRecord| latest.tree.is_some() || latest.restored.is_some();
        let tree = match latest.filter(is_known) {
            Some(latest) => tree_of(&latest)?,
            None if stays => return Ok(None),
            None => TreeId::empty(),
        };
        let snapshots = self.shared.parts.snapshots.clone();
        Ok(Some(Kept { snapshots, partition: record.partition.clone(), tree, root }))
    }

    async fn latest_of_workspace(
        &self,
        record: &SessionRecord,
    ) -> Result<Option<VersionRecord>, SessionError> {
        let latest = latest_of_workspace(&self.shared.parts.store, record.workspace_id).await;
        latest.map_err(|error| SessionError::internal("read the versions", error))
    }
}

impl Kept {
    /// What is in a directory down to a depth, relative to it; and whether there is more.
    pub(super) async fn list(
        &self,
        place: &VolumePath,
        depth: u32,
        limit: usize,
    ) -> Result<(Vec<FileEntry>, bool), SessionError> {
        let top = self.at(&place.path);
        let mut found = Vec::new();
        let mut open = vec![(top.clone(), 1)];
        while let Some((directory, level)) = open.pop() {
            let items = match self.snapshots.list(&self.partition, self.tree, &directory).await {
                // A session without any files still has its volumes.
                Err(ReadTreeError::NotFound { .. }) if place.path.is_empty() && level == 1 => Vec::new(),
                items => items.map_err(|error| unread(&place.shown(), error))?,
            };
            for item in items {
                if found.len() == limit {
                    return Ok((found, true));
                }
                if item.kind == ItemKind::Directory && level < depth {
                    open.push((item.path.clone(), level + 1));
                }
                let path = item.path[top.len()..].trim_start_matches('/').to_owned();
                found.push(entry(path, &item));
            }
        }
        Ok((found, false))
    }

    pub(super) async fn stat(&self, place: &VolumePath) -> Result<FileEntry, SessionError> {
        let item = self.snapshots.stat(&self.partition, self.tree, &self.at(&place.path)).await;
        Ok(entry(place.shown(), &item.map_err(|error| unread(&place.shown(), error))?))
    }

    pub(super) async fn read(&self, place: &VolumePath, part: FilePart) -> Result<FileContent, SessionError> {
        let entry = self.stat(place).await?;
        let end = part.len.map_or(u64::MAX, |len| part.offset.saturating_add(len));
        let at = self.at(&place.path);
        let reader = self.snapshots.read(&self.partition, self.tree, &at, Some(part.offset..end)).await;
        let mut reader: FileReader = reader.map_err(|error| unread(&place.shown(), error))?;
        // Before anything is answered: what is damaged at its beginning can still be named.
        let first = reader.next().await.map_err(not_read)?;
        let rest = stream::try_unfold(reader, |mut reader| async move {
            let piece = reader.next().await.map_err(not_read)?;
            Ok::<_, SessionError>(piece.map(|piece| (piece, reader)))
        });
        Ok(FileContent { entry, bytes: stream::iter(first.map(Ok)).chain(rest).boxed() })
    }

    fn at(&self, path: &str) -> String {
        if path.is_empty() { self.root.to_owned() } else { format!("{}/{path}", self.root) }
    }
}

fn entry(path: String, item: &Item) -> FileEntry {
    let (kind, hash) = match item.kind {
        ItemKind::File => (FileKind::File, item.hash),
        ItemKind::Directory => (FileKind::Directory, None),
        ItemKind::Symlink => (FileKind::Symlink, None),
    };
    FileEntry {
        path,
        kind,
        size_bytes: item.size_bytes,
        mode: item.mode,
        modified_ns: item.mtime_ns,
        hash: hash.map(|hash| BlobHash(hash.to_string())),
    }
}
