//! What is kept for one partition: its packs, and where each object is in them.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use futures::{FutureExt as _, StreamExt, TryStreamExt, future::BoxFuture};
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use warren_domain::Partition;
use warren_tree::{Hash, Index, Piece, What};

use crate::{
    ReadTreeError,
    hold::{Hold, Holds},
    objects,
    pack::{Segment, Slot, Table, TailError},
};

/// How much of a pack's end is read at first: enough for the table of most.
const TAIL: u64 = 64 * 1024;

/// Packs whose tables are read at a time.
const PARALLEL: usize = 16;

/// One partition.
pub(crate) struct Shelf {
    pub(crate) partition: Partition,
    pub(crate) holds: Holds,
    state: RwLock<State>,
    /// When the last successful refresh began; `None` before the first. Locked while a refresh is in progress.
    refreshed_ms: tokio::sync::Mutex<Option<i64>>,
}

/// A pack, as far as it is in memory.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) segments: Vec<Segment>,
}

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) pack: u32,
    pub(crate) slot: Slot,
}

/// Since when a pack is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condemned {
    pub(crate) since_ms: i64,
    /// Holds older than this may still rely on it. 0 if another process condemned it.
    pub(crate) epoch: u64,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// By number; gone ones leave a gap.
    pub(crate) packs: Vec<Option<Arc<Pack>>>,
    objects: HashMap<Hash, Location>,
    /// The other places of objects that are in more than one pack. Two servers that take the same content at the same time
    /// both put it.
    copies: HashMap<Hash, Vec<Location>>,
    /// By name of the pack. No take relies on what only these have.
    pub(crate) condemned: HashMap<String, Condemned>,
}

