//! Files on their way: written where nobody looks, and gone again unless they are put into a place.

use std::{
    fs::{self, File},
    io,
    os::fd::OwnedFd,
    path::Path,
    sync::Arc,
};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, openat, renameat, unlinkat};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use warren_domain::{ErrorCode, Timestamp};

use super::{FILE_MODE, KnowledgePath, failed, invalid, make_directory, too_large};
use crate::{
    api::{FileSource, SessionError},
    volumes::Still,
};

/// What is older than this was left by a server that was killed.
const FORGOTTEN_MILLIS: i64 = 24 * 3600 * 1000;

/// The bytes that are written at a time.
const CHUNK: usize = 256 * 1024;

/// Where files are written first, on the same file system as their places.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    directory: Arc<OwnedFd>,
}

/// A whole file that has no place yet. It is gone when this is dropped, unless it was put into one.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) path: KnowledgePath,
    pub(crate) size_bytes: u64,
    directory: Arc<OwnedFd>,
    name: String,
}

impl Incoming {
    pub(super) fn open(at: &Path) -> io::Result<Self> {
        make_directory(at)?;
        Ok(Self { directory: Arc::new(Still::new(at).directory("")?) })
    }

    pub(super) fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// Takes a file as it comes, `room` bytes of it at most. It is on disk when this returns.
    pub(crate) async fn take(
        &self,
        path: KnowledgePath,
        name: String,
        mut source: FileSource,
        room: u64,
    ) -> Result<Staged, SessionError> {
        let unwritten = |error| failed("write a file", error);
        let file = self.create(&name).map_err(unwritten)?;
        let mut staged = Staged { path, size_bytes: 0, directory: self.directory.clone(), name };
        let mut file = tokio::fs::File::from_std(file);
        let mut piece = Vec::with_capacity(CHUNK);
        while (&mut source).take(CHUNK as u64).read_to_end(&mut piece).await.map_err(|e| broken_off(&e))? > 0
        {
            staged.size_bytes += piece.len() as u64;
            if staged.size_bytes > room {
                return Err(too_large("the upload exceeds the limit of the project's knowledge".to_owned()));
            }
            file.write_all(&piece).await.map_err(unwritten)?;
            piece.clear();
        }
        file.sync_all().await.map_err(unwritten)?;
        Ok(staged)
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, name, flags, Mode::from_raw_mode(0o600))?;
        // Whatever the process's mask is: others are to read it.
        fchmod(&file, Mode::from_raw_mode(FILE_MODE))?;
        Ok(File::from(file))
    }

    /// Removes what servers left that were killed while files came.
    pub(super) fn sweep(&self, at: &Path, now: Timestamp) -> io::Result<()> {
        let (entries, _) = Still::new(at).list("", 1, usize::MAX, |_| true)?;
        for entry in entries {
            if now.as_millis() - entry.modified_ns / 1_000_000 > FORGOTTEN_MILLIS {
                let path = at.join(&entry.path);
                match fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Staged {
    /// Puts it into a directory, in place of whatever file is there.
    pub(super) fn place(&self, directory: &OwnedFd) -> io::Result<()> {
        Ok(renameat(&self.directory, &self.name, directory, self.path.name())?)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What has its place is not here any more.
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// The client's own bytes could not be read to their end: what stopped them says why.
fn broken_off(cause: &io::Error) -> SessionError {
    let code = match cause.kind() {
        io::ErrorKind::FileTooLarge => ErrorCode::TooLarge,
        _ => ErrorCode::BadRequest,
    };
    invalid(code, cause.to_string())
}
