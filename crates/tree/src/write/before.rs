//! What is to be replaced by the tree that is written: files that are known need not be made again.
//!
//! Only a regular file is taken over, and only if it looks in every way as the one that was read, has no other name, and
//! nothing on it that a tree does not keep. In doubt it is made anew.

use std::{os::fd::OwnedFd, path::PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, chownat, flistxattr_query, open, openat, openat2,
    renameat_with, statat, unlinkat,
};

use super::{BENEATH, Wanted, file, give};
use crate::{Seen, What};

/// The directories that are to be replaced.
pub(super) struct Before(Vec<(String, OwnedFd)>);

/// One of their directories.
pub(super) struct Directory(OwnedFd);

impl Before {
    /// What is not there has no files.
    pub(super) fn open(roots: &[(String, PathBuf)]) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open =
            |(name, path): &(String, PathBuf)| Some((name.clone(), open(path, flags, Mode::empty()).ok()?));
        Self(roots.iter().filter_map(open).collect())
    }

    /// The directory of this path beneath a root, if there is one.
    pub(super) fn directory(&self, root: &str, path: &[u8]) -> Option<Directory> {
        let (_, root) = self.0.iter().find(|(name, _)| name == root)?;
        let path: &[u8] = if path.is_empty() { b"." } else { path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(root, path, flags, Mode::empty(), BENEATH).ok().map(Directory)
    }

    /// Which of these are there, and which are not.
    pub(super) fn split(&self, root: &str, path: &[u8], entries: Vec<Wanted>) -> (Vec<Wanted>, Vec<Wanted>) {
        if entries.iter().all(|wanted| wanted.known == Seen::default()) {
            return (Vec::new(), entries);
        }
        match self.directory(root, path) {
            Some(directory) => entries.into_iter().partition(|wanted| directory.has(wanted)),
            None => (Vec::new(), entries),
        }
    }
}

impl Directory {
    /// Whether this file is there, and can be taken over as it is.
    fn has(&self, wanted: &Wanted) -> bool {
        // A look before it is opened: what is no regular file is not touched at all.
        if wanted.known == Seen::default() || !self.looks_so(wanted) {
            return false;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(&self.0, &*wanted.entry.name, flags, Mode::empty());
        opened.and_then(flistxattr_query).is_ok_and(|n_bytes| n_bytes == 0)
    }

    /// Whether nothing has happened to this file since it was read: whatever does changes a time that nobody can set.
    fn looks_so(&self, wanted: &Wanted) -> bool {
        let stat = statat(&self.0, &*wanted.entry.name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| is_it(&stat, wanted) && file::look(&stat) == wanted.known)
    }

    /// Moves a file that was found to be there to its new place. `None` if it is not there any more: then nothing is.
    pub(super) fn give(&self, wanted: &Wanted, to: &file::Place<'_>) -> Option<Seen> {
        if !self.looks_so(wanted) {
            return None;
        }
        let name = &*wanted.entry.name;
        renameat_with(&self.0, name, &to.directory, name, RenameFlags::NOREPLACE).ok()?;
        let looked =
            give(to.owner, |uid, gid| chownat(&to.directory, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW))
                .and_then(|()| statat(&to.directory, name, AtFlags::SYMLINK_NOFOLLOW));
        match looked {
            Ok(stat) if is_it(&stat, wanted) => Some(file::look(&stat)),
            _ => {
                // Where even this fails, making the file fails too, and says why.
                _ = unlinkat(&to.directory, name, AtFlags::empty());
                None
            }
        }
    }
}

/// Whether this is the file, whatever happened to it lately.
fn is_it(stat: &Stat, wanted: &Wanted) -> bool {
    let What::File(file) = &wanted.entry.what else { return false };
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_mode & 0o7777 == u32::from(wanted.entry.mode)
        && stat.st_nlink == 1
        && stat.st_ino == wanted.known.inode
        && u64::try_from(stat.st_size).is_ok_and(|size| size == file.size)
        && stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos) == wanted.entry.mtime_ns
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
    };

    use rustix::fs::{CWD, XattrFlags, setxattr};

    use super::{AtFlags, Before, Wanted, file, statat};
    use crate::{Entry, File, Seen, What};

    /// A file that is wanted as it is.
    fn as_it_is(path: &Path) -> Wanted {
        let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).expect("a look");
        let nanos = i64::try_from(stat.st_mtime_nsec).expect("nanoseconds");
        let size = u64::try_from(stat.st_size).expect("a size");
        let entry = Entry {
            name: path.file_name().expect("a name").as_encoded_bytes().into(),
            mode: (stat.st_mode & 0o777) as u16,
            mtime_ns: stat.st_mtime * 1_000_000_000 + nanos,
            what: What::File(File { size, pieces: Vec::new() }),
        };
        Wanted { at: 0, entry, known: file::look(&stat) }
    }

    /// Whether a file is taken over after something was done to it that everybody knows of.
    fn is_taken_over(change: impl FnOnce(&Path)) -> bool {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, "content").expect("writes");
        change(&path);
        let before = Before::open(&[("root".to_owned(), directory.path().to_owned())]);
        let (there, missing) = before.split("root", b"", vec![as_it_is(&path)]);
        assert_eq!(there.len() + missing.len(), 1);
        there.len() == 1
    }

    #[test]
    fn only_a_file_that_has_nothing_beside_its_content_is_taken_over() {
        assert!(is_taken_over(|_| {}));
        assert!(!is_taken_over(|path| fs::hard_link(path, path.with_extension("2")).expect("links")));
        let special = fs::Permissions::from_mode(0o4755);
        assert!(!is_taken_over(|path| fs::set_permissions(path, special).expect("a mode")));
        assert!(!is_taken_over(|path| {
            fs::rename(path, path.with_extension("2")).expect("renames");
            symlink("file.2", path).expect("links");
        }));
        // Not every file system has them.
        let mut is_marked = false;
        let taken_over = is_taken_over(|path| {
            is_marked = setxattr(path, "user.mark", b"x", XattrFlags::empty()).is_ok();
        });
        assert_eq!(taken_over, !is_marked);
    }

    #[test]
    fn what_is_not_known_or_looks_different_is_not_taken_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, "content").expect("writes");
        let before = Before::open(&[("root".to_owned(), directory.path().to_owned())]);
        let is_there = |wanted| before.split("root", b"", vec![wanted]).0.len() == 1;
        let wanted = || as_it_is(&path);
        assert!(is_there(wanted()));
        assert!(!is_there(Wanted { known: Seen::default(), ..wanted() }));
        assert!(!is_there(Wanted { known: Seen { ctime_ns: 1, ..wanted().known }, ..wanted() }));
        assert!(!is_there(Wanted { known: Seen { inode: 1, ..wanted().known }, ..wanted() }));
        for change in [
            |entry: &mut Entry| entry.mode ^= 1,
            |entry: &mut Entry| entry.mtime_ns += 1,
            |entry: &mut Entry| entry.what = What::File(File { size: 8, pieces: Vec::new() }),
            |entry: &mut Entry| entry.what = What::Symlink(b"file"[..].into()),
        ] {
            let mut changed = wanted();
            change(&mut changed.entry);
            assert!(!is_there(changed));
        }
    }
}
