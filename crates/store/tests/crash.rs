//! A process that is killed at any moment loses nothing it was told is kept.
//!
//! The test starts this very program again as a child that commits in a loop and prints what was acknowledged.
#![expect(clippy::expect_used, reason = "helpers of tests fail aloud")]

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use uuid::Uuid;
use warren_domain::{Seq, SessionId};
use warren_env::{Env, TaskKind, Tasks};
use warren_store::{Change, Commit, Database, Options, Store, conformance::samples, open};

/// Says to the child that it is one, and where to write.
const CHILD_DIRECTORY: &str = "WARREN_TEST_CRASH_DIRECTORY";
const SESSIONS: usize = 8;

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut acknowledged = HashMap::new();
    for round in 0..12_u64 {
        // How long it lives differs from round to round; that it gets somewhere is known from what it printed.
        let n_lines = 1 + (round * round * 7) % 160;
        let last = kill_after(directory.path(), n_lines, Duration::from_micros(round * 333));
        acknowledged.extend(last);
        check(directory.path(), &acknowledged).await;
    }
    assert!(acknowledged.len() >= SESSIONS, "the children got somewhere");
}

/// Runs a child until it has acknowledged `n_lines` commits and a moment more. Returns the last number of each session.
fn kill_after(directory: &Path, n_lines: u64, moment: Duration) -> HashMap<SessionId, Seq> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child_commits_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let mut acknowledged = HashMap::new();
    let mut n_seen = 0;
    for line in BufReader::new(child.stdout.take().expect("its output")).lines() {
        let line = line.expect("its output is text");
        // The harness may begin a line; a line that was cut by the kill was never finished.
        let Some((_, ack)) = line.split_once("ack ") else { continue };
        if let [session, seq, "."] = ack.split(' ').collect::<Vec<_>>()[..] {
            let seq = Seq(seq.parse().expect("a number"));
            acknowledged.insert(session.parse().expect("a session"), seq);
            n_seen += 1;
        }
        if n_seen == n_lines {
            std::thread::sleep(moment);
            child.kill().expect("it is killed");
        }
    }
    child.wait().expect("it is gone");
    acknowledged
}

/// Every log is contiguous, holds what was acknowledged, and agrees with its records; and it takes the next commit.
async fn check(directory: &Path, acknowledged: &HashMap<SessionId, Seq>) {
    let tasks = Tasks::new();
    let store = opened(directory, &tasks).await;
    for (session, seq) in acknowledged {
        let record = store.sessions.session(*session).await.expect("it is read").expect("it is there");
        assert!(record.head >= *seq, "entry {seq} was acknowledged, but the log ends at {}", record.head);
        let entries = store.log.read(*session, Seq(0), u32::MAX).await.expect("the log is read");
        assert_eq!(entries, samples::entries(*session, Seq(0), record.head.0));
        let runs = store.runs.runs(*session, None, 1).await.expect("runs are listed");
        let announced = runs.items.first().map_or(Seq(1), |run| run.seq);
        assert_eq!(announced, record.head, "the record and the log changed together");
    }
    if let Some(session) = acknowledged.keys().next() {
        let head = store.log.head(*session).await.expect("the head is read").expect("it is there");
        grow(&store, *session, head).await;
    }
    tasks.cancel();
    assert!(tasks.wait(Duration::from_secs(30)).await, "the writer ends");
}

async fn opened(directory: &Path, tasks: &Tasks) -> Store {
    let database = Database::Sqlite(directory.join("warren.db"));
    let options = Options { database, blobs_dir: directory.join("blobs") };
    open(options, Env::system(), tasks).await.expect("the store opens")
}

/// Three entries and a run that says where they end.
async fn grow(store: &Store, session: SessionId, head: Seq) -> Seq {
    let run = warren_store::RunRecord {
        run_id: warren_domain::RunId(Uuid::from_u128(session.0.as_u128() ^ 1)),
        seq: Seq(head.0 + 3),
        ..samples::run(session)
    };
    let changes = vec![Change::PutRun(Box::new(run))];
    store.log.commit(Commit { changes, ..samples::append(session, head, 3) }).await.expect("it is appended")
}

/// Not a test by itself: it does nothing unless the test above started it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_commits_until_it_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how a child of this test knows that it is one")]
    let Some(directory) = std::env::var_os(CHILD_DIRECTORY) else { return };
    let tasks = Tasks::new();
    let store = opened(Path::new(&directory), &tasks).await;
    let sessions = (0..SESSIONS).map(|_| {
        let store = store.clone();
        tasks.spawn(TaskKind::Session, async move {
            let record = samples::session();
            let mut head = store.log.commit(samples::create(&record)).await.expect("a session is created");
            loop {
                head = grow(&store, record.session_id, head).await;
                // In one piece, so that lines of two sessions do not mix.
                let line = format!("ack {} {head} .\n", record.session_id);
                std::io::stdout().lock().write_all(line.as_bytes()).expect("the parent listens");
            }
        })
    });
    futures::future::join_all(sessions.collect::<Vec<_>>()).await;
}
