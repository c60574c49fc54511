//! The view of a log: session state and blocks folded up to a position, kept item by item, so that reading a page
//! costs what the page costs and not what the log does.
//!
//! Pure: whoever folds asks [`View::wants`] which kept items an entry needs, hands them in with [`View::load`], and
//! then applies the entry. A view is a cache. The log stays the truth: what a view says equals the fold of the log
//! from its start, for every position (`views_equal_the_fold_from_the_start`).

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    Block, BlockId, ConversationId, Event, EventBody, Head, OpenCalls, RecordedCalls, Seq, Session,
    VersionCause,
};

/// The list of all subagents' threads, as [`Item::list`].
pub const THREADS: &str = "threads";

/// What a view knows apart from its items: small however long the log is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ViewState {
    /// The session's state.
    pub session: Session,
    /// Number of restores.
    pub returns: Returns,
    /// The recordings of its model calls.
    pub recorded: RecordedCalls,
    /// Its model calls that have not ended. Absent in views of the first versions.
    #[serde(default)]
    pub open_calls: OpenCalls,
}

/// How often what the agent remembers became something else than what was said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Returns {
    /// The count.
    pub count: u32,
    /// The entry that did it last.
    pub last: Seq,
}

/// A block or a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The list it is in: [`THREADS`], or the [`thread_key`] of its thread.
    pub list: String,
    /// Its place in the list: the number of the entry that put it there. `None`: it was discarded.
    pub place: Option<Seq>,
    /// The first entry that ever named it.
    pub first: Seq,
    /// Its content; `None` if it was discarded.
    pub body: Option<ItemBody>,
}

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ItemBody {
    /// A block.
    Block(Box<Block>),
    /// A subagent's thread.
    Thread(ConversationId),
}

/// A view on its way along the log.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The last entry that was applied.
    pub seq: Seq,
    /// State.
    pub state: ViewState,
    /// What was loaded or changed: `None` for what is known not to be kept.
    items: HashMap<String, Option<Item>>,
    /// Keys of what changed.
    changed: BTreeSet<String>,
}

impl Returns {
    /// Folds one entry. `head` is that of the session before it.
    pub fn apply(&mut self, event: &Event, head: Head) {
        let is_return = match &event.body {
            EventBody::VersionCommitted { cause: VersionCause::Restore | VersionCause::Fork, .. } => true,
            // Every run starts from exactly a version: what an earlier one left in none was given up.
            EventBody::RunStarted { .. } => head == Head::Cut,
            _ => false,
        };
        if is_return {
            *self = Returns { count: self.count + 1, last: event.seq };
        }
    }
}

impl View {
    /// The view at a checkpoint.
    #[must_use]
    pub fn at(seq: Seq, state: ViewState) -> Self {
        Self { seq, state, ..Self::default() }
    }

    /// Keys of the items that [`View::apply`] needs for this entry and that were not loaded yet.
    #[must_use]
    pub fn wants(&self, event: &Event) -> Vec<String> {
        let thread = &event.conversation_id;
        let block = event.body.block_id();
        if block.is_none() && !matches!(event.body, EventBody::SubagentStarted(_)) {
            return Vec::new();
        }
        let thread_item = (!thread.is_main()).then(|| thread_key(thread));
        let block_item = block.map(|id| block_key(thread, id));
        let wanted = thread_item.into_iter().chain(block_item);
        wanted.filter(|key| !self.items.contains_key(key)).collect()
    }

    /// Hands in an item as it is kept, or that there is none.
    pub fn load(&mut self, key: String, item: Option<Item>) {
        self.items.entry(key).or_insert(item);
    }

