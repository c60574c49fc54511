//! The blocks of a past, in a temporary file: a copy of a conversation holds one page of it in memory.
//!
//! A [`Spool`] folds the entries of a log, up to any position. What it came to is a [`SpooledBlocks`]: the entries that
//! say the same again, page by page. The file has no name, so it is removed with its holder, however that ends.

use std::{collections::HashMap, io, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warren_domain::{
    Block, BlockStatus, ConversationId, Conversations, Draft, Event, EventBody, Item, ItemBody, Seq,
    SubagentStarted, THREADS, View, thread_key,
};

use crate::scratch_file::{ScratchFile, Span};

/// So many changed items are held before they are filed, …
const MAX_HELD_ITEMS: usize = 500;

/// … or so many bytes of entries.
const MAX_HELD_ENTRIES: usize = 4 << 20;

/// A page has at most so many entries, …
const MAX_PAGE: usize = 500;

/// … and ends with the one that makes it longer than this.
const PAGE_BYTES: usize = 2 << 20;

/// Folds the entries of a log.
pub(crate) struct Spool {
    view: View,
    file: ScratchFile,
    /// Bytes of the entries that were applied since the last changes were filed.
    n_held: usize,
    /// Where the items are, by [`hash`]es of their keys.
    filed: HashMap<u128, Filed>,
    lists: Lists,
}

/// The lists that items are in.
#[derive(Default)]
struct Lists {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

/// An item in the file.
#[derive(Debug, Clone, Copy)]
struct Filed {
    /// Its list, by its place among all.
    list: usize,
    /// Its place in the list. `None`: it was discarded.
    place: Option<Seq>,
    at: Span,
}

/// An item as it is filed.
#[derive(Serialize, Deserialize)]
struct Stored {
    first: Seq,
    body: Option<ItemBody>,
}

/// What was said, as the entries that say it again.
pub(crate) struct SpooledBlocks {
    file: ScratchFile,
    /// The main conversation first.
    threads: Vec<Thread>,
    /// The thread that is written, and the place of its next block; `None` where its start comes next.
    next: (usize, Option<usize>),
}

struct Thread {
    id: ConversationId,
    blocks: Vec<Span>,
}

impl Spool {
    /// A spool whose file is made in `directory` once it is needed.
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            view: View::default(),
            file: ScratchFile::new(directory),
            n_held: 0,
            filed: HashMap::new(),
            lists: Lists::default(),
        }
    }

    /// Folds the next entry, which is about `n_bytes` long.
    pub(crate) fn apply(&mut self, event: &Event, n_bytes: usize) -> io::Result<()> {
        for key in self.view.wants(event) {
            let filed = self.filed.get(&hash(&key)).copied();
            let item = filed.map(|filed| self.load(filed)).transpose()?;
            self.view.load(key, item);
        }
        self.view.apply(event);
        self.n_held += n_bytes;
        if self.view.n_changes() > MAX_HELD_ITEMS || self.n_held > MAX_HELD_ENTRIES {
            self.file_changes()?;
        }
        Ok(())
    }

    /// Everything was applied.
    pub(crate) fn finish(mut self) -> io::Result<SpooledBlocks> {
        self.file_changes()?;
        let Self { mut file, filed, lists, .. } = self;
        let lists = lists.names;
        let mut items: Vec<Vec<(Seq, Span)>> = vec![Vec::new(); lists.len()];
        for Filed { list, place, at } in filed.into_values() {
            items[list].extend(place.map(|place| (place, at)));
        }
        items.iter_mut().for_each(|list| list.sort_unstable_by_key(|(place, _)| *place));
        let mut of_list: HashMap<String, Vec<Span>> = lists
            .into_iter()
            .zip(items)
            .map(|(list, items)| (list, items.into_iter().map(|(_, at)| at).collect()))
            .collect();
        let mut ids = vec![ConversationId::main()];
        for at in of_list.remove(THREADS).unwrap_or_default() {
            if let Stored { body: Some(ItemBody::Thread(thread)), .. } = read(&mut file, at)? {
                ids.push(thread);
            }
        }
        let thread = |id| Thread { blocks: of_list.remove(&thread_key(&id)).unwrap_or_default(), id };
        let threads = ids.into_iter().map(thread).collect();
        Ok(SpooledBlocks::new(file, threads))
    }

    fn load(&mut self, filed: Filed) -> io::Result<Item> {
        let Stored { first, body } = read(&mut self.file, filed.at)?;
        Ok(Item { list: self.lists.names[filed.list].clone(), place: filed.place, first, body })
    }

    fn file_changes(&mut self) -> io::Result<()> {
        for (key, item) in self.view.changes() {
            let stored = Stored { first: item.first, body: item.body.clone() };
            let at = append(&mut self.file, &stored)?;
            let list = self.lists.place(&item.list);
            self.filed.insert(hash(key), Filed { list, place: item.place, at });
        }
        self.view.kept();
        self.n_held = 0;
        Ok(())
    }
}

