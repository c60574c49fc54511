//! Removing what nobody needs any more.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use object_store::{ObjectStore, ObjectStoreExt as _};
use tokio::{sync::mpsc, task::spawn_blocking};
use warren_domain::Partition;
use warren_tree::{Decoder, Encoder, Hash, Malformed, Piece, What};

use crate::{
    ReadTreeError, Snapshots, TakeError, TreeId, lease, objects,
    pack::{Builder, PACK_BYTES, Press, Slot},
    partition::{Condemned, Pack, Shelf},
};

/// A pack of which less than this part is needed is written anew without the rest.
const WORTH_KEEPING: f64 = 0.5;

/// A pack smaller than this is a small one,
const SMALL: u64 = 4 * 1024 * 1024;
/// and when there are more than so many, they are put together.
const MAX_SMALL: usize = 64;

/// What is compressed together when it is written anew, about.
const SEGMENT_BYTES: u64 = 512 * 1024;

/// What is written anew in one collection, at most: the rest waits for the next.
const MAX_REWRITE: u64 = 512 * 1024 * 1024;

/// What a collection did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Objects that are needed.
    pub live_objects: u64,
    /// Packs that were removed,
    pub removed_packs: u64,
    /// and their size.
    pub removed_bytes: u64,
    /// Packs that will be removed after the grace period, unless somebody needs them by then.
    pub condemned_packs: u64,
    /// Packs whose needed part was written anew.
    pub rewritten_packs: u64,
    /// Somebody else collects: nothing was done.
    pub busy: bool,
}

