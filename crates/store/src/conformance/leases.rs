//! Rules of [`Leases`](crate::Leases).

use futures::future::join_all;
use uuid::Uuid;
use warren_domain::{Fence, NodeId, Seq, SessionId};

use super::{created, samples};
use crate::{AcquireError, Commit, CommitError, Granted, Store};

async fn acquire(
    store: &Store,
    session: SessionId,
    node: &NodeId,
    now: u64,
    until: u64,
) -> Result<Granted, AcquireError> {
    store.leases.acquire(session, node, samples::time(now), samples::time(until)).await
}

async fn granted(store: &Store, session: SessionId, node: &NodeId, now: u64, until: u64) -> Fence {
    let granted = acquire(store, session, node, now, until).await.expect("the lease is given");
    assert_eq!(granted, Granted { fence: granted.fence, until: samples::time(until) });
    granted.fence
}

async fn refused(store: &Store, session: SessionId, node: &NodeId, now: u64) -> (NodeId, u64) {
    match acquire(store, session, node, now, now + 1_000).await {
        Err(AcquireError::Held { session: found, holder, until }) => {
            assert_eq!(found, session);
            let until = until.as_millis() - samples::time(0).as_millis();
            (holder, u64::try_from(until).expect("in the future"))
        }
        other => panic!("the lease is held, but: {other:?}"),
    }
}

/// Nodes that no other rule has heard of.
fn nodes() -> [NodeId; 2] {
    ["one", "two"].map(|name| NodeId(format!("{name} {}", Uuid::now_v7())))
}

/// Whoever comes second learns who holds it and until when; also for a session that is only about to be made.
pub async fn a_lease_is_held_by_one(store: &Store) {
    let [one, two] = nodes();
    for session in [created(store).await.session_id, samples::session().session_id] {
        assert_eq!(granted(store, session, &one, 0, 100).await, Fence(1));
        assert_eq!(refused(store, session, &two, 50).await, (one.clone(), 100));
        assert_eq!(refused(store, session, &two, 99).await, (one.clone(), 100));
    }
    let record = samples::session();
    granted(store, record.session_id, &one, 0, 100).await;
    assert_eq!(store.log.head(record.session_id).await.expect("the head is read"), None);
    let create = Commit { fence: Fence(1), ..samples::create(&record) };
    store.log.commit(create).await.expect("its holder may make it");
}

/// A node that was restarted does not wait for itself; and its earlier self is fenced off.
pub async fn a_node_takes_over_its_own_lease(store: &Store) {
    let [one, _] = nodes();
    let session = created(store).await.session_id;
    for expected in 1..=3 {
        assert_eq!(granted(store, session, &one, 0, 100).await, Fence(expected));
    }
}

/// From the moment it expires, not before.
pub async fn an_expired_lease_can_be_taken(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    granted(store, session, &one, 0, 100).await;
    refused(store, session, &two, 99).await;
    assert_eq!(granted(store, session, &two, 100, 200).await, Fence(2));
    assert_eq!(refused(store, session, &one, 150).await, (two, 200));
}

/// All of a node's leases at once, and no other's; the answer names those it still holds.
pub async fn renewing_prolongs_only_ones_own(store: &Store) {
    let [one, two] = nodes();
    let mut mine = Vec::new();
    for _ in 0..3 {
        let session = created(store).await.session_id;
        granted(store, session, &one, 0, 100).await;
        mine.push(session);
    }
    let theirs = created(store).await.session_id;
    granted(store, theirs, &two, 0, 100).await;
    let lost = mine.pop().expect("there are three");
    granted(store, lost, &two, 100, 200).await;
    let mut renewed = store.leases.renew(&one, samples::time(500)).await.expect("they are renewed");
    renewed.sort_unstable();
    assert_eq!(renewed, mine);
    for session in mine {
        assert_eq!(refused(store, session, &two, 499).await, (one.clone(), 500));
    }
    assert_eq!(refused(store, theirs, &one, 50).await, (two.clone(), 100));
    assert_eq!(refused(store, lost, &one, 150).await, (two, 200));
}

/// At once, with the next fence.
pub async fn a_released_lease_is_free(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let fence = granted(store, session, &one, 0, 100).await;
    store.leases.release(session, &one, fence).await.expect("it is released");
    assert_eq!(store.leases.renew(&one, samples::time(500)).await.expect("they are renewed"), []);
    assert_eq!(granted(store, session, &two, 1, 200).await, Fence(2));
}

/// A lease that was taken over, even by the same node, is not given back by its old holder.
pub async fn a_late_release_does_nothing(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let old = granted(store, session, &one, 0, 100).await;
    granted(store, session, &one, 10, 100).await;
    store.leases.release(session, &one, old).await.expect("nothing happens");
    refused(store, session, &two, 50).await;
    granted(store, session, &two, 100, 200).await;
    store.leases.release(session, &one, Fence(2)).await.expect("nothing happens");
    store.leases.release(session, &one, Fence(3)).await.expect("nothing happens");
    assert_eq!(refused(store, session, &one, 150).await, (two, 200));
}

/// The old one's writes are refused from the moment the new one has its lease.
pub async fn a_new_holder_fences_the_old_one(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let old = granted(store, session, &one, 0, 100).await;
    let append = |fence, head| Commit { fence, ..samples::append(session, Seq(head), 1) };
    store.log.commit(append(old, 1)).await.expect("it holds the lease");
    let new = granted(store, session, &two, 100, 200).await;
    let late = store.log.commit(append(old, 2)).await;
    assert!(
        matches!(late, Err(CommitError::Fenced { ours, current, .. }) if (ours, current) == (old, new)),
        "{late:?}"
    );
    store.log.commit(append(new, 2)).await.expect("it holds the lease");
}

/// However many ask at the same moment.
pub async fn of_many_nodes_one_gets_the_lease(store: &Store) {
    let session = created(store).await.session_id;
    let nodes: Vec<_> = (0..12).map(|n| NodeId(format!("node {n}"))).collect();
    let answers = join_all(nodes.iter().map(|node| acquire(store, session, node, 0, 100))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
}
