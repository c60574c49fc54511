//! Taking a tree.

mod overlay;
mod taker;

use std::{path::PathBuf, sync::Arc};

use object_store::{ObjectStore as _, PutMode};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::spawn_blocking,
};
use warren_domain::Partition;
use warren_tree::{Changes, Index, KnownDir, What, scan};

use crate::{
    Hold, ReadTreeError, Snapshots, TakeError, TreeId, Why, objects,
    pack::Table,
    partition::{Pack, Shelf},
    places::{self, Side},
};

pub use overlay::Overlaid;
use taker::Scanned;
pub(crate) use taker::Taker;

/// Directories that are left out unless the options say otherwise: caches and dependencies, which can be had again.
/// So is every directory with a `CACHEDIR.TAG`. The user's own `.gitignore` never counts.
pub const DEFAULT_EXCLUDES: &[&str] = &[
    ".cache",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".npm",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "__pycache__",
    "bower_components",
    "node_modules",
    "venv",
];

/// Where a tree is taken from.
pub struct Source(pub(crate) SourceKind);

pub(crate) enum SourceKind {
    Directories(Vec<(String, PathBuf)>),
    Guest(Box<dyn Duplex>),
}

impl SourceKind {
    fn side(&self) -> Side {
        match self {
            SourceKind::Directories(_) => Side::Host,
            SourceKind::Guest(_) => Side::Guest,
        }
    }
}

/// A stream in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

impl Source {
    /// Directories of this machine, by the names of their roots. For trees of our own: it reads as whoever we are.
    #[must_use]
    pub fn directories(roots: Vec<(String, PathBuf)>) -> Self {
        Self(SourceKind::Directories(roots))
    }

    /// A guest that was asked for a scan: the stream that `warren_sandbox::guest::Guest::scan_tree` gives. Nothing that
    /// comes over it is believed.
    #[must_use]
    pub fn guest(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self(SourceKind::Guest(Box::new(stream)))
    }
}

/// How to take a tree.
#[derive(Debug, Clone, Default)]
pub struct TakeRequest {
    /// What the place is called whose files these are: a workspace of this machine. What is known of it makes an unchanged
    /// tree cost a look at each file. Without a place every file is read.
    pub place: Option<String>,
    /// The tree it is compared with. The caller sees to it that it is not collected meanwhile: it is a version's, or held.
    pub base: Option<TreeId>,
    /// Names of directories that are left out; see [`DEFAULT_EXCLUDES`].
    pub excludes: Vec<String>,
}

impl TakeRequest {
    /// With the usual directories left out.
    #[must_use]
    pub fn new(place: impl Into<String>, base: Option<TreeId>) -> Self {
        let excludes = DEFAULT_EXCLUDES.iter().map(|name| (*name).to_owned()).collect();
        Self { place: Some(place.into()), base, excludes }
    }
}

/// A tree that was taken. It is durable.
#[derive(Debug)]
pub struct Taken {
    /// What it is known by. The base's, if nothing changed.
    pub tree: TreeId,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// How many files and links it has.
    pub n_files: u64,
    /// How it differs from the base, or from nothing.
    pub changes: Changes,
    /// Directories that were left out on purpose: the root's name and the path beneath it, see [`crate::escape`].
    pub excluded: Vec<String>,
    /// What is not in it against the user's will.
    pub skipped: Vec<Skipped>,
    /// Files that changed every time they were read: they are in it as they were at some moment, or as a mixture of some.
    pub unstable: Vec<String>,
    /// What was added to the store, compressed.
    pub stored_bytes: u64,
    /// What a guest sent of its files' content.
    pub sent_bytes: u64,
    /// Keeps the tree from being collected. To be kept until the tree is in a record that the collection is told of.
    pub hold: Hold,
}

/// Something that is not in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is.
    pub path: String,
    /// Why it was skipped.
    pub why: Why,
}

/// Packs on their way to the store. While two wait, whoever scans waits too.
pub(crate) type Packs = mpsc::Sender<(Vec<u8>, Table)>;

impl Snapshots {
    /// Takes a tree. Costs a look at every file, and reads those that changed since the place was last seen.
    pub async fn take(
        &self,
        partition: &Partition,
        source: Source,
        mut request: TakeRequest,
    ) -> Result<Taken, TakeError> {
        request.place = request.place.map(|place| source.0.side().place(&place));
        let began = self.inner.env.now();
        let shelf = self.shelf(partition);
        let hold = shelf.hold();
        if let Some(base) = request.base {
            hold.keep(base);
        }
        self.refresh_condemned(&shelf).await.map_err(TakeError::Partition)?;
        let base = self.base(partition, &request).await?;
        let (packs, waiting) = mpsc::channel(2);
        let taker = Arc::new(Taker::new(shelf.clone(), packs));
        let scanning = self.scan(source, &request, base.clone(), taker);
        let (scanned, stored) = tokio::join!(scanning, self.store_packs(&shelf, waiting));
        // Where the store fails, the scan is stopped by it: the store's own words are the better ones.
        let stored_bytes = stored?;
        let (scanned, sent_bytes) = scanned?;
        self.check_time(began)?;
        let taken = self.finish(partition, &request, &base, scanned, stored_bytes, hold).await?;
        Ok(Taken { sent_bytes, ..taken })
    }

