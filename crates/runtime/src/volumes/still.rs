//! A directory that no sandbox uses at the moment, read on the host.
//!
//! What lies in it was written by programs nobody trusts, so every path is resolved by the kernel beneath the directory,
//! through no link; only regular files are read, and nothing that could make us wait is waited for.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat2, statat},
    io::Errno,
    path::Arg,
};

use crate::api::{FileEntry, FileKind};

/// The only way a path is ever resolved.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// How a file is opened whose kind is not known yet: a pipe must not make us wait, a terminal not become ours.
const CAREFULLY: OFlags =
    OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How deep a walk goes. Each level keeps a descriptor.
const MAX_DEPTH: usize = 64;

/// A directory on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Still {
    root: PathBuf,
}

/// Entries with paths relative to what was asked for, and whether that is all.
pub(crate) type Found = (Vec<FileEntry>, bool);

impl Still {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// What is at a path.
    pub(crate) fn stat(&self, path: &str) -> io::Result<FileEntry> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        let stat = if name.is_empty() {
            fstat(&directory)?
        } else {
            statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?
        };
        Ok(entry(path.to_owned(), &stat))
    }

    /// A regular file, open for reading.
    pub(crate) fn file(&self, path: &str) -> io::Result<(File, FileEntry)> {
        let fd = self.open(path, OFlags::RDONLY | CAREFULLY)?;
        let found = entry(path.to_owned(), &fstat(&fd)?);
        match found.kind {
            FileKind::File => Ok((File::from(fd), found)),
            FileKind::Directory => Err(Errno::ISDIR.into()),
            FileKind::Symlink | FileKind::Other => Err(Errno::NXIO.into()),
        }
    }

    /// What is in a directory, `depth` levels of it and `limit` entries at most. Names that are not UTF-8 are left out.
    /// Directories for which `skip` holds are told, but not looked into.
    pub(crate) fn list(
        &self,
        path: &str,
        depth: usize,
        limit: usize,
        skip: impl Fn(&str) -> bool,
    ) -> io::Result<Found> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let mut levels = vec![(self.open(path, flags)?, String::new())];
        let mut entries = Vec::new();
        while let Some((directory, prefix)) = levels.pop() {
            let is_deep = prefix.matches('/').count() + 1 >= depth.min(MAX_DEPTH);
            for name in names(&directory)? {
                // What vanished meanwhile is not there.
                let Ok(stat) = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                if entries.len() == limit {
                    return Ok((sorted(entries), true));
                }
                let found = entry(format!("{prefix}{name}"), &stat);
                if found.kind == FileKind::Directory
                    && !is_deep
                    && !skip(&name)
                    && let Ok(inner) = beneath(&directory, &name, flags)
                {
                    levels.push((inner, format!("{}/", found.path)));
                }
                entries.push(found);
            }
        }
        Ok((sorted(entries), false))
    }

    /// A directory, open for looking into it and changing it.
    pub(crate) fn directory(&self, path: &str) -> io::Result<OwnedFd> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)
    }

    fn open(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let root = open(
            &self.root,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(beneath(&root, if path.is_empty() { "." } else { path }, flags)?)
    }
}

/// Opens what lies beneath a directory, through no link.
pub(crate) fn beneath(directory: &OwnedFd, path: impl Arg, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat2(directory, path, flags | OFlags::CLOEXEC, Mode::empty(), BENEATH)
}

fn names(directory: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        match entry.file_name().to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

fn sorted(mut entries: Vec<FileEntry>) -> Vec<FileEntry> {
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

fn entry(path: String, stat: &Stat) -> FileEntry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    FileEntry {
        path,
        kind,
        size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o777,
        modified_ns: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanoseconds),
        hash: None,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _, os::unix::fs::symlink};

    use super::Still;

    fn tree() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(root.join("a/b/c.txt"), "inside").expect("written");
        fs::write(directory.path().join("secret"), "outside").expect("written");
        symlink("../secret", root.join("up")).expect("linked");
        symlink("/etc", root.join("etc")).expect("linked");
        symlink("b", root.join("a/link")).expect("linked");
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR).expect("a pipe");
        directory
    }

    #[test]
    fn files_are_read_and_directories_listed() {
        let directory = tree();
        let still = Still::new(&directory.path().join("root"));
        let mut text = String::new();
        still.file("a/b/c.txt").expect("opened").0.read_to_string(&mut text).expect("read");
        assert_eq!(text, "inside");
        let paths = |depth| {
            let (entries, is_truncated) = still.list("", depth, 100, |_| false).expect("listed");
            assert!(!is_truncated);
            entries.into_iter().map(|entry| entry.path).collect::<Vec<_>>()
        };
        assert_eq!(paths(1), ["a", "etc", "pipe", "up"]);
        assert_eq!(paths(9), ["a", "a/b", "a/b/c.txt", "a/link", "etc", "pipe", "up"]);
        assert!(still.list("", 9, 3, |_| false).expect("listed").1, "more than the limit is said");
        assert_eq!(still.stat("a/b/c.txt").expect("there").size_bytes, 6);
        assert_eq!(still.stat("").expect("there").kind, crate::api::FileKind::Directory);
    }

    #[test]
    fn nothing_is_reached_through_a_link_or_out_of_the_directory_and_no_pipe_is_waited_for() {
        let directory = tree();
        let still = Still::new(&directory.path().join("root"));
        for path in ["up", "etc/passwd", "a/link/c.txt", "../secret", "/etc/passwd", "pipe", "a"] {
            assert!(still.file(path).is_err(), "{path}");
        }
        for path in ["etc", "a/link", "..", "/etc", "a/b/c.txt"] {
            assert!(still.list(path, 1, 10, |_| false).is_err(), "{path}");
        }
        assert!(still.stat("etc/passwd").is_err());
    }
}
