//! Rules of [`Transcripts`](crate::Transcripts).

use std::time::Duration;

use bytes::Bytes;
use warren_domain::{Fence, NodeId, SessionId};

use super::{created, samples};
use crate::{Store, WriteError};

async fn write(store: &Store, session: SessionId, thread: &str, offset: u64, text: &str) {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    store
        .transcripts
        .write_transcript(session, Fence(9), thread, offset, bytes)
        .await
        .expect("it is written");
}

async fn read(store: &Store, session: SessionId, thread: &str) -> Option<String> {
    let bytes = store.transcripts.transcript(session, thread).await.expect("it is read")?;
    Some(String::from_utf8(bytes.to_vec()).expect("these are texts"))
}

/// Any bytes, saved as they come.
pub async fn bytes_are_read_back_whole(store: &Store) {
    let session = created(store).await.session_id;
    assert_eq!(store.transcripts.transcript(session, "").await.expect("it is read"), None);
    let mut whole: Vec<u8> = Vec::new();
    for n in 0..40_u8 {
        let part = Bytes::from(vec![n.wrapping_mul(37); usize::from(n) * 50]);
        let offset = whole.len() as u64;
        store
            .transcripts
            .write_transcript(session, Fence(9), "", offset, part.clone())
            .await
            .expect("it is written");
        whole.extend_from_slice(&part);
    }
    let found = store.transcripts.transcript(session, "").await.expect("it is read");
    assert_eq!(found, Some(Bytes::from(whole)));
}

/// A part is what the whole has there, wherever its pieces begin and end.
pub async fn a_part_is_what_the_whole_has_there(store: &Store) {
    let session = created(store).await.session_id;
    for (offset, part) in [(0, "one "), (4, "two "), (8, "three")] {
        let part = Bytes::from(part);
        store.transcripts.write_transcript(session, Fence(9), "", offset, part).await.expect("it is written");
    }
    let parts = [
        (0, 100, "one two three"),
        (0, 4, "one "),
        (2, 8, "e two th"),
        (4, 4, "two "),
        (12, 1, "e"),
        (12, u64::MAX, "e"),
        (13, 5, ""),
        (500, 5, ""),
        (3, 0, ""),
    ];
    for (offset, len, expected) in parts {
        let part = store.transcripts.transcript_part(session, "", offset, len).await.expect("it is read");
        assert_eq!(part, expected, "{len} from {offset}");
    }
    let none = store.transcripts.transcript_part(session, "another", 0, 5).await.expect("it is read");
    assert_eq!(none, "");
}

/// What stood behind the written bytes is gone, wherever they begin.
pub async fn a_write_ends_the_transcript(store: &Store) {
    let session = created(store).await.session_id;
    let steps = [
        (0, "one ", "one "),
        (4, "two ", "one two "),
        (8, "three", "one two three"),
        (8, "3", "one two 3"),
        (6, "ins", "one twins"),
        (2, "", "on"),
        (2, "ce upon", "once upon"),
        (0, "new", "new"),
        (0, "", ""),
        (0, "again", "again"),
    ];
    for (offset, text, expected) in steps {
        write(store, session, "", offset, text).await;
        assert_eq!(read(store, session, "").await.as_deref(), Some(expected), "{text:?} at {offset}");
        let lengths = store.transcripts.transcripts(session).await.expect("they are listed");
        assert_eq!(lengths, [(String::new(), expected.len() as u64)]);
    }
}

/// Nothing can be written beyond the end, or for a session that is not there.
pub async fn a_hole_is_refused(store: &Store) {
    let session = created(store).await.session_id;
    let bytes = || Bytes::from_static(b"x");
    assert!(store.transcripts.write_transcript(session, Fence(9), "", 1, bytes()).await.is_err());
    write(store, session, "", 0, "abc").await;
    assert!(store.transcripts.write_transcript(session, Fence(9), "", 4, bytes()).await.is_err());
    assert_eq!(read(store, session, "").await.as_deref(), Some("abc"));
    let nobody = samples::session().session_id;
    assert!(store.transcripts.write_transcript(nobody, Fence(9), "", 0, bytes()).await.is_err());
    assert_eq!(read(store, nobody, "").await, None);
}

/// Main and subagents, one session and another.
pub async fn threads_are_apart(store: &Store) {
    let session = created(store).await.session_id;
    let other = created(store).await.session_id;
    write(store, session, "", 0, "main").await;
    write(store, session, "sub/ü", 0, "sub").await;
    write(store, other, "", 0, "another's").await;
    write(store, session, "sub/ü", 3, "agent").await;
    assert_eq!(read(store, session, "").await.as_deref(), Some("main"));
    assert_eq!(read(store, session, "sub/ü").await.as_deref(), Some("subagent"));
    assert_eq!(read(store, session, "sub").await, None);
    let listed = store.transcripts.transcripts(session).await.expect("they are listed");
    assert_eq!(listed, [(String::new(), 4), ("sub/ü".to_owned(), 8)]);
}

/// Written but empty is not the same as never written.
pub async fn an_empty_transcript_is_one(store: &Store) {
    let session = created(store).await.session_id;
    assert_eq!(store.transcripts.transcripts(session).await.expect("they are listed"), []);
    write(store, session, "", 0, "").await;
    assert_eq!(read(store, session, "").await.as_deref(), Some(""));
    assert_eq!(store.transcripts.transcripts(session).await.expect("they are listed"), [(String::new(), 0)]);
}

/// A server that lost its lease, and saves what its agent said all the same, must not cut off what the new holder saved.
pub async fn an_old_fence_writes_no_transcript(store: &Store) {
    let session = created(store).await.session_id;
    let acquire = async |node: &str| {
        store
            .leases
            .acquire(session, &NodeId::from(node), Duration::ZERO)
            .await
            .expect("the lease is free")
            .fence
    };
    let save = async |fence: Fence, offset: u64, text: &'static str| {
        let bytes = Bytes::from_static(text.as_bytes());
        store.transcripts.write_transcript(session, fence, "", offset, bytes).await
    };
    let old = acquire("one").await;
    save(old, 0, "from one").await.expect("it holds the lease");
    let new = acquire("two").await;
    save(new, 8, ", from two").await.expect("it holds the lease");
    for offset in [0, 8, 18, 99] {
        let refused = save(old, offset, "late").await;
        let Err(WriteError::Fenced { session: found, ours, current }) = refused else {
            panic!("an old fence was not refused: {refused:?}")
        };
        assert_eq!((found, ours, current), (session, old, new));
    }
    assert_eq!(read(store, session, "").await.as_deref(), Some("from one, from two"));
    save(new, 18, "!").await.expect("it still holds the lease");
}
