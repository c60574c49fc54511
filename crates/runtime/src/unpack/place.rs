//! Where the files of an archive are written.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read, Write as _},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, Mode, OFlags, Timespec, Timestamps, fchmod, fstat, futimens, mkdirat, openat, symlinkat,
        utimensat,
    },
    io::Errno,
};
use warren_snapshots::escape;

use super::{Limits, UnpackError, Unpacked};
use crate::volumes::{Still, beneath};

/// How deep a path may be.
const MAX_DEPTH: usize = 64;
/// How long a path, a name in it, and the target of a link may be.
const MAX_PATH: usize = 3072;
const MAX_NAME: usize = 255;
const MAX_TARGET: usize = 4095;

/// The owner can always read and change what is here, or it could not be kept.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// A directory that has no entry of its own.
const NEW_DIRECTORY: Look = Look { mode: 0o755, modified: None };

/// Times beyond this are no times of files.
const MAX_SECONDS: i64 = 8_000_000_000;

/// The bytes that are copied at a time.
const CHUNK: usize = 256 * 1024;

/// Mode and time of an entry, as the archive has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) mode: u32,
    /// Seconds since 1970.
    pub(super) modified: Option<i64>,
}

/// A new directory that is being filled.
pub(super) struct Place {
    root: OwnedFd,
    limits: Limits,
    /// The directory that was used last: most entries have their neighbour's.
    last: Option<(Vec<u8>, OwnedFd)>,
    files: HashSet<Vec<u8>>,
    /// Made when all else is there, so that nothing is ever written through one.
    links: BTreeMap<Vec<u8>, (Vec<u8>, Look)>,
    /// Modes and times are given at the end: each new file changes the time of its directory.
    directories: BTreeMap<Vec<u8>, Look>,
    skipped: Vec<(String, &'static str)>,
    n_entries: u64,
    n_bytes: u64,
}

impl Place {
    pub(super) fn open(root: &Path, limits: Limits) -> io::Result<Self> {
        Ok(Self {
            root: Still::new(root).directory("")?,
            limits,
            last: None,
            files: HashSet::new(),
            links: BTreeMap::new(),
            directories: BTreeMap::new(),
            skipped: Vec::new(),
            n_entries: 0,
            n_bytes: 0,
        })
    }

    pub(super) fn directory(&mut self, path: &[u8], look: Look) -> Result<(), UnpackError> {
        self.count()?;
        let names = names(path)?;
        if !names.is_empty() {
            self.open_directory(&names)?;
            self.directories.insert(names.join(&b'/'), look);
        }
        Ok(())
    }

    pub(super) fn file(
        &mut self,
        path: &[u8],
        look: Look,
        content: &mut impl Read,
    ) -> Result<(), UnpackError> {
        self.count()?;
        let names = names(path)?;
        let file = self.create(&names)?;
        self.copy(path, content, &file)?;
        finish_file(&file, look).map_err(UnpackError::Disk)?;
        self.files.insert(names.join(&b'/'));
        Ok(())
    }

    /// Another name of a file that came before. Versions know no hard links, so it is a copy.
    pub(super) fn hard_link(&mut self, path: &[u8], source: &[u8], look: Look) -> Result<(), UnpackError> {
        let from = names(source)?.join(&b'/');
        if !self.files.contains(&from) {
            let (path, source) = (escape(path), escape(source));
            let message =
                format!("`{path}` is a hard link to `{source}`, which is not an earlier file of the archive");
            return Err(UnpackError::archive(message));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let opened = beneath(&self.root, &from[..], flags).map_err(|errno| refused(source, errno))?;
        let mode = fstat(&opened).map_err(|errno| UnpackError::Disk(errno.into()))?.st_mode;
        self.file(path, Look { mode, ..look }, &mut File::from(opened))
    }

    /// Links that lead out are left out.
    pub(super) fn link(&mut self, path: &[u8], target: &[u8], look: Look) -> Result<(), UnpackError> {
        self.count()?;
        let names = names(path)?;
        if names.is_empty() || target.is_empty() || target.len() > MAX_TARGET || target.contains(&0) {
            return Err(UnpackError::archive(format!("`{}` is not a valid link", escape(path))));
        }
        if !stays_inside(names.len() - 1, target) {
            self.skip(path, "link_out");
            return Ok(());
        }
        match self.links.insert(names.join(&b'/'), (target.to_vec(), look)) {
            None => Ok(()),
            Some(_) => Err(twice(path)),
        }
    }

    /// Leaves a device, a pipe or a socket out.
    pub(super) fn special(&mut self, path: &[u8]) -> Result<(), UnpackError> {
        self.count()?;
        names(path)?;
        self.skip(path, "special");
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Unpacked, UnpackError> {
        for (path, (target, look)) in std::mem::take(&mut self.links) {
            let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
            let (directory, name) = self.parent(&names)?;
            symlinkat(&target[..], directory, name).map_err(|errno| refused(&path, errno))?;
            if let Some(times) = times(look) {
                let set = utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW);
                set.map_err(|errno| UnpackError::Disk(errno.into()))?;
            }
        }
        // What is deeper comes first: an opened directory may be one that lets nobody in.
        for (path, look) in self.directories.iter().rev() {
            let directory = beneath(&self.root, &path[..], OFlags::RDONLY | OFlags::DIRECTORY);
            let directory = directory.map_err(|errno| refused(path, errno))?;
            let set = fchmod(&directory, Mode::from_raw_mode(look.mode & 0o777 | DIRECTORY_MODE));
            let set = set.and_then(|()| times(*look).map_or(Ok(()), |times| futimens(&directory, &times)));
            set.map_err(|errno| UnpackError::Disk(errno.into()))?;
        }
        Ok(Unpacked { skipped: self.skipped })
    }

    fn count(&mut self) -> Result<(), UnpackError> {
        self.n_entries += 1;
        if self.n_entries > self.limits.entries {
            let message = format!("the archive has more than {} entries", self.limits.entries);
            return Err(UnpackError::TooLarge(message));
        }
        Ok(())
    }

    fn skip(&mut self, path: &[u8], why: &'static str) {
        let path = path.strip_prefix(b"./").unwrap_or(path);
        self.skipped.push((escape(path), why));
    }

    fn create(&mut self, names: &[&[u8]]) -> Result<File, UnpackError> {
        let path = names.join(&b'/');
        let (directory, name) = self.parent(names)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(directory, name, flags, Mode::from_raw_mode(FILE_MODE));
        made.map(File::from).map_err(|errno| refused(&path, errno))
    }

    fn copy(&mut self, path: &[u8], from: &mut impl Read, mut to: &File) -> Result<(), UnpackError> {
        let mut buffer = vec![0; CHUNK];
        let mut n_file = 0;
        loop {
            let n = from.read(&mut buffer).map_err(UnpackError::broken)?;
            if n == 0 {
                return Ok(());
            }
            n_file += n as u64;
            self.n_bytes += n as u64;
            if n_file > self.limits.file_bytes {
                let (path, most) = (escape(path), self.limits.file_bytes);
                return Err(UnpackError::TooLarge(format!("`{path}` is larger than {most} bytes")));
            }
            if self.n_bytes > self.limits.bytes {
                let message = format!("the archive unpacks to more than {} bytes", self.limits.bytes);
                return Err(UnpackError::TooLarge(message));
            }
            to.write_all(&buffer[..n]).map_err(UnpackError::Disk)?;
        }
    }

    /// The directory of an entry, and its name there.
    fn parent<'a>(&mut self, names: &[&'a [u8]]) -> Result<(&OwnedFd, &'a [u8]), UnpackError> {
        let Some((name, above)) = names.split_last() else {
            return Err(UnpackError::archive("the archive has a file in place of its root directory"));
        };
        Ok((self.open_directory(above)?, name))
    }

