//! Rules of [`EventLog`](crate::EventLog), one commit at a time.

use std::time::Duration;

use bytes::Bytes;
use warren_domain::{Fence, NodeId, Seq, SessionId, Version};

use super::{created, samples};
use crate::{Change, Commit, CommitError, Compaction, LogEntry, SessionRecord, Store, StoredBytes, UPKEEP};

/// The second attempt is refused, and changes nothing.
pub async fn a_session_is_created_once(store: &Store) {
    let record = created(store).await;
    let again = store.log.commit(samples::create(&record)).await;
    assert!(matches!(again, Err(CommitError::Exists(session)) if session == record.session_id), "{again:?}");
    assert_eq!(store.log.head(record.session_id).await.expect("the head is read"), Some(Seq(1)));
    assert_eq!(store.sessions.session(record.session_id).await.expect("it is read"), Some(record));
}

/// Numbers start at 1, and each commit returns the new head.
pub async fn a_log_is_contiguous_from_one(store: &Store) {
    let session = created(store).await.session_id;
    for (head, n) in [(1, 1), (2, 3), (5, 0), (5, 200)] {
        let new = store.log.commit(samples::append(session, Seq(head), n)).await.expect("it is appended");
        assert_eq!(new, Seq(head + n));
        assert_eq!(store.log.head(session).await.expect("the head is read"), Some(new));
    }
    let read = store.log.read(session, Seq(0), 1_000).await.expect("the log is read");
    assert_eq!(read, samples::entries(session, Seq(0), 205));
}

/// Entries must be numbered one after the other, from the one after `expected`.
pub async fn a_commit_with_a_hole_is_refused(store: &Store) {
    let session = created(store).await.session_id;
    for numbers in [vec![3], vec![1], vec![2, 4], vec![2, 2], vec![3, 2]] {
        let entries = numbers.iter().map(|n| samples::entry(session, Seq(*n))).collect();
        let refused = store.log.commit(Commit { entries, ..samples::append(session, Seq(1), 0) }).await;
        assert!(
            matches!(refused, Err(CommitError::NotContiguous(found)) if found == session),
            "{numbers:?}: {refused:?}"
        );
    }
    assert_eq!(store.log.head(session).await.expect("the head is read"), Some(Seq(1)));
}

/// A writer whose position is old, or from the future, learns the true one.
pub async fn a_stale_commit_is_refused(store: &Store) {
    let session = created(store).await.session_id;
    store.log.commit(samples::append(session, Seq(1), 2)).await.expect("it is appended");
    for stale in [0, 1, 2, 4, 100] {
        let refused = store.log.commit(samples::append(session, Seq(stale), 1)).await;
        assert!(
            matches!(refused, Err(CommitError::Conflict { expected, found: Seq(3), .. }) if expected == Seq(stale)),
            "{refused:?}"
        );
    }
    let read = store.log.read(session, Seq(0), 100).await.expect("the log is read");
    assert_eq!(read, samples::entries(session, Seq(0), 3));
}

/// A session is made only by creating it.
pub async fn a_commit_to_no_session_is_refused(store: &Store) {
    let session = samples::session().session_id;
    let refused = store.log.commit(samples::append(session, Seq(0), 1)).await;
    assert!(matches!(refused, Err(CommitError::NoSession(found)) if found == session), "{refused:?}");
    assert_eq!(store.log.head(session).await.expect("the head is read"), None);
    assert_eq!(store.log.read(session, Seq(0), 10).await.expect("the log is read"), Vec::new());
    assert_eq!(store.sessions.session(session).await.expect("it is read"), None);
}

