use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{FutureExt as _, StreamExt as _, future::join_all};
use tempfile::TempDir;
use tokio::sync::{broadcast, watch};
use warren_domain::{Fence, Seq, SessionId, Version};
use warren_env::{Env, Tasks};

use super::{ListChange, Live, follow::PAGE_BYTES, hub::Notice};
use crate::{
    Backend, Change, Commit, CommitError, Database, EventLog as _, Follow, Heard, Hints, LogEntry, Options,
    ReadError, SessionRecord, SessionUpdate, Store, conformance::samples, open,
};

struct Setup {
    live: Live,
    store: Store,
    record: SessionRecord,
    session: SessionId,
    _directory: TempDir,
}

async fn setup() -> Setup {
    let directory = tempfile::tempdir().expect("a directory");
    let database = Database::Sqlite(directory.path().join("warren.db"));
    let options = Options { database, blobs_dir: directory.path().join("blobs") };
    let tasks = Tasks::new();
    let store = open(options, Env::system(), &tasks).await.expect("the store opens");
    let live = Live::new(&store, &tasks);
    let record = samples::session();
    live.commit(samples::create(&record)).await.expect("a session is created");
    Setup { live, store, session: record.session_id, record, _directory: directory }
}

impl Setup {
    async fn append(&self, head: u64, n: u64) {
        self.live.commit(samples::append(self.session, Seq(head), n)).await.expect("it is appended");
    }
}

/// The entries up to `last`, each of which must follow the one before.
async fn up_to(follow: &mut Follow, last: u64) -> Vec<LogEntry> {
    let mut entries = Vec::new();
    while entries.last().is_none_or(|entry: &LogEntry| entry.seq < Seq(last)) {
        entries.push(follow.next().await.expect("it is read").expect("the session is there"));
    }
    entries
}

#[tokio::test]
async fn a_follower_gets_what_is_recorded_and_then_what_comes() {
    let setup = setup().await;
    setup.append(1, 300).await;
    let mut follow = setup.live.follow(setup.session, Seq(2));
    assert_eq!(up_to(&mut follow, 301).await, samples::entries(setup.session, Seq(2), 299));
    follow.listen().await;
    let (entries, ()) = futures::join!(up_to(&mut follow, 304), setup.append(301, 3));
    assert_eq!(entries, samples::entries(setup.session, Seq(301), 3));
}

#[tokio::test]
async fn a_follower_sees_an_entry_only_after_its_commit() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    let watch = async {
        while let Some(entry) = follow.next().await.expect("it is read") {
            let head = setup.store.log.head(setup.session).await.expect("the head is read");
            assert!(head >= Some(entry.seq), "entry {} was told at head {head:?}", entry.seq);
            if entry.seq == Seq(61) {
                break;
            }
        }
    };
    let write = async {
        for n in 0..20 {
            setup.append(1 + 3 * n, 3).await;
        }
    };
    futures::join!(watch, write);
}

