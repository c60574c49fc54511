//! What the files of a place looked like when they were last read or written.
//!
//! Kept in memory for the places that were used lately, and in a file for each. A file is written without being synced,
//! and carries its own hashes: what was cut short or damaged counts as not written, and the next take reads more.

mod file;

use std::{
    collections::{HashMap, VecDeque},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use warren_domain::Partition;
use warren_tree::{Hash, Index, Totals};

use crate::OpenError;

/// Places that are kept in memory.
const MAX_PLACES: usize = 32;

/// A file is added to until that part of it is longer than half of the rest and this; then it is written anew.
const MAX_ADDED: u64 = 256 * 1024;

/// Who said what the files of a place look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// We looked ourselves.
    Host,
    /// A guest, which may lie: what it says is good enough to spare it work, and for nothing else.
    Guest,
}

impl Side {
    /// The name under which a place is known: what a guest said of it is never mixed with what we saw.
    pub(crate) fn place(self, place: &str) -> String {
        match self {
            Side::Host => format!("host {place}"),
            Side::Guest => format!("guest {place}"),
        }
    }
}

/// All places.
pub(crate) struct Places {
    directory: Option<PathBuf>,
    kept: Mutex<Kept>,
    /// One file is written at a time.
    saving: Mutex<()>,
}

#[derive(Default)]
struct Kept {
    places: HashMap<Hash, Place>,
    /// Those used least lately first.
    order: VecDeque<Hash>,
}

/// What is known of one place.
#[derive(Clone)]
struct Place {
    index: Arc<Index>,
    /// What its file has, if that is known.
    saved: Option<Saved>,
}

/// A file of a place.
#[derive(Clone)]
struct Saved {
    index: Arc<Index>,
    /// Its length when it was last written anew,
    whole: u64,
    /// and now.
    length: u64,
}

impl Places {
    pub(crate) fn open(directory: Option<PathBuf>) -> Result<Self, OpenError> {
        if let Some(directory) = &directory {
            let path = directory.display().to_string();
            fs::create_dir_all(directory).map_err(|source| OpenError::Directory { path, source })?;
        }
        Ok(Self { directory, kept: Mutex::default(), saving: Mutex::default() })
    }

    /// What is known of a place. Reads a file at worst: not for a thread that others wait for.
    pub(crate) fn get(&self, partition: &Partition, place: &str) -> Option<Arc<Index>> {
        let key = key(partition, place);
        if let Some(place) = lock(&self.kept).get(key) {
            return Some(place.index);
        }
        let bytes = fs::read(self.directory.as_ref()?.join(key.to_string())).ok()?;
        let loaded = match file::decode(&bytes) {
            Ok(loaded) => loaded,
            Err(error) => {
                tracing::warn!(place, %error, "what was known of a place is damaged, and is not used");
                return None;
            }
        };
        let (index, length) = (Arc::new(loaded.index), bytes.len() as u64);
        // What is added behind something that cannot be read could not be read either.
        let saved = loaded.is_whole.then(|| Saved { index: index.clone(), whole: length, length });
        lock(&self.kept).put(key, Place { index: index.clone(), saved });
        Some(index)
    }

    /// Notes what a place looks like. Says whether that is news, which [`Places::save`] then writes to its file.
    pub(crate) fn put(&self, partition: &Partition, place: &str, index: Arc<Index>) -> bool {
        let key = key(partition, place);
        let mut kept = lock(&self.kept);
        let before = kept.get(key);
        let is_news = before.as_ref().is_none_or(|before| !index.is_same(&before.index));
        kept.put(key, Place { index, saved: before.and_then(|before| before.saved) });
        is_news
    }

    /// Brings the file of a place up to date, if that is still in memory. A failure costs time later, and nothing else.
    pub(crate) fn save(&self, partition: &Partition, place: &str) {
        let key = key(partition, place);
        let Some(directory) = &self.directory else { return };
        let _one_at_a_time = lock(&self.saving);
        let Some(Place { index, saved }) = lock(&self.kept).get(key) else { return };
        let path = directory.join(key.to_string());
        let added = saved.as_ref().and_then(|saved| saved.add(&path, &index));
        let saved = added.unwrap_or_else(|| write_anew(&path, &index));
        if let Err(error) = &saved {
            tracing::warn!(place, %error, "failed to keep what a place looks like");
        }
        if let Some(place) = lock(&self.kept).places.get_mut(&key) {
            place.saved = saved.ok();
        }
    }
}

impl Saved {
    /// Adds to the file what changed since; `None` if it is better written anew.
    fn add(&self, path: &Path, index: &Arc<Index>) -> Option<io::Result<Self>> {
        let changed = index.changed_since(&self.index)?;
        if changed.is_empty() {
            return Some(Ok(self.clone()));
        }
        if changed.len() > 16 + index.dirs().len() / 4 {
            return None;
        }
        let record = file::record(self.index.tree(), index, &changed);
        let length = self.length + record.len() as u64;
        if length > self.whole + self.whole / 2 + MAX_ADDED {
            return None;
        }
        let mut file = fs::OpenOptions::new().append(true).open(path).ok()?;
        // Somebody else has written it.
        if file.metadata().ok()?.len() != self.length {
            return None;
        }
        let written = file.write_all(&record);
        Some(written.map(|()| Self { index: index.clone(), whole: self.whole, length }))
    }
}

fn write_anew(path: &Path, index: &Arc<Index>) -> io::Result<Saved> {
    let temporary = path.with_extension("new");
    let bytes = file::encode(index);
    fs::write(&temporary, &bytes)?;
    fs::rename(&temporary, path)?;
    let length = bytes.len() as u64;
    Ok(Saved { index: index.clone(), whole: length, length })
}

impl Kept {
    fn get(&mut self, key: Hash) -> Option<Place> {
        let place = self.places.get(&key).cloned()?;
        self.order.retain(|other| *other != key);
        self.order.push_back(key);
        Some(place)
    }

    fn put(&mut self, key: Hash, place: Place) {
        self.order.retain(|other| *other != key);
        self.order.push_back(key);
        self.places.insert(key, place);
        while self.order.len() > MAX_PLACES
            && let Some(oldest) = self.order.pop_front()
        {
            self.places.remove(&oldest);
        }
    }
}

fn key(partition: &Partition, place: &str) -> Hash {
    Hash::of(format!("{partition}\0{place}").as_bytes())
}

/// What is in these directories together.
pub(crate) fn totals(index: &Index) -> Totals {
    index.dirs().first().map(|top| top.totals).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