impl Lists {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

impl SpooledBlocks {
    /// Conversations that are known whole.
    pub(crate) fn of(conversations: &Conversations, directory: &Path) -> io::Result<Self> {
        let mut file = ScratchFile::new(directory);
        let mut spooled = |blocks: &[Block]| -> io::Result<Vec<Span>> {
            let stored = |block: &Block| {
                let body = Some(ItemBody::Block(Box::new(block.clone())));
                append(&mut file, &Stored { first: Seq(0), body })
            };
            blocks.iter().map(stored).collect()
        };
        let mut threads = vec![Thread { id: ConversationId::main(), blocks: spooled(conversations.main())? }];
        for (id, blocks) in conversations.subagents() {
            threads.push(Thread { id: id.clone(), blocks: spooled(blocks)? });
        }
        Ok(Self::new(file, threads))
    }

    fn new(file: ScratchFile, threads: Vec<Thread>) -> Self {
        // The main conversation has no start of its own.
        Self { file, threads, next: (0, Some(0)) }
    }

    /// Whether the main conversation has no block.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.first().is_none_or(|main| main.blocks.is_empty())
    }

    /// The next page; empty at the end.
    pub(crate) fn next_page(&mut self) -> io::Result<Vec<Draft>> {
        let (mut page, mut n_bytes) = (Vec::new(), 0);
        while page.len() < MAX_PAGE && n_bytes < PAGE_BYTES {
            let (number, place) = self.next;
            let Some(Thread { id, blocks }) = self.threads.get(number) else { break };
            match place.map(|place| (place + 1, blocks.get(place))) {
                None => {
                    page.push(started(&mut self.file, id, blocks)?);
                    self.next = (number, Some(0));
                }
                Some((following, Some(at))) => {
                    n_bytes += at.bytes;
                    let block = block(&mut self.file, *at)?;
                    page.push(Draft::of_session(EventBody::BlockComplete { block }).within(id.clone()));
                    self.next = (number, Some(following));
                }
                Some((_, None)) => {
                    page.extend((!id.is_main()).then(|| completed(id.clone())));
                    self.next = (number + 1, None);
                }
            }
        }
        Ok(page)
    }
}

/// A subagent's task is the first message of its thread.
fn started(file: &mut ScratchFile, thread: &ConversationId, blocks: &[Span]) -> io::Result<Draft> {
    let mut input = String::new();
    for at in blocks {
        if let Block::UserMessage { content, .. } = block(file, *at)? {
            input = content.to_text();
            break;
        }
    }
    let started = EventBody::SubagentStarted(SubagentStarted {
        subagent_id: thread.as_str().to_owned(),
        name: None,
        input: Value::from(input),
        tool_use_id: None,
        parent: ConversationId::main(),
    });
    Ok(Draft::of_session(started).within(thread.clone()))
}

fn completed(thread: ConversationId) -> Draft {
    let completed = EventBody::SubagentCompleted {
        subagent_id: thread.as_str().to_owned(),
        status: BlockStatus::Success,
        output: None,
        usage: None,
    };
    Draft::of_session(completed).within(thread)
}

/// Short, since there is one for each block of a past.
fn hash(key: &str) -> u128 {
    let mut first = [0; 16];
    blake3::Hasher::new().update(key.as_bytes()).finalize_xof().fill(&mut first);
    u128::from_le_bytes(first)
}

fn append(file: &mut ScratchFile, stored: &Stored) -> io::Result<Span> {
    file.append(&serde_json::to_vec(stored)?)
}

fn block(file: &mut ScratchFile, at: Span) -> io::Result<Block> {
    match read(file, at)?.body {
        Some(ItemBody::Block(block)) => Ok(*block),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a block")),
    }
}

fn read(file: &mut ScratchFile, at: Span) -> io::Result<Stored> {
    Ok(serde_json::from_slice(&file.read(at)?)?)
}

#[cfg(test)]
mod tests;
