//! The store of trees, as the rest of the program holds it.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use object_store::ObjectStore;
use warren_domain::Partition;
use warren_env::Env;

use crate::{OpenError, Storage, cache::Segments, hold::Hold, objects, partition::Shelf, places::Places};

/// Where trees are kept, and within which bounds.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where packs are kept.
    pub storage: Storage,
    /// Where it is kept what files of this machine looked like. Without it, a restarted server reads them all once more.
    pub cache_directory: Option<PathBuf>,
    /// How long an object that nobody needs is kept. No take may last longer than half of it.
    pub grace: Duration,
    /// The largest tree, in bytes of its files.
    pub max_bytes: u64,
    /// The most entries of a tree.
    pub max_entries: u64,
}

/// Keeps trees. A cheap clone.
#[derive(Clone)]
pub struct Snapshots {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) options: Options,
    pub(crate) env: Env,
    pub(crate) segments: Segments,
    pub(crate) places: Places,
    shelves: Mutex<HashMap<Partition, Arc<Shelf>>>,
}

impl Options {
    /// In a directory, with a cache beside the packs.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self {
            cache_directory: Some(directory.join("cache")),
            storage: Storage::Directory(directory),
            grace: Duration::from_secs(24 * 60 * 60),
            max_bytes: 64 * 1024 * 1024 * 1024,
            max_entries: 2_000_000,
        }
    }
}

impl Snapshots {
    /// Opens the store. Nothing is read yet.
    pub fn open(options: Options, env: Env) -> Result<Self, OpenError> {
        let objects = objects::open(&options.storage)?;
        let places = Places::open(options.cache_directory.clone())?;
        let inner =
            Inner { objects, env, segments: Segments::default(), places, shelves: Mutex::default(), options };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Keeps everything that is taken, or read, from here on until the hold is dropped from being collected.
    #[must_use]
    pub fn hold(&self, partition: &Partition) -> Hold {
        self.shelf(partition).hold()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.inner.env.now().as_millis()
    }

    pub(crate) fn shelf(&self, partition: &Partition) -> Arc<Shelf> {
        let mut shelves = self.inner.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.entry(partition.clone()).or_insert_with(|| Arc::new(Shelf::new(partition))).clone()
    }
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").field("storage", &self.inner.options.storage).finish_non_exhaustive()
    }
}
