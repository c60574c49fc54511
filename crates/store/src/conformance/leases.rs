//! Rules of [`Leases`](crate::Leases).

use std::time::Duration;

use futures::future::join_all;
use uuid::Uuid;
use warren_domain::{Fence, NodeId, Seq, SessionId};

use super::{created, samples};
use crate::{AcquireError, Commit, CommitError, Granted, Store};

/// Longer than any test takes, and over at once: what lies between would make tests wait.
const LONG: Duration = Duration::from_secs(3600);
const OVER: Duration = Duration::ZERO;

async fn acquire(
    store: &Store,
    session: SessionId,
    node: &NodeId,
    lasts: Duration,
) -> Result<Granted, AcquireError> {
    store.leases.acquire(session, node, lasts).await
}

async fn granted(store: &Store, session: SessionId, node: &NodeId, lasts: Duration) -> Fence {
    acquire(store, session, node, lasts).await.expect("the lease is given").fence
}

/// Who holds it, as one who does not get it is told.
async fn refused(store: &Store, session: SessionId, node: &NodeId) -> NodeId {
    match acquire(store, session, node, LONG).await {
        Err(AcquireError::Held { session: found, holder, .. }) => {
            assert_eq!(found, session);
            let current = store.leases.holder(session).await.expect("it is read");
            assert_eq!(current.as_ref(), Some(&holder));
            holder
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
        assert_eq!(store.leases.holder(session).await.expect("it is read"), None);
        let granted = acquire(store, session, &one, LONG).await.expect("the lease is given");
        assert_eq!(granted.fence, Fence(1));
        let Err(AcquireError::Held { holder, until, .. }) = acquire(store, session, &two, LONG).await else {
            panic!("the lease is held")
        };
        assert_eq!((holder, until), (one.clone(), granted.until));
        assert_eq!(refused(store, session, &two).await, one);
    }
    let record = samples::session();
    granted(store, record.session_id, &one, LONG).await;
    assert_eq!(store.log.head(record.session_id).await.expect("the head is read"), None);
    let create = Commit { fence: Fence(1), ..samples::create(&record) };
    store.log.commit(create).await.expect("its holder may make it");
}

/// A node that was restarted does not wait for itself; and its earlier self is fenced off.
pub async fn a_node_takes_over_its_own_lease(store: &Store) {
    let [one, _] = nodes();
    let session = created(store).await.session_id;
    for expected in 1..=3 {
        assert_eq!(granted(store, session, &one, LONG).await, Fence(expected));
    }
}

/// By anyone; and nobody holds it meanwhile.
pub async fn an_expired_lease_can_be_taken(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    granted(store, session, &one, OVER).await;
    assert_eq!(store.leases.holder(session).await.expect("it is read"), None);
    assert_eq!(granted(store, session, &two, LONG).await, Fence(2));
    assert_eq!(refused(store, session, &one).await, two);
}

/// All of a node's leases at once, and no other's; the answer names those it still holds.
pub async fn renewing_prolongs_only_ones_own(store: &Store) {
    let [one, two] = nodes();
    let mut mine = Vec::new();
    for _ in 0..3 {
        let session = created(store).await.session_id;
        granted(store, session, &one, OVER).await;
        mine.push(session);
    }
    let theirs = created(store).await.session_id;
    granted(store, theirs, &two, OVER).await;
    let lost = mine.pop().expect("there are three");
    granted(store, lost, &two, LONG).await;
    let mut renewed = store.leases.renew(&one, LONG).await.expect("they are renewed");
    renewed.sort_unstable();
    assert_eq!(renewed, mine);
    for session in mine {
        assert_eq!(refused(store, session, &two).await, one);
    }
    assert_eq!(store.leases.holder(theirs).await.expect("it is read"), None, "not prolonged");
    assert_eq!(refused(store, lost, &one).await, two);
}

/// At once, with the next fence.
pub async fn a_released_lease_is_free(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let fence = granted(store, session, &one, LONG).await;
    store.leases.release(session, &one, fence).await.expect("it is released");
    assert_eq!(store.leases.renew(&one, LONG).await.expect("they are renewed"), []);
    assert_eq!(store.leases.holder(session).await.expect("it is read"), None);
    assert_eq!(granted(store, session, &two, LONG).await, Fence(2));
}

/// A lease that was taken over, even by the same node, is not given back by its old holder.
pub async fn a_late_release_does_nothing(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let old = granted(store, session, &one, LONG).await;
    granted(store, session, &one, LONG).await;
    store.leases.release(session, &one, old).await.expect("nothing happens");
    refused(store, session, &two).await;
    granted(store, session, &one, OVER).await;
    granted(store, session, &two, LONG).await;
    for fence in [3, 4] {
        store.leases.release(session, &one, Fence(fence)).await.expect("nothing happens");
    }
    assert_eq!(refused(store, session, &one).await, two);
}

/// The old one's writes are refused from the moment the new one has its lease.
pub async fn a_new_holder_fences_the_old_one(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    let old = granted(store, session, &one, OVER).await;
    let append = |fence, head| Commit { fence, ..samples::append(session, Seq(head), 1) };
    store.log.commit(append(old, 1)).await.expect("it holds the lease");
    let new = granted(store, session, &two, LONG).await;
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
    let answers = join_all(nodes.iter().map(|node| acquire(store, session, node, LONG))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
}
