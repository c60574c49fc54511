//! Views of logs: reading costs what is asked for, not what the log has become.
//!
//! A view is the fold of a log up to a checkpoint, kept item by item ([`warren_domain::View`] has the rules). Reading
//! folds the entries after the checkpoint on top and, if those are many, moves the checkpoint on first. The log is the
//! truth: a checkpoint that is damaged, or of another format, is dropped and made again. Nothing holds more than a
//! page of the log at a time.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use tokio::sync::{Mutex, MutexGuard};
use warren_domain::{BlobHash, Event, Item, Seq, SessionId, View, ViewState};
use warren_env::{TaskKind, Tasks};
use warren_store::{Checkpoint, Store, ViewItem, ViewPart};

use crate::{
    options::Parts,
    recorder::{Pages, RecordError},
};

/// What the bytes of checkpoints and items mean. Another number whenever [`ViewState`], a block's JSON or the fold
/// changes in a way that older checkpoints do not show.
const FORMAT: u64 = 2;

/// The writer of a log moves its checkpoint on when it is this many entries behind.
pub(crate) const EVERY: u64 = 500;

/// A reader moves it on after this many entries, so that the next reader has little to fold, …
const WORTH: u64 = 50;

/// … or after this many bytes of log.
const ENOUGH_BYTES: usize = 4 << 20;

/// What is written may be this many times what was read of the log: a block that grows for ever is not rewritten whole
/// for every few words.
const AMPLIFICATION: usize = 4;

/// How often a reader whose checkpoint was moved meanwhile begins anew.
pub(crate) const TRIES: usize = 50;

/// What views are made of.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) store: &'a Store,
    /// Where a write is finished whose caller is gone.
    pub(crate) tasks: &'a Tasks,
}

impl Parts {
    pub(crate) fn source(&self) -> Source<'_> {
        Source { store: &self.store, tasks: &self.tasks }
    }
}

/// A view at the head of its log: what changed since its checkpoint, and where that is.
pub(crate) struct Current {
    session: SessionId,
    pub(crate) view: View,
    pub(crate) base: Option<Seq>,
}

/// Part of a list, the nearest first.
pub(crate) struct Part {
    pub(crate) items: Vec<Item>,
    /// There is more behind it.
    pub(crate) more: bool,
}

/// What was read since the checkpoint.
#[derive(Default)]
struct Read {
    n_events: u64,
    n_bytes: usize,
    /// Looked at again when it is this many times as much as what would do.
    factor: usize,
}

impl Read {
    fn is_due(&self) -> bool {
        let factor = self.factor.max(1);
        self.n_events >= WORTH * factor as u64 || self.n_bytes >= ENOUGH_BYTES * factor
    }
}

/// Of those who fold the same log here, one at a time moves its view on: else all but one would begin again and again.
static TURNS: [Mutex<()>; 64] = [const { Mutex::const_new(()) }; 64];

/// The turn to move the view of a session, from when it is needed.
struct Turn {
    place: usize,
    held: Option<MutexGuard<'static, ()>>,
}

impl Turn {
    fn of(session: SessionId) -> Self {
        let [.., last] = *session.0.as_bytes();
        Self { place: usize::from(last) % TURNS.len(), held: None }
    }

    async fn take(&mut self) {
        if self.held.is_none() {
            self.held = Some(TURNS[self.place].lock().await);
        }
    }
}

/// Folds what a log has after its checkpoint, and moves that on as far as it pays.
pub(crate) async fn current(parts: Source<'_>, session: SessionId) -> Result<Current, RecordError> {
    let mut turn = Turn::of(session);
    for _ in 0..TRIES {
        if let Some(current) = attempt(parts, session, &mut turn).await? {
            return Ok(current);
        }
    }
    Err(RecordError::Restless(session))
}

/// Where items of a session began, by key.
pub(crate) async fn beginnings(
    parts: Source<'_>,
    session: SessionId,
    keys: &[String],
) -> Result<HashMap<String, Seq>, RecordError> {
    for _ in 0..TRIES {
        if let Some(found) = current(parts, session).await?.beginnings(parts, keys).await? {
            return Ok(found);
        }
    }
    Err(RecordError::Restless(session))
}

