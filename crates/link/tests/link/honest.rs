//! Two ends that mean well.

use std::io::ErrorKind;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinSet,
};
use warren_link::{MAX_HEADER, OpenError, Options};

use crate::support::{pair, pair_with};

#[tokio::test]
async fn both_sides_open_streams_and_the_header_says_what_for() {
    let (mut a, mut b) = pair();
    let mut from_a = a.opener.open(b"from a").await.expect("opens");
    let mut from_b = b.opener.open(b"from b").await.expect("opens");
    let (header_at_b, mut at_b) = b.incoming.next().await.expect("a stream");
    let (header_at_a, mut at_a) = a.incoming.next().await.expect("a stream");
    assert_eq!((&header_at_b[..], &header_at_a[..]), (&b"from a"[..], &b"from b"[..]));

    from_a.write_all(b"hello").await.expect("writes");
    from_b.write_all(b"world").await.expect("writes");
    let (mut hello, mut world) = ([0; 5], [0; 5]);
    at_b.read_exact(&mut hello).await.expect("reads");
    at_a.read_exact(&mut world).await.expect("reads");
    assert_eq!((&hello, &world), (b"hello", b"world"));
}

#[tokio::test]
async fn a_half_closed_stream_still_carries_the_answer() {
    let (a, mut b) = pair();
    let mut question = a.opener.open(b"").await.expect("opens");
    question.write_all(b"question").await.expect("writes");
    question.shutdown().await.expect("half-closes");
    question.shutdown().await.expect("half-closes again, to no effect");

    let (_, mut answer) = b.incoming.next().await.expect("a stream");
    let mut text = String::new();
    answer.read_to_string(&mut text).await.expect("reads to the end");
    answer.write_all(format!("answer to {text}").as_bytes()).await.expect("writes");
    answer.shutdown().await.expect("half-closes");

    text.clear();
    question.read_to_string(&mut text).await.expect("reads to the end");
    assert_eq!(text, "answer to question");
}

#[tokio::test]
async fn a_dropped_stream_is_an_error_to_its_reader_not_an_end_of_file() {
    let (a, mut b) = pair();
    let mut sender = a.opener.open(b"").await.expect("opens");
    sender.write_all(b"half of i").await.expect("writes");
    drop(sender);
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    let mut read = Vec::new();
    let end = reader.read_to_end(&mut read).await.map_err(|e| e.kind());
    assert_eq!((end, &read[..]), (Err(ErrorKind::ConnectionReset), &b"half of i"[..]));
}

#[tokio::test]
async fn a_writer_hears_that_its_reader_is_gone_even_if_that_had_ended_its_own_half() {
    let (a, mut b) = pair();
    let mut writer = a.opener.open(b"").await.expect("opens");
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    reader.write_all(b"I will not read").await.expect("writes");
    reader.shutdown().await.expect("half-closes");
    drop(reader);
    let chunk = vec![0; 64 * 1024];
    let broken = loop {
        if let Err(error) = writer.write_all(&chunk).await {
            break error.kind();
        }
    };
    let mut said = String::new();
    writer.read_to_string(&mut said).await.expect("reads to the end");
    assert_eq!((broken, said.as_str()), (ErrorKind::BrokenPipe, "I will not read"));
}

#[tokio::test]
async fn an_answer_cut_off_after_the_question_has_ended_is_an_error() {
    let (a, mut b) = pair();
    let mut question = a.opener.open(b"").await.expect("opens");
    question.shutdown().await.expect("half-closes");
    let (_, mut answer) = b.incoming.next().await.expect("a stream");
    assert_eq!(answer.read(&mut [0; 1]).await.expect("reads"), 0);
    answer.write_all(b"half an an").await.expect("writes");
    drop(answer);
    let mut read = Vec::new();
    let end = question.read_to_end(&mut read).await.map_err(|e| e.kind());
    assert_eq!((end, &read[..]), (Err(ErrorKind::ConnectionReset), &b"half an an"[..]));
}

#[tokio::test]
async fn a_lost_peer_ends_the_link_and_cuts_its_streams() {
    let (mut a, mut b) = pair();
    let mut stream = a.opener.open(b"").await.expect("opens");
    let (_, _held) = b.incoming.next().await.expect("a stream");
    drop(b);
    a.ended().await.expect("a peer that goes away is no error");
    let cut = stream.read_u8().await.map_err(|e| e.kind());
    assert_eq!(cut, Err(ErrorKind::ConnectionReset));
    assert!(stream.write_all(b"into the void").await.is_err());
    assert!(matches!(a.opener.open(b"").await, Err(OpenError::Ended)));
    a.opener.closed().await;
    assert!(a.incoming.next().await.is_none());
}