/// One whose lease is gone must stop; so it is told that, even when its position is old too.
pub async fn an_old_fence_is_refused_first(store: &Store) {
    let session = created(store).await.session_id;
    for _ in 0..2 {
        let node = "a node".into();
        store.leases.acquire(session, &node, Duration::from_secs(60)).await.expect("the lease is free");
    }
    for (fence, expected) in [(0, 1), (1, 1), (1, 7)] {
        let commit = Commit { fence: Fence(fence), ..samples::append(session, Seq(expected), 1) };
        let refused = store.log.commit(commit).await;
        assert!(
            matches!(refused, Err(CommitError::Fenced { ours, current: Fence(2), .. }) if ours == Fence(fence)),
            "{refused:?}"
        );
    }
    let commit = Commit { fence: Fence(2), ..samples::append(session, Seq(1), 1) };
    assert_eq!(store.log.commit(commit).await.expect("the holder may write"), Seq(2));
}

/// All of it or nothing: a commit that is refused for one change carries out none of the others.
pub async fn a_refused_commit_leaves_nothing(store: &Store) {
    let record = created(store).await;
    let session = record.session_id;
    let run = samples::run(session);
    let key = samples::key("k", samples::time(1_000_000));
    let changes = vec![
        Change::PutRun(Box::new(run.clone())),
        Change::PutKey(key.clone()),
        Change::PutFile(samples::file("a", 1)),
        Change::UpdateSession(crate::SessionUpdate {
            name: Some("new".to_owned()),
            last_activity: Some(samples::time(99)),
            ..crate::SessionUpdate::default()
        }),
        Change::PutVersion(Box::new(samples::version(session, Version(7)))),
    ];
    let refused = store.log.commit(Commit { changes, ..samples::append(session, Seq(1), 3) }).await;
    assert!(matches!(refused, Err(CommitError::VersionConflict { latest: Version(0), .. })), "{refused:?}");
    assert_eq!(store.log.head(session).await.expect("the head is read"), Some(Seq(1)));
    assert_eq!(store.log.read(session, Seq(1), 10).await.expect("the log is read"), Vec::new());
    assert_eq!(store.sessions.session(session).await.expect("it is read"), Some(record));
    assert_eq!(store.sessions.files(session).await.expect("files are listed"), Vec::new());
    assert_eq!(store.runs.run(session, run.run_id).await.expect("the run is read"), None);
    assert_eq!(store.runs.key(session, "k", samples::time(0)).await.expect("the key is read"), None);
}

/// A record of another session has no place in a commit.
pub async fn a_commit_changes_only_its_own_session(store: &Store) {
    let ours = created(store).await.session_id;
    let theirs = created(store).await.session_id;
    let run = samples::run(theirs);
    let foreign = [
        Change::PutRun(Box::new(run.clone())),
        Change::PutVersion(Box::new(samples::version(theirs, Version(0)))),
    ];
    for change in foreign {
        let refused = store.log.commit(samples::change(ours, Seq(1), vec![change])).await;
        assert!(matches!(refused, Err(CommitError::Backend { .. })), "{refused:?}");
    }
    assert_eq!(store.runs.run(theirs, run.run_id).await.expect("the run is read"), None);
    assert_eq!(store.versions.version(theirs, Version(1)).await.expect("the version is read"), None);
}

/// After a number, in order, at most so many, of one session only.
pub async fn reading_obeys_its_limits(store: &Store) {
    let session = created(store).await.session_id;
    let other = created(store).await.session_id;
    store.log.commit(samples::append(session, Seq(1), 9)).await.expect("it is appended");
    store.log.commit(samples::append(other, Seq(1), 9)).await.expect("it is appended");
    for (after, limit, expected) in [
        (0, 100, 0..10),
        (0, 3, 0..3),
        (4, 3, 4..7),
        (9, 3, 9..10),
        (10, 3, 10..10),
        (77, 3, 10..10),
        (0, 0, 0..0),
    ] {
        let read = store.log.read(session, Seq(after), limit).await.expect("the log is read");
        let wanted: Vec<_> = expected.map(|n: u64| samples::entry(session, Seq(n + 1))).collect();
        assert_eq!(read, wanted, "after {after}, at most {limit}");
    }
}

