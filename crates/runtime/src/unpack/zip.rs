//! Entries of a zip.
//!
//! The list at the archive's end is what counts, as for every common tool. Files are stored or deflated; anything else is
//! refused by name. A size or checksum that is not what the list says is damage.

use std::{
    fs::File,
    io::{self, Read, Seek as _, SeekFrom},
};

use flate2::{Crc, read::DeflateDecoder};
use warren_snapshots::escape;

use super::{
    UnpackError,
    meter::{Meter, Metered},
    place::{Look, Place},
};

/// The record at the end, and the comment that may follow it.
const END: &[u8; 4] = b"PK\x05\x06";
const END_LEN: usize = 22;
const MAX_COMMENT: usize = 65_535;

const LISTED: &[u8; 4] = b"PK\x01\x02";
const LISTED_LEN: usize = 46;
const LOCAL: &[u8; 4] = b"PK\x03\x04";
const LOCAL_LEN: usize = 30;

/// The longest list that is read.
const MAX_LIST: u64 = 64 << 20;

/// In place of a number that is in an extra field.
const ELSEWHERE: u64 = 0xffff_ffff;

/// One entry of the list.
#[derive(Debug)]
struct Listed {
    name: Vec<u8>,
    is_encrypted: bool,
    method: u64,
    crc: u32,
    packed: u64,
    size: u64,
    /// The mode of the system that made it, if that is a Unix.
    mode: Option<u32>,
    modified: Option<i64>,
    offset: u64,
}

pub(super) fn unpack(mut file: &File, meter: &Meter, place: &mut Place) -> Result<(), UnpackError> {
    let (list, n_entries) = list(file)?;
    let mut rest = &list[..];
    for _ in 0..n_entries {
        let listed = Listed::read(&mut rest)?;
        let begins = begin(file, &listed)?;
        file.seek(SeekFrom::Start(begins)).map_err(UnpackError::broken)?;
        take(&listed, file.take(listed.packed), meter, place)?;
    }
    Ok(())
}

/// The list of entries, and how many they are.
fn list(file: &File) -> Result<(Vec<u8>, u64), UnpackError> {
    let size = file.metadata().map_err(UnpackError::broken)?.len();
    let from = size.saturating_sub((END_LEN + MAX_COMMENT) as u64);
    let tail = read_at(file, from, size - from)?;
    let is_end = |at: usize| {
        let record = &tail[at..];
        record.starts_with(END) && number(record, 20, 2) == (record.len() - END_LEN) as u64
    };
    let last = tail.len().checked_sub(END_LEN).ok_or_else(|| damaged("it is too short"))?;
    let at = (0..=last).rev().find(|at| is_end(*at)).ok_or_else(|| damaged("it has no end"))?;
    let record = &tail[at..];
    let (n_entries, length, begins) = (number(record, 10, 2), number(record, 12, 4), number(record, 16, 4));
    if n_entries == 0xffff || length == ELSEWHERE || begins == ELSEWHERE {
        return Err(UnpackError::Archive {
            message: "the archive has more entries than a plain zip can have".to_owned(),
            hint: Some("send a tar"),
        });
    }
    if length > MAX_LIST {
        return Err(UnpackError::TooLarge("the list of the archive's entries is too long".to_owned()));
    }
    Ok((read_at(file, begins, length)?, n_entries))
}

impl Listed {
    /// The next entry of the list.
    fn read(rest: &mut &[u8]) -> Result<Self, UnpackError> {
        let cut = || damaged("its list of entries is truncated");
        let head = rest.get(..LISTED_LEN).filter(|head| head.starts_with(LISTED)).ok_or_else(cut)?;
        let (name, extra, comment) =
            (number(head, 28, 2) as usize, number(head, 30, 2) as usize, number(head, 32, 2) as usize);
        let all = rest.get(..LISTED_LEN + name + extra + comment).ok_or_else(cut)?;
        let extra = &all[LISTED_LEN + name..LISTED_LEN + name + extra];
        let is_unix = matches!(head[5], 3 | 19);
        let mut listed = Self {
            name: all[LISTED_LEN..LISTED_LEN + name].to_vec(),
            is_encrypted: number(head, 8, 2) & 1 == 1,
            method: number(head, 10, 2),
            crc: number(head, 16, 4) as u32,
            packed: number(head, 20, 4),
            size: number(head, 24, 4),
            mode: is_unix.then(|| (number(head, 38, 4) >> 16) as u32),
            modified: None,
            offset: number(head, 42, 4),
        };
        listed.read_extra(extra)?;
        *rest = &rest[all.len()..];
        Ok(listed)
    }

