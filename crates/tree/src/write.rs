//! Writing a tree to a disk: into directories that are there and empty, and never outside them.
//!
//! One thread is fed with directories and makes them; several others write files, and ask for the content as they need it.
//! Every file is made new, beneath its root and through no link. Nothing is synced: whoever wants the tree to survive a
//! loss of power syncs the file system once, at the end.

mod file;

use std::{
    collections::HashMap,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use rustix::{
    fs::{
        AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps, chmodat, mkdirat, open, openat, openat2,
        utimensat,
    },
    io::Errno,
};

use crate::{Entry, Hash, Node, Seen, What, is_legal_name};

pub use file::Stop;

/// The only way a path is ever resolved.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Files of one directory that are written as one piece of work: so many,
const FILES_PER_JOB: usize = 64;
/// or so many bytes.
const BYTES_PER_JOB: u64 = 1024 * 1024;

/// Where to write, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The trees, by name: directories that are there and empty.
    pub roots: Vec<(String, PathBuf)>,
    /// How many threads write; as many as there are processors if zero.
    pub threads: usize,
}

/// Gives content. Called from several threads at a time.
pub trait Content: Sync {
    /// A chunk's bytes.
    type Chunk: AsRef<[u8]>;

    /// These chunks, in order.
    fn fetch(&self, chunks: &[(Hash, u32)]) -> Result<Vec<Self::Chunk>, Stop>;
}

/// Why a tree could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A root cannot be opened, or the tree has one that is not wanted here.
    #[error("failed to open the root `{name}`")]
    Root {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: Errno,
    },
    /// Something could not be made.
    #[error("failed to {doing} `{path}`")]
    Make {
        /// What was tried.
        doing: &'static str,
        /// The root's name, a slash, and the path beneath it, as far as it is text.
        path: String,
        /// Why.
        #[source]
        source: Errno,
    },
    /// The tree is not one that could be written.
    #[error("the tree makes no sense: {what}")]
    Unusable {
        /// What is wrong.
        what: &'static str,
    },
    /// A thread could not be started.
    #[error("failed to start a thread")]
    Thread(#[source] std::io::Error),
    /// Content could not be had; whoever gives it knows why.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// What became of the files of each directory, in the order in which they were fed.
pub type Written = Vec<Vec<Seen>>;

/// Writes the directories that `feed` gives.
pub fn write<C: Content>(
    options: &Options,
    content: &C,
    feed: impl FnOnce(&mut Feed<'_>) -> Result<(), WriteError>,
) -> Result<Written, WriteError> {
    let shared = Shared {
        roots: open_roots(options)?,
        failed: Mutex::new(None),
        has_failed: AtomicBool::new(false),
        written: Mutex::new(HashMap::new()),
    };
    let n_threads = match options.threads {
        0 => thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8)),
        n => n,
    };
    // When it is full, whoever feeds waits for the files to be written.
    let (sender, receiver) = sync_channel(n_threads * 4);
    let receiver = Mutex::new(receiver);
    let mut feeder = Feed { shared: &shared, jobs: Some(sender), made: Vec::new() };
    thread::scope(|scope| {
        for _ in 0..n_threads {
            let spawned = thread::Builder::new().spawn_scoped(scope, || shared.work(&receiver, content));
            if let Err(error) = spawned {
                feeder.jobs = None;
                return Err(WriteError::Thread(error));
            }
        }
        let fed = feed(&mut feeder);
        feeder.jobs = None;
        fed
    })?;
    if let Some(error) = shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    feeder.finish()?;
    let n_made = feeder.made.len();
    let mut written = shared.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((0..n_made).map(|number| written.remove(&number).unwrap_or_default()).collect())
}

/// What the threads share.
struct Shared {
    roots: Vec<(String, OwnedFd)>,
    failed: Mutex<Option<WriteError>>,
    has_failed: AtomicBool,
    written: Mutex<HashMap<usize, Vec<Seen>>>,
}

/// Some entries of a directory, all in one piece of work.
struct Job {
    /// The directory's place in the order.
    number: usize,
    root: usize,
    path: Vec<u8>,
    /// The place of each among the directory's entries.
    entries: Vec<(usize, Entry)>,
    n_entries: usize,
}

/// Takes directories, each after the one it is in.
pub struct Feed<'a> {
    shared: &'a Shared,
    /// `None` once all were fed.
    jobs: Option<SyncSender<Job>>,
    made: Vec<Made>,
}

/// A directory that was made, and what it is to look like at the end.
struct Made {
    root: usize,
    path: Vec<u8>,
    look: Option<(u16, i64)>,
}