#[tokio::test]
async fn a_follower_that_falls_behind_misses_nothing() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(0));
    assert_eq!(up_to(&mut follow, 1).await.len(), 1);
    follow.listen().await;
    for head in 1..=150 {
        setup.append(head, 1).await;
    }
    assert_eq!(up_to(&mut follow, 151).await, samples::entries(setup.session, Seq(1), 150));
    setup.append(151, 1).await;
    assert_eq!(up_to(&mut follow, 152).await, samples::entries(setup.session, Seq(151), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_followers_get_everything_once_while_it_is_written() {
    let setup = setup().await;
    let followers = (0..300).map(|n| {
        let mut follow = setup.live.follow(setup.session, Seq(n % 3));
        let expected = samples::entries(setup.session, Seq(n % 3), 401 - n % 3);
        async move {
            let mut entries = Vec::new();
            while entries.len() < expected.len() {
                entries.extend(follow.next_batch().await.expect("it is read"));
                if n % 7 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            assert_eq!(entries, expected);
        }
    });
    let write = async {
        for n in 0..100 {
            setup.append(1 + 4 * n, 4).await;
        }
    };
    futures::join!(join_all(followers), write);
    assert_eq!(setup.live.hub.n_followed(), 0, "the channel went with its last follower");
}

#[tokio::test]
async fn followers_share_the_bytes_that_were_committed() {
    let setup = setup().await;
    let mut follows: Vec<_> = (0..3).map(|_| setup.live.follow(setup.session, Seq(1))).collect();
    for follow in &mut follows {
        follow.listen().await;
    }
    let commit = samples::append(setup.session, Seq(1), 1);
    let place = commit.entries[0].json.as_ptr();
    setup.live.commit(commit).await.expect("it is appended");
    for follow in &mut follows {
        assert_eq!(up_to(follow, 2).await[0].json.as_ptr(), place);
    }
}

/// A commit of entries of `n_bytes` each.
fn large(session: SessionId, head: u64, n: u64, n_bytes: usize) -> Commit {
    let mut commit = samples::append(session, Seq(head), n);
    for entry in &mut commit.entries {
        entry.json = format!("\"{}\"", "x".repeat(n_bytes)).into();
    }
    commit
}

#[tokio::test]
async fn batch_of_a_slow_follower_is_limited_in_bytes_and_the_rest_follows() {
    const ENTRY: usize = 50_000;
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    follow.listen().await;
    // Fewer commits than a follower may be behind.
    for head in 1..=60 {
        setup.live.commit(large(setup.session, head, 1, ENTRY)).await.expect("it is appended");
    }
    let mut n_entries = 0;
    while n_entries < 60 {
        let batch = follow.next_batch().await.expect("it is read");
        let n_bytes: usize = batch.iter().map(|entry| entry.json.len()).sum();
        assert!(n_bytes < PAGE_BYTES + 2 * ENTRY, "{n_bytes} bytes in a batch");
        n_entries += batch.len();
    }
}

#[tokio::test]
async fn large_commit_is_not_buffered_for_followers_and_they_read_it() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    follow.listen().await;
    let commit = large(setup.session, 1, 20, 100_000);
    let (place, expected) = (commit.entries[0].json.as_ptr(), commit.entries.clone());
    setup.live.commit(commit).await.expect("it is appended");
    let read = up_to(&mut follow, 21).await;
    assert_eq!(read, expected);
    assert_ne!(read[0].json.as_ptr(), place, "the committed bytes are held for nobody");
}

#[tokio::test]
async fn commits_told_in_the_wrong_order_are_read_in_the_right_one() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    follow.listen().await;
    let (first, second) =
        (samples::append(setup.session, Seq(1), 2), samples::append(setup.session, Seq(3), 2));
    for commit in [&first, &second] {
        setup.store.log.commit(commit.clone()).await.expect("it is appended");
    }
    for commit in [second, first] {
        setup.live.hub.tell(setup.session, Notice::Entries(Arc::from(commit.entries)));
    }
    assert_eq!(up_to(&mut follow, 5).await, samples::entries(setup.session, Seq(1), 4));
    setup.append(5, 1).await;
    assert_eq!(up_to(&mut follow, 6).await, samples::entries(setup.session, Seq(5), 1));
}

#[tokio::test]
async fn a_commit_whose_caller_went_away_is_told_all_the_same() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    let commit = setup.live.commit(samples::append(setup.session, Seq(1), 1));
    assert!(commit.now_or_never().is_none(), "dropped before it was answered");
    let told = tokio::time::timeout(Duration::from_secs(30), up_to(&mut follow, 2)).await;
    assert_eq!(told.expect("it is told"), samples::entries(setup.session, Seq(1), 1));
}

