//! A greedy peer cannot grow our memory. A program of its own, and one test at a time: they measure the process.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

use std::{io::ErrorKind, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Mutex,
    time::timeout,
};

#[path = "link/support.rs"]
#[allow(dead_code, reason = "shared with the other test program")]
mod support;

use support::{DATA, SYN, against_raw_peer, frame, resident};

const PATIENCE: Duration = Duration::from_secs(30);

static ALONE: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn one_byte_frames_nobody_reads_reset_their_stream_and_cost_little() {
    let _alone = ALONE.lock().await;
    let (mut end, mut peer) = against_raw_peer();
    peer.send(DATA, SYN, 2, b"\0\0\0\0").await.expect("sends");
    let (_, mut unread) = end.incoming.next().await.expect("a stream");
    let before = resident();
    let frames = frame(DATA, 0, 2, 1, b"x").repeat(1000);
    for _ in 0..200 {
        peer.0.write_all(&frames).await.expect("sends");
    }
    // Another stream shows that the link has got this far, and lives.
    peer.send(DATA, SYN, 4, b"\0\0\0\x02ok").await.expect("sends");
    timeout(PATIENCE, end.incoming.next()).await.expect("in time").expect("a stream");
    let grown = resident().saturating_sub(before);
    assert!(grown < 12 << 20, "grew by {grown} bytes");
    let read = unread.read_u8().await.map_err(|e| e.kind());
    assert_eq!(read, Err(ErrorKind::ConnectionReset));
}

#[tokio::test]
async fn a_peer_that_floods_every_stream_and_never_reads_cannot_grow_our_memory() {
    let _alone = ALONE.lock().await;
    let (mut end, mut peer) = against_raw_peer();
    let before = resident();
    let mut held = Vec::new();
    let flood = async {
        for n in 1..=128 {
            peer.send(DATA, SYN, n * 2, b"\0\0\0\0").await?;
        }
        let frames: Vec<u8> = (1..=128).flat_map(|n| frame(DATA, 0, n * 2, 1, b"x").repeat(100)).collect();
        for _ in 0..400 {
            peer.0.write_all(&frames).await?;
        }
        std::io::Result::Ok(())
    };
    let hold = async {
        while let Some(stream) = end.incoming.next().await {
            held.push(stream);
        }
    };
    // The flood ends when the link does; if the link should bear it, the flood simply ends.
    timeout(PATIENCE, async {
        tokio::select! { _ = flood => {}, () = hold => {} }
    })
    .await
    .expect("in time");
    let grown = resident().saturating_sub(before);
    assert!(grown < 160 << 20, "grew by {} MiB", grown >> 20);
}

#[tokio::test]
async fn a_flood_of_pings_whose_answers_nobody_reads_costs_nothing() {
    let _alone = ALONE.lock().await;
    let (end, mut peer) = against_raw_peer();
    let before = resident();
    let frames = frame(2, 1, 0, 7, b"").repeat(1000);
    let flood = async {
        loop {
            peer.0.write_all(&frames).await.expect("the link lives");
        }
    };
    timeout(Duration::from_millis(300), flood).await.expect_err("the peer has to wait");
    assert!(resident().saturating_sub(before) < 4 << 20);
    drop(end);
}
