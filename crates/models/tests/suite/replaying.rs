//! A run's calls once more, answered from what was recorded.

use bytes::Bytes;
use hyper::Method;
use warren_models::{Ending, Format, Playback, Recording, RefusalKind};

use crate::support::{Bench, Provider};

/// How each format is asked for a streamed answer.
const ASKED: [(Format, &str, &str); 4] = [
    (
        Format::Anthropic,
        "/v1/messages",
        r#"{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"think about it"}]}"#,
    ),
    (
        Format::Gemini,
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        r#"{"contents":[{"role":"user","parts":[{"text":"think about it"}]}]}"#,
    ),
    (
        Format::OpenAiChat,
        "/v1/chat/completions",
        r#"{"model":"gpt-5-mini","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"think about it"}]}"#,
    ),
    (
        Format::OpenAiResponses,
        "/v1/responses",
        r#"{"model":"gpt-5-mini","stream":true,"input":[{"role":"user","content":"think about it"}]}"#,
    ),
];

#[tokio::test]
async fn a_recorded_answer_is_given_byte_for_byte_and_costs_what_it_did_in_every_format() {
    for (format, path, request) in ASKED {
        let mut bench = Bench::with_demo().speaking(format);
        let first = bench.connect().await.post(path, request).await;
        let exchange = bench.ended().await;
        let recording = Recording::decode(&Recording::encode(&exchange)).expect("a recording");
        assert_eq!((recording.ending, recording.response.is_empty()), (Ending::Complete, false));

        let playback = Playback::new(vec![recording]).expect("they are read");
        bench.gateway = bench.gateway.replaying(playback.clone());
        let again = bench.connect().await.post(path, request).await;
        assert_eq!(again, first, "{format:?}");
        let repeated = bench.ended().await;
        assert_eq!(repeated, exchange, "{format:?}");
        assert_eq!((playback.report().answered, playback.report().divergence), (1, None));
    }
}

#[tokio::test]
async fn an_answer_that_is_held_back_comes_when_it_is_let_go() {
    let mut bench = Bench::with_demo();
    bench.connect().await.post("/v1/messages", crate::support::request()).await;
    let recording = Recording::decode(&Recording::encode(&bench.ended().await)).expect("a recording");
    let playback = Playback::new(vec![recording]).expect("they are read");
    playback.hold(0);
    bench.gateway = bench.gateway.replaying(playback.clone());
    let mut client = bench.connect().await;
    let (mut progress, mut asking) =
        (playback.progress(), Box::pin(client.post("/v1/messages", crate::support::request())));
    tokio::select! {
        biased;
        _ = &mut asking => panic!("it is held back"),
        asked = progress.wait_for(|progress| progress.answered == 1) => drop(asked.expect("it is asked for")),
    }
    assert!(playback.was_asked(0) && !playback.was_asked(1));
    tokio::task::yield_now().await;
    assert!(futures::poll!(&mut asking).is_pending(), "nothing comes by itself");
    playback.release(0);
    assert_eq!(asking.await.status, 200);
}

#[tokio::test]
async fn a_call_that_was_not_recorded_is_refused_and_no_provider_hears_of_it() {
    // Were it called, it would answer nothing, and the test would hang.
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let playback = Playback::new(Vec::new()).expect("they are read");
    bench.gateway = bench.gateway.replaying(playback.clone());
    let answer = bench.connect().await.post("/v1/messages", crate::support::request()).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("was not recorded"), "{}", answer.body);
    assert!(playback.progress().borrow().diverged);
}

#[tokio::test]
async fn an_answer_that_was_never_finished_is_not_finished_in_the_replay_either() {
    let mut bench = Bench::with_demo();
    bench.connect().await.post("/v1/messages", crate::support::request()).await;
    let whole = Recording::decode(&Recording::encode(&bench.ended().await)).expect("a recording");
    let begun = whole.response.slice(..40);
    let recorded = |ending| Recording { ending, response: begun.clone(), ..whole.clone() };

    bench.gateway =
        bench.gateway.replaying(Playback::new(vec![recorded(Ending::Broken)]).expect("they are read"));
    let body = Bytes::from_static(crate::support::request().as_bytes());
    let mut client = bench.connect().await;
    let answer = client.begin(Method::POST, "/v1/messages", &[], body.clone()).await;
    assert_eq!(answer.status, 200);
    assert!(answer.whole().await.is_err(), "it breaks off");
    assert_eq!(bench.ended().await.ending, Ending::Broken);

    bench.gateway =
        bench.gateway.replaying(Playback::new(vec![recorded(Ending::CallerLeft)]).expect("they are read"));
    let mut client = bench.connect().await;
    let mut answer = client.begin(Method::POST, "/v1/messages", &[], body).await;
    assert_eq!(answer.piece().await.expect("a piece").expect("bytes"), begun);
    // It goes on until whoever called leaves.
    drop((answer, client));
    assert_eq!(bench.ended().await.ending, Ending::CallerLeft);
}

#[tokio::test]
async fn a_call_that_was_refused_is_said_to_be_refused_again() {
    let mut bench = Bench::with_demo();
    bench.connect().await.post("/v1/messages", "no json").await;
    let exchange = bench.ended().await;
    assert_eq!(exchange.refusal, Some(RefusalKind::Invalid));
    let recording = Recording::decode(&Recording::encode(&exchange)).expect("a recording");
    bench.gateway = bench.gateway.replaying(Playback::new(vec![recording]).expect("they are read"));
    bench.connect().await.post("/v1/messages", "no json").await;
    assert_eq!(bench.ended().await.refusal, exchange.refusal);
}
