//! The base of a scan, as it goes to whoever has the files: how things looked, and not what was in them.

use super::message::{MAX_MESSAGE, Message, decode_seen, encode_seen};
use crate::{
    Decoder, Encoder, Index, Malformed,
    node::decode_mode,
    scan::{Base, BaseEntry, Kind},
};

/// Directories that are sent together take about so much.
const FULL: usize = 1024 * 1024;

/// The messages that say what is known of a tree.
#[must_use]
pub fn encode_base(index: &Index) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut encoder = Encoder::new();
    for dir in index.dirs() {
        let mut one = Encoder::new();
        one.uint(dir.entries.len() as u64);
        dir.entries.iter().for_each(|known| encode_entry(&mut one, &BaseEntry::of(known)));
        let mut one = one.finish();
        // A directory that is too large to be told of is not known, which only costs time.
        if one.len() > MAX_MESSAGE / 2 {
            one = vec![0];
        }
        encoder.bytes(&one);
        if encoder.len() >= FULL {
            messages.push(Message::Base(std::mem::take(&mut encoder).finish()));
        }
    }
    if !encoder.is_empty() {
        messages.push(Message::Base(encoder.finish()));
    }
    messages
}

/// A base that came over the stream.
#[derive(Debug, Default)]
pub struct RemoteBase {
    parts: Vec<Vec<u8>>,
    /// Which part, and where in it.
    dirs: Vec<(usize, std::ops::Range<usize>)>,
}

impl RemoteBase {
    /// Adds directories behind those that are there.
    pub fn add(&mut self, part: Vec<u8>) -> Result<(), Malformed> {
        let mut decoder = Decoder::new(&part);
        while !decoder.rest().is_empty() {
            let dir = decoder.bytes()?;
            check(dir)?;
            let end = part.len() - decoder.rest().len();
            self.dirs.push((self.parts.len(), end - dir.len()..end));
        }
        self.parts.push(part);
        Ok(())
    }
}

impl Base for RemoteBase {
    fn directory(&self, number: u32) -> Vec<BaseEntry<'_>> {
        let Some((part, range)) = self.dirs.get(number as usize) else { return Vec::new() };
        let mut decoder = Decoder::new(&self.parts[*part][range.clone()]);
        let n = decoder.count().unwrap_or(0);
        // It was checked when it came.
        (0..n).map_while(|_| decode_entry(&mut decoder).ok()).collect()
    }
}

fn check(dir: &[u8]) -> Result<(), Malformed> {
    let mut decoder = Decoder::new(dir);
    for _ in 0..decoder.count()? {
        decode_entry(&mut decoder)?;
    }
    decoder.end()
}

fn encode_entry(encoder: &mut Encoder, entry: &BaseEntry<'_>) {
    encoder.bytes(entry.name);
    encoder.byte(match entry.kind {
        Kind::File => 0,
        Kind::Directory => 1,
        Kind::Symlink => 2,
    });
    encoder.uint(entry.mode.into());
    encoder.int(entry.mtime_ns);
    encoder.uint(entry.size);
    encode_seen(encoder, entry.seen);
    encoder.uint(entry.child.into());
}

fn decode_entry<'a>(decoder: &mut Decoder<'a>) -> Result<BaseEntry<'a>, Malformed> {
    Ok(BaseEntry {
        name: decoder.bytes()?,
        kind: match decoder.byte()? {
            0 => Kind::File,
            1 => Kind::Directory,
            2 => Kind::Symlink,
            _ => return Err(Malformed::new("a kind")),
        },
        mode: decode_mode(decoder)?,
        mtime_ns: decoder.int()?,
        size: decoder.uint()?,
        seen: decode_seen(decoder)?,
        child: decoder.uint32()?,
    })
}
