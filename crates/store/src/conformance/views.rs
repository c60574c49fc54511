//! Rules of [`Views`](crate::Views).

use bytes::Bytes;
use warren_domain::{BlobHash, Fence, Seq, SessionId};

use super::{created, samples};
use crate::{Checkpoint, Store, ViewItem, ViewPart};

fn checkpoint(seq: u64) -> Checkpoint {
    let state = Bytes::from(vec![0, 255, u8::try_from(seq % 256).expect("it is below 256")]);
    Checkpoint { seq: Seq(seq), format: 7, hash: BlobHash(format!("hash {seq}")), state }
}

fn item(key: &str, list: &str, place: u64) -> ViewItem {
    let body = Bytes::from(format!("\0body of {key} at {place}").into_bytes());
    ViewItem { key: key.to_owned(), list: list.to_owned(), place: Some(Seq(place)), first: Seq(place), body }
}

async fn advance(store: &Store, session: SessionId, from: Option<u64>, to: u64, items: &[ViewItem]) -> bool {
    let moved = store.views.advance_view(session, from.map(Seq), &checkpoint(to), items).await;
    moved.expect("the view is moved or not")
}

async fn items(store: &Store, session: SessionId, at: u64, keys: &[&str]) -> Option<Vec<ViewItem>> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    let found = store.views.view_items(session, Seq(at), &keys).await.expect("they are read");
    found.map(|mut items| {
        items.sort_by(|a, b| a.key.cmp(&b.key));
        items
    })
}

async fn list(
    store: &Store,
    session: SessionId,
    at: u64,
    part: ViewPart,
    limit: u32,
) -> Option<Vec<ViewItem>> {
    store.views.view_list(session, Seq(at), "main", part, limit).await.expect("it is read")
}

/// Any bytes, and again when they are replaced or discarded.
pub async fn a_view_is_read_back_as_it_was_put(store: &Store) {
    let session = created(store).await.session_id;
    let read = async || store.views.checkpoint(session).await.expect("it is read");
    assert_eq!(read().await, None);
    let (a, b) = (item("a", "main", 1), item("b", "other", 2));
    assert!(advance(store, session, None, 5, &[a.clone(), b.clone()]).await);
    assert_eq!(read().await, Some(checkpoint(5)));
    assert_eq!(items(store, session, 5, &["a", "b", "c"]).await, Some(vec![a.clone(), b.clone()]));
    let discarded = ViewItem { place: None, body: Bytes::new(), ..a };
    assert!(advance(store, session, Some(5), 300, std::slice::from_ref(&discarded)).await);
    assert_eq!(read().await, Some(checkpoint(300)));
    assert_eq!(items(store, session, 300, &["b", "a"]).await, Some(vec![discarded, b]));
    assert!(advance(store, session, Some(300), 301, &[]).await, "nothing need change");
    assert_eq!(items(store, session, 301, &[]).await, Some(vec![]));
    assert_eq!(items(store, session, 301, &["c"]).await, Some(vec![]));
}

/// Without what was discarded and what is another list's.
pub async fn a_list_is_read_in_parts_from_both_ends(store: &Store) {
    let session = created(store).await.session_id;
    let main: Vec<_> = (1..=5).map(|n| item(&format!("k{n}"), "main", n * 10)).collect();
    let gone = ViewItem { place: None, body: Bytes::new(), ..item("gone", "main", 15) };
    let all: Vec<_> = main.iter().cloned().chain([gone, item("other", "other", 25)]).collect();
    assert!(advance(store, session, None, 60, &all).await);
    let expected = |places: &[usize]| Some(places.iter().map(|n| main[n - 1].clone()).collect::<Vec<_>>());
    let parts = [
        (ViewPart::Before(None), 2, expected(&[5, 4])),
        (ViewPart::Before(Some(Seq(40))), 2, expected(&[3, 2])),
        (ViewPart::Before(Some(Seq(20))), 9, expected(&[1])),
        (ViewPart::Before(Some(Seq(10))), 9, expected(&[])),
        (ViewPart::After(Seq(0)), 2, expected(&[1, 2])),
        (ViewPart::After(Seq(20)), 9, expected(&[3, 4, 5])),
        (ViewPart::After(Seq(50)), 9, expected(&[])),
    ];
    for (part, limit, expected) in parts {
        assert_eq!(list(store, session, 60, part, limit).await, expected, "{part:?}, at most {limit}");
    }
}

/// Of two that fold the same entries one is first, and the other changes nothing.
pub async fn only_who_knows_where_a_view_is_moves_or_reads_it(store: &Store) {
    let session = created(store).await.session_id;
    let (first, second) = (item("a", "main", 1), item("a", "main", 2));
    assert_eq!(items(store, session, 0, &["a"]).await, None, "there is no view yet");
    assert!(!advance(store, session, Some(3), 4, std::slice::from_ref(&second)).await);
    assert!(advance(store, session, None, 5, std::slice::from_ref(&first)).await);
    for from in [None, Some(4), Some(6)] {
        assert!(!advance(store, session, from, 9, std::slice::from_ref(&second)).await, "{from:?}");
    }
    assert_eq!(items(store, session, 5, &["a"]).await, Some(vec![first.clone()]));
    assert_eq!(list(store, session, 5, ViewPart::After(Seq(0)), 5).await, Some(vec![first]));
    for at in [0, 4, 6] {
        assert_eq!(items(store, session, at, &["a"]).await, None, "{at}");
        assert_eq!(list(store, session, at, ViewPart::After(Seq(0)), 5).await, None, "{at}");
    }
    let nobody = samples::session().session_id;
    assert!(!advance(store, nobody, None, 1, &[second]).await, "there is no such session");
}

/// And no other session's with it.
pub async fn a_view_is_dropped_whole_and_erased_with_its_session(store: &Store) {
    let (session, other) = (created(store).await.session_id, created(store).await.session_id);
    let kept = item("a", "main", 1);
    for session in [session, other] {
        assert!(advance(store, session, None, 5, std::slice::from_ref(&kept)).await);
    }
    store.views.drop_view(session, Seq(4)).await.expect("it is somewhere else");
    assert_eq!(items(store, session, 5, &["a"]).await, Some(vec![kept.clone()]));
    store.views.drop_view(session, Seq(5)).await.expect("it is dropped");
    assert_eq!(store.views.checkpoint(session).await.expect("it is read"), None);
    assert!(advance(store, session, None, 2, &[]).await);
    assert_eq!(items(store, session, 2, &["a"]).await, Some(vec![]), "the item went with the view");
    store.sessions.erase(session, Fence(9)).await.expect("it is erased");
    assert_eq!(store.views.checkpoint(session).await.expect("it is read"), None);
    assert!(!advance(store, session, None, 2, &[]).await);
    assert_eq!(items(store, other, 5, &["a"]).await, Some(vec![kept]));
}