    /// Numbers that do not fit elsewhere, and the time.
    fn read_extra(&mut self, mut extra: &[u8]) -> Result<(), UnpackError> {
        while extra.len() >= 4 {
            let (id, length) = (number(extra, 0, 2), number(extra, 2, 2) as usize);
            let Some(field) = extra.get(4..4 + length) else { break };
            match id {
                0x0001 => {
                    let mut field = field;
                    for wanted in [&mut self.size, &mut self.packed, &mut self.offset] {
                        if *wanted == ELSEWHERE {
                            let value = field.get(..8).ok_or_else(|| damaged("a size is missing"))?;
                            *wanted = number(value, 0, 8);
                            field = &field[8..];
                        }
                    }
                }
                0x5455 if field.len() >= 5 && field[0] & 1 == 1 => {
                    self.modified = Some(number(field, 1, 4) as i64);
                }
                _ => {}
            }
            extra = &extra[4 + length..];
        }
        Ok(())
    }
}

/// Where the content of an entry begins.
fn begin(file: &File, listed: &Listed) -> Result<u64, UnpackError> {
    let head = read_at(file, listed.offset, LOCAL_LEN as u64)?;
    if !head.starts_with(LOCAL) {
        return Err(damaged("an entry is not at its listed position"));
    }
    let begins = listed.offset.checked_add(LOCAL_LEN as u64 + number(&head, 26, 2) + number(&head, 28, 2));
    begins.ok_or_else(|| damaged("an entry is not at its listed position"))
}

fn take(listed: &Listed, packed: impl Read, meter: &Meter, place: &mut Place) -> Result<(), UnpackError> {
    let name = &listed.name;
    let refused = |why: &str| Err(UnpackError::archive(format!("`{}` {why}", escape(name))));
    if name.contains(&b'\\') {
        return refused("has a backslash in its name; a zip separates names by `/`");
    }
    if listed.is_encrypted {
        return refused("is encrypted");
    }
    let kind = listed.mode.map_or(0, |mode| mode & 0o170_000);
    let is_directory = name.ends_with(b"/") || kind == 0o040_000;
    let mode =
        listed.mode.filter(|mode| mode & 0o777 != 0).unwrap_or(if is_directory { 0o755 } else { 0o644 });
    let look = Look { mode, modified: listed.modified };
    if is_directory {
        return place.directory(name, look);
    }
    let unpacked: Box<dyn Read> = match listed.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(packed)),
        _ => return refused("uses an unknown compression method; use deflate"),
    };
    let (crc, wanted, left) = (Crc::new(), listed.crc, listed.size);
    let mut content = Checked { inner: Metered::new(unpacked, meter), crc, wanted, left };
    match kind {
        0o120_000 => {
            let mut target = Vec::new();
            content.take(4096).read_to_end(&mut target).map_err(UnpackError::broken)?;
            place.link(name, &target, look)
        }
        0 | 0o100_000 => place.file(name, look, &mut content),
        _ => place.special(name),
    }
}

/// Content that is what the list says of it, or an error at its end.
struct Checked<R> {
    inner: R,
    crc: Crc,
    wanted: u32,
    left: u64,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.crc.update(&buffer[..n]);
        let damaged =
            || io::Error::new(io::ErrorKind::InvalidData, "a file does not match the list of entries");
        self.left = self.left.checked_sub(n as u64).ok_or_else(damaged)?;
        let is_whole = self.left == 0 && self.crc.sum() == self.wanted;
        if n == 0 && !buffer.is_empty() && !is_whole { Err(damaged()) } else { Ok(n) }
    }
}

fn read_at(mut file: &File, offset: u64, length: u64) -> Result<Vec<u8>, UnpackError> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset)).map_err(UnpackError::broken)?;
    file.take(length).read_to_end(&mut bytes).map_err(UnpackError::broken)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(damaged("it is cut short")) }
}

/// A number of `length` bytes, the smallest first. The caller has seen that it is there.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn damaged(what: &str) -> UnpackError {
    UnpackError::broken(io::Error::new(io::ErrorKind::InvalidData, what))
}
