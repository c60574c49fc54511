//! Rules of [`Sessions::erase`](crate::Sessions::erase).

use std::time::Duration;

use bytes::Bytes;
use warren_domain::{Fence, NodeId, Seq, SessionId, Version};

use super::{created, samples};
use crate::{
    ApprovalQuery, Change, Commit, CommitError, SessionQuery, SessionRecord, Store, UsageGroup, UsageQuery,
    WriteError,
};

/// A session that has something of everything.
async fn full(store: &Store) -> SessionRecord {
    let mut record = created(store).await;
    let session = record.session_id;
    let changes = vec![
        Change::PutRun(Box::new(samples::run(session))),
        Change::PutRun(Box::new(samples::queued(session))),
        Change::PutApproval(Box::new(samples::approval(session, samples::time(100)))),
        Change::PutVersion(Box::new(samples::version(session, Version(0)))),
        Change::PutKey(samples::key("key", samples::time(1_000_000_000))),
        Change::PutFile(samples::file("a", 1)),
    ];
    let commit = Commit { changes, ..samples::append(session, Seq(1), 5) };
    record.head = store.log.commit(commit).await.expect("it is committed");
    record.version = Version(1);
    for thread in ["", "sub"] {
        let written =
            store.transcripts.write_transcript(session, Fence(9), thread, 0, Bytes::from_static(b"x"));
        written.await.expect("it is written");
    }
    let node = NodeId::from("a node");
    store.leases.acquire(session, &node, Duration::from_secs(60)).await.expect("the lease is free");
    record
}

fn spent_by(record: &SessionRecord, group_by: UsageGroup) -> UsageQuery {
    UsageQuery {
        partition: Some(record.partition.clone()),
        project: Some(record.project_id),
        from: None,
        to: None,
        group_by,
    }
}

/// What was spent stays counted when a session is erased, under nobody's name.
pub async fn usage_survives_the_session_that_spent_it(store: &Store) {
    let record = full(store).await;
    let mut before = Vec::new();
    let groups = [UsageGroup::Day, UsageGroup::Model, UsageGroup::Agent, UsageGroup::Project];
    for group in groups {
        before.push(store.runs.usage(&spent_by(&record, group)).await.expect("it is summed"));
    }
    assert!(before.iter().all(|rows| rows.len() == 1 && rows[0].runs == 1), "{before:?}");
    assert!(store.sessions.erase(record.session_id, Fence(9)).await.expect("it is erased"));
    for (group, expect) in groups.into_iter().zip(&before) {
        let after = store.runs.usage(&spent_by(&record, group)).await.expect("it is summed");
        assert_eq!(&after, expect, "{group:?}");
    }
    let by_session = store.runs.usage(&spent_by(&record, UsageGroup::Session)).await.expect("it is summed");
    let names: Vec<_> = by_session.iter().map(|row| row.group.as_str()).collect();
    assert_eq!(names, ["erased"]);
    // Nothing is counted twice, and what was erased is in its time.
    store.sessions.erase(record.session_id, Fence(9)).await.expect("it is gone already");
    let late =
        UsageQuery { from: Some(samples::time(1_000_000_000_000)), ..spent_by(&record, UsageGroup::Day) };
    assert_eq!(store.runs.usage(&late).await.expect("it is summed"), []);
    let all = store.runs.usage(&spent_by(&record, UsageGroup::Day)).await.expect("it is summed");
    assert_eq!(all, before[0]);
}

