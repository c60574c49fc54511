use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use uuid::Uuid;
use warren_domain::{BlockId, Draft, EventBody, Seq, SessionId, Timestamp};

use super::{CallError, Client, Entry, Follow, pause};

fn entry(seq: u64) -> Entry {
    let delta = EventBody::TextDelta { block_id: BlockId::from("b"), delta: seq.to_string() };
    let event =
        Draft::of_session(delta).numbered(Seq(seq), SessionId(Uuid::nil()), Timestamp::from_millis(0));
    Entry { json: serde_json::to_string(&event).expect("JSON"), event: Some(event) }
}

fn message(seq: u64) -> String {
    format!("id: {seq}\ndata: {}\n\n", entry(seq).json)
}

/// Takes one request and gives its `Last-Event-ID`.
async fn accept(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.expect("a connection");
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.expect("a request"));
    }
    let request = String::from_utf8(request).expect("text").to_lowercase();
    let header = request.lines().find_map(|line| line.strip_prefix("last-event-id: ").map(str::to_owned));
    (stream, header.expect("it says where it was"))
}

async fn answer(stream: &mut TcpStream, body: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("{head}{:x}\r\n{body}\r\n", body.len());
    stream.write_all(chunk.as_bytes()).await.expect("written");
}

async fn start() -> (TcpListener, Follow) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    // Another test may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let follow = Client::new(&url, None).expect("a client").follow(SessionId(Uuid::nil()), Seq(0));
    (listener, follow)
}

#[tokio::test]
async fn a_dropped_stream_resumes_after_the_last_entry_it_gave() {
    let (listener, mut follow) = start().await;
    let server = async {
        let (mut stream, after) = accept(&listener).await;
        assert_eq!(after, "0");
        // The third message is cut in the middle.
        answer(&mut stream, &format!("{}{}id: 3\ndata: {{", message(1), message(2))).await;
        drop(stream);
        let (mut stream, after) = accept(&listener).await;
        assert_eq!(after, "2");
        // A server that repeats itself must not make us do so.
        answer(&mut stream, &format!("{}{}", message(2), message(3))).await;
        stream
    };
    let reader = async {
        let mut entries = Vec::new();
        while entries.len() < 3 {
            entries.push(follow.next().await.expect("an entry"));
        }
        entries
    };
    let (_stream, entries) = tokio::join!(server, reader);
    assert_eq!(entries, [entry(1), entry(2), entry(3)]);
}

#[tokio::test]
async fn a_refusal_ends_the_stream_at_once() {
    let (listener, mut follow) = start().await;
    let server = async {
        let (mut stream, _) = accept(&listener).await;
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await.expect("written");
        stream
    };
    let (_stream, refused) = tokio::join!(server, follow.next());
    assert!(matches!(refused, Err(CallError::Strange { status: 404 })), "{refused:?}");
}

#[tokio::test]
async fn an_event_of_a_later_version_is_given_as_text() {
    let (listener, mut follow) = start().await;
    let server = async {
        let (mut stream, _) = accept(&listener).await;
        answer(&mut stream, "id: 1\ndata: {\"type\":\"invented_later\"}\n\n").await;
        stream
    };
    let (_stream, found) = tokio::join!(server, follow.next());
    assert_eq!(
        found.expect("an entry"),
        Entry { json: r#"{"type":"invented_later"}"#.to_owned(), event: None }
    );
}

#[test]
fn pauses_grow_up_to_two_seconds() {
    assert_eq!([1, 2, 3, 6, 99].map(|n| pause(n).as_millis()), [100, 200, 400, 2000, 2000]);
    let all: Duration = (1..super::N_TRIES).map(pause).sum();
    assert_eq!(all.as_secs(), 25 - 2);
}
