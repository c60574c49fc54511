//! Counts the blocks that are new since the latest version, in bounded memory.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{BlockId, EventBody};

/// Blocks that began and did not end yet. Beyond it the oldest is taken for one that ended.
const MAX_OPEN: usize = 1_024;

/// Ended blocks that are still recognised when another entry names them.
const MAX_ENDED: usize = 256;

/// The blocks that are new since the latest version.
///
/// It is part of every checkpoint of a log, so it must not grow with what was said: it holds the ids of open and of recent
/// blocks only. A block that is completed again after 256 others ended is counted twice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FreshBlocks {
    count: u64,
    /// Hashes of ids: an id is whatever an agent says, of any length. The oldest first.
    open: VecDeque<u64>,
    ended: VecDeque<u64>,
}

impl FreshBlocks {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Folds one entry. Entries that say nothing about blocks change nothing.
    pub(crate) fn apply(&mut self, body: &EventBody) {
        match body {
            EventBody::BlockStart { block } => self.start(block.id()),
            EventBody::BlockComplete { block } => self.complete(block.id()),
            EventBody::BlockDiscarded { block_id, .. } => self.discard(block_id),
            _ => {}
        }
    }

    /// A block begins.
    fn start(&mut self, id: &BlockId) {
        let key = key(id);
        if self.is_known(key) {
            return;
        }
        self.count += 1;
        if self.open.len() == MAX_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            self.end(oldest);
        }
        self.open.push_back(key);
    }

    /// A block is whole, whether or not its beginning was recorded.
    fn complete(&mut self, id: &BlockId) {
        let key = key(id);
        if !self.is_known(key) {
            self.count += 1;
        }
        if remove(&mut self.open, key) || !self.ended.contains(&key) {
            self.end(key);
        }
    }

    /// A block was discarded.
    fn discard(&mut self, id: &BlockId) {
        let key = key(id);
        if remove(&mut self.open, key) || remove(&mut self.ended, key) {
            self.count -= 1;
        }
    }

    fn is_known(&self, key: u64) -> bool {
        self.open.contains(&key) || self.ended.contains(&key)
    }

    fn end(&mut self, key: u64) {
        if self.ended.len() == MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(key);
    }
}

/// Removes the latest of these keys. Says whether it was there.
fn remove(keys: &mut VecDeque<u64>, key: u64) -> bool {
    let place = keys.iter().rposition(|known| *known == key);
    place.and_then(|place| keys.remove(place)).is_some()
}

fn key(id: &BlockId) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(id.as_str().as_bytes()).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::{FreshBlocks, MAX_ENDED, MAX_OPEN};
    use crate::BlockId;

    fn id(n: usize) -> BlockId {
        BlockId(format!("block {n}"))
    }

    #[test]
    fn block_is_counted_once_however_often_it_is_named() {
        let mut fresh = FreshBlocks::default();
        fresh.start(&id(1));
        fresh.start(&id(1));
        fresh.complete(&id(1));
        fresh.complete(&id(1));
        fresh.complete(&id(2));
        fresh.start(&id(2));
        assert_eq!(fresh.count(), 2);
    }

    #[test]
    fn discarded_block_is_not_counted_and_unknown_one_changes_nothing() {
        let mut fresh = FreshBlocks::default();
        fresh.start(&id(1));
        fresh.complete(&id(2));
        fresh.discard(&id(1));
        fresh.discard(&id(2));
        fresh.discard(&id(3));
        assert!(fresh.is_empty());
    }

    #[test]
    fn block_that_stays_open_over_many_others_is_counted_once() {
        let mut fresh = FreshBlocks::default();
        fresh.start(&id(0));
        (1..10_000).for_each(|n| fresh.complete(&id(n)));
        fresh.complete(&id(0));
        assert_eq!(fresh.count(), 10_000);
    }

    #[test]
    fn its_size_does_not_follow_the_number_of_blocks() {
        let mut fresh = FreshBlocks::default();
        for n in 0..100_000 {
            fresh.start(&id(n));
        }
        for n in 0..100_000 {
            fresh.complete(&id(100_000 + n));
        }
        assert_eq!((fresh.count(), fresh.open.len(), fresh.ended.len()), (200_000, MAX_OPEN, MAX_ENDED));
        let bytes = serde_json::to_vec(&fresh).expect("JSON").len();
        assert!(bytes < 32 << 10, "{bytes}");
    }
}
