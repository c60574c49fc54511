//! A sandbox's directories as one project of their file system, so that the kernel itself holds the disk limit.
//!
//! The project has the number of the workspace's UID. A directory that hands its project down holds nothing of any other,
//! but for links, pipes and sockets that were there before it did: the kernel offers no way to give those to a project.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat},
    io::Errno,
};

use super::{Held, measure::MAX_DEPTH};
use crate::quota::{self, Project, Usage};

/// How far the kernel lets a sandbox go beyond its limit. Buffered writes ask for up to 4 MiB at once and get all or nothing:
/// with less than that, a sandbox could be refused for good without ever being over its limit, and nobody would be told.
const MARGIN: Held = Held { bytes: 8 << 20, inodes: 1000 };

/// A project without files, as no UID of a workspace is so large.
const NOBODYS: u32 = u32::MAX - 1;

/// The quota of one sandbox.
pub(in crate::local) struct Quota {
    /// A directory on the file system.
    directory: OwnedFd,
    project: u32,
}

impl Quota {
    /// Gives directories and all that is in them to a project, which has no limit yet, and limits it. `None` where no quota can
    /// hold: the file system enforces none, or the directories are on several, or the server may not do this.
    pub(in crate::local) fn claim(roots: &[PathBuf], project: u32, limit: Held) -> Option<Self> {
        let roots: Vec<OwnedFd> = roots.iter().map(|root| open(CWD, root).ok()).collect::<Option<_>>()?;
        let devices: Vec<u64> =
            roots.iter().map(|root| Some(fstat(root).ok()?.st_dev)).collect::<Option<_>>()?;
        let is_one = devices.windows(2).all(|pair| pair[0] == pair[1]);
        if !is_one || !roots.first().is_some_and(quota::is_enforced) {
            return None;
        }
        let given = roots.iter().try_for_each(|root| give(root, project));
        let quota = Self { directory: roots.into_iter().next()?, project };
        match given.and_then(|()| quota.hold(limit)) {
            Ok(()) => Some(quota),
            Err(error) => {
                tracing::warn!(%error, project, "a sandbox has no disk quota: it could not be set");
                None
            }
        }
    }

    /// Has the kernel refuse what goes beyond `limit` and a margin. Where the directories hold more already, there is a little
    /// room beside that: whoever cleans up writes too.
    fn hold(&self, limit: Held) -> io::Result<()> {
        let used = self.used()?;
        let limit = if used.exceeds(limit) { limit.max(used + super::CLEANING_ROOM) } else { limit };
        let Held { bytes, inodes } = limit + MARGIN;
        quota::limit(&self.directory, self.project, Some(Usage { bytes, inodes }))
    }

    /// What the project holds, exactly.
    pub(super) fn used(&self) -> io::Result<Held> {
        let Usage { bytes, inodes } = quota::usage(&self.directory, self.project)?;
        Ok(Held { bytes, inodes })
    }
}

/// Whether the file system of a directory enforces quotas, and lets us set them. Found out by setting one that nobody needs.
pub(in crate::local) fn has_quotas(directory: &Path) -> bool {
    let Ok(directory) = open(CWD, directory) else { return false };
    quota::is_enforced(&directory) && quota::limit(&directory, NOBODYS, None).is_ok()
}

/// Gives a new, empty directory to a project, before files are put there, and takes the project's limit away until its next
/// sandbox starts: while a directory is replaced, both are there. Does nothing where there are no quotas.
pub(in crate::local) fn adopt(directory: &Path, project: u32) -> io::Result<()> {
    let directory = open(CWD, directory)?;
    if !quota::is_enforced(&directory) {
        return Ok(());
    }
    quota::limit(&directory, project, None)?;
    quota::set_project(&directory, Project { id: project, is_inherited: true })
}

/// Takes a directory and all that is in it out of its project. Does nothing where there are no quotas.
pub(in crate::local) fn disown(directory: &Path) -> io::Result<()> {
    let directory = open(CWD, directory)?;
    if quota::is_enforced(&directory) {
        set_below(&directory, Project { id: 0, is_inherited: false })
    } else {
        Ok(())
    }
}

/// Takes the limits of a project away, on the file system of `directory`. Does nothing where there are no quotas.
pub(in crate::local) fn release(directory: &Path, project: u32) -> io::Result<()> {
    let directory = open(CWD, directory)?;
    if quota::is_enforced(&directory) { quota::limit(&directory, project, None) } else { Ok(()) }
}

/// Gives a tree to a project, unless that was done before.
fn give(root: &OwnedFd, id: u32) -> io::Result<()> {
    let project = Project { id, is_inherited: true };
    if quota::project(root)? == project {
        return Ok(());
    }
    set_below(root, project)
}

/// Sets the project of all that is below `root`, and then of `root` itself: if that is set, all is. Nobody should write there
/// meanwhile; whoever does can neither lead out of the tree nor make this wait.
fn set_below(root: &OwnedFd, project: Project) -> io::Result<()> {
    let device = fstat(root)?.st_dev;
    let mut directories = vec![Dir::read_from(root)?];
    while let Some(directory) = directories.last_mut() {
        let Some(entry) = directory.next() else {
            directories.pop();
            continue;
        };
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Some(file) = open_entry(directory.fd()?, name, device)? else { continue };
        if FileType::from_raw_mode(fstat(&file)?.st_mode) == FileType::Directory {
            if directories.len() >= MAX_DEPTH {
                return Err(io::Error::other("directories are nested too deep"));
            }
            quota::set_project(&file, project)?;
            directories.push(Dir::new(file)?);
        } else {
            quota::set_project(&file, Project { is_inherited: false, ..project })?;
        }
    }
    quota::set_project(root, project)
}

/// Opens a file or a directory. `None` for all else, for what is on another file system and for what has just vanished.
fn open_entry(parent: impl AsFd, name: &std::ffi::CStr, device: u64) -> io::Result<Option<OwnedFd>> {
    let is_fit = |found: &rustix::fs::Stat| {
        let kind = FileType::from_raw_mode(found.st_mode);
        found.st_dev == device && matches!(kind, FileType::RegularFile | FileType::Directory)
    };
    let found = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        found => found?,
    };
    if !is_fit(&found) {
        return Ok(None);
    }
    let flags = OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match openat(&parent, name, flags, Mode::empty()) {
        Ok(file) => Ok(is_fit(&fstat(&file)?).then_some(file)),
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn open(parent: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(parent, path, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_without_project_quotas_is_left_as_it_is() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let root = directory.path().to_owned();
        let limit = Held { bytes: 1 << 20, inodes: 10 };
        assert!(Quota::claim(std::slice::from_ref(&root), 200_000, limit).is_none());
        adopt(&root, 200_000).unwrap();
        disown(&root).unwrap();
        release(&root, 200_000).unwrap();
    }
}
