//! One directory of a scan.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, openat, openat2, readlinkat, statat},
    io::Errno,
};

use super::{
    Base, BaseEntry, DirRef, Found, FoundDir, FoundEntry, FoundWhat, Kind, ScanError, Shut, Sink, Why,
    own::Opened,
    walk::{Scan, Task, Worker},
};
use crate::{Name, Seen};

/// The only way a path is ever resolved.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// A directory with this file says itself that it is a cache, and can be made again.
/// See <https://bford.info/cachedir/>.
const CACHE_TAG: &[u8] = b"CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Files of one directory that are read as one task: so many,
const FILES_PER_READ: usize = 64;
/// or so many bytes.
const BYTES_PER_READ: u64 = 4 * 1024 * 1024;

/// A directory to be looked at.
pub(super) struct DirTask {
    pub(super) root: usize,
    /// Relative to the root; empty is the root itself.
    pub(super) path: Vec<u8>,
    pub(super) at: DirRef,
}

/// Some files of a directory to be read.
pub(super) struct ReadTask {
    pub(super) job: Arc<DirJob>,
    pub(super) files: Vec<ToRead>,
}

/// A file to be read, and where it goes among the entries of its directory.
pub(super) struct ToRead {
    slot: usize,
    pub(super) name: Name,
    pub(super) size: u64,
}

/// A directory whose files are being read. Whoever reads the last one tells of it.
pub(super) struct DirJob {
    pub(super) directory: OwnedFd,
    pub(super) root: usize,
    pub(super) path: Vec<u8>,
    at: DirRef,
    entries: Mutex<Vec<Option<Found>>>,
    n_left: AtomicUsize,
}

/// Something in a directory, as it looks.
struct Look {
    name: Name,
    stat: Stat,
}

