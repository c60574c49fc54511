//! Files beneath the roots.
//!
//! Every path is resolved by the kernel in one step, beneath its root and through no link, and what is then used is the
//! descriptor that came of it: there is no moment between check and use. Everything runs on the guest's one thread, in
//! short pieces with room for others in between.

mod list;
mod read;
mod relocate;
mod remove;
mod resolve;
mod write;

pub(crate) use list::list;
pub(crate) use read::{hash, read};
pub(crate) use relocate::relocate;
pub(crate) use remove::{remove, remove_all};
pub(crate) use resolve::{Roots, proc_path};
pub(crate) use write::{TEMPORARY_PREFIX, write};

use std::os::fd::OwnedFd;

use rustix::{
    fs::{AtFlags, FileType, OFlags, Stat, fstat, statat},
    io::Errno,
};
use warren_guest_api::{ErrorCode, FileKind, FileLook, FilePath, FileStat, GuestError};

use crate::failure::file_error;

/// What is at a path, links not followed.
pub(crate) fn stat(roots: &Roots, path: &FilePath) -> Result<FileStat, GuestError> {
    let fd = roots.open(path, OFlags::PATH | OFlags::NOFOLLOW)?;
    fstat(fd).map(|stat| file_stat(&stat)).map_err(|errno| file_error("look at it", errno))
}

/// Makes a directory and those above it.
pub(crate) fn mkdir(roots: &Roots, path: &FilePath) -> Result<(), GuestError> {
    roots.make_dirs(path).map(drop)
}

/// Whether a name in a directory still looks as the host believes. The guest has one thread: whatever is done at once after
/// it is done to what was looked at, as far as requests of the host go.
fn check_look(
    directory: &OwnedFd,
    name: &str,
    path: &FilePath,
    expected: Option<FileLook>,
) -> Result<(), GuestError> {
    let Some(expected) = expected else { return Ok(()) };
    let changed = || GuestError::new(ErrorCode::Changed, format!("`{}` is not as it was", path.path));
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if file_stat(&stat).look() == expected => Ok(()),
        Ok(_) | Err(Errno::NOENT) => Err(changed()),
        Err(errno) => Err(file_error(&format!("look at `{}`", path.path), errno)),
    }
}

/// What the host is told of a file.
pub(crate) fn file_stat(stat: &Stat) -> FileStat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    FileStat {
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o777,
        mtime_ns: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos),
    }
}
