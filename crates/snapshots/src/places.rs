//! What the files of a place looked like when they were last read or written.
//!
//! Kept in memory for the places that were used lately, and in a file for each. A file is written without being synced,
//! and carries its own hash: one that was cut short or damaged counts as none, and the next take reads everything.

use std::{
    collections::{HashMap, VecDeque},
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use warren_domain::Partition;
use warren_tree::{Decoder, Encoder, Hash, Index, Known, KnownDir, Malformed, Node, Seen, Totals};

use crate::OpenError;

/// The first byte of a file.
const VERSION: u8 = 1;

/// Places that are kept in memory.
const MAX_PLACES: usize = 32;

/// All places.
pub(crate) struct Places {
    directory: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    indexes: HashMap<Hash, Arc<Index>>,
    /// Those used least lately first.
    order: VecDeque<Hash>,
}

impl Places {
    pub(crate) fn open(directory: Option<PathBuf>) -> Result<Self, OpenError> {
        if let Some(directory) = &directory {
            let path = directory.display().to_string();
            fs::create_dir_all(directory).map_err(|source| OpenError::Directory { path, source })?;
        }
        Ok(Self { directory, kept: Mutex::default() })
    }

    /// What is known of a place. Reads a file at worst: not for a thread that others wait for.
    pub(crate) fn get(&self, partition: &Partition, place: &str) -> Option<Arc<Index>> {
        let key = key(partition, place);
        if let Some(index) = self.lock().get(key) {
            return Some(index);
        }
        let bytes = fs::read(self.directory.as_ref()?.join(key.to_string())).ok()?;
        let index = match decode(&bytes) {
            Ok(index) => Arc::new(index),
            Err(error) => {
                tracing::warn!(place, %error, "what was known of a place is damaged, and is not used");
                return None;
            }
        };
        self.lock().put(key, index.clone());
        Some(index)
    }

    /// Notes what a place looks like. The file is written by [`Places::save`].
    pub(crate) fn put(&self, partition: &Partition, place: &str, index: Arc<Index>) {
        self.lock().put(key(partition, place), index);
    }

    /// Writes the file of a place, if it is still in memory. A failure costs time later, and nothing else.
    pub(crate) fn save(&self, partition: &Partition, place: &str) {
        let key = key(partition, place);
        let (Some(directory), Some(index)) = (&self.directory, self.lock().get(key)) else { return };
        let temporary = directory.join(format!("{key}.new"));
        let saved = fs::write(&temporary, encode(&index))
            .and_then(|()| fs::rename(&temporary, directory.join(key.to_string())));
        if let Err(error) = saved {
            tracing::warn!(place, %error, "failed to keep what a place looks like");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn get(&mut self, key: Hash) -> Option<Arc<Index>> {
        let index = self.indexes.get(&key).cloned()?;
        self.order.retain(|other| *other != key);
        self.order.push_back(key);
        Some(index)
    }

    fn put(&mut self, key: Hash, index: Arc<Index>) {
        self.order.retain(|other| *other != key);
        self.order.push_back(key);
        self.indexes.insert(key, index);
        while self.order.len() > MAX_PLACES
            && let Some(oldest) = self.order.pop_front()
        {
            self.indexes.remove(&oldest);
        }
    }
}

fn key(partition: &Partition, place: &str) -> Hash {
    Hash::of(format!("{partition}\0{place}").as_bytes())
}

fn encode(index: &Index) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.byte(VERSION);
    encoder.uint(index.dirs().len() as u64);
    for dir in index.dirs() {
        let node = Node { entries: dir.entries.iter().map(|known| known.entry.clone()).collect() };
        encoder.bytes(&node.encode());
        for known in &dir.entries {
            encoder.uint(known.seen.inode);
            encoder.int(known.seen.ctime_ns);
            encoder.uint(known.child.into());
        }
    }
    let mut bytes = encoder.finish();
    bytes.extend_from_slice(Hash::of(&bytes).as_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<Index, Malformed> {
    let (bytes, hash) = bytes.split_last_chunk::<32>().ok_or(Malformed::new("an end"))?;
    if Hash::of(bytes) != Hash::from_bytes(*hash) {
        return Err(Malformed::new("a file that is whole"));
    }
    let mut decoder = Decoder::new(bytes);
    if decoder.byte()? != VERSION {
        return Err(Malformed::new("an index of version 1"));
    }
    let n_dirs = decoder.count()?;
    let mut dirs = Vec::with_capacity(n_dirs);
    for _ in 0..n_dirs {
        let bytes = decoder.bytes()?;
        let mut dir = KnownDir { node: Some(Hash::of(bytes)), ..KnownDir::default() };
        for entry in Node::decode(bytes)?.entries {
            dir.totals += entry.totals();
            let seen = Seen { inode: decoder.uint()?, ctime_ns: decoder.int()? };
            let child = decoder.uint32()?;
            dir.entries.push(Known { entry, seen, child });
        }
        dirs.push(Arc::new(dir));
    }
    decoder.end()?;
    Ok(Index::new(dirs))
}

/// What is in these directories together.
pub(crate) fn totals(index: &Index) -> Totals {
    index.dirs().first().map(|top| top.totals).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use warren_domain::Partition;
    use warren_tree::{Index, KnownDir};

    use super::Places;

    #[test]
    fn what_is_known_of_a_place_survives_a_restart_and_damage_makes_it_unknown() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Places::open(Some(directory.path().to_owned())).expect("opens");
        let partition = Partition::default_partition();
        let places = open();
        let node = Some(warren_tree::Hash::of(&warren_tree::Node::default().encode()));
        let index = Index::new(vec![Arc::new(KnownDir { node, ..KnownDir::default() })]);
        places.put(&partition, "a", Arc::new(index.clone()));
        places.save(&partition, "a");
        assert_eq!(open().get(&partition, "a").and_then(|index| index.tree()), index.tree());
        assert!(open().get(&partition, "b").is_none());

        let file =
            std::fs::read_dir(directory.path()).expect("lists").next().expect("a file").expect("a file");
        let mut bytes = std::fs::read(file.path()).expect("reads");
        bytes[1] ^= 1;
        std::fs::write(file.path(), bytes).expect("writes");
        assert!(open().get(&partition, "a").is_none());
    }
}