impl<B: Base, S: Sink> Scan<'_, B, S> {
    /// Looks at a directory, and reads what is new in it.
    pub(super) fn directory(&self, worker: &mut Worker, task: DirTask) -> Result<(), ScanError> {
        let base = match task.at {
            DirRef::Base(number) => self.base.directory(number),
            DirRef::New(_) => Vec::new(),
        };
        let Some((directory, looks)) = self.list(worker, &task)? else {
            return self.unreadable(&task, &base);
        };
        self.count(looks.len())?;
        let mut entries: Vec<Option<Found>> = Vec::with_capacity(looks.len());
        let mut to_read = Vec::new();
        let mut at = 0;
        for look in looks {
            at += base[at..].iter().take_while(|before| *before.name < *look.name).count();
            let before = base.get(at).filter(|before| *before.name == *look.name);
            match self.compare(&task, &directory, look, before.map(|before| (at, before)))? {
                Compared::Found(found) => entries.push(Some(found)),
                Compared::Read(name, size) => {
                    to_read.push(ToRead { slot: entries.len(), name, size });
                    entries.push(None);
                }
                Compared::Nothing => {}
            }
        }
        let is_same = |(at, found): (usize, &Option<Found>)| matches!(found, Some(Found::Same(same)) if *same as usize == at);
        if let DirRef::Base(_) = task.at
            && entries.len() == base.len()
            && entries.iter().enumerate().all(is_same)
        {
            return Ok(());
        }
        let DirTask { root, path, at } = task;
        let job =
            DirJob { directory, root, path, at, entries: Mutex::new(entries), n_left: AtomicUsize::new(0) };
        self.read_all(worker, Arc::new(job), to_read)
    }

    /// Reads files: at once if they are few, else in tasks that others can take.
    fn read_all(&self, worker: &mut Worker, job: Arc<DirJob>, to_read: Vec<ToRead>) -> Result<(), ScanError> {
        if to_read.is_empty() {
            return self.tell(&job);
        }
        let mut groups: Vec<Vec<ToRead>> = Vec::new();
        let mut bytes = u64::MAX;
        for file in to_read {
            match groups.last_mut() {
                Some(group) if bytes < BYTES_PER_READ && group.len() < FILES_PER_READ => {
                    bytes += file.size;
                    group.push(file);
                }
                _ => {
                    bytes = file.size;
                    groups.push(vec![file]);
                }
            }
        }
        job.n_left.store(groups.len(), Ordering::Release);
        let first = groups.pop();
        for files in groups {
            self.queue.push(Task::Read(ReadTask { job: job.clone(), files }));
        }
        first.map_or(Ok(()), |files| self.read(worker, &ReadTask { job, files }))
    }

    /// Notes what files turned out to be. The last of its directory tells of it.
    pub(super) fn done(
        &self,
        job: &DirJob,
        read: Vec<(&ToRead, Option<FoundEntry>)>,
    ) -> Result<(), ScanError> {
        {
            let mut entries = job.entries.lock().unwrap_or_else(PoisonError::into_inner);
            for (file, found) in read {
                entries[file.slot] = found.map(Found::Entry);
            }
        }
        if job.n_left.fetch_sub(1, Ordering::AcqRel) == 1 { self.tell(job) } else { Ok(()) }
    }

    fn tell(&self, job: &DirJob) -> Result<(), ScanError> {
        let entries = std::mem::take(&mut *job.entries.lock().unwrap_or_else(PoisonError::into_inner));
        let entries = entries.into_iter().flatten().collect();
        Ok(self.sink.directory(FoundDir { at: job.at, entries })?)
    }

    /// A directory that cannot be listed is an empty one, and said to be unreadable.
    fn unreadable(&self, task: &DirTask, base: &[BaseEntry<'_>]) -> Result<(), ScanError> {
        let was_empty = matches!(task.at, DirRef::Base(_)) && base.is_empty();
        if was_empty {
            Ok(())
        } else {
            Ok(self.sink.directory(FoundDir { at: task.at, entries: Vec::new() })?)
        }
    }

    /// The directory and what is in it, by name; `None` if it cannot be opened.
    fn list(&self, worker: &mut Worker, task: &DirTask) -> Result<Option<(OwnedFd, Vec<Look>)>, ScanError> {
        let Some(root) = &self.roots[task.root] else { return Ok(None) };
        let path: &[u8] = if task.path.is_empty() { b"." } else { &task.path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut look = || {
            let directory = openat2(root, path, flags, Mode::empty(), BENEATH)?;
            let looks = look_at_all(&directory, &mut worker.names)?;
            Ok((directory, looks))
        };
        let listed = match look() {
            Err(Errno::ACCESS) if self.options.shut == Shut::Opened => {
                self.open_up(root, path).and_then(|()| look())
            }
            listed => listed,
        };
        match listed {
            Ok((directory, looks)) if self.is_cache(task, &directory, &looks) => {
                self.notice(task.root, &task.path, Why::Excluded)?;
                let tag = looks.into_iter().filter(|look| *look.name == *CACHE_TAG).collect();
                Ok(Some((directory, tag)))
            }
            Ok(listed) => Ok(Some(listed)),
            // It went while we were on the way, or became something else: its own directory has changed then.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(Errno::NAMETOOLONG) => Ok(self.notice(task.root, &task.path, Why::TooLong).map(|()| None)?),
            Err(_) => Ok(self.notice(task.root, &task.path, Why::Unreadable).map(|()| None)?),
        }
    }

    /// Opens a directory that its user has shut, until the scan has ended: what is in it is looked at from above.
    fn open_up(&self, root: &OwnedFd, path: &[u8]) -> Result<(), Errno> {
        let (parent, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&b"."[..], path),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat2(root, parent, flags, Mode::empty(), BENEATH)?;
        let opened = Opened::open(parent, name, FileType::Directory)?;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
        Ok(())
    }

    /// Whether a directory says itself that it need not be kept. A root never does.
    fn is_cache(&self, task: &DirTask, directory: &OwnedFd, looks: &[Look]) -> bool {
        let has_tag = looks.binary_search_by(|look| (*look.name).cmp(CACHE_TAG)).is_ok();
        if task.path.is_empty() || !has_tag {
            return false;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut start = [0; CACHE_SIGNATURE.len()];
        let read = openat(directory, CACHE_TAG, flags, Mode::empty())
            .and_then(|tag| rustix::io::pread(tag, &mut start, 0));
        read.is_ok() && start == CACHE_SIGNATURE
    }

    fn compare(
        &self,
        task: &DirTask,
        directory: &OwnedFd,
        look: Look,
        before: Option<(usize, &BaseEntry<'_>)>,
    ) -> Result<Compared, ScanError> {
        let stat = Looks::of(&look.stat);
        let same = before.filter(|(_, before)| stat.is_as(before)).map(|(at, _)| Found::Same(at as u32));
        let path = || join(&task.path, &look.name);
        let what = match FileType::from_raw_mode(look.stat.st_mode) {
            FileType::RegularFile => match same {
                Some(same) => return Ok(Compared::Found(same)),
                None => return Ok(Compared::Read(look.name, stat.size)),
            },
            FileType::Symlink if same.is_some() => FoundWhat::Symlink(Box::default()),
            FileType::Symlink => match readlinkat(directory, &*look.name, Vec::new()) {
                Ok(target) => FoundWhat::Symlink(target.into_bytes().into()),
                Err(_) => {
                    self.notice(task.root, &path(), Why::Unstable)?;
                    return Ok(Compared::Nothing);
                }
            },
            FileType::Directory if self.options.excludes.iter().any(|name| **name == *look.name) => {
                self.notice(task.root, &path(), Why::Excluded)?;
                return Ok(Compared::Nothing);
            }
            FileType::Directory => {
                let before = before.map(|(_, before)| before).filter(|before| before.kind == Kind::Directory);
                let at = self.place(before);
                self.queue.push(Task::Directory(DirTask { root: task.root, path: path(), at }));
                FoundWhat::Directory(at)
            }
            _ => {
                self.notice(task.root, &path(), Why::Special)?;
                return Ok(Compared::Nothing);
            }
        };
        Ok(Compared::Found(same.unwrap_or_else(|| {
            let seen = self.seen(stat.inode, stat.ctime_ns);
            Found::Entry(FoundEntry { name: look.name, mode: stat.mode, mtime_ns: stat.mtime_ns, seen, what })
        })))
    }
}

/// What is to become of something in a directory.
enum Compared {
    Found(Found),
    Read(Name, u64),
    Nothing,
}

/// How something looks, in our own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) kind: Option<Kind>,
    pub(super) mode: u16,
    pub(super) mtime_ns: i64,
    pub(super) ctime_ns: i64,
    pub(super) inode: u64,
    pub(super) size: u64,
}

impl Looks {
    pub(super) fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Some(Kind::File),
            FileType::Directory => Some(Kind::Directory),
            FileType::Symlink => Some(Kind::Symlink),
            _ => None,
        };
        let nanos = |seconds: i64, nanos: u64| {
            seconds.saturating_mul(1_000_000_000).saturating_add(i64::try_from(nanos).unwrap_or(0))
        };
        Self {
            kind,
            mode: (stat.st_mode & 0o777) as u16,
            mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
        }
    }

    /// Whether this is what the base has. A directory is the same if its own mode and time are: what is in it is
    /// looked at anyway.
    fn is_as(&self, before: &BaseEntry<'_>) -> bool {
        let seen = Seen { inode: self.inode, ctime_ns: self.ctime_ns };
        let looks_same =
            self.kind == Some(before.kind) && self.mode == before.mode && self.mtime_ns == before.mtime_ns;
        looks_same
            && match before.kind {
                Kind::Directory => true,
                Kind::Symlink => seen == before.seen,
                Kind::File => seen == before.seen && self.size == before.size,
            }
    }
}

pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// Everything in a directory, by name. What is gone before it can be looked at was never there.
fn look_at_all(directory: &OwnedFd, buffer: &mut Vec<u8>) -> Result<Vec<Look>, Errno> {
    buffer.clear();
    buffer.reserve(64 * 1024);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    let mut looks = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => looks.push(Look { name: name.to_bytes().into(), stat }),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    looks.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(looks)
}
