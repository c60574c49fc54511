//! Rules of [`Replays`](crate::Replays).

use warren_domain::{Fence, ReplayId, SessionId};

use super::{created, samples};
use crate::{ReplayRecord, Store};

async fn put(store: &Store, replay: &ReplayRecord) {
    store.replays.put_replay(replay).await.expect("the replay is put");
}

/// Every field, and again after its end.
pub async fn a_replay_is_read_back_whole_and_replaced_whole(store: &Store) {
    let session = created(store).await.session_id;
    let mut replay = samples::replay(session);
    let read = async |replay: &ReplayRecord| {
        store.replays.replay(session, replay.replay_id).await.expect("it is read")
    };
    assert_eq!(read(&replay).await, None);
    put(store, &replay).await;
    assert_eq!(read(&replay).await.as_ref(), Some(&replay));
    (replay.ended_at, replay.log) = (None, None);
    replay.report = serde_json::json!({ "status": "running" });
    put(store, &replay).await;
    assert_eq!(read(&replay).await.as_ref(), Some(&replay));
}

/// In parts.
pub async fn replays_are_listed_newest_first(store: &Store) {
    let session = created(store).await.session_id;
    put(store, &samples::replay(created(store).await.session_id)).await;
    let mut all: Vec<_> = (0..3).map(|_| samples::replay(session)).collect();
    for replay in &all {
        put(store, replay).await;
    }
    all.reverse();
    let page = store.replays.replays(session, None, 2).await.expect("they are listed");
    assert_eq!((&page.items[..], page.more), (&all[..2], true));
    let page = store.replays.replays(session, Some(all[1].replay_id), 2).await.expect("they are listed");
    assert_eq!((&page.items[..], page.more), (&all[2..], false));
}

/// It is refused without one, not found under another, and gone with its own.
pub async fn a_replay_belongs_to_a_session(store: &Store) {
    let (session, other) = (created(store).await.session_id, created(store).await.session_id);
    let stray = samples::replay(SessionId(samples::replay(session).replay_id.0));
    assert!(store.replays.put_replay(&stray).await.is_err());
    let replay = samples::replay(session);
    put(store, &replay).await;
    let found = async |session: SessionId, id: ReplayId| {
        store.replays.replay(session, id).await.expect("it is read").is_some()
    };
    assert!(found(session, replay.replay_id).await);
    assert!(!found(other, replay.replay_id).await);
    assert!(store.sessions.erase(session, Fence(9)).await.expect("it is erased"));
    assert!(!found(session, replay.replay_id).await);
}
