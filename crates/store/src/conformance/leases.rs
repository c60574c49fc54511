//! Rules of [`Leases`](crate::Leases).

use std::time::Duration;

use futures::future::join_all;
use uuid::Uuid;
use warren_domain::{Fence, NodeId, Seq, SessionId};

use super::{created, samples};
use crate::{AcquireError, Commit, CommitError, Granted, Store, UPKEEP};

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

/// Whoever comes second learns who holds it and until when.
pub async fn a_lease_is_held_by_one(store: &Store) {
    let [one, two] = nodes();
    let session = created(store).await.session_id;
    assert_eq!(store.leases.holder(session).await.expect("it is read"), None);
    let granted = acquire(store, session, &one, LONG).await.expect("the lease is given");
    assert_eq!(granted.fence, Fence(1));
    let Err(AcquireError::Held { holder, until, .. }) = acquire(store, session, &two, LONG).await else {
        panic!("the lease is held")
    };
    assert_eq!((holder, until), (one.clone(), granted.until));
    assert_eq!(refused(store, session, &two).await, one);
}

/// Neither before it is made nor after it is erased; and the attempt leaves nothing behind.
pub async fn absent_session_has_no_lease(store: &Store) {
    let [one, _] = nodes();
    let record = samples::session();
    let session = record.session_id;
    let check_refused = async || {
        let refused = acquire(store, session, &one, LONG).await;
        assert!(matches!(refused, Err(AcquireError::NoSession(found)) if found == session), "{refused:?}");
        assert_eq!(store.leases.holder(session).await.expect("it is read"), None);
        assert_eq!(store.leases.renew(&one, LONG).await.expect("they are renewed"), []);
    };
    check_refused().await;
    store.log.commit(samples::create(&record)).await.expect("a session is created");
    let fence = granted(store, session, &one, LONG).await;
    assert_eq!(fence, Fence(1), "the first lease it has");
    assert!(store.sessions.erase(session, fence).await.expect("it is erased"));
    check_refused().await;
}

/// It belongs to no session, and its fence grows as that of any other.
pub async fn upkeep_lease_needs_no_session(store: &Store) {
    let [one, two] = nodes();
    let first = granted(store, UPKEEP, &one, OVER).await;
    let second = granted(store, UPKEEP, &two, LONG).await;
    assert_eq!(second, first.next());
    assert_eq!(refused(store, UPKEEP, &one).await, two);
    store.leases.release(UPKEEP, &two, second).await.expect("it is released");
    assert_eq!(granted(store, UPKEEP, &one, OVER).await, second.next());
    assert_eq!(store.log.head(UPKEEP).await.expect("the head is read"), None);
}

/// Whoever comes first; all others learn which one it is.
pub async fn blob_storage_is_claimed_once(store: &Store) {
    let claims = ["one", "two", "three"].map(|id| store.leases.claim_storage(id));
    let claimed = join_all(claims).await;
    let recorded = store.leases.storage().await.expect("it is read").expect("it is claimed");
    for claimed in claimed {
        assert_eq!(claimed.expect("it is answered"), recorded);
    }
    assert_eq!(store.leases.claim_storage("four").await.expect("it is answered"), recorded);
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