/// The same bytes come back, whatever they look like and however many they are.
pub async fn bytes_are_kept_exactly(store: &Store) {
    let session: SessionId = created(store).await.session_id;
    let long = format!("{{\"z\":\"{}\"}}", "\u{1F407}'\\\"".repeat(50_000));
    let texts = ["{}", "{ \"b\" : 1.0, \"a\": 1e3 , \"b\":2}", "{\"nul\":\"\\u0000\"}", long.as_str(), " "];
    let entries: Vec<_> = texts
        .iter()
        .zip(2..)
        .map(|(text, seq)| LogEntry { seq: Seq(seq), json: Bytes::copy_from_slice(text.as_bytes()) })
        .collect();
    let commit = Commit { entries: entries.clone(), ..samples::append(session, Seq(1), 0) };
    store.log.commit(commit).await.expect("it is appended");
    assert_eq!(store.log.read(session, Seq(1), 10).await.expect("the log is read"), entries);
}

/// Whatever the way of a commit: alone, with others, with changes; and after a compaction and an erasure.
pub async fn stored_bytes_are_those_of_the_entries_and_their_blobs(store: &Store) {
    let (first, second) = (created(store).await, samples::session());
    let second = SessionRecord { project_id: first.project_id, ..second };
    store.log.commit(samples::create(&second)).await.expect("it is created");
    let sizes = async |record: &SessionRecord| {
        let read = store.log.read(record.session_id, Seq(0), 1_000).await.expect("the log is read");
        read.iter().map(|entry| entry.json.len() as u64).sum::<u64>()
    };
    let stored = async |record: &SessionRecord| {
        store.sessions.stored(record.session_id).await.expect("it is read").expect("there is one")
    };
    let session = first.session_id;
    store.log.commit(samples::append(session, Seq(1), 1)).await.expect("one entry");
    store.log.commit(samples::append(session, Seq(2), 5)).await.expect("some entries");
    let (a, b) = (samples::append(session, Seq(7), 2), samples::append(second.session_id, Seq(1), 3));
    let both = futures::join!(store.log.commit(a), store.log.commit(b));
    both.0.and(both.1).expect("two logs");
    let changes = vec![Change::AddBlobBytes(1_000_000)];
    store.log.commit(Commit { changes, ..samples::append(session, Seq(9), 2) }).await.expect("with blobs");
    let refused = store.log.commit(samples::append(session, Seq(3), 2)).await;
    assert!(refused.is_err(), "what is refused counts for nothing");
    let (own, others) = (sizes(&first).await + 1_000_000, sizes(&second).await);
    assert_eq!(stored(&first).await, StoredBytes { session: own, project: own + others });
    assert_eq!(stored(&second).await, StoredBytes { session: others, project: own + others });

    let (lease, fence) = upkeep(store).await;
    let piece = Compaction { from: Seq(3), entry: stand_in(6), lease, fence };
    assert!(store.log.compact(session, piece).await.expect("the log is there"));
    let left = sizes(&first).await + 1_000_000;
    assert!(left < own);
    assert_eq!(stored(&second).await, StoredBytes { session: others, project: left + others });
    store.sessions.erase(session, Fence(0)).await.expect("it is erased");
    assert_eq!(stored(&second).await, StoredBytes { session: others, project: others });
    assert_eq!(store.sessions.stored(session).await.expect("it is read"), None);
}

