//! Which recording the next one is based on.
//!
//! A session has several conversations: its own, its subagents', and side calls. Each has a *lane*, a chain of recordings
//! of which each continues the one before. A call belongs to the lane whose last request it repeats almost whole.

use std::{collections::HashSet, time::Duration};

use bytes::Bytes;
use fastcdc::v2020::FastCDC;
use warren_domain::{BlobHash, Timestamp};

use super::{
    Recording,
    packed::{FANOUT, Packed, Place},
    recording::recorded_request,
};
use crate::Exchange;

/// The most conversations that are followed at a time.
const MAX_LANES: usize = 8;

/// The most bytes of requests and answers that are held to base others on.
const MAX_HELD_BYTES: usize = 48 << 20;

/// So much of a request may be missing in the next one of its lane, or an eighth of it if that is more.
const MAX_MISSING: usize = 8 << 10;

/// Of what is only kept in memory.
const COMPRESSION: i32 = 1;

/// Pieces in which requests are compared.
const PIECE: std::ops::RangeInclusive<usize> = 256..=4096;
const AVERAGE_PIECE: usize = 1024;

/// The conversations of a session, the latest last.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
}

/// A chain of recordings, as far as later ones may be based on them.
#[derive(Debug)]
pub struct Lane {
    since: Timestamp,
    /// In the order of their places; the last one is the last of the chain.
    links: Vec<Link>,
    /// The pieces of the last request.
    pieces: Vec<Piece>,
}

/// A stored recording that others may be based on.
#[derive(Debug, Clone)]
struct Link {
    n: u32,
    hash: BlobHash,
    body: Body,
}

/// The bytes of a recording. All but the last of a chain are seldom needed, so they are compressed meanwhile.
#[derive(Debug, Clone)]
enum Body {
    Whole(Bytes),
    Compressed { frame: Bytes, n_bytes: usize },
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    hash: u64,
    bytes: usize,
}

/// A recording that is ready to be stored.
#[derive(Debug)]
pub struct Prepared {
    /// The bytes to store.
    pub bytes: Bytes,
    whole: Bytes,
    pieces: Vec<Piece>,
    place: Place,
    /// The last recording of the lane that it continues.
    continues: Option<BlobHash>,
}

impl Lanes {
    /// Whether a call with this request continues one of the lanes.
    #[must_use]
    pub fn has_lane_for(&self, request: &[u8]) -> bool {
        self.find(&pieces(request)).is_some()
    }

    /// Takes up a lane that an earlier owner of the session left.
    pub fn resume(&mut self, lane: Lane) {
        self.lanes.push(lane);
        self.forget_most();
    }

    /// Packs the recording of a call. A chain older than `max_age` is not continued. Hand it to [`Lanes::stored`] when it is.
    ///
    /// # Errors
    /// When zstd fails, which is a matter of memory.
    pub fn prepare(
        &self,
        exchange: &Exchange,
        now: Timestamp,
        max_age: Duration,
    ) -> std::io::Result<Prepared> {
        let whole = Recording::encode(exchange);
        let request = recorded_request(exchange);
        let pieces = pieces(request);
        // What has no request is no part of a conversation.
        let lane = self.find(&pieces).filter(|_| !request.is_empty()).map(|index| &self.lanes[index]);
        let continued = lane.and_then(|lane| {
            let place = lane.place()?.next(now, max_age)?;
            let base = place.base()?;
            let base = lane.links.iter().find(|link| link.n == base)?;
            Some((lane, place, &base.hash, base.body.whole().ok()?))
        });
        let (place, base, continues) = match &continued {
            Some((lane, place, hash, whole)) => {
                let last = lane.links.last().map(|link| link.hash.clone());
                (*place, Some((*hash, whole.as_ref())), last)
            }
            None => (Place::first(now), None, None),
        };
        let bytes = Packed::pack(place, base, &whole)?;
        Ok(Prepared { bytes, whole, pieces, place, continues })
    }

    /// Notes that a recording was stored: later ones may be based on it.
    pub fn stored(&mut self, prepared: Prepared, hash: BlobHash) {
        let Prepared { whole, pieces, place, continues, .. } = prepared;
        if pieces.iter().all(|piece| piece.bytes == 0) {
            return;
        }
        let is_continued = |lane: &Lane| lane.links.last().map(|link| &link.hash) == continues.as_ref();
        let index = continues.is_some().then(|| self.lanes.iter().position(is_continued)).flatten();
        let mut lane = match index {
            Some(index) => self.lanes.remove(index),
            None => Lane { since: place.since, links: Vec::new(), pieces: Vec::new() },
        };
        lane.push(place.n, hash, whole);
        lane.pieces = pieces;
        self.lanes.push(lane);
        self.forget_most();
    }