#[tokio::test]
async fn a_refused_commit_is_told_to_nobody() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    let mut changes = setup.live.changes();
    let mut stale = samples::append(setup.session, Seq(7), 1);
    stale.changes.push(Change::PutRun(Box::new(samples::run(setup.session))));
    let refused = setup.live.commit(stale).await;
    assert!(matches!(refused, Err(CommitError::Conflict { .. })));
    setup.append(1, 1).await;
    assert_eq!(up_to(&mut follow, 2).await, samples::entries(setup.session, Seq(1), 1));
    assert!(changes.next().now_or_never().is_none());
}

#[tokio::test]
async fn following_ends_when_the_session_is_erased() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    let (next, erased) = futures::join!(follow.next(), setup.live.erase(setup.session, Fence(0)));
    assert_eq!(next.expect("it is read"), None);
    assert!(erased.expect("it is erased"));
    assert_eq!(follow.next_batch().await.expect("it is read"), Vec::new());
    let late = setup.live.follow(setup.session, Seq(0)).into_stream();
    assert_eq!(late.map(|entry| entry.expect("it is read")).collect::<Vec<_>>().await, Vec::new());
}

#[tokio::test]
async fn waking_shows_what_another_node_has_written() {
    let setup = setup().await;
    let mut follow = setup.live.follow(setup.session, Seq(1));
    follow.listen().await;
    setup.store.log.commit(samples::append(setup.session, Seq(1), 2)).await.expect("it is appended");
    setup.live.wake(setup.session);
    assert_eq!(up_to(&mut follow, 3).await, samples::entries(setup.session, Seq(1), 2));
    setup.store.sessions.erase(setup.session, Fence(0)).await.expect("it is erased");
    setup.live.wake(setup.session);
    assert_eq!(follow.next().await.expect("it is read"), None);
}

#[tokio::test]
async fn watchers_of_the_list_hear_of_every_change_of_it() {
    let setup = setup().await;
    let mut changes = setup.live.changes();
    let record = samples::session();
    let session = record.session_id;
    setup.live.commit(samples::create(&record)).await.expect("a session is created");
    let name = SessionUpdate { name: Some("new".to_owned()), ..SessionUpdate::default() };
    let activity = SessionUpdate { last_activity: Some(samples::time(5)), ..SessionUpdate::default() };
    let version = samples::version(session, Version(0));
    for change in [
        Change::UpdateSession(activity),
        Change::PutFile(samples::file("a", 1)),
        Change::UpdateSession(name),
        Change::PutVersion(Box::new(version)),
    ] {
        setup.live.commit(samples::change(session, Seq(1), vec![change])).await.expect("it is committed");
    }
    setup.live.runtime_changed(session);
    setup.live.erase(session, Fence(0)).await.expect("it is erased");
    setup.live.erase(session, Fence(0)).await.expect("it is gone already");
    setup.live.runtime_changed(setup.record.session_id);
    let SessionRecord { partition, project_id, .. } = record.clone();
    let expected = [
        ListChange::Created(Arc::new(record)),
        ListChange::Changed(session),
        ListChange::Changed(session),
        ListChange::Runtime(session),
        ListChange::Erased { session_id: session, partition, project_id },
        ListChange::Runtime(setup.record.session_id),
    ];
    for expected in expected {
        assert_eq!(changes.next().await, Some(expected));
    }
}

#[tokio::test]
async fn a_watcher_that_is_too_slow_is_told_that_it_missed_something() {
    let setup = setup().await;
    let mut changes = setup.live.changes();
    for _ in 0..1_000 {
        setup.live.runtime_changed(setup.session);
    }
    assert_eq!(changes.next().await, Some(ListChange::Missed));
    assert_eq!(changes.next().await, Some(ListChange::Runtime(setup.session)));
}

/// Carries hints within the process. Can be cut, as a connection can.
struct Wire {
    hints: broadcast::Sender<String>,
    is_cut: watch::Sender<bool>,
}

struct Ear {
    hints: broadcast::Receiver<String>,
    is_cut: watch::Receiver<bool>,
}

impl Wire {
    fn new() -> Arc<Self> {
        Arc::new(Self { hints: broadcast::channel(64).0, is_cut: watch::channel(false).0 })
    }
}

