//! What every wire format has in common, tried with each of them.

use bytes::Bytes;
use hyper::Method;
use warren_domain::Usage;
use warren_models::{Ending, Feature, Format, Options, RefusalKind};

use crate::support::{Bench, Provider, REAL_KEY, options_for};

/// One format: how it is called, what it is answered, and what that used.
struct Case {
    format: Format,
    path: &'static str,
    /// Where the call arrives at a provider whose address has no path.
    upstream: &'static str,
    request: &'static str,
    /// The same, with something that the provider would carry out by itself.
    reaching: &'static str,
    stream: &'static str,
    json: &'static str,
    key_header: &'static str,
    usage: Usage,
}

macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!("../../fixtures/", $path))
    };
}

fn used(model: &str, tokens: [u64; 5], cost_usd: f64) -> Usage {
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, thinking_tokens] = tokens;
    let usage = Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        thinking_tokens,
        cost_usd,
        model: Some(model.to_owned()),
        ..Usage::default()
    };
    usage.totalled()
}

fn cases() -> [Case; 4] {
    [
        Case {
            format: Format::Anthropic,
            path: "/v1/messages",
            upstream: "/v1/messages",
            request: r#"{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[]}"#,
            reaching: r#"{"model":"claude-opus-4-5","tools":[{"type":"web_search_20250305"}]}"#,
            stream: fixture!("anthropic/stream.sse"),
            json: fixture!("anthropic/message.json"),
            key_header: "x-api-key: sk-ant-api03-real",
            usage: used(
                "claude-opus-4-5-20251101",
                [472, 89, 1200, 300, 0],
                (472.0 * 5.0 + 89.0 * 25.0 + 1200.0 * 0.5 + 200.0 * 6.25 + 100.0 * 10.0) / 1e6,
            ),
        },
        Case {
            format: Format::Gemini,
            path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=placeholder&alt=sse",
            upstream: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            request: r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
            reaching: r#"{"contents":[],"tools":[{"googleSearch":{}}]}"#,
            stream: fixture!("gemini/stream.sse"),
            json: fixture!("gemini/content.json"),
            key_header: "x-goog-api-key: sk-ant-api03-real",
            usage: used("gemini-2.5-pro", [96, 21, 4, 0, 7], (96.0 * 1.25 + 21.0 * 10.0 + 4.0 * 0.125) / 1e6),
        },
        Case {
            format: Format::OpenAiChat,
            path: "/v1/chat/completions",
            upstream: "/v1/chat/completions",
            request: r#"{"model":"gpt-5-mini","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
            reaching: r#"{"model":"gpt-5-mini","messages":[],"web_search_options":{}}"#,
            stream: fixture!("openai-chat/stream.sse"),
            json: fixture!("openai-chat/completion.json"),
            key_header: "authorization: Bearer sk-ant-api03-real",
            usage: used(
                "gpt-5-mini-2025-08-07",
                [96, 20, 4, 0, 7],
                (96.0 * 0.25 + 20.0 * 2.0 + 4.0 * 0.025) / 1e6,
            ),
        },
        Case {
            format: Format::OpenAiResponses,
            path: "/v1/responses",
            upstream: "/v1/responses",
            request: r#"{"model":"gpt-5.5","stream":true,"store":false,"input":"hi"}"#,
            reaching: r#"{"model":"gpt-5.5","tools":[{"type":"web_search"}],"input":"hi"}"#,
            stream: fixture!("openai-responses/stream.sse"),
            json: fixture!("openai-responses/response.json"),
            key_header: "authorization: Bearer sk-ant-api03-real",
            usage: used("gpt-5.5", [96, 20, 4, 0, 7], (96.0 * 5.0 + 20.0 * 30.0 + 4.0 * 0.5) / 1e6),
        },
    ]
}

impl Case {
    fn bench(&self, provider: &Provider) -> Bench {
        Bench::new(options_for(self.format, provider.base_url())).speaking(self.format)
    }
}

fn assert_same_usage(found: &Usage, expected: &Usage) {
    assert!((found.cost_usd - expected.cost_usd).abs() < 1e-12, "{found:?}");
    assert_eq!(Usage { cost_usd: 0.0, ..found.clone() }, Usage { cost_usd: 0.0, ..expected.clone() });
}

#[tokio::test]
async fn the_real_key_goes_up_and_never_down() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let mut client = bench.connect().await;
        let headers = [
            ("authorization", "Bearer placeholder"),
            ("x-goog-api-key", "placeholder"),
            ("openai-organization", "theirs"),
            ("accept-encoding", "gzip"),
            ("cookie", "a=b"),
        ];
        let call = async {
            let body = Bytes::from_static(case.request.as_bytes());
            let answer = client.begin(Method::POST, case.path, &headers, body).await;
            let head = format!("{:?}", answer.headers);
            (head, answer.whole().await.expect("an answer"))
        };
        let serve = async {
            let mut received = provider.receive().await;
            let headers =
                "content-type: application/json\r\nset-cookie: a=b\r\nopenai-organization: ours\r\n";
            received.answer("200 OK", headers, case.json).await;
            received.text
        };
        let ((head, answer), sent) = tokio::join!(call, serve);
        assert!(sent.starts_with(&format!("POST {} HTTP/1.1\r\n", case.upstream)), "{sent}");
        assert!(sent.contains(&format!("\r\n{}\r\n", case.key_header)), "{sent}");
        assert!(sent.contains("\r\naccept-encoding: identity\r\n"), "{sent}");
        assert!(
            !sent.contains("placeholder") && !sent.contains("theirs") && !sent.contains("cookie"),
            "{sent}"
        );
        assert!(sent.ends_with(case.request));
        assert_eq!(answer.body, case.json);
        assert!(!head.contains("cookie") && !head.contains("ours"), "{head}");
        let ended = bench.ended().await;
        assert_same_usage(&ended.called.usage, &case.usage);
        assert!(!format!("{ended:?} {head} {}", answer.body).contains(REAL_KEY));
    }
}

