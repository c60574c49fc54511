//! The threads of a scan, and what they share.

use std::{
    os::fd::OwnedFd,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread,
};

use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    time::{ClockId, clock_gettime},
};

use super::{
    Base, BaseEntry, DirRef, Found, FoundDir, FoundEntry, FoundWhat, Kind, Notice, Options, ROOT_MODE, Sink,
    Stop, Why,
    batch::Batch,
    directory::{DirTask, ReadTask},
    own::Opened,
    queue::Queue,
};
use crate::{Seen, cut::Cutter};

/// Times of files are this coarse at worst: what changed so shortly before the scan may change again and look the same.
const TICK_NS: i64 = 20_000_000;

/// Why a scan came to no end.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// A root cannot be opened.
    #[error("failed to open the root `{name}`")]
    Root {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: Errno,
    },
    /// There is more than the options allow.
    #[error("the tree has more than {max} entries")]
    TooMany {
        /// What is allowed.
        max: u64,
    },
    /// A thread could not be started.
    #[error("failed to start a thread")]
    Thread(#[source] std::io::Error),
    /// The sink takes no more.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// Scans trees over a base. What is found is in the sink when this returns.
pub fn scan(options: &Options, base: &impl Base, sink: &impl Sink) -> Result<(), ScanError> {
    let scan = Scan {
        options,
        base,
        sink,
        roots: open_roots(options)?,
        queue: Queue::new(Vec::new()),
        n_new: AtomicU32::new(0),
        n_entries: AtomicU64::new(0),
        began_ns: now_ns(),
        failed: Mutex::new(None),
        opened: Mutex::default(),
    };
    scan.begin()?;
    let n_threads = match options.threads {
        0 => thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8)),
        n => n,
    };
    thread::scope(|scope| {
        for _ in 1..n_threads {
            let spawned = thread::Builder::new().spawn_scoped(scope, || scan.work());
            spawned.map_err(|error| {
                scan.queue.stop();
                ScanError::Thread(error)
            })?;
        }
        scan.work();
        Ok::<_, ScanError>(())
    })?;
    match scan.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// What all threads of a scan share.
pub(super) struct Scan<'a, B, S> {
    pub(super) options: &'a Options,
    pub(super) base: &'a B,
    pub(super) sink: &'a S,
    /// `None` for a root that is not there.
    pub(super) roots: Vec<Option<OwnedFd>>,
    pub(super) queue: Queue<Task>,
    n_new: AtomicU32,
    n_entries: AtomicU64,
    began_ns: i64,
    failed: Mutex<Option<ScanError>>,
    /// Directories that their user has shut; they are again when the scan has ended.
    pub(super) opened: Mutex<Vec<Opened>>,
}

/// Something a thread can do by itself.
pub(super) enum Task {
    /// Look at a directory.
    Directory(DirTask),
    /// Read some of its files.
    Read(ReadTask),
}

/// What each thread has of its own.
pub(super) struct Worker {
    pub(super) cutter: Cutter,
    pub(super) batch: Batch,
    /// For names of a directory.
    pub(super) names: Vec<u8>,
}

impl<B: Base, S: Sink> Scan<'_, B, S> {
    /// Tells of the roots, and puts them to work.
    fn begin(&self) -> Result<(), ScanError> {
        let old = self.base.directory(0);
        let mut roots: Vec<(usize, &String)> =
            self.options.roots.iter().map(|(name, _)| name).enumerate().collect();
        roots.sort_by_key(|(_, name)| name.as_bytes());
        let is_same = old.len() == roots.len()
            && old.iter().zip(&roots).all(|(old, (_, name))| old.name == name.as_bytes());
        let mut entries = Vec::new();
        for (root, name) in roots {
            let before = old.iter().find(|old| old.name == name.as_bytes() && old.kind == Kind::Directory);
            let at = self.place(before);
            entries.push(Found::Entry(FoundEntry {
                name: name.as_bytes().into(),
                mode: ROOT_MODE,
                mtime_ns: 0,
                seen: Seen::default(),
                what: FoundWhat::Directory(at),
            }));
            self.queue.push(Task::Directory(DirTask { root, path: Vec::new(), at }));
        }
        if !is_same {
            self.sink.directory(FoundDir { at: DirRef::Base(0), entries })?;
        }
        Ok(())
    }

    fn work(&self) {
        let mut worker = Worker { cutter: Cutter::new(), batch: Batch::default(), names: Vec::new() };
        self.queue.work(|task| {
            let done = match task {
                Task::Directory(task) => self.directory(&mut worker, task),
                Task::Read(task) => self.read(&mut worker, &task),
            };
            done.unwrap_or_else(|error| self.fail(error));
        });
        worker.batch.flush(self.sink).unwrap_or_else(|stop| self.fail(stop.into()));
    }

    fn fail(&self, error: ScanError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.queue.stop();
    }

    /// The place of a directory: the base's, where it has one there.
    pub(super) fn place(&self, before: Option<&BaseEntry<'_>>) -> DirRef {
        match before {
            Some(before) => DirRef::Base(before.child),
            None => DirRef::New(self.n_new.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// Counts what was found.
    pub(super) fn count(&self, n: usize) -> Result<(), ScanError> {
        let max = self.options.max_entries;
        let before = self.n_entries.fetch_add(n as u64, Ordering::Relaxed);
        if max > 0 && before + n as u64 > max { Err(ScanError::TooMany { max }) } else { Ok(()) }
    }

    /// What a file can be known by next time: nothing, if it changed so shortly before that it may change unnoticed.
    pub(super) fn seen(&self, inode: u64, ctime_ns: i64) -> Seen {
        if ctime_ns < self.began_ns - TICK_NS { Seen { inode, ctime_ns } } else { Seen::default() }
    }

    pub(super) fn notice(&self, root: usize, path: &[u8], why: Why) -> Result<(), Stop> {
        let mut full = self.options.roots[root].0.clone().into_bytes();
        if !path.is_empty() {
            full.push(b'/');
            full.extend_from_slice(path);
        }
        self.sink.notice(Notice { path: full, why })
    }
}

fn open_roots(options: &Options) -> Result<Vec<Option<OwnedFd>>, ScanError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |(name, path): &(String, _)| match open::<&std::path::PathBuf>(path, flags, Mode::empty()) {
        Ok(root) => Ok(Some(root)),
        Err(Errno::NOENT) => Ok(None),
        Err(source) => Err(ScanError::Root { name: name.clone(), source }),
    };
    options.roots.iter().map(open).collect()
}

/// The time that the kernel gives to files now.
fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}