fn cut() -> ReadError {
    ReadError { doing: "hear", source: Backend::from("the wire is cut") }
}

#[async_trait]
impl Hints for Wire {
    async fn tell(&self, hint: &str) -> Result<(), ReadError> {
        if !*self.is_cut.borrow() {
            // Nobody may be listening yet.
            let _ = self.hints.send(hint.to_owned());
        }
        Ok(())
    }

    async fn listen(&self) -> Result<Box<dyn Heard>, ReadError> {
        if *self.is_cut.borrow() {
            return Err(cut());
        }
        Ok(Box::new(Ear { hints: self.hints.subscribe(), is_cut: self.is_cut.subscribe() }))
    }
}

#[async_trait]
impl Heard for Ear {
    async fn next(&mut self) -> Result<String, ReadError> {
        tokio::select! {
            hint = self.hints.recv() => hint.map_err(|_| cut()),
            _ = self.is_cut.wait_for(|is_cut| *is_cut) => Err(cut()),
        }
    }
}

/// A second node on the store of the first.
fn two_nodes(setup: &Setup, wire: &Arc<Wire>) -> [Live; 2] {
    let store = Store { hints: Some(wire.clone()), ..setup.store.clone() };
    [Live::new(&store, &Tasks::new()), Live::new(&store, &Tasks::new())]
}

#[tokio::test]
async fn a_follower_sees_what_another_node_writes() {
    let setup = setup().await;
    let [one, two] = two_nodes(&setup, &Wire::new());
    let mut follow = two.follow(setup.session, Seq(1));
    follow.listen().await;
    for head in [1, 4, 7] {
        one.commit(samples::append(setup.session, Seq(head), 3)).await.expect("it is appended");
        assert_eq!(up_to(&mut follow, head + 3).await, samples::entries(setup.session, Seq(head), 3));
    }
    let erased = one.erase(setup.session, Fence(0)).await;
    assert!(erased.expect("it is erased"));
    assert_eq!(follow.next().await.expect("it is read"), None);
}

#[tokio::test]
async fn a_follower_sees_what_another_node_writes_while_nothing_is_heard() {
    let setup = setup().await;
    let wire = Wire::new();
    let [one, two] = two_nodes(&setup, &wire);
    let mut follow = two.follow(setup.session, Seq(1));
    follow.listen().await;
    wire.is_cut.send_replace(true);
    for head in [1, 4] {
        one.commit(samples::append(setup.session, Seq(head), 3)).await.expect("it is appended");
        assert_eq!(up_to(&mut follow, head + 3).await, samples::entries(setup.session, Seq(head), 3));
    }
    wire.is_cut.send_replace(false);
    one.commit(samples::append(setup.session, Seq(7), 3)).await.expect("it is appended");
    assert_eq!(up_to(&mut follow, 10).await, samples::entries(setup.session, Seq(7), 3));
}

#[tokio::test]
async fn watchers_of_the_list_hear_what_another_node_changes() {
    let setup = setup().await;
    let [one, two] = two_nodes(&setup, &Wire::new());
    let mut changes = two.changes();
    // Its own ear is open from here on.
    assert_eq!(changes.next().await, Some(ListChange::Missed));
    let record = samples::session();
    let session = record.session_id;
    one.commit(samples::create(&record)).await.expect("a session is created");
    assert_eq!(changes.next().await, Some(ListChange::Created(Arc::new(record.clone()))));
    let version = Change::PutVersion(Box::new(samples::version(session, Version(0))));
    one.commit(samples::change(session, Seq(1), vec![version])).await.expect("it is committed");
    assert_eq!(changes.next().await, Some(ListChange::Changed(session)));
    one.erase(session, Fence(0)).await.expect("it is erased");
    let SessionRecord { partition, project_id, .. } = record;
    assert_eq!(changes.next().await, Some(ListChange::Erased { session_id: session, partition, project_id }));
}
