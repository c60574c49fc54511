//! Writing a tree to a disk: into directories that are there and empty, and never outside them.
//!
//! One thread is fed with directories and makes them; several others write files, and ask for the content as they need it.
//! Every file is made new, beneath its root and through no link; or, where one is known to be in a directory that is to be
//! replaced, moved from there, once all that has to be made is made. Nothing is synced: whoever wants the tree to survive
//! a loss of power syncs the file system once, at the end.

mod before;
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
        AtFlags, Gid, Mode, OFlags, ResolveFlags, Timespec, Timestamps, Uid, chmodat, chownat, mkdirat, open,
        openat, openat2, utimensat,
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
    /// What is to be replaced, by the same names: files that are known to be what is wanted are moved from there.
    pub before: Vec<(String, PathBuf)>,
    /// Which user and group it is given to. Who may give nothing keeps it.
    pub owner: Option<u32>,
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
    #[error("invalid tree: {what}")]
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

/// What became of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How the files of each directory look, in the order in which they were fed.
    pub seen: Vec<Vec<Seen>>,
    /// How many files were moved from what was there before.
    pub n_moved: u64,
}

/// Writes the directories that `feed` gives.
pub fn write<C: Content>(
    options: &Options,
    content: &C,
    feed: impl FnOnce(&mut Feed<'_>) -> Result<(), WriteError>,
) -> Result<Written, WriteError> {
    let shared = Shared {
        roots: open_roots(options)?,
        before: before::Before::open(&options.before),
        owner: options.owner,
        failed: Mutex::new(None),
        has_failed: AtomicBool::new(false),
        written: Mutex::new(HashMap::new()),
        to_move: Mutex::new(Vec::new()),
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
    let n_moved = shared.move_all(content)?;
    feeder.finish()?;
    let n_made = feeder.made.len();
    let mut written = shared.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    let seen = (0..n_made).map(|number| written.remove(&number).unwrap_or_default()).collect();
    Ok(Written { seen, n_moved })
}

/// What the threads share.
struct Shared {
    roots: Vec<(String, OwnedFd)>,
    before: before::Before,
    owner: Option<u32>,
    failed: Mutex<Option<WriteError>>,
    has_failed: AtomicBool,
    written: Mutex<HashMap<usize, Vec<Seen>>>,
    /// What need not be made: it is moved when the rest is there, so that a failure leaves all as it was.
    to_move: Mutex<Vec<Job>>,
}

/// Some entries of a directory, all in one piece of work.
struct Job {
    /// The directory's place in the order.
    number: usize,
    root: usize,
    path: Vec<u8>,
    entries: Vec<Wanted>,
    n_entries: usize,
}

/// Something that is to be in a directory.
struct Wanted {
    /// Its place among the directory's entries.
    at: usize,
    entry: Entry,
    /// What it looks like where it is now; nothing if it is not known to be anywhere.
    known: Seen,
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
    /// The content of a root. Of entries that are in the same place of what is to be replaced, `known` says how they
    /// look there.
    pub fn root(&mut self, name: &str, node: &Node, known: &[Seen]) -> Result<(), WriteError> {
        let root = self.shared.roots.iter().position(|(root, _)| root == name);
        let unknown = || WriteError::Root { name: name.to_owned(), source: Errno::NOENT };
        self.fill((root.ok_or_else(unknown)?, Vec::new()), None, node, known)
    }

    /// A directory: beneath which root, where, what it is to look like, and what is in it.
    pub fn directory(
        &mut self,
        name: &str,
        path: &[u8],
        look: (u16, i64),
        node: &Node,
        known: &[Seen],
    ) -> Result<(), WriteError> {
        let root = self.shared.roots.iter().position(|(root, _)| root == name);
        let root = root.ok_or(WriteError::Root { name: name.to_owned(), source: Errno::NOENT })?;
        let (parent, own) = split(path);
        if !is_legal_name(own) {
            return Err(WriteError::Unusable { what: "a directory has no legal name" });
        }
        let made = self.shared.open(root, parent).and_then(|parent| mkdirat(parent, own, Mode::RWXU));
        // One that is there is filled, as those are that every workspace has from its start; anything else is in the way.
        let made = match made {
            Err(Errno::EXIST) => self.shared.open(root, path).map(drop).map_err(|_| Errno::EXIST),
            other => other,
        };
        made.map_err(|source| self.shared.failure("make the directory", root, path, source))?;
        self.fill((root, path.to_vec()), Some(look), node, known)
    }

    fn fill(
        &mut self,
        (root, path): (usize, Vec<u8>),
        look: Option<(u16, i64)>,
        node: &Node,
        known: &[Seen],
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
            let known = known.get(at).copied().unwrap_or_default();
            entries.push(Wanted { at, entry: entry.clone(), known });
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
            give(self.shared.owner, |uid, gid| chownat(&directory, ".", uid, gid, AtFlags::empty()))
                .map_err(failed)?;
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
            if let Err(error) = self.carry_out(job, content) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
    }

    fn carry_out(&self, job: Job, content: &impl Content) -> Result<(), WriteError> {
        let Job { number, root, path, entries, n_entries } = job;
        let (there, missing) = self.before.split(&self.roots[root].0, &path, entries);
        if !there.is_empty() {
            let job = Job { number, root, path: path.clone(), entries: there, n_entries };
            self.to_move.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        }
        if missing.is_empty() {
            return Ok(());
        }
        let job = Job { number, root, path, entries: missing, n_entries };
        let seen = self.place(&job)?.write(&job.entries, content)?;
        self.note(&job, seen);
        Ok(())
    }

    /// Moves what is there already; what is not there after all is made. Says how many were moved.
    fn move_all(&self, content: &impl Content) -> Result<u64, WriteError> {
        let jobs = std::mem::take(&mut *self.to_move.lock().unwrap_or_else(PoisonError::into_inner));
        let mut n_moved = 0;
        for job in jobs {
            let place = self.place(&job)?;
            let before = self.before.directory(&self.roots[job.root].0, &job.path);
            let mut seen = Vec::with_capacity(job.entries.len());
            for wanted in &job.entries {
                let moved = before.as_ref().and_then(|before| before.give(wanted, &place));
                n_moved += u64::from(moved.is_some());
                match moved {
                    Some(moved) => seen.push(moved),
                    None => seen.extend(place.write(std::slice::from_ref(wanted), content)?),
                }
            }
            self.note(&job, seen);
        }
        Ok(n_moved)
    }

    /// Where the files of a job go.
    fn place<'a>(&'a self, job: &'a Job) -> Result<file::Place<'a>, WriteError> {
        let opened = self.open(job.root, &job.path);
        let directory =
            opened.map_err(|source| self.failure("open the directory", job.root, &job.path, source))?;
        let failure = Box::new(|doing, name: &[u8], source| {
            let path =
                if job.path.is_empty() { name.to_vec() } else { [&job.path, &b"/"[..], name].concat() };
            self.failure(doing, job.root, &path, source)
        });
        Ok(file::Place { directory, owner: self.owner, failure })
    }

    fn note(&self, job: &Job, seen: Vec<Seen>) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let all = written.entry(job.number).or_insert_with(|| vec![Seen::default(); job.n_entries]);
        for (wanted, seen) in job.entries.iter().zip(seen) {
            all[wanted.at] = seen;
        }
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

/// Gives something away, if it is to be given and we may.
fn give(
    owner: Option<u32>,
    chown: impl FnOnce(Option<Uid>, Option<Gid>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let Some(owner) = owner else { return Ok(()) };
    match chown(Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner))) {
        Err(Errno::PERM) => Ok(()),
        given => given,
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
