//! Writes a tar as it is sent.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::Path,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use indicatif::ProgressBar;
use rustix::fs::OFlags;
use tar::{Builder, EntryType, Header};
use tokio::sync::mpsc::Sender;

use super::tree::{Found, Item, Kind};

/// The bytes of one piece.
const PIECE: usize = 256 * 1024;

/// What a tar header has room for; longer names go into a header of their own.
const MAX_NAME: usize = 100;

/// Packs everything that was found. Ends early if nobody takes it any more.
pub(super) fn write(
    root: &Path,
    found: &Found,
    pieces: Sender<Bytes>,
    compression: Option<Compression>,
    bar: &ProgressBar,
) -> io::Result<()> {
    let out = io::BufWriter::with_capacity(PIECE, Pieces(pieces));
    match compression {
        None => pack(root, found, out, bar)?.flush(),
        Some(level) => pack(root, found, GzEncoder::new(out, level), bar)?.finish()?.flush(),
    }
}

fn pack<W: Write>(root: &Path, found: &Found, out: W, bar: &ProgressBar) -> io::Result<W> {
    let mut builder = Builder::new(out);
    for item in &found.items {
        match add(&mut builder, root, item, bar) {
            // It was there a moment ago. What vanishes while it is read is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            added => added?,
        }
    }
    builder.into_inner()
}

fn add<W: Write>(builder: &mut Builder<W>, root: &Path, item: &Item, bar: &ProgressBar) -> io::Result<()> {
    let at = root.join(&item.path);
    let path = item.path.as_os_str().as_bytes();
    match item.kind {
        Kind::File => {
            // What was a file a moment ago may be a link or a pipe by now.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&at)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Ok(());
            }
            let header = header(&metadata, EntryType::Regular, metadata.len());
            // A file that becomes shorter while it is read is filled up: its length was told already.
            let content = Counted { inner: file, bar }.chain(io::repeat(0)).take(metadata.len());
            append(builder, header, path, b"", content)
        }
        Kind::Directory => {
            let header = header(&fs::symlink_metadata(&at)?, EntryType::Directory, 0);
            append(builder, header, path, b"", io::empty())
        }
        Kind::Link => {
            let target = fs::read_link(&at)?;
            let header = header(&fs::symlink_metadata(&at)?, EntryType::Symlink, 0);
            append(builder, header, path, target.as_os_str().as_bytes(), io::empty())
        }
    }
}

fn header(metadata: &fs::Metadata, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(metadata.mode() & 0o777);
    header.set_mtime(u64::try_from(metadata.mtime()).unwrap_or(0));
    header.set_size(size);
    header
}

/// Adds an entry under exactly this name: the builder's own methods would tidy names and targets.
fn append<W: Write>(
    builder: &mut Builder<W>,
    mut header: Header,
    path: &[u8],
    target: &[u8],
    content: impl Read,
) -> io::Result<()> {
    let long = [("path", path), ("linkpath", target)].into_iter().filter(|(_, name)| name.len() > MAX_NAME);
    let long: Vec<_> = long.collect();
    if !long.is_empty() {
        builder.append_pax_extensions(long)?;
    }
    let names = header.as_ustar_mut().ok_or_else(|| io::Error::other("not a ustar header"))?;
    fill(&mut names.name, path);
    fill(&mut names.linkname, target);
    header.set_cksum();
    builder.append(&header, content)
}

fn fill(slot: &mut [u8], name: &[u8]) {
    let n = name.len().min(slot.len());
    slot[..n].copy_from_slice(&name[..n]);
}

/// Where a tar goes, piece by piece.
struct Pieces(Sender<Bytes>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Bytes::copy_from_slice(bytes));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file whose bytes move the bar.
struct Counted<'a> {
    inner: File,
    bar: &'a ProgressBar,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bar.inc(n as u64);
        Ok(n)
    }
}