#[tokio::test]
async fn a_stream_arrives_piece_by_piece_and_is_metered() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let mut client = bench.connect().await;
        let body = Bytes::from_static(case.request.as_bytes());
        let call = client.begin(Method::POST, case.path, &[], body);
        let begin = async {
            let mut received = provider.receive().await;
            received.begin_events().await;
            received
        };
        let (mut answer, mut received) = tokio::join!(call, begin);
        // Each piece must be there before the next is sent, wherever it breaks.
        let mut text = Vec::new();
        for piece in case.stream.as_bytes().chunks(97) {
            received.chunk(piece).await;
            while text.len() < piece.len() {
                text.extend_from_slice(&answer.piece().await.expect("a piece").expect("no error"));
            }
            assert_eq!(text, piece);
            text.clear();
        }
        received.end_events().await;
        assert!(answer.piece().await.is_none());
        let ended = bench.ended().await;
        assert_same_usage(&ended.called.usage, &case.usage);
        assert_eq!((ended.ending, ended.called.status, ended.refusal), (Ending::Complete, 200, None));
        assert_eq!(ended.response, case.stream);
    }
}

#[tokio::test]
async fn who_leaves_when_the_answer_says_that_it_is_finished_was_answered() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let mut client = bench.connect().await;
        let body = Bytes::from_static(case.request.as_bytes());
        let call = client.begin(Method::POST, case.path, &[], body);
        let begin = async {
            let mut received = provider.receive().await;
            received.begin_events().await;
            received.chunk(case.stream.as_bytes()).await;
            received
        };
        let (mut answer, mut received) = tokio::join!(call, begin);
        let mut n_bytes = 0;
        while n_bytes < case.stream.len() {
            n_bytes += answer.piece().await.expect("a piece").expect("no error").len();
        }
        drop((answer, client));
        received.closed().await;
        let ended = bench.ended().await;
        assert_eq!((ended.ending, ended.called.status), (Ending::Complete, 200), "{:?}", case.format);
        assert_same_usage(&ended.called.usage, &case.usage);
    }
}

#[tokio::test]
async fn what_the_provider_would_carry_out_is_refused_unless_granted() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let answer = bench.connect().await.post(case.path, case.reaching).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.starts_with(r#"{"error":{"#) && answer.body.contains("not granted to this run"));
        let ended = bench.ended().await;
        assert_eq!((ended.refusal, ended.called.status), (Some(RefusalKind::NotGranted), 400));

        let bench = case.bench(&provider).granting(&[Feature::ServerTools]);
        let mut client = bench.connect().await;
        let serve = async {
            provider.receive().await.answer("200 OK", "content-type: application/json\r\n", case.json).await
        };
        let (answer, ()) = tokio::join!(client.post(case.path, case.reaching), serve);
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn a_compressed_answer_is_refused_because_it_cannot_be_metered() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let mut client = bench.connect().await;
        let serve = async {
            let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
            provider.receive().await.answer("200 OK", headers, "…").await;
        };
        let (answer, ()) = tokio::join!(client.post(case.path, case.request), serve);
        assert_eq!(answer.status, 502, "{}", answer.body);
        assert_eq!(bench.ended().await.refusal, Some(RefusalKind::Unreachable));
    }
}

#[tokio::test]
async fn a_failed_request_that_comes_again_is_the_next_attempt() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let mut attempts = Vec::new();
        for status in ["500 No", "429 Slow", "200 OK", "200 OK"] {
            let mut client = bench.connect().await;
            let serve = async {
                let headers = "content-type: application/json\r\nconnection: close\r\n";
                provider.receive().await.answer(status, headers, "{}").await;
            };
            tokio::join!(client.post(case.path, case.request), serve);
            attempts.push(bench.ended().await.called.attempt);
        }
        assert_eq!(attempts, [1, 2, 3, 1]);
    }
}

#[tokio::test]
async fn agents_that_look_for_models_at_their_start_are_told_of_none() {
    for (format, path, body) in [
        (Format::Gemini, "/v1beta/models", r#"{"models":[]}"#),
        (Format::OpenAiChat, "/v1/models", r#"{"data":[],"models":[],"object":"list"}"#),
        (
            Format::OpenAiResponses,
            "/v1/models?client_version=0.166.0",
            r#"{"data":[],"models":[],"object":"list"}"#,
        ),
    ] {
        let mut bench = Bench::new(Options::default()).speaking(format);
        let mut client = bench.connect().await;
        let answer =
            client.begin(Method::GET, path, &[], Bytes::new()).await.whole().await.expect("an answer");
        assert_eq!((answer.status, answer.body.as_str()), (200, body));
        assert!(bench.nothing_ended());
    }
}
