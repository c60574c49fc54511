//! The stored form of a recording: compressed, and without what an earlier recording of its chain already holds.
//!
//! An agent sends its whole conversation with every call, so that whole recordings grow with the square of their number.
//! A packed recording is a zstd frame whose dictionary is another recording, its *base*: it costs what is new in it.
//! **Invariant:** a recording is read by at most `FANOUT` − 1 bases for each digit of its place, to the base of
//! `FANOUT`; and a chain has a maximum age ([`Place::next`]), so that retention can go by age.

use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use warren_domain::{BlobHash, Timestamp};
use zstd::zstd_safe::{DCtx, get_frame_content_size};

use super::RecordingError;

/// One recording in this many is based not on the one before it, but on the one so many places before it.
pub(super) const FANOUT: u32 = 32;

/// The first bytes of a packed recording. Earlier forms begin with a brace.
const MAGIC: [u8; 4] = *b"WRC3";

/// Magic, place, start of the chain, base.
const HEADER: usize = 4 + 4 + 8 + 32;

const LEVEL: i32 = 3;

/// The largest window that every decoder accepts.
const MAX_WINDOW_LOG: u32 = 27;

const MIN_WINDOW_LOG: u32 = 17;

/// No recording is longer: a request and an answer are limited to less.
const MAX_BYTES: usize = 256 << 20;

/// Where a recording stands among those that share content with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its number in the chain, from 0.
    pub n: u32,
    /// When the chain began.
    pub since: Timestamp,
}

impl Place {
    /// The first place of a chain that begins now.
    #[must_use]
    pub fn first(now: Timestamp) -> Place {
        Place { n: 0, since: now }
    }

    /// The place behind this one; `None` if the chain is too old to go on. Whoever deletes recordings by age waits that much
    /// longer, for what is based on them.
    #[must_use]
    pub fn next(self, now: Timestamp, max_age: Duration) -> Option<Place> {
        let age = now.as_millis().saturating_sub(self.since.as_millis());
        let is_young = u128::try_from(age).is_ok_and(|age| age < max_age.as_millis());
        let n = self.n.checked_add(1).filter(|_| is_young)?;
        Some(Place { n, since: self.since })
    }

    /// The place of its base.
    #[must_use]
    pub fn base(self) -> Option<u32> {
        let mut step = 1_u32;
        while let Some(longer) = step.checked_mul(FANOUT).filter(|longer| self.n.is_multiple_of(*longer)) {
            step = longer;
        }
        self.n.checked_sub(step)
    }
}

/// A recording as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Where it stands in its chain.
    pub place: Place,
    /// The recording without which it cannot be read.
    pub base: Option<BlobHash>,
    frame: Bytes,
}

impl Packed {
    /// Packs what [`Recording::encode`](super::Recording::encode) made.
    ///
    /// # Errors
    /// When zstd fails, which is a matter of memory.
    pub fn pack(place: Place, base: Option<(&BlobHash, &[u8])>, whole: &[u8]) -> std::io::Result<Bytes> {
        let hash = base.map(|(hash, _)| raw(hash)).transpose()?.unwrap_or_default();
        let dictionary = base.map_or(&[][..], |(_, bytes)| bytes);
        let mut packed = BytesMut::with_capacity(HEADER + 1024);
        packed.put_slice(&MAGIC);
        packed.put_u32_le(place.n);
        packed.put_i64_le(place.since.as_millis());
        packed.put_slice(&hash);
        // By a stream: at once, zstd makes three times as much of content that is hardly new.
        let mut encoder = zstd::stream::write::Encoder::with_ref_prefix(packed.writer(), LEVEL, dictionary)?;
        encoder.include_checksum(true)?;
        encoder.long_distance_matching(true)?;
        encoder.window_log(window_log(dictionary.len() + whole.len()))?;
        encoder.set_pledged_src_size(Some(whole.len() as u64))?;
        std::io::Write::write_all(&mut encoder, whole)?;
        Ok(encoder.finish()?.into_inner().freeze())
    }

    /// Reads the header of a stored recording; `None` if it is stored whole, as earlier versions did.
    ///
    /// # Errors
    /// When the header is cut short.
    pub fn parse(bytes: &Bytes) -> Result<Option<Packed>, RecordingError> {
        if !bytes.starts_with(&MAGIC) {
            return Ok(None);
        }
        let short = RecordingError::Damaged("its header is cut short");
        let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let time = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(i64::from_le_bytes);
        let (Some(n), Some(since), Some(hash)) = (number(4), time(8), bytes.get(16..HEADER)) else {
            return Err(short);
        };
        let hash: [u8; 32] = hash.try_into().map_err(|_| short)?;
        let base = (hash != [0; 32]).then(|| BlobHash(blake3::Hash::from_bytes(hash).to_hex().to_string()));
        let place = Place { n, since: Timestamp::from_millis(since) };
        Ok(Some(Packed { place, base, frame: bytes.slice(HEADER..) }))
    }

    /// The whole recording. `base` is the whole of what [`Packed::base`] names.
    ///
    /// # Errors
    /// When the bytes or the base are not those that were packed.
    pub fn unpack(&self, base: Option<&[u8]>) -> Result<Bytes, RecordingError> {
        let damaged = || RecordingError::Damaged("it cannot be unpacked");
        let n_bytes = get_frame_content_size(&self.frame).ok().flatten().ok_or_else(damaged)?;
        let n_bytes = usize::try_from(n_bytes).ok().filter(|n_bytes| *n_bytes <= MAX_BYTES);
        let n_bytes = n_bytes.ok_or(RecordingError::Damaged("it is longer than any recording"))?;
        // At once: a stream would copy it through a window of its own.
        let mut context = DCtx::create();
        context.ref_prefix(base.unwrap_or_default()).map_err(|_| damaged())?;
        let mut whole = Vec::with_capacity(n_bytes);
        context.decompress(&mut whole, &self.frame).map_err(|_| damaged())?;
        Ok(Bytes::from(whole))
    }
}

fn raw(hash: &BlobHash) -> std::io::Result<[u8; 32]> {
    let parsed = blake3::Hash::from_hex(hash.as_str()).map_err(std::io::Error::other)?;
    Ok(*parsed.as_bytes())
}

/// A window that spans the dictionary and the recording, as far as decoders allow.
fn window_log(bytes: usize) -> u32 {
    let exact = usize::BITS - bytes.leading_zeros();
    exact.clamp(MIN_WINDOW_LOG, MAX_WINDOW_LOG)
}

#[cfg(test)]
mod tests;