/// Why a collection came to nothing. It can be tried again.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The trees that are needed are not known.
    #[error("failed to list the trees in use")]
    Live(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A tree that is needed could not be read: before anything is removed, that has to be looked into.
    #[error("failed to read a tree in use")]
    Read(#[source] ReadTreeError),
    /// The store failed.
    #[error("failed to {doing}")]
    Store {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: object_store::Error,
    },
    /// What is needed of a pack could not be written anew.
    #[error("failed to rewrite a pack")]
    Rewrite(#[source] TakeError),
}

impl Snapshots {
    /// Removes packs of a partition that no tree needs. `live` names the trees that are needed, and is asked after
    /// those that are held at the moment were noted.
    ///
    /// It takes two collections to remove a pack. The first *condemns* it when it ends: no new tree relies on it from then on.
    /// A later one, the grace period after, removes it, if still no tree needs it and everybody who held something when it
    /// was condemned has let go. A pack that is needed after all is reprieved. A pack of which less than half is needed, and
    /// small ones when they are many, are written anew, and the old ones condemned. So nothing is ever removed that somebody
    /// reads or relies on; and a collection that is killed leaves more than is needed, and never less.
    pub async fn collect<F, Fut>(&self, partition: &Partition, live: F) -> Result<Collected, CollectError>
    where
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<Vec<TreeId>, Box<dyn std::error::Error + Send + Sync>>> + Send,
    {
        let store = &*self.inner.objects;
        let now_ms = self.now_ms();
        let lease = lease::acquire(store, partition, now_ms).await;
        let Some(lease) = lease.map_err(store_failed("take the lease"))? else {
            return Ok(Collected { busy: true, ..Collected::default() });
        };
        let collected = self.collect_alone(partition, live, now_ms).await;
        let released = lease.release(store).await.map_err(store_failed("give the lease back"));
        collected.and_then(|collected| released.map(|()| collected))
    }

    async fn collect_alone<F, Fut>(
        &self,
        partition: &Partition,
        live: F,
        now_ms: i64,
    ) -> Result<Collected, CollectError>
    where
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<Vec<TreeId>, Box<dyn std::error::Error + Send + Sync>>> + Send,
    {
        let shelf = self.shelf(partition);
        // In this order: a tree that is held now and committed meanwhile is seen at least once.
        let (oldest_hold, held) = shelf.holds.active();
        let roots = live().await.map_err(CollectError::Live)?;
        shelf.refresh(&*self.inner.objects, self.now_ms()).await.map_err(CollectError::Read)?;
        let roots: HashSet<Hash> = roots.into_iter().map(|tree| tree.0).chain(held).collect();
        let needed = self.mark(partition, roots).await.map_err(CollectError::Read)?;
        let mut collected = Collected { live_objects: needed.len() as u64, ..Collected::default() };
        let survey = Survey::of(&shelf, &needed).map_err(CollectError::Read)?;
        self.remove(&shelf, &survey, oldest_hold, now_ms, &mut collected).await?;
        let rewritten = self.rewrite(&shelf, &survey).await?;
        collected.rewritten_packs = rewritten.len() as u64;
        self.condemn(&shelf, &survey, rewritten, &mut collected).await?;
        Ok(collected)
    }

    /// All objects that these trees are made of.
    async fn mark(
        &self,
        partition: &Partition,
        roots: HashSet<Hash>,
    ) -> Result<HashSet<Hash>, ReadTreeError> {
        let mut needed = HashSet::new();
        let mut waiting: Vec<Hash> = roots.into_iter().collect();
        while let Some(hash) = waiting.pop() {
            if !needed.insert(hash) {
                continue;
            }
            for entry in self.node(partition, &hash).await?.entries {
                match entry.what {
                    What::Directory(directory) => waiting.push(directory.node),
                    What::File(file) => needed.extend(file.pieces.iter().filter_map(|piece| match piece {
                        Piece::Data { hash, .. } => Some(*hash),
                        Piece::Hole { .. } => None,
                    })),
                    What::Symlink(_) => {}
                }
            }
        }
        Ok(needed)
    }

    /// Removes what was condemned long enough ago, and is still not needed.
    async fn remove(
        &self,
        shelf: &Shelf,
        survey: &Survey,
        oldest_hold: Option<u64>,
        now_ms: i64,
        collected: &mut Collected,
    ) -> Result<(), CollectError> {
        let grace = i64::try_from(self.inner.options.grace.as_millis()).unwrap_or(i64::MAX);
        let condemned = shelf.read().condemned.clone();
        for (name, Condemned { since_ms, epoch }) in condemned {
            let is_due = now_ms.saturating_sub(since_ms) >= grace;
            let is_held = oldest_hold.is_some_and(|oldest| oldest <= epoch);
            if survey.needs(&name) || !is_due || is_held {
                continue;
            }
            match self.inner.objects.delete(&objects::pack(&shelf.partition, &name)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(CollectError::Store { doing: "remove a pack", source }),
            }
            shelf.write().remove(&name);
            collected.removed_packs += 1;
            collected.removed_bytes += survey.packs.get(&name).map_or(0, |pack| pack.pack.size);
        }
        Ok(())
    }

    /// Writes the needed part of some packs anew. Returns the names of the old ones.
    async fn rewrite(&self, shelf: &Arc<Shelf>, survey: &Survey) -> Result<Vec<String>, CollectError> {
        let old = survey.to_rewrite();
        if old.is_empty() {
            return Ok(old);
        }
        // When two packs wait for the store, whoever makes them waits too.
        let (packs, waiting) = mpsc::channel(2);
        let make = async {
            let mut builder = Builder::default();
            for name in &old {
                for group in survey.groups(name) {
                    let hashes: Vec<Hash> = group.iter().map(|(hash, _)| *hash).collect();
                    let objects = self.objects(shelf, &hashes).await.map_err(CollectError::Read)?;
                    let add = move || {
                        builder.add(&Press::default().seal(&group, &objects.concat()));
                        builder
                    };
                    let added = spawn_blocking(add).await;
                    builder = added.map_err(|_| CollectError::Rewrite(TakeError::Cut))?;
                    if builder.len() >= PACK_BYTES {
                        _ = packs.send(std::mem::take(&mut builder).finish()).await;
                    }
                }
            }
            if !builder.is_empty() {
                // Refused only where the store failed, which says so itself.
                _ = packs.send(builder.finish()).await;
            }
            drop(packs);
            Ok(())
        };
        let (made, stored) = tokio::join!(make, self.store_packs(shelf, waiting));
        stored.map_err(CollectError::Rewrite)?;
        made.map(|()| old)
    }

    /// Condemns what is not needed, and reprieves what is.
    async fn condemn(
        &self,
        shelf: &Shelf,
        survey: &Survey,
        rewritten: Vec<String>,
        collected: &mut Collected,
    ) -> Result<(), CollectError> {
        // Not when the collection began: other servers learn of it from the list that is written next.
        let since_ms = self.now_ms();
        let (before, list) = {
            let mut state = shelf.write();
            let epoch = shelf.holds.epoch();
            let before = state.condemned.clone();
            let mut condemned = HashMap::new();
            for name in survey.packs.keys().filter(|name| !survey.needs(name)).chain(&rewritten) {
                let is_there = state.packs.iter().flatten().any(|pack| pack.name == *name);
                if is_there {
                    let since = before.get(name).copied().unwrap_or(Condemned { since_ms, epoch });
                    condemned.insert(name.clone(), since);
                }
            }
            state.condemned = condemned.clone();
            (before, condemned)
        };
        collected.condemned_packs = list.len() as u64;
        if before != list || collected.removed_packs > 0 {
            let name = objects::condemned(&shelf.partition);
            let put = self.inner.objects.put(&name, encode(&list).into()).await;
            put.map_err(store_failed("note what is condemned"))?;
        }
        Ok(())
    }

    /// Learns which packs other servers have added, condemned and removed, unless the map of packs is younger than a quarter
    /// of the grace period: see [`Snapshots::take`].
    pub(crate) async fn refresh_condemned(&self, shelf: &Shelf) -> Result<(), ReadTreeError> {
        let grace = i64::try_from(self.inner.options.grace.as_millis()).unwrap_or(i64::MAX);
        shelf.refresh_if_older(&*self.inner.objects, self.now_ms(), grace / 4).await
    }
}

/// What is needed of each pack.
struct Survey {
    packs: HashMap<String, Surveyed>,
}

struct Surveyed {
    pack: Arc<Pack>,
    /// The needed ones.
    objects: Vec<(Slot, Hash)>,
    needed_bytes: u64,
    all_bytes: u64,
}

impl Survey {
    /// Counts what is needed of each pack. An object in several packs is needed where it is read. One that is in no pack is
    /// an error: nothing may be removed before somebody has looked into that.
    fn of(shelf: &Shelf, needed: &HashSet<Hash>) -> Result<Self, ReadTreeError> {
        let state = shelf.read();
        let mut packs: HashMap<String, Surveyed> = HashMap::new();
        for pack in state.packs.iter().flatten() {
            let all_bytes = pack.segments.iter().map(|segment| u64::from(segment.raw)).sum();
            let surveyed = Surveyed { pack: pack.clone(), objects: Vec::new(), needed_bytes: 0, all_bytes };
            packs.insert(pack.name.clone(), surveyed);
        }
        // The empty directory is known without being kept.
        for hash in needed.iter().filter(|hash| **hash != TreeId::empty().0) {
            let (pack, location) = state.find(hash).ok_or(ReadTreeError::Missing { hash: *hash })?;
            if let Some(surveyed) = packs.get_mut(&pack.name) {
                surveyed.objects.push((location.slot, *hash));
                surveyed.needed_bytes += u64::from(location.slot.len);
            }
        }
        Ok(Self { packs })
    }

    /// Whether anything of a pack is needed.
    fn needs(&self, name: &str) -> bool {
        self.packs.get(name).is_some_and(|pack| pack.needed_bytes > 0)
    }

    /// What is needed of a pack, in the order in which it lies there, and in groups that make one segment each: who reads
    /// one of its objects later reads the whole segment.
    fn groups(&self, name: &str) -> Vec<Vec<(Hash, u32)>> {
        let objects = self.packs.get(name).into_iter().flat_map(|pack| &pack.objects);
        let mut objects: Vec<_> = objects.collect();
        objects.sort_by_key(|(slot, _)| (slot.segment, slot.offset));
        let mut groups: Vec<Vec<(Hash, u32)>> = Vec::new();
        let mut bytes = SEGMENT_BYTES;
        for (slot, hash) in objects {
            match groups.last_mut() {
                Some(group) if bytes < SEGMENT_BYTES => group.push((*hash, slot.len)),
                _ => {
                    bytes = 0;
                    groups.push(vec![(*hash, slot.len)]);
                }
            }
            bytes += u64::from(slot.len);
        }
        groups
    }

    /// The packs that are worth to be written anew.
    fn to_rewrite(&self) -> Vec<String> {
        let live = || self.packs.values().filter(|pack| pack.needed_bytes > 0);
        let n_small = live().filter(|pack| pack.pack.size < SMALL).count();
        let mut wasteful: Vec<&Surveyed> = live()
            .filter(|pack| {
                let is_small = pack.pack.size < SMALL && n_small > MAX_SMALL;
                let part = pack.needed_bytes as f64 / pack.all_bytes.max(1) as f64;
                is_small || part < WORTH_KEEPING
            })
            .collect();
        wasteful.sort_by(|a, b| a.pack.name.cmp(&b.pack.name));
        let mut bytes = 0;
        let fits = |pack: &&&Surveyed| {
            bytes += pack.needed_bytes;
            bytes <= MAX_REWRITE
        };
        wasteful.iter().take_while(fits).map(|pack| pack.pack.name.clone()).collect()
    }
}

fn store_failed(doing: &'static str) -> impl Fn(object_store::Error) -> CollectError {
    move |source| CollectError::Store { doing, source }
}

/// The packs of a partition that are condemned, and since when.
pub(crate) async fn read_condemned(
    store: &dyn ObjectStore,
    partition: &Partition,
) -> Result<HashMap<String, i64>, ReadTreeError> {
    let failed = |source| ReadTreeError::Store { doing: "read what is condemned", source };
    let bytes = match store.get(&objects::condemned(partition)).await {
        Ok(got) => got.bytes().await.map_err(failed)?,
        Err(object_store::Error::NotFound { .. }) => return Ok(HashMap::new()),
        Err(error) => return Err(failed(error)),
    };
    decode(&bytes).map_err(|source| ReadTreeError::DamagedPack { pack: "condemned".to_owned(), source })
}

fn encode(condemned: &HashMap<String, Condemned>) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.byte(1);
    encoder.uint(condemned.len() as u64);
    for (name, condemned) in condemned {
        encoder.bytes(name.as_bytes());
        encoder.int(condemned.since_ms);
    }
    encoder.finish()
}

fn decode(bytes: &[u8]) -> Result<HashMap<String, i64>, Malformed> {
    let mut decoder = Decoder::new(bytes);
    if decoder.byte()? != 1 {
        return Err(Malformed::new("a list of version 1"));
    }
    let mut condemned = HashMap::new();
    for _ in 0..decoder.count()? {
        let name = String::from_utf8_lossy(decoder.bytes()?).into_owned();
        condemned.insert(name, decoder.int()?);
    }
    decoder.end()?;
    Ok(condemned)
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, sync::Arc};

    use warren_tree::Hash;

    use super::{SEGMENT_BYTES, Survey, Surveyed};
    use crate::{pack::Slot, partition::Pack};

    #[test]
    fn what_is_written_anew_stays_in_its_order_and_in_segments_of_their_usual_length() {
        const CHUNK: u32 = 300 * 1024;
        let hash = |n: u32| Hash::of(&n.to_le_bytes());
        let slot = |n: u32| Slot { segment: n / 4, offset: n % 4 * CHUNK, len: CHUNK };
        // As they come out of a map: in no order.
        let needed = || (0..40).filter(|n| n % 2 == 0);
        let objects = needed().rev().map(|n| (slot(n), hash(n))).collect();
        let pack = Arc::new(Pack { name: "a".to_owned(), size: 0, segments: Vec::new() });
        let surveyed = Surveyed { pack, objects, needed_bytes: 1, all_bytes: 1 };
        let survey = Survey { packs: HashMap::from([("a".to_owned(), surveyed)]) };
        let groups = survey.groups("a");
        let order: Vec<Hash> = groups.iter().flatten().map(|(hash, _)| *hash).collect();
        assert_eq!(order, needed().map(hash).collect::<Vec<_>>());
        let bytes = |group: &Vec<(Hash, u32)>| group.iter().map(|(_, len)| u64::from(*len)).sum::<u64>();
        assert!(groups.iter().all(|group| bytes(group) < SEGMENT_BYTES + u64::from(CHUNK)), "{groups:?}");
    }
}
