//! Giving a tree back.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    task::spawn_blocking,
};
use warren_domain::Partition;
use warren_tree::{
    Entry, Hash, Index, Known, KnownDir, Node, Seen, What,
    write::{self, Content, Feed, Stop, WriteError, Written},
};

use crate::{ReadTreeError, RestoreError, Snapshots, TreeId, places::Side, take::Duplex};

/// Where a tree is written to: directories that are there and empty.
///
/// To be safe against being cut short, they are new ones, which take the place of the old when this has succeeded.
pub struct Target(pub(crate) TargetKind);

pub(crate) enum TargetKind {
    Directories(write::Options),
    Guest(Box<dyn Duplex>, Roots),
}

/// Which roots of a tree a guest is given.
pub(crate) enum Roots {
    All,
    Named(Vec<String>),
}

impl Target {
    /// Directories of this machine, by the names of their roots; what a tree has in others is left out. Files belong to
    /// whoever we are.
    #[must_use]
    pub fn directories(roots: Vec<(String, PathBuf)>) -> Self {
        Self(TargetKind::Directories(write::Options { roots, ..write::Options::default() }))
    }

    /// The same, in place of directories that nobody uses and nobody wants any more: files of theirs that are known to be
    /// what is wanted are moved from there, once all others are written.
    #[must_use]
    pub fn in_place_of(mut self, before: Vec<(String, PathBuf)>) -> Self {
        if let TargetKind::Directories(options) = &mut self.0 {
            options.before = before;
        }
        self
    }

    /// The same, with everything beneath the roots given to a user and its group. Who may give nothing keeps it.
    #[must_use]
    pub fn owned_by(mut self, user: u32) -> Self {
        if let TargetKind::Directories(options) = &mut self.0 {
            options.owner = Some(user);
        }
        self
    }

    /// A guest that was asked to write: the stream that `warren_sandbox::guest::Guest::write_tree` gives. It gets nothing but
    /// what belongs to the tree.
    #[must_use]
    pub fn guest(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self(TargetKind::Guest(Box::new(stream), Roots::All))
    }

    /// The same, of which it gets nothing but what the tree has in these roots.
    #[must_use]
    pub fn only(mut self, names: Vec<String>) -> Self {
        if let TargetKind::Guest(_, roots) = &mut self.0 {
            *roots = Roots::Named(names);
        }
        self
    }
}

/// A tree that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// How many files and links it has.
    pub n_files: u64,
    /// How many of them were there already, and were moved.
    pub n_moved: u64,
}

/// A directory of a tree that is being written.
pub(crate) struct Step {
    pub(crate) root: String,
    /// Empty for the root itself.
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u16,
    pub(crate) mtime_ns: i64,
    pub(crate) node: Node,
    /// How its entries look in the same place of what was there before, where they are the same.
    pub(crate) known: Vec<Seen>,
}

impl Snapshots {
    /// Writes a tree. Every byte is checked before it is written; where this fails, what was written is to be thrown away.
    ///
    /// With a `place`, what the new files look like is remembered, so that the next take of that place reads none of them;
    /// and what is known of it tells which files of the target's old directories are the same.
    pub async fn restore(
        &self,
        partition: &Partition,
        tree: TreeId,
        target: Target,
        place: Option<&str>,
    ) -> Result<Restored, RestoreError> {
        let hold = self.hold(partition);
        hold.keep(tree);
        let place = place.map(|place| target.0.side().place(place));
        let replaces = matches!(&target.0, TargetKind::Directories(options) if !options.before.is_empty());
        let before = match &place {
            Some(place) if replaces => self.before(partition, place).await?,
            _ => Arc::default(),
        };
        let plan = self.plan(partition, tree, &before).await;
        let Plan { mut index, mut steps } = plan.map_err(|source| RestoreError::Read { tree, source })?;
        steps.retain(|(_, step)| target.0.has(&step.root));
        let (numbers, steps): (Vec<usize>, Vec<Step>) = steps.into_iter().unzip();
        let written = match target.0 {
            TargetKind::Directories(options) => self.write_here(partition, tree, options, steps).await?,
            TargetKind::Guest(stream, _) => self.write_guest(stream, partition, tree, steps).await?,
        };
        for (number, seen) in numbers.into_iter().zip(written.seen) {
            index[number].entries.iter_mut().zip(seen).for_each(|(known, seen)| known.seen = seen);
        }
        let totals = index.first().map(|top| top.totals).unwrap_or_default();
        if let Some(place) = place {
            self.remember(partition, &place, Index::new(index.into_iter().map(Into::into).collect()));
        }
        Ok(Restored { size_bytes: totals.bytes, n_files: totals.files, n_moved: written.n_moved })
    }

