//! How fast the log is, beside what the disk allows: `cargo bench -p warren-store --bench log [-- --postgres URL]`.
//!
//! The reference is a bare one-row commit to an SQLite file with the same settings. It is taken in turns with ours, so
//! that whatever else the machine does falls on both.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that measures, prints and may fail")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use warren_domain::{BlockId, Draft, EventBody, Fence, RunId, Seq, SessionId};
use warren_env::{Env, TaskKind, Tasks};
use warren_store::{
    Change, Commit, Database, EventLog, Live, LogEntry, Options, SessionUpdate, Store, conformance::samples,
    open,
};

const SESSIONS: usize = 100;
/// What an agent says while a commit is in flight goes into the next one: a few events.
const EVENTS_PER_COMMIT: [u64; 2] = [4, 8];
const FOLLOWERS: usize = 1_000;
const SUSTAINED: Duration = Duration::from_secs(4);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let directory = tempfile::tempdir().expect("a directory");
        let mut reference = reference(directory.path()).await;
        let sqlite = Database::Sqlite(directory.path().join("warren.db"));
        measure("sqlite", sqlite, directory.path(), &mut reference).await;
        let mut args = std::env::args().skip_while(|arg| arg != "--postgres").skip(1);
        if let Some(url) = args.next() {
            measure("postgres", Database::Postgres(url), directory.path(), &mut reference).await;
        }
    });
}

/// A database with nothing of ours around it.
async fn reference(directory: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(directory.join("reference.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let mut reference = options.connect().await.expect("opens");
    let table = sqlx::query("CREATE TABLE t (id INTEGER PRIMARY KEY, json BLOB)");
    table.execute(&mut reference).await.expect("a table");
    reference
}

/// What one durable commit costs here.
async fn bare(reference: &mut SqliteConnection) -> Duration {
    let start = Instant::now();
    let insert = sqlx::query("INSERT INTO t (json) VALUES ($1)").bind(vec![b'x'; 300]);
    insert.execute(reference).await.expect("inserts");
    start.elapsed()
}

async fn measure(name: &str, database: Database, directory: &Path, reference: &mut SqliteConnection) {
    let tasks = Tasks::new();
    let blobs_dir = directory.join("blobs");
    let before = resident();
    let store = open(Options { database, blobs_dir }, Env::system(), &tasks).await.expect("opens");
    println!("{name}: opening it cost {} KiB resident", resident().saturating_sub(before));
    let (single, bare) = single(&store, reference).await;
    row("bare one-row SQLite commit", &bare);
    row(&format!("{name}: one commit of one event"), &single);
    let over = millis(percentile(&single, 50)) - millis(percentile(&bare, 50));
    println!("{name}: that is {over:+.3} ms at the median");
    row(&format!("{name}: one commit, until a follower has it"), &followed(&store, &tasks).await);
    for n in EVENTS_PER_COMMIT {
        sustained(name, &store, n).await;
    }
    fan_out(name, &store, &tasks).await;
    row(&format!("{name}: read of 1,500 entries"), &reading(&store).await);
    tasks.cancel();
    assert!(tasks.wait(Duration::from_secs(10)).await, "the writer ends");
}

async fn single(store: &Store, reference: &mut SqliteConnection) -> (Vec<Duration>, Vec<Duration>) {
    let session = created(store).await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 1..=500 {
        theirs.push(bare(reference).await);
        let commit = commit(session, Seq(n), 1);
        let start = Instant::now();
        store.log.commit(commit).await.expect("commits");
        ours.push(start.elapsed());
    }
    (ours, theirs)
}

async fn followed(store: &Store, tasks: &Tasks) -> Vec<Duration> {
    let live = Live::new(store, tasks);
    let session = created(store).await;
    let mut follow = live.follow(session, Seq(1));
    let mut times = Vec::new();
    for n in 1..=300 {
        let commit = commit(session, Seq(n), 1);
        let start = Instant::now();
        let (committed, entry) = tokio::join!(live.commit(commit), follow.next());
        committed.expect("commits");
        assert_eq!(entry.expect("reads").map(|entry| entry.seq), Some(Seq(n + 1)));
        times.push(start.elapsed());
    }
    times
}

/// Many readers of one session, all of whom must get everything.
async fn fan_out(name: &str, store: &Store, tasks: &Tasks) {
    let live = Live::new(store, tasks);
    let session = created(store).await;
    let last = Seq(1 + 50 * 4);
    let before = resident();
    let followers = (0..FOLLOWERS).map(|_| {
        let mut follow = live.follow(session, Seq(1));
        tasks.spawn_to_end(TaskKind::Connection, async move {
            let mut n_entries = 0;
            while follow.position() < last || n_entries < last.0 - 1 {
                n_entries += follow.next_batch().await.expect("reads").len() as u64;
            }
        })
    });
    let followers: Vec<_> = followers.collect();
    let start = Instant::now();
    for n in 0..50 {
        live.commit(commit(session, Seq(1 + 4 * n), 4)).await.expect("commits");
    }
    for follower in followers {
        follower.await.expect("no follower panics");
    }
    let time = millis(start.elapsed()) / 50.0;
    let memory = resident().saturating_sub(before);
    println!(
        "{name}: a commit of 4 events to {FOLLOWERS} followers: {time:.3} ms, {memory} KiB for all of them"
    );
}

/// Every session keeps one commit in flight.
async fn sustained(name: &str, store: &Store, n_events: u64) {
    let tasks = Tasks::new();
    let start = Instant::now();
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let log = Arc::clone(&store.log);
            let store = store.clone();
            tasks.spawn_to_end(TaskKind::Session, async move {
                let session = created(&store).await;
                let mut head = Seq(1);
                while start.elapsed() < SUSTAINED {
                    head = log.commit(commit(session, head, n_events)).await.expect("commits");
                }
                head.0
            })
        })
        .collect();
    let mut events = 0;
    for session in sessions {
        events += session.await.expect("no session panics");
    }
    let rate = events as f64 / start.elapsed().as_secs_f64();
    println!("{name}: {SESSIONS} sessions, {n_events} events a commit: {rate:.0} durable events/s");
}