impl Feed<'_> {
    /// The content of a root.
    pub fn root(&mut self, name: &str, node: &Node) -> Result<(), WriteError> {
        let root = self.shared.roots.iter().position(|(root, _)| root == name);
        let unknown = || WriteError::Root { name: name.to_owned(), source: Errno::NOENT };
        self.fill(root.ok_or_else(unknown)?, Vec::new(), None, node)
    }

    /// A directory: beneath which root, where, what it is to look like, and what is in it.
    pub fn directory(
        &mut self,
        name: &str,
        path: &[u8],
        look: (u16, i64),
        node: &Node,
    ) -> Result<(), WriteError> {
        let root = self.shared.roots.iter().position(|(root, _)| root == name);
        let root = root.ok_or(WriteError::Root { name: name.to_owned(), source: Errno::NOENT })?;
        let (parent, own) = split(path);
        if !is_legal_name(own) {
            return Err(WriteError::Unusable { what: "a directory has no legal name" });
        }
        let made = self.shared.open(root, parent).and_then(|parent| mkdirat(parent, own, Mode::RWXU));
        made.map_err(|source| self.shared.failure("make the directory", root, path, source))?;
        self.fill(root, path.to_vec(), Some(look), node)
    }

    fn fill(
        &mut self,
        root: usize,
        path: Vec<u8>,
        look: Option<(u16, i64)>,
        node: &Node,
    ) -> Result<(), WriteError> {
        let number = self.made.len();
        let n_entries = node.entries.len();
        let mut entries = Vec::new();
        let mut bytes = 0;
        for (at, entry) in node.entries.iter().enumerate() {
            if matches!(entry.what, What::Directory(_)) {
                continue;
            }
            bytes += entry.totals().bytes;
            entries.push((at, entry.clone()));
            if entries.len() >= FILES_PER_JOB || bytes >= BYTES_PER_JOB {
                let entries = std::mem::take(&mut entries);
                self.push(Job { number, root, path: path.clone(), entries, n_entries })?;
                bytes = 0;
            }
        }
        if !entries.is_empty() {
            self.push(Job { number, root, path: path.clone(), entries, n_entries })?;
        }
        self.made.push(Made { root, path, look });
        Ok(())
    }

    fn push(&mut self, job: Job) -> Result<(), WriteError> {
        let jobs = self.jobs.as_ref().ok_or(WriteError::Stopped(Stop))?;
        // Nobody works on it only if all threads are gone, and then they said why.
        jobs.send(job).map_err(|_| WriteError::Stopped(Stop))
    }

    /// Gives the directories their looks, those below first: making a file changes the time of its directory.
    fn finish(&self) -> Result<(), WriteError> {
        for made in self.made.iter().rev() {
            let Some((mode, mtime_ns)) = made.look else { continue };
            let failed = |source| self.shared.failure("finish the directory", made.root, &made.path, source);
            // In two steps: the whole path may be longer than the kernel takes in one.
            let (parent, own) = split(&made.path);
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = self
                .shared
                .open(made.root, parent)
                .and_then(|parent| openat(parent, own, flags, Mode::empty()));
            let directory = directory.map_err(failed)?;
            utimensat(&directory, ".", &times(mtime_ns), AtFlags::empty()).map_err(failed)?;
            if mode != 0o700 {
                chmodat(&directory, ".", Mode::from_raw_mode(mode.into()), AtFlags::empty())
                    .map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Shared {
    fn work(&self, jobs: &Mutex<Receiver<Job>>, content: &impl Content) {
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return };
            // After a failure the rest is only taken off, so that whoever feeds does not wait for ever.
            if self.has_failed.load(Ordering::Relaxed) {
                continue;
            }
            if let Err(error) = self.carry_out(&job, content) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
    }

    fn carry_out(&self, job: &Job, content: &impl Content) -> Result<(), WriteError> {
        let opened = self.open(job.root, &job.path);
        let directory =
            opened.map_err(|source| self.failure("open the directory", job.root, &job.path, source))?;
        let place = file::Place {
            directory,
            failure: &|doing, name, source| {
                let path =
                    if job.path.is_empty() { name.to_vec() } else { [&job.path, &b"/"[..], name].concat() };
                self.failure(doing, job.root, &path, source)
            },
        };
        let seen = place.write(&job.entries, content)?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let all = written.entry(job.number).or_insert_with(|| vec![Seen::default(); job.n_entries]);
        for ((at, _), seen) in job.entries.iter().zip(seen) {
            all[*at] = seen;
        }
        Ok(())
    }

    fn open(&self, root: usize, path: &[u8]) -> Result<OwnedFd, Errno> {
        let path: &[u8] = if path.is_empty() { b"." } else { path };
        openat2(
            &self.roots[root].1,
            path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            BENEATH,
        )
    }

    fn failure(&self, doing: &'static str, root: usize, path: &[u8], source: Errno) -> WriteError {
        let path = [self.roots[root].0.as_bytes(), b"/", path].concat();
        WriteError::Make { doing, path: String::from_utf8_lossy(&path).into_owned(), source }
    }
}

/// The directory that something is in, and its name there.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The time of reading is not kept: it becomes that of the change.
fn times(mtime_ns: i64) -> Timestamps {
    let time =
        Timespec { tv_sec: mtime_ns.div_euclid(1_000_000_000), tv_nsec: mtime_ns.rem_euclid(1_000_000_000) };
    Timestamps { last_access: time, last_modification: time }
}

fn open_roots(options: &Options) -> Result<Vec<(String, OwnedFd)>, WriteError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |(name, path): &(String, PathBuf)| {
        let root = open(path, flags, Mode::empty());
        root.map(|root| (name.clone(), root))
            .map_err(|source| WriteError::Root { name: name.clone(), source })
    };
    options.roots.iter().map(open).collect()
}
