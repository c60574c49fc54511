//! `outputs/` as a version has it, found as a look in a sandbox would find it.

use std::collections::BTreeMap;

use warren_domain::{BlobHash, MANIFEST_PATH, Manifest, OutputFile, Outputs, Partition, Timestamp};
use warren_guest_api::DEFAULT_EXCLUDES;
use warren_snapshots::{Item, ItemKind, ReadTreeError, Snapshots, TreeId, escape};
use warren_store::WorkspaceFile;

use super::{MAX_HASHED, MAX_LOOK, MAX_PACKAGES, MAX_TEXT, PACKAGE, package, worth_a_look};
use crate::session::tree::{WORKSPACE_ROOT, in_workspace};

/// A tree knows a file that is no longer than this by the hash of its content; longer ones may be of several pieces.
const ONE_PIECE: u64 = 64 << 10;

/// A version's files.
pub(in crate::session) struct KeptOutputs<'a> {
    pub(in crate::session) snapshots: &'a Snapshots,
    pub(in crate::session) partition: &'a Partition,
    pub(in crate::session) tree: TreeId,
}

impl KeptOutputs<'_> {
    /// Looks at them.
    pub(in crate::session) async fn look(&self) -> Result<Outputs, ReadTreeError> {
        let mut outputs = Outputs::default();
        let mut room = MAX_LOOK;
        let items = self.files().await?;
        let listed: Vec<_> = items.iter().map(|(path, item)| listed(path, item)).collect();
        for file in worth_a_look(listed.iter()) {
            let Some(item) = items.get(&file.path) else { continue };
            let hash = self.hash(item, &mut room).await?;
            outputs.files.insert(file.path, OutputFile { size_bytes: item.size_bytes, hash });
        }
        if outputs.files.contains_key(MANIFEST_PATH) {
            let text = self.text(MANIFEST_PATH).await?;
            outputs.manifest = text.and_then(|text| Manifest::parse(&text).ok());
        }
        let described = outputs.files.keys().filter_map(|path| path.strip_suffix(PACKAGE));
        for directory in described.take(MAX_PACKAGES) {
            let text = self.text(&format!("{directory}{PACKAGE}")).await?;
            if let Some(package) = text.and_then(|text| package(&text)) {
                outputs.packages.insert(directory.to_owned(), package);
            }
        }
        Ok(outputs)
    }

    /// Files, by the path that a sandbox has for it.
    async fn files(&self) -> Result<BTreeMap<String, Item>, ReadTreeError> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![format!("{WORKSPACE_ROOT}/outputs")];
        while let Some(directory) = waiting.pop() {
            let items = match self.snapshots.list(self.partition, self.tree, &directory).await {
                // A session need not have any outputs, and may have called a file so.
                Err(ReadTreeError::NotFound { .. } | ReadTreeError::WrongKind { .. }) => Vec::new(),
                listed => listed?,
            };
            for item in items {
                match item.kind {
                    ItemKind::Directory if DEFAULT_EXCLUDES.contains(&item.name.as_str()) => {}
                    ItemKind::Directory => waiting.push(item.path),
                    ItemKind::Symlink => {}
                    ItemKind::File => found.extend(in_workspace(&item.path).map(|path| (path, item))),
                }
            }
        }
        Ok(found)
    }

    /// BLAKE3 of a file, unless that takes too long to read.
    async fn hash(&self, item: &Item, room: &mut u64) -> Result<Option<BlobHash>, ReadTreeError> {
        if item.size_bytes > MAX_HASHED.min(*room) {
            return Ok(None);
        }
        *room -= item.size_bytes;
        if item.size_bytes <= ONE_PIECE {
            return Ok(item.hash.map(|hash| BlobHash(hash.to_string())));
        }
        let mut reader = self.snapshots.read(self.partition, self.tree, &item.path, None).await?;
        let mut hasher = blake3::Hasher::new();
        while let Some(piece) = reader.next().await? {
            hasher.update(&piece);
        }
        Ok(Some(BlobHash(hasher.finalize().to_hex().to_string())))
    }

    async fn text(&self, path: &str) -> Result<Option<Vec<u8>>, ReadTreeError> {
        let path = format!("{WORKSPACE_ROOT}/{}", escape(path.as_bytes()));
        match self.snapshots.read_all(self.partition, self.tree, &path, MAX_TEXT as u64).await {
            // It is a link: a sandbox reads none either.
            Err(ReadTreeError::WrongKind { .. }) => Ok(None),
            read => Ok(read?.map(|bytes| bytes.to_vec())),
        }
    }
}

fn listed(path: &str, item: &Item) -> WorkspaceFile {
    WorkspaceFile {
        path: path.to_owned(),
        kind: "file".to_owned(),
        size_bytes: item.size_bytes,
        mode: item.mode,
        modified_at: Timestamp::from_millis(item.mtime_ns / 1_000_000),
        hash: None,
    }
}