    /// Applies the next entry of the log.
    pub fn apply(&mut self, event: &Event) {
        self.seq = event.seq;
        self.state.returns.apply(event, self.state.session.head);
        self.state.recorded.apply(event);
        self.state.open_calls.apply(event);
        self.state.session = std::mem::take(&mut self.state.session).apply(event.run_id, &event.body);
        let thread = &event.conversation_id;
        match &event.body {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.open_thread(thread, event.seq);
                self.put(thread, block, event.seq);
            }
            EventBody::TextDelta { block_id, delta } => {
                self.open_thread(thread, event.seq);
                self.change(thread, block_id, |block| block.grow(delta));
            }
            EventBody::BlockUpdate { block_id, updates } => {
                self.open_thread(thread, event.seq);
                self.change(thread, block_id, |block| {
                    if let Some(updated) = block.updated(updates) {
                        *block = updated;
                    }
                });
            }
            EventBody::BlockDiscarded { block_id, .. } => {
                self.open_thread(thread, event.seq);
                self.discard(thread, block_id);
            }
            EventBody::SubagentStarted(_) => self.open_thread(thread, event.seq),
            _ => {}
        }
    }

    /// What changed since the checkpoint, by key.
    pub fn changes(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.changed.iter().filter_map(|key| Some((key.as_str(), self.items.get(key)?.as_ref()?)))
    }

    /// How many items changed since the checkpoint.
    #[must_use]
    pub fn n_changes(&self) -> usize {
        self.changed.len()
    }

    /// The item under this key, if it was loaded or changed since the checkpoint.
    #[must_use]
    pub fn item(&self, key: &str) -> Option<&Item> {
        self.items.get(key)?.as_ref()
    }

    /// Whether the item under this key changed since the checkpoint.
    #[must_use]
    pub fn is_changed(&self, key: &str) -> bool {
        self.changed.contains(key)
    }

    /// Everything was stored: the view starts again from here.
    pub fn kept(&mut self) {
        self.items.clear();
        self.changed.clear();
    }

    fn open_thread(&mut self, thread: &ConversationId, seq: Seq) {
        if thread.is_main() {
            return;
        }
        let key = thread_key(thread);
        if self.items.get(&key).is_none_or(Option::is_none) {
            let body = Some(ItemBody::Thread(thread.clone()));
            let opened = Item { list: THREADS.to_owned(), place: Some(seq), first: seq, body };
            self.items.insert(key.clone(), Some(opened));
            self.changed.insert(key);
        }
    }

    fn put(&mut self, thread: &ConversationId, block: &Block, seq: Seq) {
        let key = block_key(thread, block.id());
        let body = Some(ItemBody::Block(Box::new(block.clone())));
        let slot = self.items.entry(key.clone()).or_default();
        *slot = Some(match slot.take() {
            // At the place of the first, unless that is gone.
            Some(known) => Item { place: known.place.or(Some(seq)), body, ..known },
            None => Item { list: thread_key(thread), place: Some(seq), first: seq, body },
        });
        self.changed.insert(key);
    }

    fn change(&mut self, thread: &ConversationId, id: &BlockId, change: impl FnOnce(&mut Block)) {
        let key = block_key(thread, id);
        let item = self.items.get_mut(&key).and_then(Option::as_mut);
        if let Some(Item { body: Some(ItemBody::Block(block)), .. }) = item {
            change(block);
            self.changed.insert(key);
        }
    }

    fn discard(&mut self, thread: &ConversationId, id: &BlockId) {
        let key = block_key(thread, id);
        if let Some(item) = self.items.get_mut(&key).and_then(Option::as_mut) {
            (item.place, item.body) = (None, None);
            self.changed.insert(key);
        }
    }
}

/// The key of a thread, and the list its blocks are in. A hash: ids are whatever an agent says, of any length.
#[must_use]
pub fn thread_key(thread: &ConversationId) -> String {
    key(&[thread.as_str()])
}

/// The key of a block of a thread.
#[must_use]
pub fn block_key(thread: &ConversationId, id: &BlockId) -> String {
    key(&[thread.as_str(), id.as_str()])
}

fn key(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests;