    /// The lane whose last request is repeated most wholly.
    fn find(&self, new: &[Piece]) -> Option<usize> {
        let known: HashSet<u64> = new.iter().map(|piece| piece.hash).collect();
        let missing = |lane: &Lane| -> usize {
            let lost = lane.pieces.iter().filter(|piece| !known.contains(&piece.hash));
            lost.map(|piece| piece.bytes).sum()
        };
        let all = self.lanes.iter().enumerate().map(|(index, lane)| (index, lane, missing(lane)));
        // Of two that are repeated alike the longer one, and of those the later one.
        let fitting = all.filter(|(_, lane, missing)| *missing <= MAX_MISSING.max(lane.request_bytes() / 8));
        fitting.max_by_key(|(_, lane, missing)| lane.request_bytes() - missing).map(|(index, ..)| index)
    }

    fn forget_most(&mut self) {
        while self.lanes.len() > MAX_LANES || (!self.lanes.is_empty() && self.held() > MAX_HELD_BYTES) {
            self.lanes.remove(0);
        }
    }

    fn held(&self) -> usize {
        self.lanes.iter().flat_map(|lane| &lane.links).map(|link| link.body.held()).sum()
    }
}

impl Lane {
    /// A lane from its chain, which begins with the recording without a base: each with its hash and its whole bytes. `None`
    /// if there is none, or the last is no recording. No more of them are held than the lane needs.
    ///
    /// # Errors
    /// That of the first link that has one.
    pub fn of_chain<E>(
        chain: impl IntoIterator<Item = Result<(Place, BlobHash, Bytes), E>>,
    ) -> Result<Option<Lane>, E> {
        let mut lane: Option<Lane> = None;
        for link in chain {
            let (place, hash, whole) = link?;
            let new = || Lane { since: place.since, links: Vec::new(), pieces: Vec::new() };
            lane.get_or_insert_with(new).push(place.n, hash, whole);
        }
        Ok(lane.and_then(Lane::with_pieces))
    }

    fn with_pieces(mut self) -> Option<Lane> {
        let last = Recording::decode(&self.links.last()?.body.whole().ok()?).ok()?;
        self.pieces = pieces(&last.request);
        Some(self)
    }

    fn place(&self) -> Option<Place> {
        Some(Place { n: self.links.last()?.n, since: self.since })
    }

    fn request_bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// Adds the last of the chain, and drops what nothing will be based on any more: all but the latest of each distance.
    fn push(&mut self, n: u32, hash: BlobHash, whole: Bytes) {
        self.links.push(Link { n, hash, body: Body::Whole(whole) });
        let places: Vec<u32> = self.links.iter().map(|link| link.n).collect();
        self.links.retain(|link| {
            let steps = std::iter::successors(Some(1_u32), |step| step.checked_mul(FANOUT));
            let mut own = steps.filter(|step| link.n.is_multiple_of(*step));
            own.any(|step| !places.iter().any(|later| *later > link.n && later.is_multiple_of(step)))
        });
        if let Some((_, earlier)) = self.links.split_last_mut() {
            earlier.iter_mut().for_each(|link| link.body.compress());
        }
    }
}

impl Body {
    /// As it is, if it cannot be compressed.
    fn compress(&mut self) {
        if let Body::Whole(whole) = self
            && let Ok(frame) = zstd::bulk::compress(whole, COMPRESSION)
        {
            *self = Body::Compressed { n_bytes: whole.len(), frame: Bytes::from(frame) };
        }
    }

    fn whole(&self) -> std::io::Result<Bytes> {
        match self {
            Body::Whole(whole) => Ok(whole.clone()),
            Body::Compressed { frame, n_bytes } => zstd::bulk::decompress(frame, *n_bytes).map(Bytes::from),
        }
    }

    /// How many bytes it takes.
    fn held(&self) -> usize {
        match self {
            Body::Whole(bytes) | Body::Compressed { frame: bytes, .. } => bytes.len(),
        }
    }
}

fn pieces(request: &[u8]) -> Vec<Piece> {
    let piece = |bytes: &[u8]| {
        let hash = *blake3::hash(bytes).as_bytes();
        let first = [hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]];
        Piece { hash: u64::from_le_bytes(first), bytes: bytes.len() }
    };
    if request.len() <= *PIECE.start() {
        return vec![piece(request)];
    }
    let cut = FastCDC::new(request, *PIECE.start(), AVERAGE_PIECE, *PIECE.end());
    cut.map(|found| piece(&request[found.offset..found.offset + found.length])).collect()
}

#[cfg(test)]
mod tests;
