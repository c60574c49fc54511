//! From a root and a path to a descriptor.

use std::{
    collections::BTreeMap,
    os::fd::{AsRawFd, OwnedFd},
    path::PathBuf,
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, mkdirat, open, openat2},
    io::Errno,
};
use warren_guest_api::{ErrorCode, FilePath, GuestError, Root};

use crate::failure::file_error;

/// The only way a path is ever resolved.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Where the roots lie.
#[derive(Debug)]
pub(crate) struct Roots {
    paths: BTreeMap<Root, PathBuf>,
}

impl Roots {
    pub(crate) fn new(paths: BTreeMap<Root, PathBuf>) -> Self {
        Self { paths }
    }

    /// All roots by name, for a process that opens them itself.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, PathBuf)> + '_ {
        self.paths.iter().map(|(root, path)| (root.name(), path.clone()))
    }

    /// Opens what is at a path.
    pub(crate) fn open(&self, path: &FilePath, flags: OFlags) -> Result<OwnedFd, GuestError> {
        let names = names(path)?;
        let relative = if names.is_empty() { ".".to_owned() } else { names.join("/") };
        step(&self.open_root(path.root)?, &relative, flags)
            .map_err(|errno| file_error(&format!("open `{}`", path.path), errno))
    }

    /// Opens the directory that holds what is at a path, and gives the name in it. The root itself has none.
    pub(crate) fn open_parent<'a>(&self, path: &'a FilePath) -> Result<(OwnedFd, &'a str), GuestError> {
        let (parent, name) = split(path)?;
        Ok((self.open(&parent, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    /// Like [`Roots::open_parent`], and makes the directories that are missing.
    pub(crate) fn make_parent<'a>(&self, path: &'a FilePath) -> Result<(OwnedFd, &'a str), GuestError> {
        let (parent, name) = split(path)?;
        Ok((self.make_dirs(&parent)?, name))
    }

    /// Opens a directory, and makes it and those above it if they are missing.
    pub(crate) fn make_dirs(&self, path: &FilePath) -> Result<OwnedFd, GuestError> {
        let failed = |errno| file_error(&format!("make the directory `{}`", path.path), errno);
        let mut directory = self.open_root(path.root)?;
        for name in names(path)? {
            match mkdirat(&directory, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed(errno)),
            }
            directory = step(&directory, name, OFlags::PATH | OFlags::DIRECTORY).map_err(failed)?;
        }
        Ok(directory)
    }

    /// The root itself: a path that the host chose, and that programs cannot change.
    fn open_root(&self, root: Root) -> Result<OwnedFd, GuestError> {
        let missing = || GuestError::new(ErrorCode::NotFound, format!("there is no root `{}`", root.name()));
        let path = self.paths.get(&root).ok_or_else(missing)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        open(path, flags, Mode::empty())
            .map_err(|errno| file_error(&format!("open the root `{}`", root.name()), errno))
    }
}

/// Resolves `path` beneath `directory`.
pub(crate) fn step(directory: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat2(directory, path, flags | OFlags::CLOEXEC, Mode::empty(), BENEATH)
}

/// A directory as something to be read.
pub(crate) fn reopen_for_listing(directory: &OwnedFd) -> Result<OwnedFd, Errno> {
    step(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY)
}

fn split(path: &FilePath) -> Result<(FilePath, &str), GuestError> {
    let mut names = names(path)?;
    let invalid = || GuestError::new(ErrorCode::InvalidRequest, "this cannot be done to a root itself");
    let name = names.pop().ok_or_else(invalid)?;
    Ok((FilePath::new(path.root, names.join("/")), name))
}

/// The names a path is made of. The kernel would refuse what leads out; this says so the same way everywhere.
fn names(path: &FilePath) -> Result<Vec<&str>, GuestError> {
    let escapes = |why| Err(GuestError::new(ErrorCode::PathEscapes, format!("`{}` {why}", path.path)));
    if path.path.contains('\0') {
        return Err(GuestError::new(ErrorCode::InvalidRequest, "a path cannot contain a zero byte"));
    }
    if path.path.starts_with('/') {
        return escapes("is absolute");
    }
    let names: Vec<_> = path.path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") { escapes("goes up") } else { Ok(names) }
}

/// Where descriptors of this process can be named, which is how a watch is put on a directory that is already open.
pub(crate) fn proc_path(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