/// Whoever reads before it, from the middle of it, or after it: each gets what is left, and then what comes.
pub async fn a_compacted_piece_is_one_entry_and_numbers_stay(store: &Store) {
    let session = created(store).await.session_id;
    let (lease, fence) = upkeep(store).await;
    store.log.commit(samples::append(session, Seq(1), 9)).await.expect("it is appended");
    let stands_for = stand_in(6);
    let piece = Compaction { from: Seq(3), entry: stands_for.clone(), lease, fence };
    // Twice is the same as once.
    for done in [true, false] {
        assert_eq!(store.log.compact(session, piece.clone()).await.expect("it is compacted"), done);
    }
    let mut left = samples::entries(session, Seq(0), 10);
    left.splice(2..6, [stands_for]);
    for (after, skipped) in [(0, 0), (1, 1), (2, 2), (3, 2), (5, 2), (6, 3), (10, 7)] {
        let read = store.log.read(session, Seq(after), 100).await.expect("the log is read");
        assert_eq!(read, left[skipped..], "after {after}");
    }
    assert_eq!(store.log.read(session, Seq(4), 1).await.expect("the log is read"), left[2..3]);
    assert_eq!(store.log.head(session).await.expect("the head is read"), Some(Seq(10)));
    let next = store.log.commit(samples::append(session, Seq(10), 1)).await.expect("it is appended");
    assert_eq!(next, Seq(11));
}

/// Of two servers that found the same piece, the second finds it compacted, and must not take what lies around it.
pub async fn only_a_piece_that_is_whole_is_compacted(store: &Store) {
    let session = created(store).await.session_id;
    let (lease, fence) = upkeep(store).await;
    store.log.commit(samples::append(session, Seq(1), 19)).await.expect("it is appended");
    let compact = async |from: u64, to: u64| {
        let piece = Compaction { from: Seq(from), entry: stand_in(to), lease, fence };
        store.log.compact(session, piece).await.expect("the log is there")
    };
    assert!(compact(5, 10).await);
    let mut left = samples::entries(session, Seq(0), 20);
    left.splice(4..10, [stand_in(10)]);
    for (from, to) in [(5, 10), (5, 15), (3, 12), (8, 12), (9, 10), (19, 25), (15, 12)] {
        assert!(!compact(from, to).await, "{from} to {to} is not whole");
        assert_eq!(store.log.read(session, Seq(0), 100).await.expect("the log is read"), left);
    }
    let both = futures::join!(compact(12, 16), compact(14, 18));
    assert_eq!(u8::from(both.0) + u8::from(both.1), 1, "they overlap");
    let nobody = samples::session().session_id;
    let piece = Compaction { from: Seq(1), entry: stand_in(3), lease, fence };
    assert!(!store.log.compact(nobody, piece).await.expect("there is none"));
}

/// Whoever lost the lease under which logs are compacted changes nothing any more.
pub async fn a_log_is_compacted_only_under_the_lease(store: &Store) {
    let session = created(store).await.session_id;
    let (lease, fence) = upkeep(store).await;
    store.log.commit(samples::append(session, Seq(1), 9)).await.expect("it is appended");
    let node = NodeId::from("another node");
    let (_, current) = taken(store, lease, &node).await;
    let nobody = samples::session().session_id;
    for (lease, fence) in [(lease, fence), (nobody, fence), (nobody, Fence(0))] {
        let piece = Compaction { from: Seq(3), entry: stand_in(6), lease, fence };
        assert!(!store.log.compact(session, piece).await.expect("the log is there"));
    }
    let read = store.log.read(session, Seq(0), 100).await.expect("the log is read");
    assert_eq!(read, samples::entries(session, Seq(0), 10));
    let piece = Compaction { from: Seq(3), entry: stand_in(6), lease, fence: current };
    assert!(store.log.compact(session, piece).await.expect("the log is there"));
}

fn stand_in(seq: u64) -> LogEntry {
    LogEntry { seq: Seq(seq), json: Bytes::from_static(b"{\"type\":\"log_compacted\"}") }
}

/// A lease as that of whoever compacts logs: it belongs to no session.
async fn upkeep(store: &Store) -> (SessionId, Fence) {
    taken(store, UPKEEP, &NodeId::from("a node")).await
}

async fn taken(store: &Store, lease: SessionId, node: &NodeId) -> (SessionId, Fence) {
    let granted = store.leases.acquire(lease, node, Duration::ZERO).await;
    (lease, granted.expect("the lease is free").fence)
}