async fn reading(store: &Store) -> Vec<Duration> {
    let session = created(store).await;
    store.log.commit(commit(session, Seq(1), 1_500)).await.expect("commits");
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        let entries = store.log.read(session, Seq(1), 1_500).await.expect("reads");
        times.push(start.elapsed());
        assert_eq!(entries.len(), 1_500);
    }
    times
}

async fn created(store: &Store) -> SessionId {
    let record = samples::session();
    let session = record.session_id;
    store.log.commit(samples::create(&record)).await.expect("creates");
    session
}

fn commit(session: SessionId, head: Seq, n: u64) -> Commit {
    let run = RunId(session.0);
    let entries = (1..=n).map(|n| {
        let delta = "some words of an answer that an agent is just writing".to_owned();
        let body = EventBody::TextDelta { block_id: BlockId::from("msg-01-text-0"), delta };
        let event = Draft::of_run(run, body).numbered(Seq(head.0 + n), session, samples::time(n));
        LogEntry::of(&event).expect("serialises")
    });
    let activity = SessionUpdate { last_activity: Some(samples::time(head.0)), ..SessionUpdate::default() };
    Commit {
        session,
        fence: Fence(0),
        expected: head,
        entries: entries.collect(),
        changes: vec![Change::UpdateSession(activity)],
    }
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() - 1) * percent / 100]
}

fn row(name: &str, times: &[Duration]) {
    let (p50, p99) = (millis(percentile(times, 50)), millis(percentile(times, 99)));
    println!("{name}: p50 {p50:.3} ms, p99 {p99:.3} ms");
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Resident memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
