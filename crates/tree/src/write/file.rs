//! Writing some files of one directory.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{
        AtFlags, Mode, OFlags, Stat, chownat, fchmod, fchown, fstat, ftruncate, futimens, openat, statat,
        symlinkat, utimensat,
    },
    io::{Errno, pwrite},
};

use super::{Content, Wanted, WriteError, give, times};
use crate::{Entry, File, Hash, Piece, Seen, What};

/// Chunks that are asked for together take about so much.
const FETCH_BYTES: usize = 1024 * 1024;

/// Whoever gives content, or takes what is found, has failed and knows why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content is not available")]
pub struct Stop;

/// Names a failure: what was tried, with what name.
type Failure<'a> = Box<dyn Fn(&'static str, &[u8], Errno) -> WriteError + 'a>;

/// The directory that is written to.
pub(super) struct Place<'a> {
    pub(super) directory: OwnedFd,
    /// To whom what is made here is given.
    pub(super) owner: Option<u32>,
    pub(super) failure: Failure<'a>,
}

impl Place<'_> {
    /// Makes these entries. Small files are fetched together; a big one, bit by bit.
    pub(super) fn write(&self, entries: &[Wanted], content: &impl Content) -> Result<Vec<Seen>, WriteError> {
        let mut seen = Vec::with_capacity(entries.len());
        let mut rest = entries;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(group(rest));
            let wanted: Vec<(Hash, u32)> = now.iter().flat_map(|wanted| chunks(&wanted.entry)).collect();
            let is_one_big = wanted.iter().map(|(_, len)| *len as usize).sum::<usize>() > 2 * FETCH_BYTES;
            let mut fetched =
                if is_one_big || wanted.is_empty() { Vec::new() } else { content.fetch(&wanted)? }
                    .into_iter();
            for Wanted { entry, .. } in now {
                seen.push(match &entry.what {
                    What::File(file) if is_one_big => self.big_file(entry, file, content)?,
                    What::File(file) => self.file(entry, file, |_| fetched.next().ok_or(Stop))?,
                    What::Symlink(target) => self.link(entry, target)?,
                    What::Directory(_) => Seen::default(),
                });
            }
            rest = later;
        }
        Ok(seen)
    }

    /// A file whose content is more than one wants to hold.
    fn big_file(&self, entry: &Entry, file: &File, content: &impl Content) -> Result<Seen, WriteError> {
        let mut waiting = chunks(entry).peekable();
        let mut fetched = Vec::new().into_iter();
        self.file(entry, file, |_| {
            if fetched.len() == 0 {
                let mut wanted = Vec::new();
                let mut bytes = 0;
                while let Some(chunk) = waiting.next_if(|_| bytes < FETCH_BYTES) {
                    bytes += chunk.1 as usize;
                    wanted.push(chunk);
                }
                fetched = content.fetch(&wanted)?.into_iter();
            }
            fetched.next().ok_or(Stop)
        })
    }

    fn file<T: AsRef<[u8]>>(
        &self,
        entry: &Entry,
        file: &File,
        mut next: impl FnMut(&Hash) -> Result<T, Stop>,
    ) -> Result<Seen, WriteError> {
        let failed = |source| (self.failure)("write the file", &entry.name, source);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(entry.mode.into());
        let made = openat(&self.directory, &*entry.name, flags, mode).map_err(failed)?;
        let mut at = 0;
        for piece in &file.pieces {
            if let Piece::Data { hash, len } = piece {
                let bytes = next(hash)?;
                if bytes.as_ref().len() != *len as usize {
                    return Err(WriteError::Unusable { what: "a chunk has another length" });
                }
                write_all(&made, bytes.as_ref(), at).map_err(failed)?;
            }
            at += piece.len();
        }
        if matches!(file.pieces.last(), Some(Piece::Hole { .. })) {
            ftruncate(&made, file.size).map_err(failed)?;
        }
        give(self.owner, |uid, gid| fchown(&made, uid, gid)).map_err(failed)?;
        futimens(&made, &times(entry.mtime_ns)).map_err(failed)?;
        let mut stat = fstat(&made).map_err(failed)?;
        // Where the process is told to make files less open than they were.
        if stat.st_mode & 0o777 != u32::from(entry.mode) {
            fchmod(&made, mode).map_err(failed)?;
            stat = fstat(&made).map_err(failed)?;
        }
        Ok(look(&stat))
    }

    fn link(&self, entry: &Entry, target: &[u8]) -> Result<Seen, WriteError> {
        let failed = |source| (self.failure)("make the link", &entry.name, source);
        symlinkat(target, &self.directory, &*entry.name).map_err(failed)?;
        let name = &*entry.name;
        give(self.owner, |uid, gid| chownat(&self.directory, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW))
            .map_err(failed)?;
        utimensat(&self.directory, &*entry.name, &times(entry.mtime_ns), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(failed)?;
        let stat = statat(&self.directory, &*entry.name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        Ok(look(&stat))
    }
}

/// How many entries are fetched together: at least one.
fn group(entries: &[Wanted]) -> usize {
    let mut bytes = 0;
    let fits = |wanted: &&Wanted| {
        bytes += chunks(&wanted.entry).map(|(_, len)| len as usize).sum::<usize>();
        bytes <= FETCH_BYTES
    };
    entries.iter().take_while(fits).count().max(1)
}

fn chunks(entry: &Entry) -> impl Iterator<Item = (Hash, u32)> + '_ {
    let pieces = match &entry.what {
        What::File(file) => &file.pieces[..],
        What::Directory(_) | What::Symlink(_) => &[],
    };
    pieces.iter().filter_map(|piece| match piece {
        Piece::Data { hash, len } => Some((*hash, *len)),
        Piece::Hole { .. } => None,
    })
}

fn write_all(file: &OwnedFd, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match pwrite(file, bytes, at) {
            Ok(n) => {
                bytes = &bytes[n..];
                at += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

pub(super) fn look(stat: &Stat) -> Seen {
    let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    Seen { inode: stat.st_ino, ctime_ns: stat.st_ctime.saturating_mul(1_000_000_000).saturating_add(nanos) }
}
