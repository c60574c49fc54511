//! A peer that is broken, greedy or silent.

use std::time::Duration;

use proptest::{prelude::any, proptest};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};
use warren_link::{OpenError, Options, Role};

use crate::support::{DATA, End, RawPeer, SYN, WINDOW, against_raw_peer, frame};

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_silent_peer_cannot_make_opening_hang() {
    let (end, _peer) = against_raw_peer();
    for _ in 0..3 {
        assert!(matches!(end.opener.open(b"anyone?").await, Err(OpenError::TimedOut { .. })));
    }
}

#[tokio::test]
async fn a_stream_without_a_header_is_reset_in_time() {
    let (mut end, mut peer) = against_raw_peer();
    peer.send(WINDOW, SYN, 2, b"").await.expect("sends");
    let mut reset = [0; 12];
    let seen = async {
        // The accept byte, our own ping, and last the reset of stream 2.
        while reset != *frame(DATA, 8, 2, 0, b"") {
            peer.0.read_exact(&mut reset).await.expect("reads");
            let body =
                if reset[1] == DATA { u32::from_be_bytes(reset[8..12].try_into().expect("four")) } else { 0 };
            let mut skip = vec![0; body as usize];
            peer.0.read_exact(&mut skip).await.expect("reads");
        }
    };
    timeout(PATIENCE, seen).await.expect("a reset");
    drop(peer);
    assert!(end.incoming.next().await.is_none());
}

#[tokio::test]
async fn a_header_longer_than_allowed_resets_only_its_stream() {
    let (mut end, mut peer) = against_raw_peer();
    peer.send(DATA, SYN, 2, &u32::MAX.to_be_bytes()).await.expect("sends");
    peer.send(DATA, SYN, 4, b"\0\0\0\x02ok").await.expect("sends");
    let (header, _stream) = timeout(PATIENCE, end.incoming.next()).await.expect("in time").expect("a stream");
    assert_eq!(&header[..], b"ok");
}

#[tokio::test]
async fn broken_frames_end_the_link_with_an_error() {
    let cases = [
        ("a version there is not", vec![9; 12]),
        ("a tag there is not", frame(77, 0, 2, 0, b"")),
        ("a body of four gigabytes", frame(DATA, SYN, 2, u32::MAX, b"")),
        ("a frame cut short", frame(DATA, SYN, 2, 100, b"short")),
    ];
    for (name, bytes) in cases {
        let (mut end, mut peer) = against_raw_peer();
        peer.0.write_all(&bytes).await.expect("sends");
        peer.0.shutdown().await.expect("half-closes");
        let ended = timeout(PATIENCE, end.ended()).await.expect("the link ends");
        assert!(ended.is_err(), "{name}");
    }
}

#[tokio::test]
async fn what_a_peer_wrote_before_it_died_is_read_though_it_reads_nothing() {
    let (a, b) = tokio::net::UnixStream::pair().expect("a socketpair");
    let mut peer = RawPeer(b);
    // A ping first: its answer cannot be written.
    peer.0.write_all(&frame(2, 1, 0, 7, b"")).await.expect("sends");
    peer.send(DATA, SYN, 2, b"\0\0\0\x06headerlast ").await.expect("sends");
    peer.send(DATA, 0, 2, b"words").await.expect("sends");
    peer.send(DATA, 4, 2, b"").await.expect("sends");
    drop(peer);
    let mut end = End::start(a, Role::Client, Options::default());
    let (header, mut stream) =
        timeout(PATIENCE, end.incoming.next()).await.expect("in time").expect("a stream");
    let mut words = String::new();
    stream.read_to_string(&mut words).await.expect("reads to the end");
    assert_eq!((&header[..], words.as_str()), (&b"header"[..], "last words"));
}

#[tokio::test]
async fn thousands_of_opens_are_refused_and_the_link_lives_on() {
    let (mut end, peer) = against_raw_peer();
    let (mut read, mut write) = peer.0.into_split();
    let drain = async {
        let mut buffer = vec![0; 64 * 1024];
        while read.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
    };
    let flood = async {
        for n in 1..=20_000 {
            write.write_all(&frame(DATA, SYN, n * 2, 4, b"\0\0\0\0")).await.expect("the link lives");
        }
        let mut n_streams = 0;
        let mut held = Vec::new();
        while n_streams < Options::default().max_streams {
            held.push(end.incoming.next().await.expect("a stream"));
            n_streams += 1;
        }
        held.clear();
        write.write_all(&frame(DATA, SYN, 50_000, 6, b"\0\0\0\x02ok")).await.expect("sends");
        loop {
            let (header, _stream) = end.incoming.next().await.expect("a stream");
            if &header[..] == b"ok" {
                break;
            }
        }
    };
    timeout(PATIENCE, async {
        tokio::select! { () = drain => panic!("the link ended"), () = flood => {} }
    })
    .await
    .expect("in time");
}

#[tokio::test]
async fn writes_to_a_peer_that_never_reads_wait() {
    let (mut end, mut peer) = against_raw_peer();
    peer.send(DATA, SYN, 2, b"\0\0\0\0").await.expect("sends");
    let (_, mut stream) = end.incoming.next().await.expect("a stream");
    let endless = async {
        loop {
            stream.write_all(&[0; 1024]).await.expect("the link lives");
        }
    };
    timeout(Duration::from_millis(200), endless).await.expect_err("the window is the limit");
}

proptest! {
    #[test]
    fn random_bytes_neither_hang_nor_panic(bytes in proptest::collection::vec(any::<u8>(), 0..4096)) {
        run(async { survive(&bytes).await });
    }

    #[test]
    fn random_frames_neither_hang_nor_panic(
        frames in proptest::collection::vec((0u8..4, any::<u8>(), 0u32..8, 0u32..300), 0..64)
    ) {
        let mut bytes = Vec::new();
        for (tag, flags, stream, len) in frames {
            let body = vec![1; if tag == DATA { len as usize } else { 0 }];
            bytes.extend_from_slice(&frame(tag, u16::from(flags), stream, len, &body));
        }
        run(async { survive(&bytes).await });
    }
}

/// Feeds bytes to a link, with streams opened and taken meanwhile, and waits for its end.
async fn survive(bytes: &[u8]) {
    let (a, b) = tokio::net::UnixStream::pair().expect("a socketpair");
    let options = Options { open_timeout: Duration::from_millis(20), ..Options::default() };
    let mut end = End::start(a, Role::Client, options);
    let mut peer = RawPeer(b);
    let opened = end.opener.open(b"header").await;
    // The link may end on the first byte, so the rest may find nobody.
    _ = peer.0.write_all(bytes).await;
    _ = peer.0.shutdown().await;
    timeout(PATIENCE, async {
        tokio::join!(peer.drain(), async { while end.incoming.next().await.is_some() {} });
        drop(opened);
        // Either outcome is right; that there is one is the point.
        _ = end.ended().await;
    })
    .await
    .expect("the link ends");
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future);
}
