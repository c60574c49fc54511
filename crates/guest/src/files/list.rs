//! Listing a directory.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, OFlags, statat};
use tokio::task::yield_now;
use warren_guest_api::{
    DirEntry, FileKind, FileStat, Frame, GuestError, ListEnd, ListRequest, MAX_LIST, write_frame,
};
use warren_link::Stream;

use super::{
    Roots, file_stat,
    resolve::{reopen_for_listing, step},
};
use crate::failure::{Failure, file_error};

/// How deep a listing goes at most. Each level keeps a descriptor.
const MAX_DEPTH: usize = 64;

/// Entries are sent when they take this much.
const BATCH: usize = 48 * 1024;

/// Sends what is in a directory.
pub(crate) async fn list(roots: &Roots, request: &ListRequest, stream: &mut Stream) -> Result<(), Failure> {
    let top = roots.open(&request.path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)?;
    let mut walk = Walk::new(request, top)?;
    let mut batch = Batch::default();
    let mut n_entries = 0;
    while let Some(found) = walk.next() {
        if n_entries == request.limit.min(MAX_LIST) {
            walk.end.truncated = true;
            break;
        }
        n_entries += 1;
        batch.push(found);
        if batch.n_bytes > BATCH {
            batch.send(stream).await?;
            yield_now().await;
        }
    }
    batch.send(stream).await?;
    let end = serde_json::to_vec(&walk.end).map_err(|_| Failure::Gone)?;
    Ok(write_frame(stream, &Frame::End(end.into())).await?)
}

/// Entries that wait to be sent.
#[derive(Default)]
struct Batch {
    entries: Vec<DirEntry>,
    n_bytes: usize,
}

impl Batch {
    fn push(&mut self, entry: DirEntry) {
        // A path can take six times its length in JSON, if it is made of control characters.
        let escaped = entry.path.bytes().map(|byte| if byte < 0x20 { 6 } else { 2 }).sum::<usize>();
        self.n_bytes += escaped + 100;
        self.entries.push(entry);
    }

    async fn send(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        if !self.entries.is_empty() {
            write_frame(stream, &Frame::reply(&self.entries)?).await?;
            *self = Self::default();
        }
        Ok(())
    }
}

/// A walk through a tree, depth first, without following links.
struct Walk<'a> {
    request: &'a ListRequest,
    levels: Vec<Level>,
    end: ListEnd,
}

struct Level {
    directory: OwnedFd,
    entries: Dir,
    /// Relative to the top, with a final slash; empty for the top.
    prefix: String,
}

impl<'a> Walk<'a> {
    fn new(request: &'a ListRequest, top: OwnedFd) -> Result<Self, GuestError> {
        let level = Level::open(top, String::new());
        let level = level.map_err(|errno| file_error(&format!("list `{}`", request.path.path), errno))?;
        Ok(Self { request, levels: vec![level], end: ListEnd::default() })
    }

    fn next(&mut self) -> Option<DirEntry> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            let found = entry.ok().and_then(|entry| level.look_at(entry.file_name().to_bytes()));
            match found {
                Some(Found::Itself) => {}
                Some(Found::Entry(name, entry)) => {
                    if entry.stat.kind == FileKind::Directory {
                        self.enter(&name, &entry);
                    }
                    return Some(entry);
                }
                None => self.end.skipped += 1,
            }
        }
    }

    fn enter(&mut self, name: &str, entry: &DirEntry) {
        let deep = self.levels.len() >= MAX_DEPTH.min(self.request.depth as usize);
        if deep || self.request.excludes.iter().any(|exclude| exclude == name) {
            return;
        }
        let Some(level) = self.levels.last() else { return };
        let opened = step(&level.directory, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)
            .and_then(|directory| Level::open(directory, format!("{}/", entry.path)));
        match opened {
            Ok(level) => self.levels.push(level),
            Err(_) => self.end.skipped += 1,
        }
    }
}

enum Found {
    /// `.` or `..`.
    Itself,
    Entry(String, DirEntry),
}

impl Level {
    fn open(directory: OwnedFd, prefix: String) -> Result<Self, rustix::io::Errno> {
        let entries = Dir::new(reopen_for_listing(&directory)?)?;
        Ok(Self { directory, entries, prefix })
    }

    /// `None` for what cannot be named or is gone.
    fn look_at(&self, name: &[u8]) -> Option<Found> {
        if matches!(name, b"." | b"..") {
            return Some(Found::Itself);
        }
        let name = std::str::from_utf8(name).ok()?;
        let stat: FileStat = file_stat(&statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?);
        let path = format!("{}{name}", self.prefix);
        (path.len() <= 4096).then(|| Found::Entry(name.to_owned(), DirEntry { path, stat }))
    }
}
