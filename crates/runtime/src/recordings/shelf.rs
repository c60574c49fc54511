//! Recordings as they are stored, in a temporary file, unpacked one at a time.
//!
//! A whole recording has its whole request: those of one run may be a thousand times as long as what is stored of them. So
//! the shelf holds what is stored, and few whole ones to unpack the next one from.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

use bytes::Bytes;
use warren_domain::{BlobHash, Partition};
use warren_models::{Lane, Packed, Place, Recording, RecordingError};
use warren_store::Blobs;

use super::LoadError;
use crate::scratch_file::{ScratchFile, Span};

/// The most bytes of whole recordings that are held, unless one alone is longer.
const MAX_HELD_BYTES: usize = 4 << 20;

/// Recordings of one session that were fetched.
pub(crate) struct Shelf {
    file: ScratchFile,
    stored: HashMap<BlobHash, Stored>,
    /// Whole recordings, the last used one last.
    held: VecDeque<(BlobHash, Bytes)>,
}

/// A recording on the shelf.
#[derive(Clone)]
struct Stored {
    at: Span,
    /// `None` if it is stored whole, as earlier versions did.
    packed: Option<(Place, Option<BlobHash>)>,
}

impl Shelf {
    /// A shelf whose file is in `directory`.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { file: ScratchFile::new(directory), stored: HashMap::new(), held: VecDeque::new() }
    }

    /// Fetches a recording and what it is based on, as far as they are not here yet.
    pub(crate) async fn fetch(
        &mut self,
        blobs: &dyn Blobs,
        space: &Partition,
        hash: &BlobHash,
    ) -> Result<(), LoadError> {
        let mut next = Some(hash.clone());
        let mut later: Option<Place> = None;
        while let Some(hash) = next.take_if(|hash| !self.stored.contains_key(hash)) {
            let found = blobs.blob(space, &hash).await.map_err(LoadError::Read)?;
            let bytes = found.ok_or_else(|| LoadError::Gone(hash.clone()))?;
            let packed = Packed::parse(&bytes)?.map(|packed| (packed.place, packed.base));
            if let Some((place, base)) = &packed {
                // Whatever a header says, this ends.
                if later.is_some_and(|later| place.n >= later.n) {
                    return Err(RecordingError::Damaged("it is based on a later one").into());
                }
                later = Some(*place);
                next.clone_from(base);
            }
            let at = self.file.append(&bytes).map_err(LoadError::Shelf)?;
            self.stored.insert(hash, Stored { at, packed });
        }
        Ok(())
    }

    /// Reads a recording that was fetched.
    pub(crate) fn recording(&mut self, hash: &BlobHash) -> Result<Recording, LoadError> {
        Ok(Recording::decode(&self.whole(hash)?)?)
    }

    /// The bytes of a recording that was fetched, as [`Recording::encode`] made them.
    pub(crate) fn whole(&mut self, hash: &BlobHash) -> Result<Bytes, LoadError> {
        if let Some(place) = self.held.iter().position(|(held, _)| held == hash)
            && let Some(found) = self.held.remove(place)
        {
            self.held.push_back(found.clone());
            return Ok(found.1);
        }
        let chain = self.chain(hash)?;
        let held = |(hash, _): &(BlobHash, Stored)| self.held.iter().find(|(held, _)| held == hash);
        let nearest = chain.iter().enumerate().rev().find_map(|(place, link)| Some((place, held(link)?)));
        let (n_done, mut whole) = match nearest {
            Some((place, (_, whole))) => (place + 1, Some(whole.clone())),
            None => (0, None),
        };
        for (_, stored) in &chain[n_done..] {
            whole = Some(self.unpack(stored, whole.as_ref())?);
        }
        let whole = whole.ok_or_else(|| LoadError::Gone(hash.clone()))?;
        self.hold(hash.clone(), whole.clone());
        Ok(whole)
    }

    /// The chain that ends with a recording that was fetched, for others to continue it. `None` if it cannot be continued.
    pub(crate) fn lane(&mut self, hash: &BlobHash) -> Result<Option<Lane>, LoadError> {
        let chain = self.chain(hash)?;
        Lane::of_chain(chain.into_iter().filter_map(|(hash, stored)| {
            let (place, _) = stored.packed?;
            Some(self.whole(&hash).map(|whole| (place, hash, whole)))
        }))
    }

    /// What must be unpacked to read a recording, in this order; it is the last.
    fn chain(&self, hash: &BlobHash) -> Result<Vec<(BlobHash, Stored)>, LoadError> {
        let mut chain = Vec::new();
        let mut next = Some(hash.clone());
        while let Some(hash) = next {
            let stored = self.stored.get(&hash).ok_or_else(|| LoadError::Gone(hash.clone()))?;
            next = stored.packed.as_ref().and_then(|(_, base)| base.clone());
            chain.push((hash, stored.clone()));
        }
        chain.reverse();
        Ok(chain)
    }

    fn unpack(&mut self, stored: &Stored, base: Option<&Bytes>) -> Result<Bytes, LoadError> {
        let bytes = Bytes::from(self.file.read(stored.at).map_err(LoadError::Shelf)?);
        match Packed::parse(&bytes)? {
            Some(packed) => Ok(packed.unpack(base.map(Bytes::as_ref))?),
            None => Ok(bytes),
        }
    }

    fn hold(&mut self, hash: BlobHash, whole: Bytes) {
        self.held.push_back((hash, whole));
        let n_held =
            |held: &VecDeque<(BlobHash, Bytes)>| held.iter().map(|(_, whole)| whole.len()).sum::<usize>();
        while self.held.len() > 1 && n_held(&self.held) > MAX_HELD_BYTES {
            self.held.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use warren_domain::{BlobHash, Timestamp};
    use warren_models::{Packed, Place};

    use super::{MAX_HELD_BYTES, Shelf, Stored};

    /// Bytes that do not compress.
    fn noise(seed: usize, n_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0; n_bytes];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    fn hash(n: u32) -> BlobHash {
        BlobHash(blake3::hash(&n.to_le_bytes()).to_hex().to_string())
    }

    /// A chain of recordings of which each repeats 2 MiB and says something of its own.
    fn chain(shelf: &mut Shelf, n_links: u32) -> Vec<Bytes> {
        let common = noise(0, 2 << 20);
        let whole = |n: u32| [common.clone(), n.to_string().into_bytes()].concat();
        for n in 0..n_links {
            let place = Place { n, since: Timestamp::from_millis(0) };
            let base = place.base();
            let (base_hash, base_whole) = (base.map(hash), base.map(whole));
            let packed = Packed::pack(place, base_hash.as_ref().zip(base_whole.as_deref()), &whole(n));
            let at = shelf.file.append(&packed.expect("packed")).expect("written");
            shelf.stored.insert(hash(n), Stored { at, packed: Some((place, base_hash)) });
        }
        (0..n_links).map(|n| Bytes::from(whole(n))).collect()
    }

    #[test]
    fn whole_recordings_are_read_in_any_order_and_few_of_them_are_held() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut shelf = Shelf::new(directory.path());
        let wholes = chain(&mut shelf, 40);
        let backwards = (0..40).rev().chain([3, 39, 32, 31, 0]);
        for n in (0..40).chain(backwards) {
            let read = shelf.whole(&hash(n)).expect("it is read");
            assert_eq!(read, wholes[n as usize], "recording {n}");
            let n_held: usize = shelf.held.iter().map(|(_, whole)| whole.len()).sum();
            assert!(n_held <= MAX_HELD_BYTES, "{n_held} bytes are held after recording {n}");
        }
        let lane = shelf.lane(&hash(39)).expect("it is read");
        assert!(lane.is_none(), "noise is no recording, so nothing continues it");
    }
}
