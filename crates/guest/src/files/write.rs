//! Writing a file.

use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{
        AtFlags, CWD, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, fstat, futimens,
        linkat, openat, renameat_with, statat, unlinkat,
    },
    io::{Errno, pwrite},
};
use tokio::task::yield_now;
use warren_guest_api::{
    ErrorCode, FileKind, FileStat, Frame, FrameReader, GuestError, WriteHow, WriteRequest,
};
use warren_link::Stream;

use super::{
    Roots, file_stat, proc_path,
    read::{CAREFULLY, not_a_file},
};
use crate::{
    failure::{Failure, file_error},
    serve::reply,
};

/// Files that are not whole yet. Watches leave them out.
pub(crate) const TEMPORARY_PREFIX: &str = ".warren-writing-";

const NEW_FILE_MODE: u32 = 0o644;

/// Longer than any tick of the clock that files are stamped with.
const TICK_NS: i64 = 1_000_000_000;

/// Takes a file from the host.
pub(crate) async fn write(roots: &Roots, request: &WriteRequest, stream: &mut Stream) -> Result<(), Failure> {
    let written = match request.how {
        WriteHow::Replace | WriteHow::CreateNew | WriteHow::ReplaceIf(_) => {
            replace(roots, request, stream).await?
        }
        WriteHow::At(offset) => update(roots, request, Place::At(offset), stream).await?,
        WriteHow::Append => update(roots, request, Place::End, stream).await?,
    };
    reply(stream, &written).await
}

/// Writes beside the file, then puts the new one in its place.
async fn replace(roots: &Roots, request: &WriteRequest, stream: &mut Stream) -> Result<FileStat, Failure> {
    let (directory, name) = roots.make_parent(&request.path)?;
    replaceable(&directory, name, request)?;
    let temporary = Temporary::create(&directory).map_err(failed(request))?;
    receive(&temporary.file, 0, request, stream).await?;
    // It may be another by now. From here on no other request gets a turn: what is looked at is what is replaced.
    let old = replaceable(&directory, name, request)?;
    let mode = request.mode.or(old.map(|old| old.mode)).unwrap_or(NEW_FILE_MODE) & 0o777;
    fchmod(&temporary.file, Mode::from_raw_mode(mode)).map_err(failed(request))?;
    let stat = look_later(&temporary.file, old).map_err(failed(request))?;
    let flags = match request.how {
        WriteHow::CreateNew => RenameFlags::NOREPLACE,
        _ => RenameFlags::empty(),
    };
    temporary.rename(name, flags).map_err(failed(request))?;
    Ok(stat)
}

/// What is there, if the request lets it be replaced.
fn replaceable(
    directory: &OwnedFd,
    name: &str,
    request: &WriteRequest,
) -> Result<Option<FileStat>, GuestError> {
    let old = existing(directory, name, request)?;
    match request.how {
        WriteHow::CreateNew if old.is_some() => Err(failed(request)(Errno::EXIST)),
        WriteHow::ReplaceIf(look) if old.is_none_or(|old| old.look() != look) => {
            Err(GuestError::new(ErrorCode::Changed, format!("`{}` is not as it was", request.path.path)))
        }
        _ => Ok(old),
    }
}

/// The kernel's clock ticks slowly, and two files written within a tick have the same time. What is written later is made
/// to look later, so that no look stands for two contents.
fn look_later(file: &OwnedFd, old: Option<FileStat>) -> Result<FileStat, Errno> {
    let stat = file_stat(&fstat(file)?);
    let Some(old) = old.filter(|old| (0..TICK_NS).contains(&old.mtime_ns.saturating_sub(stat.mtime_ns)))
    else {
        return Ok(stat);
    };
    let later = old.mtime_ns.saturating_add(1);
    let last_modification =
        Timespec { tv_sec: later.div_euclid(1_000_000_000), tv_nsec: later.rem_euclid(1_000_000_000) };
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    futimens(file, &Timestamps { last_access, last_modification })?;
    Ok(file_stat(&fstat(file)?))
}

/// Where to write into a file that is there.
enum Place {
    At(u64),
    End,
}

