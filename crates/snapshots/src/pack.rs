//! The stored form of a pack, version 1: many objects in one file.
//!
//! ```text
//! "WRNPACK1"                                   8 bytes
//! segments                                     one behind the other, each raw or a zstd frame
//! table: number of segments, then of each      raw length, stored length, 0 raw | 1 zstd
//!        number of objects, then of each       hash (32 bytes), number of its segment, where in it, length
//! BLAKE3 of the table                          32 bytes
//! length of the table                          4 bytes, big-endian
//! "WRNPACK1"                                   8 bytes
//! ```
//!
//! Numbers of the table are LEB128. A segment is one or more objects behind one another, compressed together. A pack is
//! written once, whole, and never changed; so one that was cut short has no end, and counts as not written.

use warren_tree::{Decoder, Encoder, Hash, Malformed};

const MAGIC: &[u8; 8] = b"WRNPACK1";

/// The end of a pack after its table.
pub(crate) const TRAILER: usize = 32 + 4 + MAGIC.len();

/// Segments are no longer than this when they are read: more is damage.
const MAX_SEGMENT: u32 = 512 * 1024 * 1024;

/// A pack is closed when it is this large.
pub(crate) const PACK_BYTES: usize = 32 * 1024 * 1024;

/// Fast before small: what is kept is written at the end of every run, while somebody waits.
const LEVEL: i32 = 1;

/// Where an object is in its pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Which segment.
    pub segment: u32,
    /// Where in the segment, once that is uncompressed.
    pub offset: u32,
    /// How long.
    pub len: u32,
}

/// A part of a pack that is compressed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins in the pack.
    pub offset: u64,
    /// Its length in the pack.
    pub stored: u32,
    /// Its length uncompressed.
    pub raw: u32,
    /// Whether it is compressed.
    pub is_compressed: bool,
}

/// What is in a pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Its segments, in order.
    pub segments: Vec<Segment>,
    /// Its objects.
    pub objects: Vec<(Hash, Slot)>,
}

/// A segment that is ready to become part of a pack.
#[derive(Debug)]
pub struct Sealed<'a> {
    bytes: &'a [u8],
    raw: u32,
    is_compressed: bool,
    objects: &'a [(Hash, u32)],
}

/// Makes segments, one after the other. What that needs is kept between them: to have it made anew for each costs a
/// quarter of the work.
#[derive(Default)]
pub struct Press {
    /// Made when it is first needed.
    compressor: Option<zstd::bulk::Compressor<'static>>,
    packed: Vec<u8>,
}

impl Press {
    /// Compresses objects that lie behind one another in `data`. Costs time, and needs no lock.
    pub fn seal<'a>(&'a mut self, objects: &'a [(Hash, u32)], data: &'a [u8]) -> Sealed<'a> {
        // What cannot be compressed, for whatever reason, is kept as it is.
        let is_compressed = self.compress(data).is_ok_and(|small| small < data.len() / 16 * 15);
        let bytes = if is_compressed { &self.packed[..] } else { data };
        Sealed { bytes, raw: data.len() as u32, is_compressed, objects }
    }

    fn compress(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            None => self.compressor.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(data.len()));
        compressor.compress_to_buffer(data, &mut self.packed)
    }
}

/// A pack that is being made.
#[derive(Debug)]
pub struct Builder {
    bytes: Vec<u8>,
    table: Table,
}

impl Default for Builder {
    fn default() -> Self {
        Self { bytes: MAGIC.to_vec(), table: Table::default() }
    }
}

impl Builder {
    /// Adds a segment.
    pub fn add(&mut self, sealed: &Sealed<'_>) {
        let segment = self.table.segments.len() as u32;
        self.table.segments.push(Segment {
            offset: self.bytes.len() as u64,
            stored: sealed.bytes.len() as u32,
            raw: sealed.raw,
            is_compressed: sealed.is_compressed,
        });
        self.bytes.extend_from_slice(sealed.bytes);
        let mut offset = 0;
        for &(hash, len) in sealed.objects {
            self.table.objects.push((hash, Slot { segment, offset, len }));
            offset += len;
        }
    }

