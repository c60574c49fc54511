//! Reading the files of a scan.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{FileType, Mode, OFlags, fstat, openat},
    io::{Errno, pread},
};

use super::{
    Base, FoundEntry, FoundWhat, Kind, ScanError, Shut, Sink, Stop, Why,
    directory::{DirJob, Looks, ReadTask, ToRead, join},
    own::Opened,
    walk::{Scan, Worker},
};
use crate::{File, Hash, Piece, cut::MIN_CHUNK};

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// Why a file was not read.
enum ReadError {
    /// The kernel said no.
    File(Errno),
    /// The sink takes no more.
    Stop(Stop),
}

impl From<Errno> for ReadError {
    fn from(errno: Errno) -> Self {
        ReadError::File(errno)
    }
}

impl<B: Base, S: Sink> Scan<'_, B, S> {
    /// Reads some files of a directory.
    pub(super) fn read(&self, worker: &mut Worker, task: &ReadTask) -> Result<(), ScanError> {
        let mut read = Vec::with_capacity(task.files.len());
        for file in &task.files {
            let found = match self.read_file(worker, &task.job, file) {
                Ok(found) => found,
                Err(ReadError::Stop(stop)) => return Err(stop.into()),
                // It went, or became a link or a socket, after its directory was listed.
                Err(ReadError::File(Errno::NOENT | Errno::LOOP | Errno::NXIO)) => None,
                Err(ReadError::File(_)) => {
                    self.notice(task.job.root, &join(&task.job.path, &file.name), Why::Unreadable)?;
                    None
                }
            };
            read.push((file, found));
        }
        self.done(&task.job, read)
    }

    /// `None` if there is no file of this name any more.
    fn read_file(
        &self,
        worker: &mut Worker,
        job: &DirJob,
        file: &ToRead,
    ) -> Result<Option<FoundEntry>, ReadError> {
        // What it is, is known only when it is open: a pipe must not make us wait, a terminal not become ours.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = || openat(&job.directory, &*file.name, flags, Mode::empty());
        let opened = match open() {
            Err(Errno::ACCESS) if self.options.shut == Shut::Opened => {
                // Shut again at once: who has it open can read it.
                let _until_open = Opened::open(&job.directory, &file.name, FileType::RegularFile)?;
                open()?
            }
            opened => opened?,
        };
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let before = fstat(&opened)?;
            let looks = Looks::of(&before);
            if looks.kind != Some(Kind::File) {
                return Ok(None);
            }
            let is_sparse = u64::try_from(before.st_blocks).unwrap_or(0).saturating_mul(512) < looks.size;
            let content = self.cut(worker, &opened, looks.size, is_sparse)?;
            let is_stable = Looks::of(&fstat(&opened)?) == looks && content.size == looks.size;
            let seen = if is_stable { self.seen(looks.inode, looks.ctime_ns) } else { Default::default() };
            let found = FoundEntry {
                name: file.name.clone(),
                mode: looks.mode,
                mtime_ns: looks.mtime_ns,
                seen,
                what: FoundWhat::File(content),
            };
            if is_stable {
                return Ok(Some(found));
            }
            last = Some(found);
        }
        self.notice(job.root, &join(&job.path, &file.name), Why::Unstable).map_err(ReadError::Stop)?;
        Ok(last)
    }

    fn cut(
        &self,
        worker: &mut Worker,
        file: &OwnedFd,
        size: u64,
        is_sparse: bool,
    ) -> Result<File, ReadError> {
        let Worker { batch, cutter, .. } = worker;
        if size > MIN_CHUNK as u64 {
            return cutter.cut(file, size, is_sparse, |chunk| {
                let start = batch.data.len();
                batch.data.extend_from_slice(chunk);
                let hash = batch.close(start);
                if batch.is_full() {
                    batch.flush(self.sink).map_err(ReadError::Stop)?;
                }
                Ok(hash)
            });
        }
        // A small file goes straight to where its chunk will lie.
        let start = batch.data.len();
        batch.data.resize(start + size as usize, 0);
        let n = match read_exactly(file, &mut batch.data[start..]) {
            Ok(n) => n,
            Err(errno) => {
                batch.data.truncate(start);
                return Err(errno.into());
            }
        };
        batch.data.truncate(start + n);
        if n == 0 {
            return Ok(File::default());
        }
        let hash: Hash = batch.close(start);
        if batch.is_full() {
            batch.flush(self.sink).map_err(ReadError::Stop)?;
        }
        Ok(File { size: n as u64, pieces: vec![Piece::Data { hash, len: n as u32 }] })
    }
}

/// Reads until the buffer is full or the file ends.
fn read_exactly(file: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut n = 0;
    while n < buffer.len() {
        match pread(file, &mut buffer[n..], n as u64) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(n)
}
