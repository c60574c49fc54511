//! What goes through, and what is said of it.

use bytes::Bytes;
use hyper::Method;
use warren_domain::Usage;
use warren_models::{Ending, Format, Options, Secret, UpstreamOptions, UpstreamSummary};

use crate::support::{Bench, Provider, REAL_KEY, as_reported, exchange, options, request};

const STREAM: &str = include_str!("../../fixtures/anthropic/stream.sse");
const JSON: &str = include_str!("../../fixtures/anthropic/message.json");

/// What the fixtures used, at the prices of the model that they name.
fn used() -> Usage {
    let cost = (472.0 * 5.0 + 89.0 * 25.0 + 1200.0 * 0.5 + 200.0 * 6.25 + 100.0 * 10.0) / 1e6;
    let usage = Usage {
        input_tokens: 472,
        output_tokens: 89,
        cache_read_tokens: 1200,
        cache_write_tokens: 300,
        cost_usd: cost,
        model: Some("claude-opus-4-5-20251101".to_owned()),
        ..Usage::default()
    };
    usage.totalled()
}

fn assert_same_usage(found: &Usage, expected: &Usage) {
    assert!((found.cost_usd - expected.cost_usd).abs() < 1e-12, "{found:?}");
    assert_eq!(Usage { cost_usd: 0.0, ..found.clone() }, Usage { cost_usd: 0.0, ..expected.clone() });
}

#[tokio::test]
async fn the_real_key_goes_up_and_the_sandboxs_own_headers_do_not() {
    let provider = Provider::start().await;
    let bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let headers = [
        ("authorization", "Bearer placeholder"),
        ("cookie", "session=1"),
        ("x-forwarded-for", "10.0.0.1"),
        ("x-warren-conversation", "agent-1"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("accept-encoding", "gzip"),
        ("anthropic-beta", "interleaved-thinking-2025-05-14"),
        ("user-agent", "agent/1"),
    ];
    let call = client.begin(
        Method::POST,
        "/v1/messages?beta=true&x=y",
        &headers,
        Bytes::from_static(request().as_bytes()),
    );
    let serve = async {
        let mut received = provider.receive().await;
        received.answer("200 OK", "content-type: application/json\r\n", "{}").await;
        received.text
    };
    let (_answer, sent) = tokio::join!(call, serve);
    let (head, body) = sent.split_once("\r\n\r\n").expect("a head");
    let mut lines: Vec<&str> = head.lines().collect();
    lines[1..].sort_unstable();
    let host = format!("host: {}", provider.base_url().trim_start_matches("http://"));
    let length = format!("content-length: {}", request().len());
    let expected = [
        "POST /v1/messages?beta=true HTTP/1.1",
        "accept-encoding: identity",
        "accept: */*",
        "anthropic-beta: interleaved-thinking-2025-05-14",
        "anthropic-version: 2023-06-01",
        length.as_str(),
        "content-type: application/json",
        host.as_str(),
        concat!("user-agent: warren/", env!("CARGO_PKG_VERSION")),
        "x-api-key: sk-ant-api03-real",
    ];
    assert_eq!(lines, expected);
    assert_eq!(body, request());
}

#[tokio::test]
async fn an_answer_arrives_piece_by_piece_and_not_at_its_end() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let call = client.begin(Method::POST, "/v1/messages", &[], Bytes::from_static(request().as_bytes()));
    let begin = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        received
    };
    let (mut answer, mut received) = tokio::join!(call, begin);
    for piece in ["event: ping\n", "data: {}", "\n\n"] {
        received.chunk(piece.as_bytes()).await;
        assert_eq!(answer.piece().await.expect("a piece").expect("no error"), piece);
    }
    assert!(bench.nothing_ended());
    received.end_events().await;
    assert!(answer.piece().await.is_none());
    let expected = exchange(200, Ending::Complete, Some("text/event-stream"), "event: ping\ndata: {}\n\n");
    assert_eq!(as_reported(bench.ended().await), expected);
}