    /// Opens a directory, and makes it and those above it if they are missing.
    fn open_directory(&mut self, names: &[&[u8]]) -> Result<&OwnedFd, UnpackError> {
        let path = names.join(&b'/');
        let is_last = self.last.as_ref().is_some_and(|(last, _)| *last == path);
        if !is_last {
            let mut directory = step(&self.root, b".").map_err(|errno| refused(&path, errno))?;
            for (n, name) in names.iter().enumerate() {
                match mkdirat(&directory, *name, Mode::from_raw_mode(0o755)) {
                    // Whatever mask this process has, unless an entry of its own says otherwise.
                    Ok(()) => _ = self.directories.insert(names[..=n].join(&b'/'), NEW_DIRECTORY),
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(refused(&path, errno)),
                }
                directory = step(&directory, name).map_err(|errno| refused(&path, errno))?;
            }
            self.last = Some((path, directory));
        }
        // It was put there a moment ago.
        Ok(self.last.as_ref().map_or(&self.root, |(_, directory)| directory))
    }
}

fn step(directory: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    beneath(directory, name, OFlags::PATH | OFlags::DIRECTORY)
}

/// The names of a path, none of which leads up or out.
fn names(path: &[u8]) -> Result<Vec<&[u8]>, UnpackError> {
    let refused = |why: &str| Err(UnpackError::archive(format!("`{}` {why}", escape(path))));
    if path.starts_with(b"/") {
        return refused("is an absolute path");
    }
    if path.contains(&0) || path.len() > MAX_PATH {
        return refused("is not a valid path, or is too long");
    }
    let names = path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
    let names: Vec<&[u8]> = names.collect();
    if names.contains(&&b".."[..]) {
        return refused("leads out of the archive");
    }
    if names.len() > MAX_DEPTH {
        return refused("is more than 64 names deep");
    }
    if names.iter().any(|name| name.len() > MAX_NAME) {
        return refused("has a name of more than 255 bytes");
    }
    Ok(names)
}

/// Whether the target of a link, from a directory so deep, is beneath the root.
fn stays_inside(depth: usize, target: &[u8]) -> bool {
    if target.starts_with(b"/") {
        return false;
    }
    let mut depth = depth;
    target.split(|byte| *byte == b'/').all(|name| {
        match name {
            b"" | b"." => {}
            b".." if depth == 0 => return false,
            b".." => depth -= 1,
            _ => depth += 1,
        }
        true
    })
}

fn finish_file(file: &File, look: Look) -> io::Result<()> {
    fchmod(file, Mode::from_raw_mode(look.mode & 0o777 | FILE_MODE))?;
    Ok(times(look).map_or(Ok(()), |times| futimens(file, &times))?)
}

fn times(look: Look) -> Option<Timestamps> {
    let seconds = look.modified?.clamp(0, MAX_SECONDS);
    let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
    Some(Timestamps { last_access: time, last_modification: time })
}

fn twice(path: &[u8]) -> UnpackError {
    UnpackError::archive(format!("the archive has `{}` twice", escape(path)))
}

/// The kernel's refusal: the archive is to blame for some, the disk for the others.
fn refused(path: &[u8], errno: Errno) -> UnpackError {
    match errno {
        Errno::EXIST => twice(path),
        Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::ISDIR => {
            let path = escape(path);
            UnpackError::archive(format!("`{path}` leads through a file or a link of the archive"))
        }
        Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ => {
            UnpackError::archive(format!("`{}` is not a valid file name here", escape(path)))
        }
        other => UnpackError::Disk(other.into()),
    }
}