    /// How large it is by now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.segments.is_empty()
    }

    /// The whole pack, and what is in it.
    #[must_use]
    pub fn finish(mut self) -> (Vec<u8>, Table) {
        let table = self.table.encode();
        self.bytes.extend_from_slice(&table);
        self.bytes.extend_from_slice(Hash::of(&table).as_bytes());
        self.bytes.extend_from_slice(&(table.len() as u32).to_be_bytes());
        self.bytes.extend_from_slice(MAGIC);
        (self.bytes, self.table)
    }
}

impl Table {
    fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::new();
        encoder.uint(self.segments.len() as u64);
        for segment in &self.segments {
            encoder.uint(segment.raw.into());
            encoder.uint(segment.stored.into());
            encoder.byte(segment.is_compressed.into());
        }
        encoder.uint(self.objects.len() as u64);
        for (hash, slot) in &self.objects {
            encoder.hash(hash);
            encoder.uint(slot.segment.into());
            encoder.uint(slot.offset.into());
            encoder.uint(slot.len.into());
        }
        encoder.finish()
    }

    /// Reads the table of a pack from its last bytes. `Err(Some(n))`: the last `n` bytes are needed.
    pub fn from_tail(tail: &[u8]) -> Result<Self, TailError> {
        let bad = |what| TailError::Damaged(Malformed::new(what));
        let (rest, magic) = tail.split_last_chunk::<8>().ok_or(bad("an end"))?;
        let (rest, len) = rest.split_last_chunk::<4>().ok_or(bad("an end"))?;
        let (rest, hash) = rest.split_last_chunk::<32>().ok_or(bad("an end"))?;
        if magic != MAGIC {
            return Err(bad("the end of a pack"));
        }
        let len = u32::from_be_bytes(*len) as usize;
        let from = rest.len().checked_sub(len).ok_or(TailError::More(len + TRAILER))?;
        let table = &rest[from..];
        if Hash::of(table) != Hash::from_bytes(*hash) {
            return Err(bad("a table that is whole"));
        }
        Self::decode(table).map_err(TailError::Damaged)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let mut table = Table::default();
        let mut offset = MAGIC.len() as u64;
        for _ in 0..decoder.count()? {
            let (raw, stored) = (decoder.uint32()?, decoder.uint32()?);
            let is_compressed = match decoder.byte()? {
                0 if raw == stored => false,
                1 => true,
                _ => return Err(Malformed::new("a way to compress that is known")),
            };
            if raw.max(stored) > MAX_SEGMENT {
                return Err(Malformed::new("a segment of a legal length"));
            }
            table.segments.push(Segment { offset, stored, raw, is_compressed });
            offset += u64::from(stored);
        }
        for _ in 0..decoder.count()? {
            let hash = decoder.hash()?;
            let slot = Slot { segment: decoder.uint32()?, offset: decoder.uint32()?, len: decoder.uint32()? };
            let segment = table.segments.get(slot.segment as usize);
            let end = slot.offset.checked_add(slot.len);
            if !matches!((segment, end), (Some(segment), Some(end)) if end <= segment.raw) {
                return Err(Malformed::new("an object within its segment"));
            }
            table.objects.push((hash, slot));
        }
        decoder.end()?;
        Ok(table)
    }
}

/// Why a table could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum TailError {
    /// It begins before what was read: so many last bytes are needed.
    More(usize),
    /// It is not what it should be.
    Damaged(Malformed),
}

impl Segment {
    /// The objects of a segment, from its stored bytes.
    pub fn open(&self, stored: Vec<u8>) -> Result<Vec<u8>, Malformed> {
        let raw = self.raw as usize;
        let bytes = if self.is_compressed {
            zstd::bulk::decompress(&stored, raw).map_err(|_| Malformed::new("a compressed segment"))?
        } else {
            stored
        };
        if bytes.len() == raw { Ok(bytes) } else { Err(Malformed::new("a segment of its length")) }
    }
}

#[cfg(test)]
mod tests;