    /// What is known of the directories that are to be replaced.
    async fn before(&self, partition: &Partition, place: &str) -> Result<Arc<Index>, RestoreError> {
        let (snapshots, partition, place) = (self.clone(), partition.clone(), place.to_owned());
        let get = move || snapshots.inner.places.get(&partition, &place);
        Ok(spawn_blocking(get).await.map_err(|_| RestoreError::Cut)?.unwrap_or_default())
    }

    /// All directories of a tree, each after the one it is in.
    async fn plan(&self, partition: &Partition, tree: TreeId, before: &Index) -> Result<Plan, ReadTreeError> {
        let index = self.index(partition, tree).await?;
        let dirs = index.dirs();
        let mut steps = Vec::new();
        let mut waiting: Vec<Waiting> = Vec::new();
        for known in dirs[0].entries.iter().rev() {
            let root = String::from_utf8_lossy(&known.entry.name).into_owned();
            waiting.push(Waiting::of(known, root, Vec::new(), before.dirs().first()));
        }
        while let Some(Waiting { number, root, path, mode, mtime_ns, before: old }) = waiting.pop() {
            let dir = &dirs[number];
            let old = old.and_then(|number| before.dirs().get(number as usize));
            for known in
                dir.entries.iter().rev().filter(|known| matches!(known.entry.what, What::Directory(_)))
            {
                let name = &known.entry.name;
                let path = if path.is_empty() { name.to_vec() } else { [&path, &b"/"[..], name].concat() };
                waiting.push(Waiting::of(known, root.clone(), path, old));
            }
            let node = Node { entries: dir.entries.iter().map(|known| known.entry.clone()).collect() };
            let known = old.map(|old| same_in(old, &node)).unwrap_or_default();
            steps.push((number, Step { root, path, mode, mtime_ns, node, known }));
        }
        Ok(Plan { index: dirs.iter().map(|dir| KnownDir::clone(dir)).collect(), steps })
    }

    async fn write_here(
        &self,
        partition: &Partition,
        tree: TreeId,
        options: write::Options,
        steps: Vec<Step>,
    ) -> Result<Written, RestoreError> {
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

/// A directory that is not in the plan yet.
struct Waiting {
    number: usize,
    root: String,
    path: Vec<u8>,
    mode: u16,
    mtime_ns: i64,
    /// The number of the one in the same place of what was there before.
    before: Option<u32>,
}

impl Waiting {
    /// A directory that was in `parent` before, if it was anywhere.
    fn of(known: &Known, root: String, path: Vec<u8>, parent: Option<&Arc<KnownDir>>) -> Self {
        let before = parent.and_then(|parent| parent.get(&known.entry.name));
        let is_directory = |before: &&Known| matches!(before.entry.what, What::Directory(_));
        Self {
            number: known.child as usize,
            root,
            path,
            mode: known.entry.mode,
            mtime_ns: known.entry.mtime_ns,
            before: before.filter(is_directory).map(|before| before.child),
        }
    }
}

/// How the entries of a node looked in a directory, where it had the very same.
fn same_in(before: &KnownDir, node: &Node) -> Vec<Seen> {
    let same = |entry: &Entry| before.get(&entry.name).filter(|known| known.entry == *entry);
    node.entries.iter().map(|entry| same(entry).map(|known| known.seen).unwrap_or_default()).collect()
}

impl TargetKind {
    fn side(&self) -> Side {
        match self {
            TargetKind::Directories(_) => Side::Host,
            TargetKind::Guest(..) => Side::Guest,
        }
    }

    /// Whether what a tree has in this root is written.
    fn has(&self, root: &str) -> bool {
        match self {
            TargetKind::Directories(options) => options.roots.iter().any(|(name, _)| name == root),
            TargetKind::Guest(_, Roots::All) => true,
            TargetKind::Guest(_, Roots::Named(names)) => names.iter().any(|name| name == root),
        }
    }
}

impl Step {
    fn feed(&self, feed: &mut Feed<'_>) -> Result<(), WriteError> {
        if self.path.is_empty() {
            return feed.root(&self.root, &self.node, &self.known);
        }
        feed.directory(&self.root, &self.path, (self.mode, self.mtime_ns), &self.node, &self.known)
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