impl Shelf {
    pub(crate) fn new(partition: &Partition) -> Self {
        Self {
            partition: partition.clone(),
            holds: Holds::default(),
            state: RwLock::default(),
            refreshed_ms: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn hold(self: &Arc<Self>) -> Hold {
        Hold::new(self.clone())
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads which packs there are, unless a map of any age is in memory.
    pub(crate) async fn load(&self, store: &dyn ObjectStore, now_ms: i64) -> Result<(), ReadTreeError> {
        self.refresh_unless(store, now_ms, |_| true).await
    }

    /// Reads which packs there are, if the map in memory is older than that.
    pub(crate) async fn refresh_if_older(
        &self,
        store: &dyn ObjectStore,
        now_ms: i64,
        than_ms: i64,
    ) -> Result<(), ReadTreeError> {
        // A clock that was set back says nothing about the age.
        self.refresh_unless(store, now_ms, |at_ms| (0..=than_ms).contains(&now_ms.saturating_sub(at_ms)))
            .await
    }

    /// Reads which packs other processes have added and removed.
    pub(crate) async fn refresh(&self, store: &dyn ObjectStore, now_ms: i64) -> Result<(), ReadTreeError> {
        self.refresh_unless(store, now_ms, |_| false).await
    }

    async fn refresh_unless(
        &self,
        store: &dyn ObjectStore,
        now_ms: i64,
        is_fresh: impl Fn(i64) -> bool,
    ) -> Result<(), ReadTreeError> {
        let mut refreshed_ms = self.refreshed_ms.lock().await;
        if !refreshed_ms.is_some_and(is_fresh) {
            self.look_again(store).await?;
            // Only now: a failed refresh leaves the map as old as it was.
            *refreshed_ms = Some(now_ms);
        }
        Ok(())
    }

    /// Whether a new tree may rely on all objects of an older one.
    pub(crate) fn has_all(&self, index: &Index) -> bool {
        let state = self.read();
        index.dirs().iter().all(|dir| {
            dir.node.is_some_and(|node| state.has_for_good(&node))
                && dir.entries.iter().all(|known| match &known.entry.what {
                    What::File(file) => file.pieces.iter().all(|piece| match piece {
                        Piece::Data { hash, .. } => state.has_for_good(hash),
                        Piece::Hole { .. } => true,
                    }),
                    What::Directory(_) | What::Symlink(_) => true,
                })
        })
    }

    async fn look_again(&self, store: &dyn ObjectStore) -> Result<(), ReadTreeError> {
        let failed = |doing| move |source| ReadTreeError::Store { doing, source };
        let before: HashSet<String> =
            self.read().packs.iter().flatten().map(|pack| pack.name.clone()).collect();
        let listed: Vec<ObjectMeta> = store
            .list(Some(&objects::packs(&self.partition)))
            .try_collect()
            .await
            .map_err(failed("list the packs"))?;
        let names: HashSet<String> =
            listed.iter().filter_map(|meta| meta.location.filename().map(str::to_owned)).collect();
        let new = listed
            .into_iter()
            .filter(|meta| meta.location.filename().is_some_and(|name| !before.contains(name)));
        // In boxes: else the compiler cannot tell that whoever waits for this may move between threads.
        let reading: Vec<BoxFuture<'_, _>> = new.map(|meta| read_table(store, meta).boxed()).collect();
        let found: Vec<Option<(Pack, Table)>> =
            futures::stream::iter(reading).buffer_unordered(PARALLEL).boxed().try_collect().await?;
        let tables: Vec<(Pack, Table)> = found.into_iter().flatten().collect();
        let condemned = crate::collect::read_condemned(store, &self.partition).await?;
        let mut state = self.write();
        // One that was put here by ourselves since the listing began is not in it, and not gone.
        let gone: Vec<String> = before.into_iter().filter(|name| !names.contains(name)).collect();
        gone.iter().for_each(|name| state.remove(name));
        for (pack, table) in tables {
            state.add(pack, table.objects);
        }
        state.learn_condemned(condemned);
        Ok(())
    }
}

impl State {
    /// Where an object is read, with its pack. Of several places every server chooses the same one: in a pack that stays if
    /// there is one, and there the youngest.
    pub(crate) fn find(&self, hash: &Hash) -> Option<(Arc<Pack>, Location)> {
        let found = self.places(hash).max_by_key(|(pack, _)| (!self.is_condemned(pack), &pack.name));
        found.map(|(pack, location)| (pack.clone(), location))
    }

    /// All places of an object.
    fn places(&self, hash: &Hash) -> impl Iterator<Item = (&Arc<Pack>, Location)> {
        let copies = if self.copies.is_empty() { None } else { self.copies.get(hash) };
        let all = self.objects.get(hash).into_iter().chain(copies.into_iter().flatten());
        all.filter_map(|location| Some((self.packs.get(location.pack as usize)?.as_ref()?, *location)))
    }

    fn is_condemned(&self, pack: &Pack) -> bool {
        !self.condemned.is_empty() && self.condemned.contains_key(&pack.name)
    }

    /// Whether a new tree may rely on an object: it is here, and will stay.
    pub(crate) fn has_for_good(&self, hash: &Hash) -> bool {
        self.places(hash).any(|(pack, _)| !self.is_condemned(pack))
    }

    /// Adds a pack, and a place for every object in it.
    pub(crate) fn add(&mut self, pack: Pack, objects: Vec<(Hash, Slot)>) {
        if self.packs.iter().flatten().any(|known| known.name == pack.name) {
            return;
        }
        let number = self.packs.len() as u32;
        self.packs.push(Some(Arc::new(pack)));
        self.objects.reserve(objects.len());
        for (hash, slot) in objects {
            let location = Location { pack: number, slot };
            match self.objects.entry(hash) {
                Entry::Vacant(place) => _ = place.insert(location),
                Entry::Occupied(_) => self.copies.entry(hash).or_default().push(location),
            }
        }
    }

    /// Forgets a pack that is no more. What is in another pack too is found there.
    pub(crate) fn remove(&mut self, name: &str) {
        let place = self.packs.iter().position(|pack| pack.as_ref().is_some_and(|pack| pack.name == name));
        if let Some(place) = place {
            self.packs[place] = None;
            self.copies.retain(|_, copies| {
                copies.retain(|location| location.pack as usize != place);
                !copies.is_empty()
            });
            let copies = &mut self.copies;
            self.objects.retain(|hash, location| {
                if location.pack as usize != place {
                    return true;
                }
                let other = copies.get_mut(hash).and_then(Vec::pop);
                other.is_some_and(|other| {
                    *location = other;
                    true
                })
            });
            self.copies.retain(|_, copies| !copies.is_empty());
        }
        self.condemned.remove(name);
    }

    /// Takes over what another process has condemned. What this one knows more exactly stays.
    fn learn_condemned(&mut self, condemned: HashMap<String, i64>) {
        self.condemned.retain(|name, _| condemned.contains_key(name));
        for (name, since_ms) in condemned {
            self.condemned.entry(name).or_insert(Condemned { since_ms, epoch: 0 });
        }
    }
}

/// Reads the table of a pack. One that is damaged is passed over: what is missing then is noticed when it is needed.
async fn read_table(
    store: &dyn ObjectStore,
    meta: ObjectMeta,
) -> Result<Option<(Pack, Table)>, ReadTreeError> {
    let mut want = TAIL.min(meta.size);
    loop {
        let options = GetOptions { range: Some(GetRange::Suffix(want)), ..GetOptions::default() };
        let got = match store.get_opts(&meta.location, options).await {
            Ok(got) => got.bytes().await,
            Err(error) => Err(error),
        };
        let tail = match got {
            Ok(tail) => tail,
            // Collected since it was listed.
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(ReadTreeError::Store { doing: "read the table of a pack", source }),
        };
        let name = meta.location.filename().unwrap_or_default().to_owned();
        match Table::from_tail(&tail) {
            Ok(mut table) => {
                let segments = std::mem::take(&mut table.segments);
                return Ok(Some((Pack { name, size: meta.size, segments }, table)));
            }
            Err(TailError::More(n)) if n as u64 <= meta.size && n as u64 > want => want = n as u64,
            Err(error) => {
                tracing::warn!(pack = name, ?error, "a pack is damaged");
                return Ok(None);
            }
        }
    }
}
