//! Putting one tree over another.

use std::{cmp::Ordering, sync::Arc};

use futures::future::{BoxFuture, FutureExt as _};
use tokio::{sync::mpsc, task::spawn_blocking};
use warren_domain::Partition;
use warren_tree::{Directory, Entry, Hash, Node, Totals, What};

use super::Taker;
use crate::{Hold, OverlayError, Snapshots, TakeError, TreeId, escape};

/// A tree that was made of two.
#[derive(Debug)]
pub struct Overlaid {
    /// What it is known by.
    pub tree: TreeId,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// Keeps the tree from being collected.
    pub hold: Hold,
}

/// Directories that are new.
type Nodes = Vec<(Hash, Vec<u8>)>;

impl Snapshots {
    /// Makes a tree that has everything of `over`, and of `base` what `over` does not have. No file is read.
    ///
    /// The caller holds both. `over` must not be deep: its depth is that of the recursion.
    pub async fn overlay(
        &self,
        partition: &Partition,
        base: TreeId,
        over: TreeId,
    ) -> Result<Overlaid, OverlayError> {
        let shelf = self.shelf(partition);
        let hold = shelf.hold();
        hold.keep(base);
        hold.keep(over);
        self.refresh_condemned(&shelf).await.map_err(OverlayError::Read)?;
        let mut nodes = Nodes::new();
        let merged = self.merged(partition, String::new(), base.0, over.0, &mut nodes).await?;
        if merged.totals.bytes > self.inner.options.max_bytes {
            let max_bytes = self.inner.options.max_bytes;
            return Err(OverlayError::Keep(TakeError::TooLarge { max_bytes }));
        }
        let (packs, waiting) = mpsc::channel(2);
        let taker = Arc::new(Taker::new(shelf.clone(), packs));
        let keeping = spawn_blocking(move || taker.keep_nodes(nodes));
        let (kept, stored) = tokio::join!(keeping, self.store_packs(&shelf, waiting));
        stored.map_err(OverlayError::Keep)?;
        kept.unwrap_or(Err(TakeError::Cut)).map_err(OverlayError::Keep)?;
        let tree = TreeId(merged.node);
        hold.keep(tree);
        Ok(Overlaid { tree, size_bytes: merged.totals.bytes, hold })
    }

    /// Both directories as one, which is added to `nodes` if it is neither of them.
    fn merged<'a>(
        &'a self,
        partition: &'a Partition,
        path: String,
        base: Hash,
        over: Hash,
        nodes: &'a mut Nodes,
    ) -> BoxFuture<'a, Result<Directory, OverlayError>> {
        async move {
            let before = self.node(partition, &base).await.map_err(OverlayError::Read)?;
            let after = self.node(partition, &over).await.map_err(OverlayError::Read)?;
            let mut entries = Vec::with_capacity(before.entries.len().max(after.entries.len()));
            for pair in pairs(before, after) {
                entries.push(match pair {
                    (Some(one), None) | (None, Some(one)) => one,
                    (None, None) => continue,
                    (Some(old), Some(new)) => match (&old.what, &new.what) {
                        (What::Directory(lower), What::Directory(upper)) => {
                            let path = join(&path, &new.name);
                            let inside = self.merged(partition, path, lower.node, upper.node, nodes).await?;
                            Entry { what: What::Directory(inside), ..new }
                        }
                        (What::Directory(_), _) | (_, What::Directory(_)) => {
                            return Err(OverlayError::Conflict { path: join(&path, &new.name) });
                        }
                        _ => new,
                    },
                });
            }
            let mut totals = Totals::default();
            entries.iter().for_each(|entry| totals += entry.totals());
            let bytes = Node { entries }.encode();
            let node = Hash::of(&bytes);
            if node != base && node != over {
                nodes.push((node, bytes));
            }
            Ok(Directory { node, totals })
        }
        .boxed()
    }
}

/// Entries of both, name by name.
fn pairs(before: Node, after: Node) -> Vec<(Option<Entry>, Option<Entry>)> {
    let (mut before, mut after) =
        (before.entries.into_iter().peekable(), after.entries.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(before), Some(after)) => before.name.cmp(&after.name),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { after.next() } else { None };
        pairs.push((old, new));
    }
}

fn join(parent: &str, name: &[u8]) -> String {
    let name = escape(name);
    if parent.is_empty() { name } else { format!("{parent}/{name}") }
}
