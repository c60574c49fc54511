//! Removing.

use std::{ffi::CString, os::fd::OwnedFd};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat},
    io::Errno,
};
use tokio::task::yield_now;
use warren_guest_api::{FileLook, FilePath, GuestError};

use super::{Roots, check_look, resolve::reopen_for_listing, write::under_free_name};
use crate::failure::file_error;

/// How many levels are open at a time. Each keeps a descriptor.
const MAX_OPEN: usize = 256;

/// Removes a file, a link or an empty directory.
pub(crate) fn remove(roots: &Roots, path: &FilePath, expected: Option<FileLook>) -> Result<(), GuestError> {
    let (directory, name) = roots.open_parent(path)?;
    check_look(&directory, name, path, expected)?;
    let removed = match unlinkat(&directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => unlinkat(&directory, name, AtFlags::REMOVEDIR),
        other => other,
    };
    removed.map_err(failed(path))
}

/// Removes whatever is there, with all that is in it.
pub(crate) async fn remove_all(
    roots: &Roots,
    path: &FilePath,
    expected: Option<FileLook>,
) -> Result<(), GuestError> {
    let (directory, name) = roots.open_parent(path)?;
    check_look(&directory, name, path, expected)?;
    match unlinkat(&directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        other => return other.map_err(failed(path)),
    }
    let top = CString::new(name).map_err(|_| failed(path)(Errno::INVAL))?;
    let mut levels = vec![Level::open(&directory, top).map_err(failed(path))?];
    let mut has_lifted = false;
    while let Some(depth) = levels.len().checked_sub(1) {
        match levels[depth].empty().map_err(failed(path))? {
            Some(child) if levels.len() < MAX_OPEN => {
                let child = Level::open(&levels[depth].directory, child).map_err(failed(path))?;
                levels.push(child);
            }
            // Deeper than can be held open: it goes to the top, and its turn comes after all else.
            Some(child) => {
                levels[0].lift(&levels[depth], &child).map_err(failed(path))?;
                has_lifted = true;
            }
            None if has_lifted && depth == 0 => {
                levels[0].entries.rewind();
                has_lifted = false;
            }
            None => {
                let done = levels.pop().map(|level| level.name);
                let parent = levels.last().map_or(&directory, |parent| &parent.directory);
                if let Some(name) = done {
                    unlinkat(parent, &name, AtFlags::REMOVEDIR).map_err(failed(path))?;
                }
            }
        }
        yield_now().await;
    }
    Ok(())
}

fn failed(path: &FilePath) -> impl Fn(Errno) -> GuestError {
    move |errno| file_error(&format!("remove `{}`", path.path), errno)
}

/// A directory that is being emptied.
struct Level {
    directory: OwnedFd,
    name: CString,
    entries: Dir,
}

impl Level {
    fn open(parent: &OwnedFd, name: CString) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(parent, &name, flags, Mode::empty())?;
        let entries = Dir::new(reopen_for_listing(&directory)?)?;
        Ok(Self { directory, name, entries })
    }

    /// Removes everything but directories. Returns the first directory, to be emptied before the rest.
    fn empty(&mut self) -> Result<Option<CString>, Errno> {
        for entry in self.entries.by_ref() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match unlinkat(&self.directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => return Ok(Some(name.to_owned())),
                Err(errno) => return Err(errno),
            }
        }
        Ok(None)
    }

    /// Moves what is in a directory below into this one. A link is moved as what it is.
    fn lift(&self, below: &Level, name: &CString) -> Result<(), Errno> {
        let take =
            |free: &str| renameat_with(&below.directory, name, &self.directory, free, RenameFlags::NOREPLACE);
        under_free_name(take).map(drop)
    }
}
