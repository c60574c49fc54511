//! The directory with what a project knows: sessions read it as `/knowledge`, people fill it by hand or by upload.
//!
//! Files that come are written beside it and put into their places when all of them are there. Every path is resolved by
//! the kernel beneath the directory, through no link.

mod incoming;
mod index;
mod path;

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags, fchmod, flock, fsync, mkdirat, renameat, unlinkat},
    io::Errno,
};
use warren_domain::{ErrorCode, ProjectId, Timestamp};

pub(crate) use incoming::{Incoming, Staged};
pub(crate) use path::KnowledgePath;

use crate::{
    api::{FileEntry, FileKind, SessionError},
    volumes::{Still, beneath},
};

/// The most files a project's knowledge has, and the most entries that are looked at.
const MAX_FILES: usize = 10_000;
const MAX_ENTRIES: usize = 2 * MAX_FILES;

/// How deep files lie at most.
const MAX_DEPTH: usize = 16;

/// Whoever runs in a sandbox is another user, and must be able to read.
const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// The directory of one project.
#[derive(Debug, Clone)]
pub(crate) struct KnowledgeDirectory {
    root: PathBuf,
    incoming: PathBuf,
}

/// What is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shelf {
    /// Regular files by path, without hidden ones and without an index of ours.
    pub(crate) files: Vec<FileEntry>,
    pub(crate) is_truncated: bool,
}

impl Shelf {
    /// The length of all files.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size_bytes).sum()
    }
}