async fn update(
    roots: &Roots,
    request: &WriteRequest,
    place: Place,
    stream: &mut Stream,
) -> Result<FileStat, Failure> {
    let (directory, name) = roots.make_parent(&request.path)?;
    let old = existing(&directory, name, request)?;
    let create = match (&place, old) {
        (Place::At(_), None) => return Err(failed(request)(Errno::NOENT).into()),
        (Place::End, None) => OFlags::CREATE | OFlags::EXCL,
        (_, Some(_)) => OFlags::empty(),
    };
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | CAREFULLY | create;
    let mode = Mode::from_raw_mode(request.mode.unwrap_or(NEW_FILE_MODE) & 0o777);
    let file = openat(&directory, name, flags, mode).map_err(failed(request))?;
    let stat = file_stat(&fstat(&file).map_err(failed(request))?);
    if stat.kind != FileKind::File {
        return Err(not_a_file(&request.path.path).into());
    }
    let offset = match place {
        Place::At(offset) => offset,
        Place::End => stat.size,
    };
    receive(&file, offset, request, stream).await?;
    Ok(file_stat(&fstat(&file).map_err(failed(request))?))
}

/// Writes what the host sends until it says that this was all.
async fn receive(
    file: &OwnedFd,
    mut offset: u64,
    request: &WriteRequest,
    stream: &mut Stream,
) -> Result<(), Failure> {
    let mut frames = FrameReader::new(stream);
    loop {
        match frames.expect().await? {
            Frame::Data(data) => {
                let mut rest = &data[..];
                while !rest.is_empty() {
                    let n = pwrite(file, rest, offset).map_err(failed(request))?;
                    rest = &rest[n..];
                    offset = offset.saturating_add(n as u64);
                }
                yield_now().await;
            }
            Frame::End(_) => return Ok(()),
            _ => return Err(Failure::Gone),
        }
    }
}

/// The regular file that has this name, if any. A link or anything else is refused.
fn existing(directory: &OwnedFd, name: &str, request: &WriteRequest) -> Result<Option<FileStat>, GuestError> {
    let stat = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => file_stat(&stat),
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(request)(errno)),
    };
    match stat.kind {
        FileKind::File => Ok(Some(stat)),
        FileKind::Symlink => {
            let message = format!("`{}` is a symbolic link", request.path.path);
            Err(GuestError::new(ErrorCode::PathEscapes, message))
        }
        FileKind::Directory | FileKind::Other => Err(not_a_file(&request.path.path)),
    }
}

fn failed(request: &WriteRequest) -> impl Fn(Errno) -> GuestError {
    move |errno| file_error(&format!("write `{}`", request.path.path), errno)
}

/// A new file without a name, so that nothing of it is left whatever ends us; or under a name of its own, removed again
/// unless it gets another, where a file must have one.
struct Temporary<'a> {
    directory: &'a OwnedFd,
    /// The name it has for now.
    name: Option<String>,
    file: OwnedFd,
}

impl<'a> Temporary<'a> {
    fn create(directory: &'a OwnedFd) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        match openat(directory, ".", flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => Ok(Self { directory, name: None, file }),
            // As file systems and kernels say that they know no such thing.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | CAREFULLY;
                let open = |name: &str| openat(directory, name, flags, Mode::from_raw_mode(0o600));
                let (name, file) = under_free_name(open)?;
                Ok(Self { directory, name: Some(name), file })
            }
            Err(errno) => Err(errno),
        }
    }

    /// Gives it its name. One that is there cannot be linked over, only renamed over.
    fn rename(mut self, name: &str, flags: RenameFlags) -> Result<(), Errno> {
        if self.name.is_none() {
            let file = proc_path(&self.file);
            let link = |name: &str| linkat(CWD, &file, self.directory, name, AtFlags::SYMLINK_FOLLOW);
            self.name = Some(under_free_name(link)?.0);
        }
        if let Some(own) = &self.name {
            renameat_with(self.directory, own, self.directory, name, flags)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // If it cannot be removed, somebody else has, or there is no more that could be done.
            _ = unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Does something with a name that nobody has. A program may have taken it, by chance or to annoy: then the next one.
pub(super) fn under_free_name<T>(
    mut take: impl FnMut(&str) -> Result<T, Errno>,
) -> Result<(String, T), Errno> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..100 {
        let name = format!("{TEMPORARY_PREFIX}{}", NEXT.fetch_add(1, Ordering::Relaxed));
        match take(&name) {
            Ok(taken) => return Ok((name, taken)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}
