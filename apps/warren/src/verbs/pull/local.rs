//! The local directory. Everything is resolved by the kernel beneath it, through no link.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, chmodat, linkat, mkdirat, open,
        openat2, readlinkat, renameat, renameat_with, statat, unlinkat,
    },
    io::Errno,
};

/// The only way a path is ever resolved.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The directory that is pulled into.
pub(super) struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Local {
    Absent,
    File(Stamp),
    /// With its target.
    Link(Vec<u8>),
    Directory,
    /// A device, pipe or socket.
    Other,
    /// Something above it is no directory.
    Blocked,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) mode: u32,
    inode: u64,
    modified: (i64, i64),
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let opened = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let fd = opened.with_context(|| format!("failed to open the directory `{}`", path.display()))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// A directory of our own in it, for files that have no place yet. It is removed when it is dropped.
    pub(super) fn staging(&self) -> io::Result<tempfile::TempDir> {
        tempfile::Builder::new().prefix(".warren-pull-").tempdir_in(&self.path)
    }

    pub(super) fn look(&self, path: &[u8]) -> io::Result<Local> {
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(Local::Absent),
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Local::Blocked),
            Err(errno) => return Err(errno.into()),
        };
        let stat = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Local::Absent),
            Err(errno) => return Err(errno.into()),
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Local::File(Stamp {
                size: u64::try_from(stat.st_size).unwrap_or(0),
                mode: stat.st_mode & 0o777,
                inode: stat.st_ino,
                modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            }),
            FileType::Directory => Local::Directory,
            FileType::Symlink => Local::Link(readlinkat(&parent, name, Vec::new())?.into_bytes()),
            _ => Local::Other,
        })
    }

    pub(super) fn read(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut content = Vec::new();
        File::from(openat2(&self.fd, path, flags, Mode::empty(), BENEATH)?).read_to_end(&mut content)?;
        Ok(content)
    }

    /// The names in a directory.
    pub(super) fn names(&self, path: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat2(&self.fd, path, flags, Mode::empty(), BENEATH)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&directory)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if !matches!(&name[..], b"." | b"..") {
                names.push(name);
            }
        }
        Ok(names)
    }

    pub(super) fn remove_file(&self, path: &[u8]) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(unlinkat(&parent, name, AtFlags::empty())?)
    }

    /// Moves a file or link out of the directory.
    pub(super) fn move_away(&self, path: &[u8], to: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(renameat(&parent, name, CWD, to)?)
    }

    /// Puts a file or link into its place, at once. What was there is gone.
    pub(super) fn put(&self, path: &[u8], staged: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(renameat(CWD, staged, &parent, name)?)
    }

    /// Puts a file or link into its place, at once. What was there is at `staged` or, where the file system cannot
    /// exchange files, at `spare`: says where.
    pub(super) fn exchange<'a>(
        &self,
        path: &[u8],
        staged: &'a Path,
        spare: &'a Path,
    ) -> io::Result<&'a Path> {
        let (parent, name) = self.parent(path)?;
        match renameat_with(CWD, staged, &parent, name, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(staged),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(errno) => return Err(errno.into()),
        }
        linkat(&parent, name, CWD, spare, AtFlags::empty())?;
        renameat(CWD, staged, &parent, name)?;
        Ok(spare)
    }

    /// Says whether it is gone: one with other files in it stays.
    pub(super) fn remove_directory(&self, path: &[u8]) -> io::Result<bool> {
        let parent = match self.parent(path) {
            Err(Errno::NOENT) => return Ok(true),
            found => found?,
        };
        match unlinkat(&parent.0, parent.1, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes a directory and those above it. Notes those that were not there.
    pub(super) fn make_directory(&self, path: &[u8], made: &mut Vec<Vec<u8>>) -> io::Result<()> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([path.len()]).filter(|end| *end > 0) {
            let (parent, name) = self.parent(&path[..end])?;
            match mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.push(path[..end].to_vec()),
                Err(Errno::EXIST) => drop(openat2(&parent, name, DIRECTORY, Mode::empty(), BENEATH)?),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// The mode of a directory.
    pub(super) fn directory_mode(&self, path: &[u8]) -> io::Result<u32> {
        let (parent, name) = self.parent(path)?;
        Ok(statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode & 0o7777)
    }

    /// Recreates a removed directory with its mode.
    pub(super) fn make_directory_as(&self, path: &[u8], mode: u32) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        mkdirat(&parent, name, Mode::from_raw_mode(0o700))?;
        Ok(chmodat(&parent, name, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }

    fn parent<'a>(&self, path: &'a [u8]) -> Result<(OwnedFd, &'a OsStr), Errno> {
        let (above, name) = split(path);
        let above = if above.is_empty() { b"." } else { above };
        Ok((openat2(&self.fd, above, DIRECTORY, Mode::empty(), BENEATH)?, name))
    }
}

/// What is above a path, and its last name.
pub(super) fn split(path: &[u8]) -> (&[u8], &OsStr) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], OsStr::from_bytes(&path[at + 1..])),
        None => (b"", OsStr::from_bytes(path)),
    }
}
