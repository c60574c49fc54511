//! What is in a directory of a tree.

use warren_domain::Partition;
use warren_tree::{Directory, Entry, Hash, Totals, What};

use crate::{ReadTreeError, Snapshots, TreeId, escape};

/// One thing in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name, see [`escape`].
    pub name: String,
    /// Where it is: the root's name, a slash, and the path beneath it. See [`escape`].
    pub path: String,
    /// What it is.
    pub kind: ItemKind,
    /// Bytes; of a directory, of all files in it.
    pub size_bytes: u64,
    /// Permission bits (0777).
    pub mode: u32,
    /// Time of last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// What a file's content, or all of a directory, is known by.
    pub hash: Option<Hash>,
    /// Where a link leads, see [`escape`].
    pub target: Option<String>,
}

/// Kinds of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ItemKind {
    File,
    Directory,
    Symlink,
}

impl Snapshots {
    /// What is in a directory, by name. The empty path gives the roots.
    pub async fn list(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
    ) -> Result<Vec<Item>, ReadTreeError> {
        let hold = self.hold(partition);
        hold.keep(tree);
        let path = path.trim_matches('/');
        let node = self.directory_node(partition, tree, path).await?;
        let node = self.node(partition, &node).await?;
        Ok(node.entries.iter().map(|entry| Item::of(entry, path)).collect())
    }

    /// What is at a path.
    pub async fn stat(&self, partition: &Partition, tree: TreeId, path: &str) -> Result<Item, ReadTreeError> {
        let path = path.trim_matches('/');
        let entry = self.find(partition, tree, path).await?;
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Ok(Item::of(&entry, parent))
    }

    /// How much is in a tree.
    pub async fn totals(&self, partition: &Partition, tree: TreeId) -> Result<Totals, ReadTreeError> {
        let node = self.node(partition, &tree.0).await?;
        let mut totals = Totals::default();
        node.entries.iter().for_each(|entry| totals += entry.totals());
        Ok(totals)
    }

    /// The node of the directory at a path.
    pub(crate) async fn directory_node(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
    ) -> Result<Hash, ReadTreeError> {
        if path.is_empty() {
            return Ok(tree.0);
        }
        match self.find(partition, tree, path).await?.what {
            What::Directory(Directory { node, .. }) => Ok(node),
            What::File(_) | What::Symlink(_) => {
                Err(ReadTreeError::WrongKind { path: path.to_owned(), wanted: "directory" })
            }
        }
    }
}

impl Item {
    /// An entry of the directory at `parent`, which is escaped.
    pub(crate) fn of(entry: &Entry, parent: &str) -> Self {
        let name = escape(&entry.name);
        let path = if parent.is_empty() { name.clone() } else { format!("{parent}/{name}") };
        let (kind, hash, target) = match &entry.what {
            What::File(file) => (ItemKind::File, Some(file.hash()), None),
            What::Directory(directory) => (ItemKind::Directory, Some(directory.node), None),
            What::Symlink(target) => (ItemKind::Symlink, None, Some(escape(target))),
        };
        Self {
            name,
            path,
            kind,
            size_bytes: entry.totals().bytes,
            mode: entry.mode.into(),
            mtime_ns: entry.mtime_ns,
            hash,
            target,
        }
    }
}
