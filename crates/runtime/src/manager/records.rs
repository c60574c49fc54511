//! Reading what was recorded.

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{
    BlobHash, Block, BlockId, ConversationId, Conversations, EventBody, Item, ItemBody, Seq, Session,
    SessionId, THREADS, View, block_key, thread_key,
};
use warren_store::{Changes, Follow, LogEntry, SessionRecord, ViewPart};

use super::SessionManager;
use crate::{
    api::{MessagePart, Messages, Records, SessionDetail, SessionError},
    recorder::{Pages, RecordError},
    recordings::{LoadError, Shelf},
    spaces,
    views::{self, Current, Source, TRIES},
};

/// Blocks read at a time when all are wanted.
const PAGE: u32 = 500;

#[async_trait]
impl Records for SessionManager {
    async fn session_detail(
        &self,
        session: SessionId,
        limit: Option<u32>,
    ) -> Result<SessionDetail, SessionError> {
        let record = self.record(session).await?;
        self.roster.load(session);
        let (state, threads) = self.threads(session, limit).await.map_err(unread)?;
        // A page of blocks costs what it shows, however many files there are.
        let files = match limit {
            Some(_) => Ok(Vec::new()),
            None => self.shared.parts.store.sessions.files(session).await,
        };
        let files = files.map_err(|error| SessionError::internal("read the list of files", error))?;
        Ok(SessionDetail {
            summary: self.summary(record),
            conversations: Conversations::of_threads(threads.main, threads.subagents),
            more: threads.more,
            files,
            queue: state.queue.iter().map(|waiting| waiting.run).collect(),
            queue_held: state.held,
            last_seq: threads.seq,
        })
    }

