//! Reading a tree from a disk: what is there, and the chunks of what is new.
//!
//! A scan walks the roots with several threads, looks at everything once, and reads only files that do not look as they
//! did in the base. What it finds goes to a [`Sink`]. Nothing is opened but beneath a root and through no link, so a tree
//! that changes or lies while it is read can make the result odd, and never make it reach elsewhere.

mod batch;
mod directory;
mod own;
mod queue;
mod read;
mod walk;

pub use batch::Batch;
pub use walk::{ScanError, scan};

use std::path::PathBuf;

use crate::{File, Index, Known, Name, Seen, What};

/// What to scan, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The trees, by name. A root that is not there is an empty one.
    pub roots: Vec<(String, PathBuf)>,
    /// Names of directories that are left out, wherever they are.
    pub excludes: Vec<Vec<u8>>,
    /// How many threads; as many as there are processors if zero.
    pub threads: usize,
    /// The most entries, after which the scan fails.
    pub max_entries: u64,
    /// What becomes of what its own user may not read.
    pub shut: Shut,
}

/// What becomes of what its own user may not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shut {
    /// It is left out, and told.
    #[default]
    LeftOut,
    /// It is opened while it is read, if it belongs to whoever scans.
    Opened,
}

/// Takes what a scan finds. Called from several threads at a time.
pub trait Sink: Sync {
    /// Which of these chunks are to be handed over. Each is asked for once: who is told `true` brings it.
    fn lacking(&self, chunks: &[(crate::Hash, u32)]) -> Result<Vec<bool>, Stop>;

    /// Chunks that were lacking. What is left in the batch afterwards is nobody's.
    fn chunks(&self, batch: &mut Batch) -> Result<(), Stop>;

    /// A directory that is not as it was, or new.
    fn directory(&self, found: FoundDir) -> Result<(), Stop>;

    /// Something that is not in the tree as one might expect.
    fn notice(&self, notice: Notice) -> Result<(), Stop>;
}

/// The sink takes no more; it knows why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the receiver of the scan has closed")]
pub struct Stop;

/// What a scan compares with: directories by number, 0 being the one of the roots.
pub trait Base: Sync {
    /// What was in a directory, by name; nothing if there is none of that number.
    fn directory(&self, number: u32) -> Vec<BaseEntry<'_>>;
}

/// One thing in a directory of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseEntry<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// What it was.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u16,
    /// Time of last change.
    pub mtime_ns: i64,
    /// Bytes of a file.
    pub size: u64,
    /// What else it looked like.
    pub seen: Seen,
    /// The number of the directory, if it was one.
    pub child: u32,
}

/// Kinds of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    File,
    Directory,
    Symlink,
}

/// A directory: one of the base, or one that the base does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DirRef {
    /// By its number in the base.
    Base(u32),
    /// By a number the scan gave it.
    New(u32),
}

/// A directory as it was found, with all its entries by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDir {
    /// Which.
    pub at: DirRef,
    /// What is in it now.
    pub entries: Vec<Found>,
}

/// One thing in a directory that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// As the base has it, at this place of its directory.
    Same(u32),
    /// Something else.
    Entry(FoundEntry),
}

/// Something that is not as the base has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEntry {
    /// Its name.
    pub name: Name,
    /// Permission bits (0777).
    pub mode: u16,
    /// Time of last change.
    pub mtime_ns: i64,
    /// What it looks like; nothing if it may change again without looking different.
    pub seen: Seen,
    /// What it is.
    pub what: FoundWhat,
}

/// See [`What`]: of a directory only the place is known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FoundWhat {
    File(File),
    Directory(DirRef),
    Symlink(Box<[u8]>),
}

/// Something that is not in the tree as one might expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The root's name, a slash, and the path beneath it. Any bytes.
    pub path: Vec<u8>,
    /// What is the matter.
    pub why: Why,
}

/// What is the matter with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Left out on purpose, with all that is in it.
    Excluded,
    /// A device, pipe or socket: not in the tree.
    Special,
    /// It could not be opened or read: not in the tree.
    Unreadable,
    /// Its path is longer than the kernel takes: not in the tree.
    TooLong,
    /// It changed every time it was read: what is in the tree is one of the states it had, or a mixture of some.
    Unstable,
}

/// The entry of the roots' directory that a root gets: nothing of the directory itself, which belongs to the host.
pub(crate) const ROOT_MODE: u16 = 0o755;

impl Base for Index {
    fn directory(&self, number: u32) -> Vec<BaseEntry<'_>> {
        let dir = self.dirs().get(number as usize);
        let entries = dir.map(|dir| &dir.entries[..]).unwrap_or_default();
        entries.iter().map(BaseEntry::of).collect()
    }
}

impl<'a> BaseEntry<'a> {
    /// What a scan has to know of an entry.
    #[must_use]
    pub fn of(known: &'a Known) -> Self {
        let (kind, size) = match &known.entry.what {
            What::File(file) => (Kind::File, file.size),
            What::Directory(_) => (Kind::Directory, 0),
            What::Symlink(_) => (Kind::Symlink, 0),
        };
        Self {
            name: &known.entry.name,
            kind,
            mode: known.entry.mode,
            mtime_ns: known.entry.mtime_ns,
            size,
            seen: known.seen,
            child: known.child,
        }
    }
}