#[tokio::test]
async fn closing_delivers_what_was_written_before() {
    let (a, mut b) = pair();
    let mut stream = a.opener.open(b"").await.expect("opens");
    stream.write_all(b"last words").await.expect("writes");
    stream.shutdown().await.expect("half-closes");
    a.opener.close().await;
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    let mut text = String::new();
    reader.read_to_string(&mut text).await.expect("reads to the end");
    assert_eq!(text, "last words");
    b.ended().await.expect("closed in good order");
}

#[tokio::test]
async fn a_slow_reader_of_one_stream_does_not_stall_another() {
    let (a, mut b) = pair();
    let mut stalled = a.opener.open(b"stalled").await.expect("opens");
    let (_, _never_read) = b.incoming.next().await.expect("a stream");
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { stalled.write_all(&vec![0; 4 << 20]).await });

    let mut lively = a.opener.open(b"lively").await.expect("opens");
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    let sent = vec![7; 8 << 20];
    let expected = sent.clone();
    tasks.spawn(async move {
        lively.write_all(&sent).await?;
        lively.shutdown().await
    });
    let mut received = Vec::new();
    reader.read_to_end(&mut received).await.expect("reads to the end");
    assert!(received == expected);
    let first = tasks.join_next().await.expect("the lively writer").expect("no panic");
    assert!(first.is_ok());
    assert!(tasks.try_join_next().is_none(), "the stalled writer waits for its window");
}

#[tokio::test]
async fn frames_of_six_bytes_on_an_unread_stream_are_never_taken_for_greed() {
    let (a, mut b) = pair();
    let mut sender = a.opener.open(b"").await.expect("opens");
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    let n_frames = 256 * 1024 / 6 - 2; // As many as fit the window, less the header.
    for _ in 0..n_frames {
        sender.write_all(b"abcdef").await.expect("writes");
        sender.flush().await.expect("flushes");
    }
    sender.shutdown().await.expect("half-closes");
    let mut received = Vec::new();
    reader.read_to_end(&mut received).await.expect("reads to the end");
    assert_eq!(received.len(), n_frames * 6);
}

#[tokio::test]
async fn one_stream_too_many_is_refused_and_a_dropped_one_makes_room() {
    let (a, mut b) = pair_with(Options { max_streams: 4, ..Options::default() });
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(a.opener.open(b"").await.expect("opens"));
    }
    assert!(matches!(a.opener.open(b"").await, Err(OpenError::TooMany { max: 4 })));
    streams.pop();
    // The peer frees the place when it has taken and dropped the stream in its turn.
    for _ in 0..4 {
        b.incoming.next().await.expect("a stream");
    }
    a.opener.open(b"").await.expect("opens again");
}

#[tokio::test]
async fn headers_up_to_the_limit_arrive_and_longer_ones_are_refused() {
    let (a, mut b) = pair();
    let header = vec![b'x'; MAX_HEADER];
    let _stream = a.opener.open(&header).await.expect("opens");
    assert!(b.incoming.next().await.expect("a stream").0 == header);
    let refused = a.opener.open(&vec![b'x'; MAX_HEADER + 1]).await;
    assert!(matches!(refused, Err(OpenError::HeaderTooLong { .. })));
}

#[tokio::test]
async fn hundreds_of_megabytes_pass_whole() {
    const TOTAL: usize = 256 << 20;
    let (a, mut b) = pair();
    let mut sender = a.opener.open(b"").await.expect("opens");
    let (_, mut reader) = b.incoming.next().await.expect("a stream");
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let chunk = vec![42; 1 << 20];
        for _ in 0..TOTAL >> 20 {
            sender.write_all(&chunk).await?;
        }
        sender.shutdown().await
    });
    let start = std::time::Instant::now();
    let mut buffer = vec![0; 256 * 1024];
    let mut received = 0;
    loop {
        match reader.read(&mut buffer).await.expect("reads") {
            0 => break,
            n => received += n,
        }
    }
    println!("{:.0} MB/s", received as f64 / 1e6 / start.elapsed().as_secs_f64());
    assert_eq!(received, TOTAL);
}