impl KnowledgeDirectory {
    /// The directory of a project among others.
    pub(crate) fn new(partition: &Path, project: ProjectId) -> Self {
        // No project has such a name, and no sandbox sees it.
        Self { root: partition.join(project.to_string()), incoming: partition.join(".incoming") }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes it, if it is not there, and sees to it that its index is what the files are.
    pub(crate) fn make_ready(&self) -> io::Result<()> {
        self.make()?;
        self.refresh_index(&self.lock()?)
    }

    /// All files.
    pub(crate) fn list(&self) -> io::Result<Shelf> {
        let found = Still::new(&self.root).list("", MAX_DEPTH, MAX_ENTRIES, is_hidden);
        let (entries, is_truncated) = match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Shelf::empty()),
            found => found?,
        };
        let is_told = |entry: &FileEntry| {
            entry.kind == FileKind::File
                && !entry.path.split('/').any(is_hidden)
                && (entry.path != index::NAME || !index::is_ours(&self.root))
        };
        let mut files: Vec<_> = entries.into_iter().filter(is_told).collect();
        let is_truncated = is_truncated || files.len() > MAX_FILES;
        files.truncate(MAX_FILES);
        Ok(Shelf { files, is_truncated })
    }

    /// Puts files into their places, if all of them may come. Nobody else changes anything meanwhile: what is checked is
    /// what is used.
    pub(crate) fn put(&self, staged: &[Staged], max_bytes: u64) -> Result<Vec<FileEntry>, SessionError> {
        self.make().map_err(|error| failed("make the directory", error))?;
        let root = self.lock().map_err(|error| failed("open the directory", error))?;
        self.check_room(staged, max_bytes)?;
        for file in staged {
            self.check_place(&file.path)?;
        }
        for file in staged {
            let directory = make_directories(&root, file.path.parent());
            let placed = directory.and_then(|directory| {
                file.place(&directory)?;
                Ok(fsync(&directory)?)
            });
            placed.map_err(|error| failed("put a file into its place", error))?;
        }
        self.refresh_index_or_say_why(&root);
        let still = Still::new(&self.root);
        let entries = staged.iter().map(|file| still.stat(file.path.as_str()));
        entries.collect::<io::Result<_>>().map_err(|error| failed("look at the files", error))
    }

    /// Removes a file, or a directory with all in it: at once, whatever else is going on.
    pub(crate) fn remove(&self, path: &KnowledgePath, aside: &str) -> Result<(), SessionError> {
        let not_found = || SessionError::not_found("file", path);
        let root = match self.lock() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_found()),
            root => root.map_err(|error| failed("open the directory", error))?,
        };
        if path.as_str() == index::NAME && index::is_ours(&self.root) {
            return Err(invalid(ErrorCode::Conflict, format!("`{path}` is generated from the other files")));
        }
        let found = Still::new(&self.root).stat(path.as_str()).map_err(|error| unusable(path, &error))?;
        let parent = Still::new(&self.root).directory(path.parent().unwrap_or_default());
        let parent = parent.map_err(|error| unusable(path, &error))?;
        let removed = match found.kind {
            FileKind::Directory => self.remove_directory(&parent, path.name(), aside),
            FileKind::File | FileKind::Symlink | FileKind::Other => {
                unlinkat(&parent, path.name(), AtFlags::empty()).map_err(io::Error::from)
            }
        };
        removed.map_err(|error| failed("remove it", error))?;
        self.refresh_index_or_say_why(&root);
        Ok(())
    }

    /// A directory is gone at once, and what was in it a moment later.
    fn remove_directory(&self, parent: &OwnedFd, name: &str, aside: &str) -> io::Result<()> {
        let incoming = Incoming::open(&self.incoming)?;
        renameat(parent, name, incoming.directory(), aside)?;
        fs::remove_dir_all(self.incoming.join(aside))
    }

    /// Where files are written that are on their way here.
    pub(crate) fn incoming(&self, now: Timestamp) -> io::Result<Incoming> {
        self.make()?;
        let incoming = Incoming::open(&self.incoming)?;
        incoming.sweep(&self.incoming, now)?;
        Ok(incoming)
    }

    fn make(&self) -> io::Result<()> {
        let above = [self.root.parent().and_then(Path::parent), self.root.parent()];
        for directory in above.into_iter().flatten().chain([self.root.as_path()]) {
            make_directory(directory)?;
        }
        Ok(())
    }

    /// The directory, of which nobody else changes anything as long as it is held.
    fn lock(&self) -> io::Result<OwnedFd> {
        let root = Still::new(&self.root).directory("")?;
        flock(&root, FlockOperation::LockExclusive)?;
        Ok(root)
    }

    fn check_room(&self, staged: &[Staged], max_bytes: u64) -> Result<(), SessionError> {
        let there = self.list().map_err(|error| failed("look at the files", error))?;
        let is_replaced = |file: &&FileEntry| staged.iter().any(|new| new.path.as_str() == file.path);
        let stays: Vec<_> = there.files.iter().filter(|file| !is_replaced(file)).collect();
        if there.is_truncated || stays.len() + staged.len() > MAX_FILES {
            return Err(too_large(format!("a project's knowledge is limited to {MAX_FILES} files")));
        }
        let stay: u64 = stays.iter().map(|file| file.size_bytes).sum();
        let come: u64 = staged.iter().map(|file| file.size_bytes).sum();
        if stay.saturating_add(come) > max_bytes {
            return Err(too_large(format!(
                "a project's knowledge is limited to {max_bytes} bytes: it has {stay}, and the upload would add {come}"
            )));
        }
        Ok(())
    }

    /// Whether a file can be put there: nothing is, or another file.
    fn check_place(&self, path: &KnowledgePath) -> Result<(), SessionError> {
        match Still::new(&self.root).stat(path.as_str()) {
            Ok(found) if found.kind == FileKind::File => Ok(()),
            Ok(_) => Err(invalid(ErrorCode::Conflict, format!("`{path}` exists and is not a file"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unusable(path, &error)),
        }
    }

    fn refresh_index(&self, root: &OwnedFd) -> io::Result<()> {
        let shelf = self.list()?;
        index::refresh(&self.root, root, &self.incoming, &shelf)
    }

    /// What was asked for is done; the index is made anew with the next change, or the next sandbox.
    fn refresh_index_or_say_why(&self, root: &OwnedFd) {
        if let Err(error) = self.refresh_index(root) {
            let directory = self.root.display();
            tracing::warn!(%directory, error = &error as &dyn std::error::Error, "an index could not be written");
        }
    }
}

impl Shelf {
    fn empty() -> Self {
        Self { files: Vec::new(), is_truncated: false }
    }
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn make_directory(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Ok(()) => fs::set_permissions(directory, fs::Permissions::from_mode(DIRECTORY_MODE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The directory at a path beneath `root`; what is missing of it is made.
fn make_directories(root: &OwnedFd, path: Option<&str>) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let mut at = beneath(root, ".", flags)?;
    for name in path.into_iter().flat_map(|path| path.split('/')) {
        let made = mkdirat(&at, name, Mode::from_raw_mode(DIRECTORY_MODE));
        let inner = match made {
            Ok(()) | Err(Errno::EXIST) => beneath(&at, name, flags)?,
            Err(error) => return Err(error.into()),
        };
        if made.is_ok() {
            fchmod(&inner, Mode::from_raw_mode(DIRECTORY_MODE))?;
            fsync(&at)?;
        }
        at = inner;
    }
    Ok(at)
}

pub(crate) fn too_large(message: String) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::TooLarge,
        message,
        hint: Some("delete files, or raise `knowledge.max_bytes`".to_owned()),
    }
}

fn invalid(code: ErrorCode, message: String) -> SessionError {
    SessionError::Invalid { code, message, hint: None }
}

pub(crate) fn failed(doing: &'static str, error: io::Error) -> SessionError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            invalid(ErrorCode::DiskLimit, "there is no space left".to_owned())
        }
        _ => SessionError::internal(doing, error),
    }
}

fn unusable(path: &KnowledgePath, error: &io::Error) -> SessionError {
    let message = match Errno::from_io_error(error) {
        Some(Errno::NOENT) => return SessionError::not_found("file", path),
        Some(Errno::XDEV | Errno::LOOP) => {
            format!("`{path}` leads through a symbolic link or out of the directory")
        }
        Some(Errno::NOTDIR) => format!("a parent of `{path}` is not a directory"),
        _ => return SessionError::internal("look at the files", io::Error::from(error.kind())),
    };
    invalid(ErrorCode::BadRequest, message)
}

#[cfg(test)]
mod tests;
