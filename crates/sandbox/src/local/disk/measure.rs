//! How much a directory tree takes on disk, while somebody hostile changes it.

use std::{collections::HashSet, io, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat},
    io::Errno,
};

use super::held::Held;

/// Every level costs an open descriptor while it is walked.
pub(super) const MAX_DEPTH: usize = 200;

/// Why a tree could not be measured.
#[derive(Debug, thiserror::Error)]
pub(in crate::local) enum MeasureError {
    /// Nobody nests directories like this but to hide what is in them.
    #[error("directories are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The tree itself cannot be read.
    #[error("failed to read the tree")]
    Read(#[source] io::Error),
}

/// The bytes on disk and the inodes below `root`. Links are not followed, other file systems not entered, and a file with several
/// names counts once. What vanishes during the walk does not count.
pub(in crate::local) fn measure(root: &Path) -> Result<Held, MeasureError> {
    let root = open(CWD, root).map_err(|error| MeasureError::Read(error.into()))?;
    let top = fstat(&root).map_err(|error| MeasureError::Read(error.into()))?;
    let mut walk = Walk { device: top.st_dev, linked: HashSet::new(), total: one(&top) };
    let mut open_directories = vec![read(root)?];
    while let Some(directory) = open_directories.last_mut() {
        match walk.next_directory(directory) {
            Some(_) if open_directories.len() >= MAX_DEPTH => return Err(MeasureError::TooDeep),
            Some(child) => open_directories.push(read(child)?),
            None => drop(open_directories.pop()),
        }
    }
    Ok(walk.total)
}

struct Walk {
    device: u64,
    linked: HashSet<u64>,
    total: Held,
}

impl Walk {
    /// Counts entries until one is a directory, and opens it. `None` when there are no more.
    fn next_directory(&mut self, directory: &mut Dir) -> Option<OwnedFd> {
        while let Some(entry) = directory.next() {
            // An entry that cannot be read or looked at has just gone.
            let Ok(entry) = entry else { continue };
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let Ok(parent) = directory.fd() else { continue };
            let Ok(found) = statat(parent, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if found.st_dev != self.device {
                continue;
            }
            self.count(&found);
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory
                && let Ok(child) = open(parent, entry.file_name())
            {
                return Some(child);
            }
        }
        None
    }

    fn count(&mut self, found: &Stat) {
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        if is_directory || found.st_nlink == 1 || self.linked.insert(found.st_ino) {
            self.total = self.total + one(found);
        }
    }
}

fn one(found: &Stat) -> Held {
    Held { bytes: blocks(found), inodes: 1 }
}

pub(super) fn blocks(found: &Stat) -> u64 {
    u64::try_from(found.st_blocks).unwrap_or(0) * 512
}

fn open(parent: impl rustix::fd::AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    openat(parent, name, flags, Mode::empty())
}

fn read(directory: OwnedFd) -> Result<Dir, MeasureError> {
    Dir::new(directory).map_err(|error| MeasureError::Read(error.into()))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_linked_file_counts_once_and_a_symlink_is_not_followed() {
        let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("large"), vec![1; 1 << 20]).unwrap();
        fs::create_dir(tree.path().join("directory")).unwrap();
        let empty = measure(tree.path()).unwrap();
        fs::write(tree.path().join("directory/file"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(tree.path().join("directory/file"), tree.path().join("again")).unwrap();
        symlink(outside.path(), tree.path().join("link")).unwrap();
        let added = measure(tree.path()).unwrap().saturating_sub(empty);
        assert_eq!(added, Held { bytes: 1 << 20, inodes: 2 }, "the file and the link");
    }

    #[test]
    fn a_tree_too_deep_to_measure_says_so() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("d/".repeat(MAX_DEPTH + 1))).unwrap();
        assert!(matches!(measure(tree.path()), Err(MeasureError::TooDeep)));
    }
}
