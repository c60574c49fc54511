//! Views on a real store: what is read is counted, and what is read equals the fold of the log from its start.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use serde_json::{Value, json};
use warren_domain::{
    AgentType, Block, ConversationId, Conversations, Draft, Event, Fence, ItemBody, Partition, ProfileId,
    ProfileRef, ProjectId, Seq, SessionId, Timestamp, Version, WorkspaceId, thread_key,
};
use warren_env::{Env, Tasks};
use warren_store::{
    Change, Checkpoint, Commit, CommitError, Compaction, EventLog, LogEntry, ReadError, SessionRecord, Store,
    ViewPart,
};

use super::{Current, Source, WORTH, current};
use crate::recorder::for_each_event;

/// Counts what is read of a log.
struct Counting {
    log: Arc<dyn EventLog>,
    n_entries: AtomicUsize,
    largest: AtomicUsize,
}

#[async_trait]
impl EventLog for Counting {
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        self.log.commit(commit).await
    }

    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError> {
        let page = self.log.read(session, after, limit).await?;
        self.n_entries.fetch_add(page.len(), Ordering::Relaxed);
        self.largest.fetch_max(page.iter().map(|entry| entry.json.len()).sum(), Ordering::Relaxed);
        Ok(page)
    }

    async fn head(&self, session: SessionId) -> Result<Option<Seq>, ReadError> {
        self.log.head(session).await
    }

    async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError> {
        self.log.compact(session, piece).await
    }
}

struct Bench {
    store: Store,
    counted: Arc<Counting>,
    tasks: Tasks,
    session: SessionId,
    _directory: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let tasks = Tasks::new();
        let store = warren_store::scratch(directory.path(), Env::system(), &tasks).await.expect("a store");
        let counted = Arc::new(Counting {
            log: store.log.clone(),
            n_entries: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
        });
        let store = Store { log: counted.clone(), ..store };
        let session = SessionId(uuid::Uuid::now_v7());
        let bench = Self { store, counted, tasks, session, _directory: directory };
        bench.create().await;
        bench
    }

    fn source(&self) -> Source<'_> {
        Source { store: &self.store, tasks: &self.tasks }
    }

    async fn create(&self) {
        let record = SessionRecord {
            session_id: self.session,
            partition: Partition::default_partition(),
            project_id: ProjectId(uuid::Uuid::now_v7()),
            workspace_id: WorkspaceId(uuid::Uuid::now_v7()),
            agent_type: AgentType::from("builtin"),
            profile: ProfileRef::of_partition(ProfileId::from("default")),
            name: None,
            metadata: serde_json::Map::new(),
            options: Value::Null,
            forked_from: None,
            made_by: None,
            created_at: Timestamp::from_millis(0),
            last_activity: Timestamp::from_millis(0),
            head: Seq(1),
            version: Version(0),
        };
        let line = json!({"type":"session_created","agentType":"builtin","profile":"default"});
        let entries = vec![self.entry(1, line)];
        let changes = vec![Change::CreateSession(Box::new(record))];
        let commit = Commit { session: self.session, fence: Fence(0), expected: Seq(0), entries, changes };
        self.store.log.commit(commit).await.expect("a session");
    }

    fn entry(&self, seq: u64, line: Value) -> LogEntry {
        let draft: Draft = serde_json::from_value(line).expect("a draft");
        let event: Event = draft.numbered(Seq(seq), self.session, Timestamp::from_millis(0));
        LogEntry::of(&event).expect("JSON")
    }

    async fn append(&self, lines: Vec<Value>) {
        let head = self.store.log.head(self.session).await.expect("the head").expect("a session");
        let numbered = lines.into_iter().zip(head.0 + 1..);
        let entries: Vec<_> = numbered.map(|(line, seq)| self.entry(seq, line)).collect();
        let commit =
            Commit { session: self.session, fence: Fence(0), expected: head, entries, changes: Vec::new() };
        self.store.log.commit(commit).await.expect("it is committed");
    }

    /// Turns of three entries each: a block of text in the main thread, and now and then something else.
    async fn talk(&self, n_turns: u64) {
        let head = self.store.log.head(self.session).await.expect("the head").expect("a session");
        for chunk in (0..n_turns).collect::<Vec<_>>().chunks(400) {
            let lines = chunk.iter().flat_map(|n| turn(head.0 + n));
            self.append(lines.collect()).await;
        }
    }

    /// What reading costs, in entries of the log.
    async fn cost<T>(&self, read: impl Future<Output = T>) -> (T, usize) {
        let before = self.counted.n_entries.load(Ordering::Relaxed);
        let found = read.await;
        (found, self.counted.n_entries.load(Ordering::Relaxed) - before)
    }

    async fn view(&self) -> Current {
        current(self.source(), self.session).await.expect("a view")
    }

    async fn newest(&self, limit: u32) -> Vec<Block> {
        let view = self.view().await;
        let mut blocks = self.part(&view, ViewPart::Before(None), limit).await.0;
        blocks.reverse();
        blocks
    }

    async fn part(&self, view: &Current, part: ViewPart, limit: u32) -> (Vec<Block>, bool, Option<Seq>) {
        let list = thread_key(&ConversationId::main());
        let part = view.list(self.source(), &list, part, limit).await.expect("it is read").expect("it stays");
        let last = part.items.last().and_then(|item| item.place);
        let block = |body| match body {
            Some(ItemBody::Block(block)) => *block,
            other => panic!("{other:?} is no block"),
        };
        (part.items.into_iter().map(|item| block(item.body)).collect(), part.more, last)
    }

    async fn folded(&self) -> Conversations {
        let mut all = Conversations::default();
        let log = self.counted.log.as_ref();
        for_each_event(log, self.session, |event| all.apply(&event)).await.expect("the log");
        all
    }
}

