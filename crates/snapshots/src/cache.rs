//! Segments that were read lately.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use object_store::path::Path as Name;
use tokio::sync::OnceCell;

/// How much is kept, uncompressed.
const MAX_BYTES: usize = 96 * 1024 * 1024;

/// A pack's name and the number of a segment.
pub(crate) type Key = (Name, u32);

/// A segment that somebody reads, or has read. Whoever comes second waits for the first.
pub(crate) type Entry = Arc<OnceCell<Bytes>>;

/// Segments that were read lately, the oldest of which go first.
#[derive(Default)]
pub(crate) struct Segments(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<Key, (Entry, usize)>,
    order: VecDeque<Key>,
    n_bytes: usize,
}

impl Segments {
    /// The entry of a segment that takes `n_bytes`.
    pub(crate) fn entry(&self, key: &Key, n_bytes: usize) -> Entry {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((entry, _)) = kept.entries.get(key) {
            return entry.clone();
        }
        while kept.n_bytes + n_bytes > MAX_BYTES
            && let Some(oldest) = kept.order.pop_front()
        {
            let freed = kept.entries.remove(&oldest).map_or(0, |(_, freed)| freed);
            kept.n_bytes -= freed;
        }
        let entry = Entry::default();
        kept.entries.insert(key.clone(), (entry.clone(), n_bytes));
        kept.order.push_back(key.clone());
        kept.n_bytes += n_bytes;
        entry
    }
}
