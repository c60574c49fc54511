//! Giving a tree back.

use std::{path::PathBuf, sync::Mutex};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    task::spawn_blocking,
};
use warren_domain::Partition;
use warren_tree::{
    Hash, Index, KnownDir, Node, What,
    write::{self, Content, Feed, Stop, WriteError, Written},
};

use crate::{ReadTreeError, RestoreError, Snapshots, TreeId, take::Duplex};

/// Where a tree is written to: directories that are there and empty.
///
/// To be safe against being cut short, they are new ones, which take the place of the old when this has succeeded.
pub struct Target(pub(crate) TargetKind);

pub(crate) enum TargetKind {
    Directories(Vec<(String, PathBuf)>),
    Guest(Box<dyn Duplex>),
}

impl Target {
    /// Directories of this machine, by the names of their roots. Files belong to whoever we are.
    #[must_use]
    pub fn directories(roots: Vec<(String, PathBuf)>) -> Self {
        Self(TargetKind::Directories(roots))
    }

    /// A guest that was asked to write: the stream that `warren_sandbox::guest::Guest::write_tree` gives. It gets nothing but
    /// what belongs to the tree.
    #[must_use]
    pub fn guest(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self(TargetKind::Guest(Box::new(stream)))
    }
}

/// A tree that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// How many files and links it has.
    pub n_files: u64,
}

/// A directory of a tree that is being written.
pub(crate) struct Step {
    pub(crate) root: String,
    /// Empty for the root itself.
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u16,
    pub(crate) mtime_ns: i64,
    pub(crate) node: Node,
}

impl Snapshots {
    /// Writes a tree. Every byte is checked before it is written; where this fails, what was written is to be thrown away.
    ///
    /// With a `place`, what the new files look like is remembered, so that the next take of that place reads none of them.
    pub async fn restore(
        &self,
        partition: &Partition,
        tree: TreeId,
        target: Target,
        place: Option<&str>,
    ) -> Result<Restored, RestoreError> {
        let hold = self.hold(partition);
        hold.keep(tree);
        let plan = self.plan(partition, tree).await.map_err(|source| RestoreError::Read { tree, source })?;
        let Plan { mut index, steps } = plan;
        let (numbers, steps): (Vec<usize>, Vec<Step>) = steps.into_iter().unzip();
        let written = match target.0 {
            TargetKind::Directories(roots) => self.write_here(partition, tree, roots, steps).await?,
            TargetKind::Guest(stream) => self.write_guest(stream, partition, tree, steps).await?,
        };
        for (number, seen) in numbers.into_iter().zip(written) {
            index[number].entries.iter_mut().zip(seen).for_each(|(known, seen)| known.seen = seen);
        }
        let totals = index.first().map(|top| top.totals).unwrap_or_default();
        if let Some(place) = place {
            self.remember(partition, place, Index::new(index.into_iter().map(Into::into).collect()));
        }
        Ok(Restored { size_bytes: totals.bytes, n_files: totals.files })
    }

    /// All directories of a tree, each after the one it is in.
    async fn plan(&self, partition: &Partition, tree: TreeId) -> Result<Plan, ReadTreeError> {
        let index = self.index(partition, tree).await?;
        let dirs = index.dirs();
        let mut steps = Vec::new();
        let mut waiting: Vec<(usize, String, Vec<u8>, u16, i64)> = Vec::new();
        for known in dirs[0].entries.iter().rev() {
            let name = String::from_utf8_lossy(&known.entry.name).into_owned();
            waiting.push((known.child as usize, name, Vec::new(), known.entry.mode, known.entry.mtime_ns));
        }
        while let Some((number, root, path, mode, mtime_ns)) = waiting.pop() {
            let dir = &dirs[number];
            for known in
                dir.entries.iter().rev().filter(|known| matches!(known.entry.what, What::Directory(_)))
            {
                let name = &known.entry.name;
                let path = if path.is_empty() { name.to_vec() } else { [&path, &b"/"[..], name].concat() };
                let (mode, mtime_ns) = (known.entry.mode, known.entry.mtime_ns);
                waiting.push((known.child as usize, root.clone(), path, mode, mtime_ns));
            }
            let node = Node { entries: dir.entries.iter().map(|known| known.entry.clone()).collect() };
            steps.push((number, Step { root, path, mode, mtime_ns, node }));
        }
        Ok(Plan { index: dirs.iter().map(|dir| KnownDir::clone(dir)).collect(), steps })
    }

    async fn write_here(
        &self,
        partition: &Partition,
        tree: TreeId,
        roots: Vec<(String, PathBuf)>,
        steps: Vec<Step>,
    ) -> Result<Written, RestoreError> {
        let options = write::Options { roots, threads: 0 };
        let fetcher = Fetcher {
            snapshots: self.clone(),
            partition: partition.clone(),
            runtime: Handle::current(),
            failed: Mutex::new(None),
        };
        let work = move || {
            let written =
                write::write(&options, &fetcher, |feed| steps.iter().try_for_each(|step| step.feed(feed)));
            written.map_err(|source| match fetcher.failure() {
                Some(source) => RestoreError::Read { tree, source },
                None => RestoreError::Write { tree, source },
            })
        };
        spawn_blocking(work).await.unwrap_or(Err(RestoreError::Cut))
    }
}

struct Plan {
    index: Vec<KnownDir>,
    /// With the number of each in the index.
    steps: Vec<(usize, Step)>,
}

impl Step {
    fn feed(&self, feed: &mut Feed<'_>) -> Result<(), WriteError> {
        if self.path.is_empty() {
            return feed.root(&self.root, &self.node);
        }
        feed.directory(&self.root, &self.path, (self.mode, self.mtime_ns), &self.node)
    }
}

/// Fetches content for threads that are not the runtime's.
struct Fetcher {
    snapshots: Snapshots,
    partition: Partition,
    runtime: Handle,
    failed: Mutex<Option<ReadTreeError>>,
}

impl Fetcher {
    fn failure(&self) -> Option<ReadTreeError> {
        self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

impl Content for Fetcher {
    type Chunk = Bytes;

    fn fetch(&self, chunks: &[(Hash, u32)]) -> Result<Vec<Bytes>, Stop> {
        let hashes: Vec<Hash> = chunks.iter().map(|(hash, _)| *hash).collect();
        let shelf = self.snapshots.shelf(&self.partition);
        let read = self.runtime.block_on(self.snapshots.objects(&shelf, &hashes));
        read.map_err(|error| {
            self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
            Stop
        })
    }
}