fn turn(n: u64) -> Vec<Value> {
    let at = "2026-01-01T00:00:00.000Z";
    let text = |id: String| json!({"type":"assistant_text","id":id,"timestamp":at,"content":"\u{0}"});
    vec![
        json!({"type":"block_start","block":text(format!("b{n}"))}),
        match n % 7 {
            // An old block changes, and another goes.
            0 => json!({"type":"text_delta","blockId":format!("b{}", n / 2),"delta":"late"}),
            1 => json!({"type":"block_discarded","blockId":format!("b{}", n / 3),"reason":"x"}),
            2 => json!({"type":"block_complete","block":text(format!("b{}", n / 3))}),
            _ => json!({"type":"text_delta","blockId":format!("b{n}"),"delta":"word"}),
        },
        json!({"type":"text_delta","blockId":format!("b{n}"),"delta":"."}),
    ]
}

/// Counted in entries of the log, so that no clock decides: as much for a log of 600 as for one of 9,000.
#[tokio::test]
async fn newest_blocks_of_a_long_log_cost_what_those_of_a_short_one_do() {
    let bench = Bench::new().await;
    for n_turns in [200, 2_800] {
        bench.talk(n_turns).await;
        bench.newest(50).await;
        let (newest, n_read) = bench.cost(bench.newest(50)).await;
        let expected = bench.folded().await.main().to_vec();
        assert_eq!(newest, expected[expected.len() - 50..]);
        assert!(n_read <= WORTH as usize, "{n_read} entries were read after {n_turns} turns");
    }
}

#[tokio::test]
async fn parts_from_both_ends_equal_the_fold_from_the_start() {
    let bench = Bench::new().await;
    for n_turns in [150, 300, 40] {
        bench.talk(n_turns).await;
        let expected = bench.folded().await.main().to_vec();
        let view = bench.view().await;
        let (mut seen, mut after) = (Vec::new(), Seq(0));
        loop {
            let (blocks, more, last) = bench.part(&view, ViewPart::After(after), 37).await;
            seen.extend(blocks);
            if !more {
                break;
            }
            after = last.expect("there is more");
        }
        assert_eq!(serde_json::to_vec(&seen).expect("JSON"), serde_json::to_vec(&expected).expect("JSON"));
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let (blocks, more, last) = bench.part(&view, ViewPart::Before(before), 37).await;
            seen.extend(blocks);
            if !more {
                break;
            }
            before = last;
        }
        seen.reverse();
        assert_eq!(serde_json::to_vec(&seen).expect("JSON"), serde_json::to_vec(&expected).expect("JSON"));
    }
}

#[tokio::test]
async fn checkpoint_that_is_damaged_or_of_another_format_is_made_again() {
    let bench = Bench::new().await;
    bench.talk(400).await;
    let expected = bench.newest(50).await;
    let views = &bench.store.views;
    let good = views.checkpoint(bench.session).await.expect("it is read").expect("there is one");
    let mut damaged = good.state.to_vec();
    damaged[10] ^= 1;
    for bad in [
        Checkpoint { format: good.format + 1, ..good.clone() },
        Checkpoint { state: damaged.into(), ..good.clone() },
    ] {
        let moved = views.advance_view(bench.session, Some(good.seq), &bad, &[]).await;
        assert!(moved.expect("it is replaced"));
        assert_eq!(bench.newest(50).await, expected);
        let made = views.checkpoint(bench.session).await.expect("it is read");
        assert_eq!(made.map(|made| made.format), Some(good.format));
        assert_eq!(bench.view().await.base, Some(good.seq));
    }
}

#[tokio::test]
async fn long_entries_are_read_in_small_pages() {
    let bench = Bench::new().await;
    let long = "x".repeat(100 << 10);
    for _ in 0..10 {
        let line = json!({"type":"unrecognized","agent":"builtin","raw":long});
        bench.append(vec![line; 30]).await;
    }
    bench.view().await;
    let largest = bench.counted.largest.load(Ordering::Relaxed);
    assert!(largest < 4 << 20, "{largest} bytes at once");
    let (_, n_read) = bench.cost(bench.view()).await;
    assert!(n_read < 60, "{n_read} long entries were folded again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_that_move_the_view_of_a_long_log_at_once_all_get_it() {
    let bench = Bench::new().await;
    bench.talk(8_000).await;
    let head = bench.store.log.head(bench.session).await.expect("the head").expect("a session");
    let readers = (0..6).map(|_| current(bench.source(), bench.session));
    for current in futures::future::join_all(readers).await {
        assert_eq!(current.expect("it is read").view.seq, head);
    }
}
