//! The log, beside what the disk allows: bare one-row commits to an SQLite file with the same settings.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use warren_domain::{BlockId, Draft, EventBody, Fence, RunId, Seq, SessionId};
use warren_env::{Env, TaskKind, Tasks};
use warren_store::{
    Change, Commit, Database, EventLog, Live, LogEntry, Options, SessionUpdate, Store, conformance::samples,
    open,
};

use super::{
    stats::Times,
    table::{Table, millis},
};

const COMMITS: u64 = 300;
const SESSIONS: usize = 100;
const EVENTS_PER_COMMIT: u64 = 8;
const SUSTAINED: Duration = Duration::from_secs(5);

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let directory = tempfile::tempdir().unwrap();
    let tasks = Tasks::new();
    let options = Options {
        database: Database::Sqlite(directory.path().join("warren.db")),
        blobs_dir: directory.path().join("blobs"),
    };
    let store = open(options, Env::system(), &tasks).await.unwrap();
    let reference = Times::of(reference_commits(directory.path(), COMMITS, Duration::ZERO).await);
    table.compare("one event until a follower has it", 50, &followed(&store, &tasks).await, &reference, "");
    let rate = sustained(&store).await;
    let bare = format!("{:.0} bare commits/s", 1.0 / reference.at(50).as_secs_f64());
    table.row("durable events from 100 sessions at once", format!("{rate:.0}/s"), bare, "≥ 50,000/s");
    let read = reading(&store).await;
    table.row("1,500 entries from the store, p50", millis(read.at(50)), "", "");
    tasks.cancel();
    assert!(tasks.wait(Duration::from_secs(10)).await, "the writer ends");
}

/// What one durable commit costs here, with nothing of ours around it and this pause before each.
pub(crate) async fn reference_commits(directory: &Path, n: u64, pause: Duration) -> Vec<Duration> {
    let options = SqliteConnectOptions::new()
        .filename(directory.join("reference.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
    sqlx::query("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, json BLOB)")
        .execute(&pool)
        .await
        .unwrap();
    let mut connection = pool.acquire().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..n {
        tokio::time::sleep(pause).await;
        let begin = Instant::now();
        let insert = sqlx::query("INSERT INTO t (json) VALUES ($1)").bind(vec![b'x'; 300]);
        insert.execute(&mut *connection).await.unwrap();
        times.push(begin.elapsed());
    }
    times
}

async fn followed(store: &Store, tasks: &Tasks) -> Times {
    let live = Live::new(store, tasks);
    let session = created(store).await;
    let mut follow = live.follow(session, Seq(1));
    let mut times = Vec::new();
    for n in 1..=COMMITS {
        let commit = commit(session, Seq(n), 1);
        let begin = Instant::now();
        let (committed, entry) = tokio::join!(live.commit(commit), follow.next());
        committed.unwrap();
        assert_eq!(entry.unwrap().map(|entry| entry.seq), Some(Seq(n + 1)));
        times.push(begin.elapsed());
    }
    Times::of(times)
}

/// Every session keeps one commit in flight.
async fn sustained(store: &Store) -> f64 {
    let tasks = Tasks::new();
    let begin = Instant::now();
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let (log, store) = (Arc::clone(&store.log), store.clone());
            tasks.spawn_to_end(TaskKind::Session, async move {
                let session = created(&store).await;
                let mut head = Seq(1);
                while begin.elapsed() < SUSTAINED {
                    head = log.commit(commit(session, head, EVENTS_PER_COMMIT)).await.unwrap();
                }
                head.0
            })
        })
        .collect();
    let mut events = 0;
    for session in sessions {
        events += session.await.unwrap();
    }
    events as f64 / begin.elapsed().as_secs_f64()
}

async fn reading(store: &Store) -> Times {
    let session = created(store).await;
    store.log.commit(commit(session, Seq(1), 1_500)).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..100 {
        let begin = Instant::now();
        let entries = store.log.read(session, Seq(1), 1_500).await.unwrap();
        times.push(begin.elapsed());
        assert_eq!(entries.len(), 1_500);
    }
    Times::of(times)
}

async fn created(store: &Store) -> SessionId {
    let record = samples::session();
    store.log.commit(samples::create(&record)).await.unwrap();
    record.session_id
}

fn commit(session: SessionId, head: Seq, n: u64) -> Commit {
    let entries = (1..=n).map(|n| {
        let delta = "some words of an answer that an agent is just writing".to_owned();
        let body = EventBody::TextDelta { block_id: BlockId::from("msg-01-text-0"), delta };
        let event =
            Draft::of_run(RunId(session.0), body).numbered(Seq(head.0 + n), session, samples::time(n));
        LogEntry::of(&event).unwrap()
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
