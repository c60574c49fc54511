//! Files beneath the roots.
//!
//! Every path is resolved by the kernel in one step, beneath its root and through no link, and what is then used is the
//! descriptor that came of it: there is no moment between check and use. Everything runs on the guest's one thread, in
//! short pieces with room for others in between.

mod list;
mod read;
mod remove;
mod resolve;
mod write;

pub(crate) use list::list;
pub(crate) use read::{hash, read};
pub(crate) use remove::{remove, remove_all};
pub(crate) use resolve::{Roots, proc_path};
pub(crate) use write::{TEMPORARY_PREFIX, write};

use rustix::fs::{FileType, OFlags, Stat, fstat};
use warren_guest_api::{FileKind, FilePath, FileStat, GuestError};

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