/// `None` if somebody else moved the view meanwhile.
async fn attempt(
    parts: Source<'_>,
    session: SessionId,
    turn: &mut Turn,
) -> Result<Option<Current>, RecordError> {
    let mut current = opened(parts, session).await?;
    let mut pages = Pages::after(current.view.seq);
    let mut read = Read::default();
    loop {
        let page = pages.next(parts.store.log.as_ref(), session).await?;
        let mut events = Vec::with_capacity(page.len());
        for entry in &page {
            read.n_bytes += entry.json.len();
            events.push(entry.event().map_err(|source| RecordError::Entry { seq: entry.seq, source })?);
        }
        read.n_events += events.len() as u64;
        drop(page);
        if !current.load(parts, &events).await? {
            return Ok(None);
        }
        events.iter().for_each(|event| current.view.apply(event));
        if read.is_due() {
            turn.take().await;
            match current.keep(parts, &read).await? {
                Kept::Yes => read = Read::default(),
                Kept::NotYet => read.factor = (read.factor.max(1)) * 2,
                Kept::Overtaken => return Ok(None),
            }
        }
        if pages.is_over() {
            return Ok(Some(current));
        }
    }
}

/// The view at its checkpoint, or an empty one.
async fn opened(parts: Source<'_>, session: SessionId) -> Result<Current, RecordError> {
    let views = &parts.store.views;
    let Some(found) = views.checkpoint(session).await.map_err(RecordError::Read)? else {
        return Ok(Current { session, view: View::default(), base: None });
    };
    let is_ours = found.format == FORMAT && found.hash == hash(found.seq, &found.state);
    let state: Option<ViewState> = is_ours.then(|| serde_json::from_slice(&found.state).ok()).flatten();
    match state {
        Some(state) => Ok(Current { session, view: View::at(found.seq, state), base: Some(found.seq) }),
        None => {
            drop_view(parts, session, found.seq).await?;
            Ok(Current { session, view: View::default(), base: None })
        }
    }
}

/// To its end, whoever asked for it: half a transaction must not stay open.
async fn drop_view(parts: Source<'_>, session: SessionId, at: Seq) -> Result<(), RecordError> {
    tracing::warn!(%session, %at, "a checkpoint cannot be read; it is made again from the log");
    let views = parts.store.views.clone();
    let dropped = parts.tasks.finish(TaskKind::LogWriter, async move { views.drop_view(session, at).await });
    dropped.await.map_err(RecordError::Read)
}

enum Kept {
    Yes,
    /// It would write much more than was read.
    NotYet,
    /// Somebody else moved the view.
    Overtaken,
}

impl Current {
    /// Loads what the events need. Says whether the view is still where it was.
    async fn load(&mut self, parts: Source<'_>, events: &[Event]) -> Result<bool, RecordError> {
        let wanted: HashSet<String> = events.iter().flat_map(|event| self.view.wants(event)).collect();
        let Some(base) = self.base.filter(|_| !wanted.is_empty()) else { return Ok(true) };
        let keys: Vec<String> = wanted.into_iter().collect();
        let found = parts.store.views.view_items(self.session, base, &keys).await;
        let Some(found) = found.map_err(RecordError::Read)? else { return Ok(false) };
        for item in found {
            let key = item.key.clone();
            match to_item(item) {
                Ok(item) => self.view.load(key, Some(item)),
                Err(error) => {
                    self.damaged(parts, &error).await?;
                    return Ok(false);
                }
            }
        }
        // What is not there is known not to be.
        keys.into_iter().for_each(|key| self.view.load(key, None));
        Ok(true)
    }

    /// Moves the checkpoint to where the view is, if that pays.
    async fn keep(&mut self, parts: Source<'_>, read: &Read) -> Result<Kept, RecordError> {
        let items = self.view.changes().map(|(key, item)| from_item(key, item));
        let items: Vec<ViewItem> = items.collect::<Result<_, _>>().map_err(RecordError::Serialise)?;
        let (seq, session, base) = (self.view.seq, self.session, self.base);
        let state = Bytes::from(serde_json::to_vec(&self.view.state).map_err(RecordError::Serialise)?);
        let n_written = items.iter().map(|item| item.body.len()).sum::<usize>() + state.len();
        if n_written > read.n_bytes * AMPLIFICATION {
            return Ok(Kept::NotYet);
        }
        let to = Checkpoint { seq, format: FORMAT, hash: hash(seq, &state), state };
        let views = parts.store.views.clone();
        // To its end, whoever asked for it: half a transaction must not stay open.
        let moved = parts
            .tasks
            .finish(TaskKind::LogWriter, async move { views.advance_view(session, base, &to, &items).await });
        if !moved.await.map_err(RecordError::Read)? {
            return Ok(Kept::Overtaken);
        }
        self.base = Some(seq);
        self.view.kept();
        Ok(Kept::Yes)
    }

