//! What is kept for one partition: its packs, and where each object is in them.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicI64, Ordering},
    },
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
    /// One load at a time: `true` once there was one.
    loaded: tokio::sync::Mutex<bool>,
    /// When it was last read what other processes have done.
    looked_ms: AtomicI64,
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
    pub(crate) objects: HashMap<Hash, Location>,
    /// By name of the pack. No take relies on what only these have.
    pub(crate) condemned: HashMap<String, Condemned>,
}

impl Shelf {
    pub(crate) fn new(partition: &Partition) -> Self {
        Self {
            partition: partition.clone(),
            holds: Holds::default(),
            state: RwLock::default(),
            loaded: tokio::sync::Mutex::new(false),
            looked_ms: AtomicI64::new(0),
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

    /// Reads which packs there are, unless that is known already.
    pub(crate) async fn load(&self, store: &dyn ObjectStore) -> Result<(), ReadTreeError> {
        let mut loaded = self.loaded.lock().await;
        if !*loaded {
            self.look_again(store).await?;
            *loaded = true;
        }
        Ok(())
    }

    /// Reads what has come and gone, if that was not done for so long.
    pub(crate) async fn refresh_if_older(
        &self,
        store: &dyn ObjectStore,
        now_ms: i64,
        than_ms: i64,
    ) -> Result<(), ReadTreeError> {
        let before = self.looked_ms.load(Ordering::Relaxed);
        if before != 0 && now_ms - before <= than_ms {
            return Ok(());
        }
        self.looked_ms.store(now_ms, Ordering::Relaxed);
        // The first time is when it was loaded.
        if before == 0 {
            return Ok(());
        }
        self.refresh(store).await
    }

    /// Reads what has come and gone meanwhile, by the hand of another process.
    pub(crate) async fn refresh(&self, store: &dyn ObjectStore) -> Result<(), ReadTreeError> {
        let _one_at_a_time = self.loaded.lock().await;
        self.look_again(store).await
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
        let mut tables: Vec<(Pack, Table)> = found.into_iter().flatten().collect();
        // Of two places of one object the younger counts.
        tables.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
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
    /// Where an object is, with its pack.
    pub(crate) fn find(&self, hash: &Hash) -> Option<(Arc<Pack>, Location)> {
        let location = self.objects.get(hash)?;
        let pack = self.packs.get(location.pack as usize)?.clone()?;
        Some((pack, *location))
    }

    /// Whether a new tree may rely on an object: it is here, and will stay.
    pub(crate) fn has_for_good(&self, hash: &Hash) -> bool {
        let pack =
            self.objects.get(hash).and_then(|location| self.packs.get(location.pack as usize)?.as_ref());
        pack.is_some_and(|pack| self.condemned.is_empty() || !self.condemned.contains_key(&pack.name))
    }

    /// Adds a pack. What it has is found in it from now on.
    pub(crate) fn add(&mut self, pack: Pack, objects: Vec<(Hash, Slot)>) {
        if self.packs.iter().flatten().any(|known| known.name == pack.name) {
            return;
        }
        let number = self.packs.len() as u32;
        self.packs.push(Some(Arc::new(pack)));
        self.objects.extend(objects.into_iter().map(|(hash, slot)| (hash, Location { pack: number, slot })));
    }

    /// Forgets a pack that is no more.
    pub(crate) fn remove(&mut self, name: &str) {
        let place = self.packs.iter().position(|pack| pack.as_ref().is_some_and(|pack| pack.name == name));
        if let Some(place) = place {
            self.packs[place] = None;
            self.objects.retain(|_, location| location.pack as usize != place);
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