    async fn messages(
        &self,
        session: SessionId,
        thread: &ConversationId,
        part: MessagePart,
        only: Option<&[BlockId]>,
        limit: u32,
    ) -> Result<Option<Messages>, SessionError> {
        self.record(session).await?;
        self.roster.load(session);
        let parts = self.shared.parts.source();
        for _ in 0..TRIES {
            let current = views::current(parts, session).await.map_err(unread)?;
            let found = messages_at(parts, &current, thread, &part, only, limit).await.map_err(unread)?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Err(unread(RecordError::Restless(session)))
    }

    async fn events_read(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError> {
        let mut entries = self.read(session, after, limit).await?;
        if let (true, Some(wait)) = (entries.is_empty(), wait) {
            let mut follow = self.events_follow(session, after).await?;
            // Nothing came in time: an empty answer is the right one.
            if let Ok(Ok(Some(first))) = tokio::time::timeout(wait, follow.next()).await {
                entries = self.read(session, Seq(first.seq.0 - 1), limit).await?;
            }
        }
        let head = self.shared.parts.store.log.head(session).await;
        let head = head.map_err(|error| SessionError::internal("read the log", error))?;
        let head = head.ok_or_else(|| SessionError::not_found("session", session))?;
        Ok((entries, head))
    }

    async fn events_follow(&self, session: SessionId, after: Seq) -> Result<Follow, SessionError> {
        self.record(session).await?;
        Ok(self.shared.parts.live.follow(session, after))
    }

    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Bytes, SessionError> {
        let found = self.shared.parts.store.transcripts.transcript(session, thread).await;
        let found = found.map_err(|error| SessionError::internal("read the transcript", error))?;
        found.ok_or_else(|| {
            SessionError::not_found("transcript", if thread.is_empty() { "main" } else { thread })
        })
    }

    async fn message(
        &self,
        session: SessionId,
        thread: &ConversationId,
        id: &BlockId,
    ) -> Result<Block, SessionError> {
        let record = self.record(session).await?;
        let key = block_key(thread, id);
        let parts = self.shared.parts.source();
        let found = views::beginnings(parts, session, std::slice::from_ref(&key)).await.map_err(unread)?;
        let missing = || SessionError::not_found("message", id);
        let first = found.get(&key).copied().ok_or_else(missing)?;
        self.whole_block(&record, thread, id, first).await?.ok_or_else(missing)
    }

    async fn blob(&self, session: SessionId, hash: &BlobHash) -> Result<Bytes, SessionError> {
        let record = self.record(session).await?;
        // Knowing a hash is no right to its bytes: only what is this session's own is looked through.
        let blobs = self.shared.parts.store.blobs.as_ref();
        let found = blobs.blob(&spaces::of_log(&record.partition, session), hash).await;
        if let Some(bytes) = found.map_err(|error| SessionError::internal("read the blob", error))? {
            return Ok(bytes);
        }
        let space = spaces::of_calls(&record.partition, session);
        let mut shelf = Shelf::new(&self.shared.options.directory);
        let fetched = shelf.fetch(blobs, &space, hash).await;
        fetched.and_then(|()| shelf.whole(hash)).map_err(|error| match error {
            LoadError::Gone(_) => SessionError::not_found("blob", hash),
            error => SessionError::internal("read the recording", error),
        })
    }

    fn changes(&self) -> Changes {
        self.shared.parts.live.changes()
    }
}

/// A session's threads at one position of its log.
struct Threads {
    main: Vec<Block>,
    /// There are older blocks of the main conversation.
    more: bool,
    subagents: Vec<(ConversationId, Vec<Block>)>,
    seq: Seq,
}

impl SessionManager {
    /// A session's state, and its threads: whole, or the newest blocks.
    async fn threads(
        &self,
        session: SessionId,
        limit: Option<u32>,
    ) -> Result<(Session, Threads), RecordError> {
        let parts = self.shared.parts.source();
        for _ in 0..TRIES {
            let current = views::current(parts, session).await?;
            let found = match limit {
                None => whole(parts, &current).await?,
                Some(limit) => newest(parts, &current, limit).await?,
            };
            if let Some(threads) = found {
                return Ok((current.view.state.session, threads));
            }
        }
        Err(RecordError::Restless(session))
    }

    /// A block folded again from the entries about it, each with its long texts.
    async fn whole_block(
        &self,
        record: &SessionRecord,
        thread: &ConversationId,
        id: &BlockId,
        first: Seq,
    ) -> Result<Option<Block>, SessionError> {
        let (log, mut gone) = (self.shared.parts.store.log.as_ref(), HashSet::new());
        let mut view = View::default();
        let mut pages = Pages::after(Seq(first.0.saturating_sub(1)));
        let mut is_complete = false;
        while !pages.is_over() && !is_complete {
            for entry in pages.next(log, record.session_id).await.map_err(unread)? {
                let event = entry.event().map_err(|error| SessionError::internal("read the log", error))?;
                if event.conversation_id != *thread || event.body.block_id() != Some(id) {
                    continue;
                }
                is_complete |= matches!(event.body, EventBody::BlockComplete { .. });
                view.apply(&self.whole(record, event, &mut gone).await?);
            }
        }
        let item = view.item(&block_key(thread, id)).cloned();
        Ok(item.and_then(|item| blocks(vec![item]).pop()))
    }

    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, SessionError> {
        let entries = self.shared.parts.store.log.read(session, after, limit).await;
        entries.map_err(|error| SessionError::internal("read the log", error))
    }
}

fn unread(error: RecordError) -> SessionError {
    SessionError::internal("read the log", error)
}

fn blocks(items: Vec<Item>) -> Vec<Block> {
    let block = |item: Item| match item.body {
        Some(ItemBody::Block(block)) => Some(*block),
        Some(ItemBody::Thread(_)) | None => None,
    };
    items.into_iter().filter_map(block).collect()
}

/// A whole list, oldest first.
async fn all(parts: Source<'_>, current: &Current, list: &str) -> Result<Option<Vec<Item>>, RecordError> {
    let (mut items, mut after): (Vec<Item>, _) = (Vec::new(), Seq(0));
    loop {
        let Some(part) = current.list(parts, list, ViewPart::After(after), PAGE).await? else {
            return Ok(None);
        };
        items.extend(part.items);
        match items.last().and_then(|item| item.place) {
            Some(place) if part.more => after = place,
            _ => return Ok(Some(items)),
        }
    }
}

async fn whole(parts: Source<'_>, current: &Current) -> Result<Option<Threads>, RecordError> {
    let Some(main) = all(parts, current, &thread_key(&ConversationId::main())).await? else {
        return Ok(None);
    };
    let Some(threads) = all(parts, current, THREADS).await? else { return Ok(None) };
    let mut subagents = Vec::new();
    for item in threads {
        let Some(ItemBody::Thread(id)) = item.body else { continue };
        let Some(said) = all(parts, current, &thread_key(&id)).await? else { return Ok(None) };
        subagents.push((id, blocks(said)));
    }
    Ok(Some(Threads { main: blocks(main), more: false, subagents, seq: current.view.seq }))
}

/// The newest blocks of the main conversation, and of the threads that are named in what is given.
async fn newest(parts: Source<'_>, current: &Current, limit: u32) -> Result<Option<Threads>, RecordError> {
    let newest = async |thread: &ConversationId| {
        let part = current.list(parts, &thread_key(thread), ViewPart::Before(None), limit).await?;
        Ok::<_, RecordError>(part.map(|mut part| {
            part.items.reverse();
            (blocks(part.items), part.more)
        }))
    };
    let Some((main, more)) = newest(&ConversationId::main()).await? else { return Ok(None) };
    let mut wanted: VecDeque<ConversationId> = named(&main).collect();
    let mut seen: HashSet<ConversationId> = wanted.iter().cloned().collect();
    let mut found: Vec<(Option<Seq>, ConversationId, Vec<Block>)> = Vec::new();
    while let Some(thread) = wanted.pop_front() {
        let Some(item) = current.item(parts, &thread_key(&thread)).await? else { return Ok(None) };
        let Some(item) = item else { continue };
        let Some((said, _)) = newest(&thread).await? else { return Ok(None) };
        wanted.extend(named(&said).filter(|id| seen.insert(id.clone())));
        found.push((item.place, thread, said));
        if found.len() >= limit as usize {
            break;
        }
    }
    found.sort_by_key(|(opened, ..)| *opened);
    let subagents = found.into_iter().map(|(_, id, said)| (id, said)).collect();
    Ok(Some(Threads { main, more, subagents, seq: current.view.seq }))
}

/// The threads that blocks stand for.
fn named(blocks: &[Block]) -> impl Iterator<Item = ConversationId> {
    blocks.iter().filter_map(|block| match block {
        Block::Subagent { subagent_id, .. } => Some(ConversationId(subagent_id.clone())),
        _ => None,
    })
}

/// The outer `None`: the view was moved meanwhile. The inner: there is no such block.
async fn messages_at(
    parts: Source<'_>,
    current: &Current,
    thread: &ConversationId,
    part: &MessagePart,
    only: Option<&[BlockId]>,
    limit: u32,
) -> Result<Option<Option<Messages>>, RecordError> {
    let (MessagePart::After(named) | MessagePart::Before(named)) = part;
    let place = match named {
        None => None,
        Some(id) => {
            let Some(item) = current.item(parts, &block_key(thread, id)).await? else { return Ok(None) };
            let Some(place) = item.and_then(|item| item.place) else { return Ok(Some(None)) };
            Some(place)
        }
    };
    let part = match part {
        MessagePart::After(_) => ViewPart::After(place.unwrap_or_default()),
        MessagePart::Before(_) => ViewPart::Before(place),
    };
    let seq = current.view.seq;
    if let Some(ids) = only {
        let Some(items) = named_items(parts, current, thread, part, ids).await? else { return Ok(None) };
        return Ok(Some(Some(Messages { blocks: blocks(items), more: false, seq })));
    }
    let Some(mut found) = current.list(parts, &thread_key(thread), part, limit).await? else {
        return Ok(None);
    };
    if matches!(part, ViewPart::Before(_)) {
        found.items.reverse();
    }
    Ok(Some(Some(Messages { blocks: blocks(found.items), more: found.more, seq })))
}

/// The blocks of a part that have these ids, in the order of the thread. `None`: the view was moved meanwhile.
async fn named_items(
    parts: Source<'_>,
    current: &Current,
    thread: &ConversationId,
    part: ViewPart,
    ids: &[BlockId],
) -> Result<Option<Vec<Item>>, RecordError> {
    let mut found = Vec::new();
    for id in ids {
        let Some(item) = current.item(parts, &block_key(thread, id)).await? else { return Ok(None) };
        found.extend(item.filter(|item| views::is_in(part, item)));
    }
    found.sort_by_key(|item| item.place);
    Ok(Some(found))
}