    async fn scan(
        &self,
        source: Source,
        request: &TakeRequest,
        base: Arc<Index>,
        taker: Arc<Taker>,
    ) -> Result<(Scanned, u64), TakeError> {
        let options = scan::Options {
            excludes: request.excludes.iter().map(|name| name.as_bytes().to_vec()).collect(),
            max_entries: self.inner.options.max_entries,
            ..scan::Options::default()
        };
        let max_bytes = self.inner.options.max_bytes;
        let (here, sent_bytes) = match source.0 {
            SourceKind::Guest(stream) => {
                (None, self.scan_guest(stream, &options, base.clone(), taker.clone()).await?)
            }
            SourceKind::Directories(roots) => (Some(scan::Options { roots, ..options }), 0),
        };
        let work = move || {
            match here {
                Some(options) => scan::scan(&options, &*base, &*taker).map_err(TakeError::Scan)?,
                None => taker.check_references()?,
            }
            Ok((taker.merge(&base, max_bytes)?, sent_bytes))
        };
        spawn_blocking(work).await.unwrap_or(Err(TakeError::Cut))
    }

    /// What is known of the place; else the base itself; else nothing.
    async fn base(&self, partition: &Partition, request: &TakeRequest) -> Result<Arc<Index>, TakeError> {
        if let Some(place) = request.place.clone() {
            let (snapshots, owner) = (self.clone(), partition.clone());
            let get = move || snapshots.inner.places.get(&owner, &place);
            let known = spawn_blocking(get).await.map_err(|_| TakeError::Cut)?;
            // It may be of a tree that was collected meanwhile, and then says nothing of what can be relied on.
            if let Some(index) = known
                && (index.tree().map(TreeId) == request.base || self.shelf(partition).has_all(&index))
            {
                return Ok(index);
            }
        }
        match request.base {
            Some(base) => {
                let read = self.index(partition, base).await;
                read.map(Arc::new).map_err(|source| TakeError::Base { base, source })
            }
            None => Ok(Arc::default()),
        }
    }

    /// A tree with all its directories in memory, and nothing known of how its files look.
    pub(crate) async fn index(&self, partition: &Partition, tree: TreeId) -> Result<Index, ReadTreeError> {
        let mut dirs: Vec<Arc<KnownDir>> = Vec::new();
        let mut waiting = vec![tree.0];
        let mut at = 0;
        while at < waiting.len() {
            let node = self.node(partition, &waiting[at]).await?;
            let mut dir = KnownDir { node: Some(waiting[at]), ..KnownDir::default() };
            for entry in node.entries {
                dir.totals += entry.totals();
                let mut known = warren_tree::Known { seen: Default::default(), child: 0, entry };
                if let What::Directory(directory) = &known.entry.what {
                    known.child = waiting.len() as u32;
                    waiting.push(directory.node);
                }
                dir.entries.push(known);
            }
            dirs.push(Arc::new(dir));
            at += 1;
        }
        Ok(Index::new(dirs))
    }

    /// Puts packs into the store as they come. Returns their size.
    pub(crate) async fn store_packs(
        &self,
        shelf: &Shelf,
        mut packs: mpsc::Receiver<(Vec<u8>, Table)>,
    ) -> Result<u64, TakeError> {
        let mut n_bytes = 0;
        while let Some((bytes, table)) = packs.recv().await {
            let name =
                format!("{:012x}-{}", self.inner.env.now().as_millis(), self.inner.env.uuid().simple());
            let size = bytes.len() as u64;
            let place = objects::pack(&shelf.partition, &name);
            let put = self.inner.objects.put_opts(&place, bytes.into(), PutMode::Create.into()).await;
            put.map_err(TakeError::Store)?;
            shelf.write().add(Pack { name, size, segments: table.segments }, table.objects);
            n_bytes += size;
        }
        Ok(n_bytes)
    }

    async fn finish(
        &self,
        partition: &Partition,
        request: &TakeRequest,
        base: &Index,
        scanned: Scanned,
        stored_bytes: u64,
        hold: Hold,
    ) -> Result<Taken, TakeError> {
        let Scanned { index, tree, changes, notices } = scanned;
        hold.keep(tree);
        let compared_with = base.tree().map(TreeId);
        let changes = if compared_with == request.base {
            changes
        } else {
            let from = request.base.unwrap_or_else(TreeId::empty);
            self.diff(partition, from, tree, 0).await.map_err(TakeError::Partition)?.changes
        };
        let totals = places::totals(&index);
        if let Some(place) = &request.place {
            self.remember(partition, place, index);
        }
        let [excluded, unstable] = [Why::Excluded, Why::Unstable].map(|why| {
            notices.iter().filter(|skipped| skipped.why == why).map(|it| it.path.clone()).collect()
        });
        let is_skipped = |skipped: &Skipped| !matches!(skipped.why, Why::Excluded | Why::Unstable);
        let skipped = notices.into_iter().filter(is_skipped).collect();
        Ok(Taken {
            tree,
            size_bytes: totals.bytes,
            n_files: totals.files,
            changes,
            excluded,
            skipped,
            unstable,
            stored_bytes,
            sent_bytes: 0,
            hold,
        })
    }

    /// Notes what a place looks like, and writes down what is new of it while nobody waits for that.
    pub(crate) fn remember(&self, partition: &Partition, place: &str, index: Index) {
        if !self.inner.places.put(partition, place, Arc::new(index)) {
            return;
        }
        let (snapshots, partition, place) = (self.clone(), partition.clone(), place.to_owned());
        // Nobody waits for it: if it does not come to pass, the next server reads more.
        drop(spawn_blocking(move || snapshots.inner.places.save(&partition, &place)));
    }

    fn check_time(&self, began: warren_domain::Timestamp) -> Result<(), TakeError> {
        let grace = i64::try_from(self.inner.options.grace.as_millis()).unwrap_or(i64::MAX);
        let lasted = self.inner.env.now().as_millis() - began.as_millis();
        if grace > 0 && lasted > grace / 2 { Err(TakeError::TooSlow) } else { Ok(()) }
    }
}