/// How much of everything there is under a session's name.
async fn remains(store: &Store, record: &SessionRecord) -> [usize; 10] {
    let session = record.session_id;
    let query =
        SessionQuery { partition: Some(record.partition.clone()), limit: 9, ..SessionQuery::default() };
    let asked = ApprovalQuery { session: Some(session), limit: 9, ..ApprovalQuery::default() };
    let unfinished = store.runs.unfinished().await.expect("they are listed");
    [
        store.log.read(session, Seq(0), 100).await.expect("the log is read").len(),
        usize::from(store.log.head(session).await.expect("the head is read").is_some()),
        store.sessions.sessions(&query).await.expect("they are listed").items.len(),
        store.sessions.files(session).await.expect("they are listed").len(),
        store.runs.runs(session, None, 10).await.expect("they are listed").items.len(),
        unfinished.iter().filter(|run| run.session_id == session).count(),
        usize::from(store.runs.key(session, "key", samples::time(0)).await.expect("it is read").is_some()),
        store.versions.versions(session, None, 10).await.expect("they are listed").items.len(),
        store.transcripts.transcripts(session).await.expect("they are listed").len(),
        store.approvals.approvals(&asked).await.expect("they are listed").items.len(),
    ]
}

/// Whichever way one looks.
pub async fn nothing_is_left_of_an_erased_session(store: &Store) {
    let record = full(store).await;
    assert_eq!(remains(store, &record).await, [6, 1, 1, 1, 2, 1, 1, 1, 2, 1]);
    assert!(store.sessions.erase(record.session_id, Fence(9)).await.expect("it is erased"));
    assert_eq!(remains(store, &record).await, [0; 10]);
    assert_eq!(store.sessions.session(record.session_id).await.expect("it is read"), None);
    assert_eq!(store.transcripts.transcript(record.session_id, "").await.expect("it is read"), None);
    let renewed =
        store.leases.renew(&NodeId::from("a node"), Duration::from_secs(60)).await.expect("it is renewed");
    assert!(!renewed.contains(&record.session_id));
    assert!(!store.sessions.erase(record.session_id, Fence(9)).await.expect("it is gone already"));
}

/// Neighbours keep everything.
pub async fn others_are_not_touched(store: &Store) {
    let first = full(store).await;
    let second = full(store).await;
    let third = full(store).await;
    store.sessions.erase(second.session_id, Fence(9)).await.expect("it is erased");
    for record in [first, third] {
        assert_eq!(remains(store, &record).await, [6, 1, 1, 1, 2, 1, 1, 1, 2, 1]);
        assert_eq!(store.sessions.session(record.session_id).await.expect("it is read"), Some(record));
    }
    assert!(!store.sessions.erase(samples::session().session_id, Fence(9)).await.expect("there is none"));
}

/// A writer that does not know yet is refused, and brings nothing back.
pub async fn nothing_can_be_added_to_an_erased_session(store: &Store) {
    let record = full(store).await;
    let session: SessionId = record.session_id;
    store.sessions.erase(session, Fence(9)).await.expect("it is erased");
    let late = Commit { fence: Fence(1), ..samples::append(session, record.head, 1) };
    let refused = store.log.commit(late).await;
    assert!(matches!(refused, Err(CommitError::NoSession(found)) if found == session), "{refused:?}");
    let late = store.transcripts.write_transcript(session, Fence(9), "", 0, Bytes::from_static(b"x")).await;
    assert!(late.is_err());
    assert_eq!(remains(store, &record).await, [0; 10]);
}

/// A server that does not hold the lease erases nothing: whoever holds it may be at work.
pub async fn an_old_fence_erases_nothing(store: &Store) {
    let record = full(store).await;
    let session = record.session_id;
    let node = NodeId::from("another node");
    store.leases.acquire(session, &NodeId::from("a node"), Duration::ZERO).await.expect("its own");
    let current =
        store.leases.acquire(session, &node, Duration::from_secs(60)).await.expect("it is over").fence;
    let before = remains(store, &record).await;
    for ours in [Fence(0), Fence(current.0 - 1)] {
        let refused = store.sessions.erase(session, ours).await;
        let Err(WriteError::Fenced { current: found, .. }) = refused else {
            panic!("an old fence was not refused: {refused:?}")
        };
        assert_eq!(found, current);
    }
    assert_eq!(remains(store, &record).await, before);
    assert!(store.sessions.erase(session, current).await.expect("it holds the lease"));
}
