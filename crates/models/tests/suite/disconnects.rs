//! Ends that come too early, on either side.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use warren_models::Ending;

use crate::support::{Bench, Provider, as_reported, exchange, request};

/// Sends the usual request by hand, on a connection that can be cut at any byte.
async fn ask(stream: &mut DuplexStream) {
    let length = request().len();
    let head = format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("the gateway reads");
    stream.write_all(request().as_bytes()).await.expect("the gateway reads");
}

async fn read_until(stream: &mut DuplexStream, marker: &str) {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(marker) {
        assert_ne!(stream.read_buf(&mut bytes).await.expect("an answer"), 0, "the answer ended early");
    }
}

#[tokio::test]
async fn a_sandbox_that_leaves_in_the_middle_ends_the_call_at_the_provider() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut sandbox = bench.raw();
    ask(&mut sandbox).await;
    let mut received = provider.receive().await;
    received.begin_events().await;
    received.chunk(b"event: ping\n").await;
    read_until(&mut sandbox, "event: ping").await;
    drop(sandbox);
    received.closed().await;
    let expected = exchange(499, Ending::CallerLeft, Some("text/event-stream"), "event: ping\n");
    assert_eq!(as_reported(bench.ended().await), expected);
}

/// Agents close the connection when they have read the last event, before the provider has closed the stream.
#[tokio::test]
async fn a_sandbox_that_leaves_after_the_last_event_was_answered() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut sandbox = bench.raw();
    ask(&mut sandbox).await;
    let mut received = provider.receive().await;
    received.begin_events().await;
    let last = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    received.chunk(last.as_bytes()).await;
    read_until(&mut sandbox, last).await;
    drop(sandbox);
    received.closed().await;
    let expected = exchange(200, Ending::Complete, Some("text/event-stream"), last);
    assert_eq!(as_reported(bench.ended().await), expected);
    assert!(bench.nothing_ended());
}

#[tokio::test]
async fn a_sandbox_that_leaves_before_the_answer_ends_the_call_at_the_provider() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut sandbox = bench.raw();
    ask(&mut sandbox).await;
    let mut received = provider.receive().await;
    drop(sandbox);
    received.closed().await;
    assert_eq!(as_reported(bench.ended().await), exchange(499, Ending::CallerLeft, None, ""));
}

#[tokio::test]
async fn a_request_that_breaks_off_is_still_reported_once() {
    let mut bench = Bench::with_demo();
    let mut sandbox = bench.raw();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{";
    sandbox.write_all(head.as_bytes()).await.expect("the gateway reads");
    drop(sandbox);
    let ended = bench.ended().await;
    assert_eq!((ended.called.status, ended.ending, ended.request.len()), (499, Ending::CallerLeft, 0));
    assert!(bench.nothing_ended());
}

#[tokio::test]
async fn a_provider_that_breaks_off_breaks_the_answer_off() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let serve = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        received.chunk(b"event: ping\n").await;
    };
    let call = async {
        let body = request().into();
        client.begin(hyper::Method::POST, "/v1/messages", &[], body).await.whole().await
    };
    let (answer, ()) = tokio::join!(call, serve);
    assert!(answer.is_err(), "the sandbox must not take it for a whole answer");
    let expected = exchange(502, Ending::Broken, Some("text/event-stream"), "event: ping\n");
    assert_eq!(as_reported(bench.ended().await), expected);
}

#[tokio::test]
async fn what_is_not_http_ends_the_connection_and_nothing_else() {
    let mut bench = Bench::with_demo();
    let mut sandbox = bench.raw();
    sandbox.write_all(&[0xff; 64]).await.expect("the gateway reads");
    let mut answer = Vec::new();
    sandbox.read_to_end(&mut answer).await.expect("an end");
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"));
    assert!(bench.nothing_ended());
    assert_eq!(bench.connect().await.post("/v1/messages", request()).await.status, 200);
}
