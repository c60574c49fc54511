//! A store in a temporary directory, and trees to keep in it.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::TryStreamExt as _;
use object_store::{ObjectStore, path::Path as Name};
use tempfile::TempDir;
use warren_domain::{Partition, Timestamp};
use warren_env::{Env, ManualClock};
use warren_snapshots::{Options, Snapshots, Source, Storage, TakeRequest, Taken, Target, TreeId};

use crate::bucket::Bucket;

/// Makes two tests of each function: with packs in a directory, and in a bucket.
macro_rules! on_every_storage {
    ($($test:ident)*) => {
        mod directory {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::ground::Ground::new()).await;
            })*
        }

        mod bucket {
            $(#[tokio::test]
            async fn $test() {
                let Some(bucket) = crate::bucket::Bucket::open() else { return };
                super::$test(crate::ground::Ground::in_bucket(&bucket)).await;
            })*
        }
    };
}
pub(crate) use on_every_storage;

pub(crate) struct Ground {
    pub(crate) directory: TempDir,
    pub(crate) snapshots: Snapshots,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) partition: Partition,
    options: Options,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// On a file system in memory, where the machine has one: for trees that would keep a disk busy.
    pub(crate) fn in_memory() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::at(directory.expect("a directory"), |_| {})
    }

    /// With its packs in a bucket.
    pub(crate) fn in_bucket(bucket: &Bucket) -> Self {
        let s3 = bucket.s3.clone();
        Self::with(|options| options.storage = Storage::S3(s3))
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::at(tempfile::tempdir().expect("a directory"), change)
    }

    fn at(directory: TempDir, change: impl FnOnce(&mut Options)) -> Self {
        let clock = ManualClock::at(Timestamp::from_millis(1_800_000_000_000));
        let mut options = options(directory.path());
        change(&mut options);
        let snapshots = Snapshots::open(options.clone(), Env::with_clock(clock.clone())).expect("opens");
        fs::create_dir(directory.path().join("workspace")).expect("a workspace");
        Self { directory, snapshots, clock, partition: Partition::default_partition(), options }
    }

    /// The same store, as another process would open it.
    pub(crate) fn reopened(&self) -> Snapshots {
        Snapshots::open(self.options.clone(), Env::with_clock(self.clock.clone())).expect("opens")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, content).expect("writes");
        path
    }

    pub(crate) async fn take(&self, base: Option<TreeId>) -> Taken {
        let request = TakeRequest::new("place", base);
        let source = Source::directories(vec![("workspace".to_owned(), self.workspace())]);
        self.snapshots.take(&self.partition, source, request).await.expect("takes")
    }

    /// Restores into a new directory and returns it.
    pub(crate) async fn restore(&self, tree: TreeId, name: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::create_dir(&path).expect("a directory");
        let target = Target::directories(vec![("workspace".to_owned(), path.clone())]);
        self.snapshots.restore(&self.partition, tree, target, None).await.expect("restores");
        path
    }

    /// All objects of the partition.
    pub(crate) fn objects(&self) -> Arc<dyn ObjectStore> {
        self.options.storage.beside("trees/p-default").expect("opens")
    }

    /// The names of the packs, on whichever storage, oldest first.
    pub(crate) async fn pack_names(&self) -> Vec<Name> {
        let listed: Vec<_> =
            self.objects().list(Some(&Name::from("packs"))).try_collect().await.expect("lists");
        let mut names: Vec<_> = listed.into_iter().map(|meta| meta.location).collect();
        names.sort();
        names
    }

    /// The files of the packs, where the storage is a directory.
    pub(crate) fn packs(&self) -> Vec<PathBuf> {
        let packs = self.directory.path().join("store/trees/p-default/packs");
        let mut packs: Vec<_> = fs::read_dir(packs)
            .map(|packs| packs.map(|pack| pack.expect("a pack").path()).collect())
            .unwrap_or_default();
        packs.sort();
        packs
    }
}

fn options(directory: &Path) -> Options {
    Options { grace: Duration::from_secs(3600), ..Options::in_directory(directory.join("store")) }
}

/// Everything about a tree that is to survive, by path.
pub(crate) fn look(root: &Path) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
    let mut looks = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("lists") {
            let path = entry.expect("an entry").path();
            let stat = fs::symlink_metadata(&path).expect("a look");
            let content = if stat.is_symlink() {
                let target = fs::read_link(&path).expect("a target");
                std::os::unix::ffi::OsStrExt::as_bytes(target.as_os_str()).to_vec()
            } else if stat.is_file() && stat.len() < 1 << 30 {
                fs::read(&path).expect("reads")
            } else {
                stat.len().to_string().into_bytes()
            };
            if stat.is_dir() {
                waiting.push(path.clone());
            }
            let mtime_ns = stat.mtime() * 1_000_000_000 + stat.mtime_nsec();
            let mode = stat.permissions().mode() & 0o777;
            let content = if stat.is_dir() { Vec::new() } else { content };
            let relative = path.strip_prefix(root).expect("beneath").to_owned();
            looks.push((relative, mode, mtime_ns, content));
        }
    }
    looks.sort();
    looks
}
