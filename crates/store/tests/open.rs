//! What opening and closing a store promise.

use std::{path::Path, time::Duration};

use warren_domain::{Seq, Version};
use warren_env::{Env, Tasks};
use warren_store::{
    Change, CommitError, Database, OpenError, Options, Store, conformance::samples, ensure_defaults, open,
};

async fn try_opened(directory: &Path, tasks: &Tasks) -> Result<Store, OpenError> {
    let database = Database::Sqlite(directory.join("warren.db"));
    open(Options { database, blobs_dir: directory.join("blobs") }, Env::system(), tasks).await
}

async fn closed(tasks: &Tasks) -> bool {
    tasks.cancel();
    tasks.wait(Duration::from_secs(30)).await
}

#[tokio::test]
async fn a_store_that_is_opened_again_has_all_it_had() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = samples::session();
    let session = record.session_id;
    let mut defaults = Vec::new();
    for round in 0..3 {
        let tasks = Tasks::new();
        let store = try_opened(directory.path(), &tasks).await.expect("the store opens");
        defaults.push(ensure_defaults(&store, &Env::system(), 100_000).await.expect("they are made"));
        if round == 0 {
            store.log.commit(samples::create(&record)).await.expect("a session is created");
        }
        let version = Change::PutVersion(Box::new(samples::version(session, Version(round))));
        let mut commit = samples::append(session, Seq(1 + 2 * round), 2);
        commit.changes.push(version);
        store.log.commit(commit).await.expect("it is appended");
        let read = store.log.read(session, Seq(0), 100).await.expect("the log is read");
        assert_eq!(read, samples::entries(session, Seq(0), 3 + 2 * round));
        assert!(closed(&tasks).await, "the writer ends when it is told to");
    }
    assert!(defaults.windows(2).all(|pair| pair[0] == pair[1]), "{defaults:?}");
}

#[tokio::test]
async fn what_waits_is_answered_when_the_store_closes_and_what_comes_later_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let tasks = Tasks::new();
    let store = try_opened(directory.path(), &tasks).await.expect("the store opens");
    let records: Vec<_> = (0..50).map(|_| samples::session()).collect();
    let commits =
        futures::future::join_all(records.iter().map(|record| store.log.commit(samples::create(record))));
    // Polled first, the commits are all waiting when the store is told to close.
    let (answers, ended) = futures::join!(commits, closed(&tasks));
    assert!(ended, "the writer ends when it is told to");
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let late = store.log.commit(samples::create(&samples::session())).await;
    assert!(matches!(late, Err(CommitError::Backend { .. })), "{late:?}");
    assert!(store.log.read(records[0].session_id, Seq(0), 1).await.is_err());

    let tasks = Tasks::new();
    let store = try_opened(directory.path(), &tasks).await.expect("the store opens");
    for record in &records {
        let head = store.log.head(record.session_id).await.expect("the head is read");
        assert_eq!(head, Some(Seq(1)));
    }
    assert!(closed(&tasks).await);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("warren.db");
    std::fs::write(&path, b"these are somebody's notes, and not a database at all").expect("written");
    let tasks = Tasks::new();
    let refused = try_opened(directory.path(), &tasks).await;
    let message = refused.err().expect("it does not open").to_string();
    assert!(message.contains("warren.db"), "{message}");
    let kept = std::fs::read(&path).expect("it is read");
    assert_eq!(kept, b"these are somebody's notes, and not a database at all");
    assert!(closed(&tasks).await);
}
