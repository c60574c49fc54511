//! Takes what a scan finds, whichever side of a stream it runs on.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use warren_tree::{
    Changes, File, Hash, Index, Piece,
    scan::{Batch, Found, FoundDir, FoundEntry, FoundWhat, Notice, Sink, Stop},
};

use super::{Packs, Skipped};
use crate::{
    TakeError, TreeId, escape,
    pack::{Builder, PACK_BYTES, Press},
    partition::Shelf,
    places,
};

/// Nodes are compressed together until they take this much.
const NODES_BYTES: usize = 512 * 1024;

/// Notices that are kept: a tree of sockets shall not fill our memory.
const MAX_NOTICES: usize = 10_000;

/// What a scan has found so far. Shared by the threads that bring it.
pub(crate) struct Taker {
    shelf: Arc<Shelf>,
    packs: Packs,
    builder: Mutex<Builder>,
    /// One for each thread that needs one at the same time.
    presses: Mutex<Vec<Press>>,
    /// Chunks that somebody was told to bring, and whether they came.
    claimed: Mutex<HashMap<Hash, bool>>,
    found: Mutex<Vec<FoundDir>>,
    notices: Mutex<Vec<Skipped>>,
}

/// A whole tree.
pub(super) struct Scanned {
    pub(super) index: Index,
    pub(super) tree: TreeId,
    pub(super) changes: Changes,
    pub(super) notices: Vec<Skipped>,
}

impl Sink for Taker {
    fn lacking(&self, chunks: &[(Hash, u32)]) -> Result<Vec<bool>, Stop> {
        let state = self.shelf.read();
        let mut claimed = lock(&self.claimed);
        Ok(chunks
            .iter()
            .map(|(hash, _)| !state.has_for_good(hash) && claimed.insert(*hash, false).is_none())
            .collect())
    }

    fn chunks(&self, batch: &mut Batch) -> Result<(), Stop> {
        let press = lock(&self.presses).pop();
        let mut press = press.unwrap_or_default();
        let sealed = press.seal(&batch.chunks, &batch.data);
        {
            let mut claimed = lock(&self.claimed);
            batch.chunks.iter().for_each(|(hash, _)| _ = claimed.insert(*hash, true));
        }
        let full = {
            let mut builder = lock(&self.builder);
            builder.add(&sealed);
            (builder.len() >= PACK_BYTES).then(|| std::mem::take(&mut *builder))
        };
        lock(&self.presses).push(press);
        full.map_or(Ok(()), |full| self.send(full))
    }

    fn directory(&self, found: FoundDir) -> Result<(), Stop> {
        lock(&self.found).push(found);
        Ok(())
    }

    fn notice(&self, notice: Notice) -> Result<(), Stop> {
        let mut notices = lock(&self.notices);
        if notices.len() < MAX_NOTICES {
            notices.push(Skipped { path: escape(&notice.path), why: notice.why });
        }
        Ok(())
    }
}

impl Taker {
    pub(super) fn new(shelf: Arc<Shelf>, packs: Packs) -> Self {
        Self {
            shelf,
            packs,
            builder: Mutex::default(),
            presses: Mutex::default(),
            claimed: Mutex::default(),
            found: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    /// Which of these to take from somebody who is not trusted: those that were asked for and did not come yet. With
    /// `unasked`, also those that nobody has.
    pub(crate) fn accept(&self, chunks: &[(Hash, u32)], unasked: bool) -> Vec<bool> {
        let state = self.shelf.read();
        let mut claimed = lock(&self.claimed);
        let mut accept = |(hash, _): &(Hash, u32)| match claimed.get(hash) {
            Some(came) => !came && claimed.insert(*hash, true).is_some(),
            None => unasked && !state.has_for_good(hash) && claimed.insert(*hash, true).is_none(),
        };
        chunks.iter().map(&mut accept).collect()
    }

    /// How many chunks were asked for or came.
    pub(crate) fn n_claimed(&self) -> usize {
        lock(&self.claimed).len()
    }

    /// Refuses a scan that names chunks which are neither kept in this partition nor were brought.
    pub(super) fn check_references(&self) -> Result<(), TakeError> {
        let wrong = |what: &str| Err(TakeError::Protocol { what: what.to_owned() });
        let claimed = lock(&self.claimed);
        if claimed.values().any(|came| !came) {
            return wrong("a chunk that was asked for did not come");
        }
        let state = self.shelf.read();
        let is_kept = |hash: &Hash| claimed.contains_key(hash) || state.has_for_good(hash);
        let is_whole = |file: &File| {
            file.pieces.iter().all(|piece| match piece {
                Piece::Data { hash, .. } => is_kept(hash),
                Piece::Hole { .. } => true,
            })
        };
        let all_kept = lock(&self.found).iter().flat_map(|found| &found.entries).all(|found| match found {
            Found::Entry(FoundEntry { what: FoundWhat::File(file), .. }) => is_whole(file),
            Found::Entry(_) | Found::Same(_) => true,
        });
        if all_kept { Ok(()) } else { wrong("a file has a chunk that nobody brought") }
    }

    /// Makes the tree, and hands over the last pack.
    pub(super) fn merge(&self, base: &Index, max_bytes: u64) -> Result<Scanned, TakeError> {
        let found = std::mem::take(&mut *lock(&self.found));
        let merged = base.merge(found).map_err(TakeError::Untrue)?;
        let index = merged.index;
        if places::totals(&index).bytes > max_bytes {
            return Err(TakeError::TooLarge { max_bytes });
        }
        self.keep_nodes(merged.nodes)?;
        let tree = index.tree().map_or_else(TreeId::empty, TreeId);
        let mut notices = std::mem::take(&mut *lock(&self.notices));
        notices.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Scanned { index, tree, changes: merged.changes, notices })
    }

    /// Keeps directories, and hands over the last pack.
    pub(super) fn keep_nodes(&self, nodes: Vec<(Hash, Vec<u8>)>) -> Result<(), TakeError> {
        let mut batch = Batch::default();
        for (hash, bytes) in nodes {
            let is_new = self.lacking(&[(hash, bytes.len() as u32)]).is_ok_and(|lacking| lacking == [true]);
            if is_new {
                batch.chunks.push((hash, bytes.len() as u32));
                batch.data.extend_from_slice(&bytes);
            }
            if batch.data.len() >= NODES_BYTES {
                self.chunks(&mut std::mem::take(&mut batch)).map_err(|Stop| TakeError::Cut)?;
            }
        }
        if !batch.chunks.is_empty() {
            self.chunks(&mut batch).map_err(|Stop| TakeError::Cut)?;
        }
        let last = std::mem::take(&mut *lock(&self.builder));
        if last.is_empty() { Ok(()) } else { self.send(last).map_err(|Stop| TakeError::Cut) }
    }

    fn send(&self, pack: Builder) -> Result<(), Stop> {
        // Nobody takes it only if the store failed, which is told by whoever puts packs there.
        self.packs.blocking_send(pack.finish()).map_err(|_| Stop)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
