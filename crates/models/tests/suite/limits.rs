//! What happens when a limit is hit.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use warren_models::{Ending, Limits, Options, Pace, Timeouts};

use crate::support::{Bench, Provider, options, request};

fn demo(limits: Limits) -> Bench {
    Bench::new(Options { limits, pace: Pace::NONE, ..Options::default() })
}

#[tokio::test]
async fn a_request_that_is_too_long_is_refused_and_reported() {
    let mut bench = demo(Limits { request_bytes: 20, ..Limits::default() });
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("the request is longer than 20 bytes"), "{}", answer.body);
    let ended = bench.ended().await;
    assert_eq!((ended.called.status, ended.request.len()), (413, 0));
}

#[tokio::test]
async fn calls_beyond_the_memory_for_all_are_refused_as_overload() {
    let bench = demo(Limits { buffered_bytes: 20, ..Limits::default() });
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(answer.status, 529);
    assert!(answer.body.contains("overloaded_error"), "{}", answer.body);
}

#[tokio::test]
async fn memory_is_given_back_when_a_call_ends() {
    // Room for one request and its answer, not for two.
    let limits = Limits { buffered_bytes: request().len() + 4096, recording_bytes: 0, ..Limits::default() };
    let bench = demo(limits);
    let mut client = bench.connect().await;
    for _ in 0..50 {
        assert_eq!(client.post("/v1/messages", request()).await.status, 200);
    }
}

#[tokio::test]
async fn a_long_answer_goes_through_whole_and_its_recording_says_what_is_missing() {
    let mut bench = demo(Limits { recording_bytes: 1000, ..Limits::default() });
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    let ended = bench.ended().await;
    assert!(answer.body.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    assert!(ended.response.len() <= 1000);
    assert!(answer.body.as_bytes().starts_with(&ended.response));
    assert_eq!(ended.response.len() as u64 + ended.response_omitted, answer.body.len() as u64);
    assert!(ended.called.usage.output_tokens > 0, "a cut recording is metered all the same");
}

#[tokio::test]
async fn a_provider_that_falls_silent_breaks_the_answer() {
    let provider = Provider::start().await;
    let silence = Duration::from_millis(20);
    let timeouts = Timeouts { silence, ..Timeouts::default() };
    let mut bench = Bench::new(Options { timeouts, ..options(provider.base_url()) });
    let mut client = bench.connect().await;
    let call = client.begin(Method::POST, "/v1/messages", &[], Bytes::from_static(request().as_bytes()));
    let serve = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        received.closed().await;
    };
    let (answer, ()) = tokio::join!(async { call.await.whole().await }, serve);
    assert!(answer.is_err());
    let ended = bench.ended().await;
    assert_eq!((ended.called.status, ended.ending), (502, Ending::Broken));
}

#[tokio::test]
async fn a_provider_that_never_answers_is_a_504() {
    let provider = Provider::start().await;
    let timeouts = Timeouts { answer: Duration::from_millis(20), ..Timeouts::default() };
    let bench = Bench::new(Options { timeouts, ..options(provider.base_url()) });
    let mut client = bench.connect().await;
    let serve = async { provider.receive().await.closed().await };
    let (answer, ()) = tokio::join!(client.post("/v1/messages", request()), serve);
    assert_eq!(answer.status, 504);
}

/// The provider can only be ahead of a sandbox that does not read by what sockets and buffers hold.
#[tokio::test]
async fn a_sandbox_that_does_not_read_holds_the_provider_back() {
    const PIECE: usize = 256 * 1024;
    const ENOUGH: usize = 64 * 1024 * 1024;
    let provider = Provider::start().await;
    let bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let call = client.begin(Method::POST, "/v1/messages", &[], Bytes::from_static(request().as_bytes()));
    let begin = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        received
    };
    let (_unread, mut received) = tokio::join!(call, begin);
    let piece = vec![b'\n'; PIECE];
    let mut sent = 0;
    while sent < ENOUGH
        && tokio::time::timeout(Duration::from_millis(500), received.chunk(&piece)).await.is_ok()
    {
        sent += PIECE;
    }
    assert!(sent < ENOUGH, "nothing held the provider back");
}