    /// Part of a list as it is at the head of the log. `None` if somebody moved the view meanwhile.
    pub(crate) async fn list(
        &self,
        parts: Source<'_>,
        list: &str,
        part: ViewPart,
        limit: u32,
    ) -> Result<Option<Part>, RecordError> {
        let changed: Vec<_> = self.view.changes().filter(|(_, item)| item.list == list).collect();
        let kept = match self.base {
            None => Vec::new(),
            Some(base) => {
                // Kept items that are not where they were any more take the place of others.
                let is_elsewhere = |item: &Item| item.first <= base && item.place.is_none_or(|at| at > base);
                let n_elsewhere = changed.iter().filter(|(_, item)| is_elsewhere(item)).count();
                let wanted = limit.saturating_add(1).saturating_add(u32::try_from(n_elsewhere).unwrap_or(0));
                let kept = parts.store.views.view_list(self.session, base, list, part, wanted).await;
                let Some(kept) = kept.map_err(RecordError::Read)? else { return Ok(None) };
                kept
            }
        };
        let mut items: Vec<Item> =
            changed.into_iter().map(|(_, item)| item).filter(|item| is_in(part, item)).cloned().collect();
        for item in kept.into_iter().filter(|item| !self.view.is_changed(&item.key)) {
            match to_item(item) {
                Ok(item) => items.push(item),
                Err(error) => {
                    self.damaged(parts, &error).await?;
                    return Ok(None);
                }
            }
        }
        items.sort_by_key(|item| item.place);
        if matches!(part, ViewPart::Before(_)) {
            items.reverse();
        }
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(Some(Part { items, more }))
    }

    /// Where items that are there began, by key: their places, or for those that were discarded their first entries. `None`:
    /// somebody moved the view meanwhile.
    async fn beginnings(
        &self,
        parts: Source<'_>,
        keys: &[String],
    ) -> Result<Option<HashMap<String, Seq>>, RecordError> {
        let mut found = HashMap::new();
        if let Some(base) = self.base {
            let kept = parts.store.views.view_items(self.session, base, keys).await;
            let Some(kept) = kept.map_err(RecordError::Read)? else { return Ok(None) };
            found.extend(kept.into_iter().map(|item| (item.key, item.place.unwrap_or(item.first))));
        }
        let changed = keys.iter().filter_map(|key| Some((key, self.view.item(key)?)));
        found.extend(changed.map(|(key, item)| (key.clone(), item.place.unwrap_or(item.first))));
        Ok(Some(found))
    }

    /// One item as it is at the head of the log, discarded or not. The outer `None`: somebody moved the view meanwhile.
    pub(crate) async fn item(
        &self,
        parts: Source<'_>,
        key: &str,
    ) -> Result<Option<Option<Item>>, RecordError> {
        if let Some(item) = self.view.item(key) {
            return Ok(Some(Some(item.clone())));
        }
        let Some(base) = self.base else { return Ok(Some(None)) };
        let found = parts.store.views.view_items(self.session, base, &[key.to_owned()]).await;
        let Some(found) = found.map_err(RecordError::Read)? else { return Ok(None) };
        match found.into_iter().next().map(to_item).transpose() {
            Ok(item) => Ok(Some(item)),
            Err(error) => self.damaged(parts, &error).await.map(|()| None),
        }
    }

    async fn damaged(&self, parts: Source<'_>, error: &serde_json::Error) -> Result<(), RecordError> {
        tracing::warn!(session = %self.session, error = error as &dyn std::error::Error, "a view is damaged");
        match self.base {
            Some(base) => drop_view(parts, self.session, base).await,
            None => Ok(()),
        }
    }
}

/// Whether an item is in a part of its list.
pub(crate) fn is_in(part: ViewPart, item: &Item) -> bool {
    match (part, item.place) {
        (ViewPart::Before(end), Some(place)) => end.is_none_or(|end| place < end),
        (ViewPart::After(start), Some(place)) => place > start,
        (_, None) => false,
    }
}

fn hash(seq: Seq, state: &[u8]) -> BlobHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.0.to_le_bytes());
    hasher.update(&FORMAT.to_le_bytes());
    hasher.update(state);
    BlobHash(hasher.finalize().to_hex().to_string())
}

fn from_item(key: &str, item: &Item) -> Result<ViewItem, serde_json::Error> {
    let body = item.body.as_ref().map(serde_json::to_vec).transpose()?;
    Ok(ViewItem {
        key: key.to_owned(),
        list: item.list.clone(),
        place: item.place,
        first: item.first,
        body: Bytes::from(body.unwrap_or_default()),
    })
}

fn to_item(item: ViewItem) -> Result<Item, serde_json::Error> {
    let ViewItem { key: _, list, place, first, body } = item;
    let body = place.map(|_| serde_json::from_slice(&body)).transpose()?;
    Ok(Item { list, place, first, body })
}

#[cfg(test)]
mod tests;