#[tokio::test]
async fn a_stream_in_single_bytes_is_passed_on_exactly_and_metered() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let serve = async {
        let mut received = provider.receive().await;
        received.begin_events().await;
        for byte in STREAM.as_bytes() {
            received.chunk(std::slice::from_ref(byte)).await;
        }
        received.end_events().await;
    };
    let (answer, ()) = tokio::join!(client.post("/v1/messages", request()), serve);
    assert_eq!((answer.status, answer.body.as_str()), (200, STREAM));
    let ended = bench.ended().await;
    assert_same_usage(&ended.called.usage, &used());
    assert_eq!(
        (ended.called.model.as_str(), ended.response.as_ref()),
        ("claude-opus-4-5-20251101", STREAM.as_bytes())
    );
}

#[tokio::test]
async fn an_answer_in_one_piece_is_metered_the_same() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let serve = async {
        provider.receive().await.answer("200 OK", "content-type: application/json\r\n", JSON).await;
    };
    let (answer, ()) = tokio::join!(client.post("/v1/messages", request()), serve);
    assert_eq!((answer.status, answer.body.as_str()), (200, JSON));
    assert_same_usage(&bench.ended().await.called.usage, &used());
}

#[tokio::test]
async fn the_providers_errors_come_through_as_they_are() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let headers = "content-type: application/json\r\nretry-after: 7\r\nset-cookie: a=b\r\n";
    let call = client.begin(Method::POST, "/v1/messages", &[], Bytes::from_static(request().as_bytes()));
    let serve = async { provider.receive().await.answer("529 Overloaded", headers, body).await };
    let (answer, ()) = tokio::join!(call, serve);
    let names: Vec<&str> =
        answer.headers.keys().map(hyper::header::HeaderName::as_str).filter(|name| *name != "date").collect();
    assert_eq!(names, ["content-type", "retry-after", "transfer-encoding"]);
    let answer = answer.whole().await.expect("a whole answer");
    assert_eq!((answer.status, answer.body.as_str()), (529, body));
    assert_eq!(bench.ended().await, exchange(529, Ending::Complete, Some("application/json"), body));
}

#[tokio::test]
async fn calls_of_one_connection_are_reported_in_their_order() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    for n in ["1", "2", "3"] {
        let headers = [("x-warren-conversation", n)];
        let call = async {
            let body = Bytes::from_static(request().as_bytes());
            client.begin(Method::POST, "/v1/messages/count_tokens", &headers, body).await.whole().await
        };
        let serve = async {
            let body = r#"{"input_tokens":9}"#;
            provider
                .receive()
                .await
                .answer("200 OK", "content-type: application/json\r\nconnection: close\r\n", body)
                .await;
        };
        let (answer, ()) = tokio::join!(call, serve);
        assert_eq!(answer.expect("an answer").status, 200);
    }
    for n in ["1", "2", "3"] {
        let mut expected = exchange(200, Ending::Complete, Some("application/json"), r#"{"input_tokens":9}"#);
        expected.path = "/v1/messages/count_tokens".to_owned();
        expected.conversation = Some(n.to_owned());
        assert_eq!(bench.ended().await, expected);
    }
}

#[tokio::test]
async fn a_description_names_the_host_and_never_the_key() {
    let bench = Bench::new(Options {
        openai_responses: UpstreamOptions::Http { base_url: "http://10.0.0.1/v1".to_owned(), api_key: None },
        ..options("https://models.example.org:8443/anthropic/".to_owned())
    });
    let described = bench.gateway.describe().await;
    assert!(!format!("{described:?}").contains(REAL_KEY));
    let summary = |format, target: &str, has_key| UpstreamSummary {
        format,
        target: target.to_owned(),
        is_demo: target == "demo",
        has_key,
    };
    let expected = [
        summary(Format::Anthropic, "models.example.org:8443", true),
        summary(Format::Gemini, "demo", false),
        summary(Format::OpenAiChat, "demo", false),
        summary(Format::OpenAiResponses, "10.0.0.1", false),
    ];
    assert_eq!(described, expected);
    let debug = format!(
        "{:?}",
        UpstreamOptions::Http { base_url: "x".to_owned(), api_key: Some(Secret::new(REAL_KEY)) }
    );
    assert!(!debug.contains(REAL_KEY));
}
