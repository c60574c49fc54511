//! What every wire format has in common, tried with each of them.

use bytes::Bytes;
use hyper::Method;
use warren_domain::Usage;
use warren_models::{AllowedModels, Ending, Feature, Format, ModelLists, Options, Recording, RefusalKind};

use crate::support::{Bench, Provider, REAL_KEY, options_for};

/// One format: how it is called, what it is answered, and what that used.
struct Case {
    format: Format,
    path: &'static str,
    /// Where the call arrives at a provider whose address has no path.
    upstream: &'static str,
    request: &'static str,
    /// How a model is called that is not on the default list.
    other: (&'static str, &'static str),
    /// The same as `request`, for a service that costs more.
    dearer: &'static str,
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
    [anthropic(), gemini(), openai_chat(), openai_responses()]
}

fn anthropic() -> Case {
    Case {
        format: Format::Anthropic,
        path: "/v1/messages",
        upstream: "/v1/messages",
        request: r#"{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[]}"#,
        other: ("/v1/messages", r#"{"model":"somebody-elses","max_tokens":64,"messages":[]}"#),
        dearer: r#"{"model":"claude-opus-4-5","max_tokens":64,"speed":"fast","messages":[]}"#,
        reaching: r#"{"model":"claude-opus-4-5","tools":[{"type":"web_search_20250305"}]}"#,
        stream: fixture!("anthropic/stream.sse"),
        json: fixture!("anthropic/message.json"),
        key_header: "x-api-key: sk-ant-api03-real",
        usage: used(
            "claude-opus-4-5-20251101",
            [472, 89, 1200, 300, 0],
            (472.0 * 5.0 + 89.0 * 25.0 + 1200.0 * 0.5 + 200.0 * 6.25 + 100.0 * 10.0) / 1e6,
        ),
    }
}

fn gemini() -> Case {
    Case {
        format: Format::Gemini,
        path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=placeholder&alt=sse",
        upstream: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        request: r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        other: (
            "/v1beta/models/gemini-2.5-computer-use-preview:generateContent",
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        ),
        dearer: r#"{"contents":[],"serviceTier":"priority"}"#,
        reaching: r#"{"contents":[],"tools":[{"googleSearch":{}}]}"#,
        stream: fixture!("gemini/stream.sse"),
        json: fixture!("gemini/content.json"),
        key_header: "x-goog-api-key: sk-ant-api03-real",
        usage: used("gemini-2.5-pro", [96, 21, 4, 0, 7], (96.0 * 1.25 + 21.0 * 10.0 + 4.0 * 0.125) / 1e6),
    }
}

fn openai_chat() -> Case {
    Case {
        format: Format::OpenAiChat,
        path: "/v1/chat/completions",
        upstream: "/v1/chat/completions",
        request: r#"{"model":"gpt-5-mini","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
        other: ("/v1/chat/completions", r#"{"model":"gpt-4o-search-preview","messages":[]}"#),
        dearer: r#"{"model":"gpt-5-mini","service_tier":"priority","messages":[]}"#,
        reaching: r#"{"model":"gpt-5-mini","messages":[],"web_search_options":{}}"#,
        stream: fixture!("openai-chat/stream.sse"),
        json: fixture!("openai-chat/completion.json"),
        key_header: "authorization: Bearer sk-ant-api03-real",
        usage: used(
            "gpt-5-mini-2025-08-07",
            [96, 20, 4, 0, 7],
            (96.0 * 0.25 + 20.0 * 2.0 + 4.0 * 0.025) / 1e6,
        ),
    }
}

fn openai_responses() -> Case {
    Case {
        format: Format::OpenAiResponses,
        path: "/v1/responses",
        upstream: "/v1/responses",
        request: r#"{"model":"gpt-5.5","stream":true,"store":false,"input":"hi"}"#,
        other: ("/v1/responses", r#"{"model":"o3-deep-research","input":"hi"}"#),
        dearer: r#"{"model":"gpt-5.5","service_tier":"priority","input":"hi"}"#,
        reaching: r#"{"model":"gpt-5.5","tools":[{"type":"web_search"}],"input":"hi"}"#,
        stream: fixture!("openai-responses/stream.sse"),
        json: fixture!("openai-responses/response.json"),
        key_header: "authorization: Bearer sk-ant-api03-real",
        usage: used("gpt-5.5", [96, 20, 4, 0, 7], (96.0 * 5.0 + 20.0 * 30.0 + 4.0 * 0.5) / 1e6),
    }
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
async fn model_that_is_not_allowed_is_refused_and_its_request_is_neither_sent_nor_recorded() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let (path, request) = case.other;
        let answer = bench.connect().await.post(path, request).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        let body: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        let message = body["error"]["message"].as_str().expect("a message");
        assert!(
            message.contains("is not allowed here\nhint: the operator can add a model to `models."),
            "{message}"
        );
        let kind = [&body["error"]["type"], &body["error"]["status"]];
        assert!(
            kind.iter().any(|kind| ["permission_error", "PERMISSION_DENIED"].iter().any(|own| *kind == own))
        );

        let ended = bench.ended().await;
        assert_eq!((ended.refusal, ended.called.status), (Some(RefusalKind::ModelNotAllowed), 400));
        assert!(!ended.called.model.is_empty() && ended.called.cost_usd == 0.0);
        let recording = Recording::decode(&Recording::encode(&ended)).expect("a recording");
        assert_eq!((recording.request.len(), recording.request_hash), (0, Some(ended.called.request_hash)));
        assert!(provider.received_nothing().await);

        // The operator's own list allows it, and nothing else.
        let mut options = options_for(case.format, provider.base_url());
        let list = AllowedModels::listed([
            "somebody-*",
            "gemini-2.5-computer-use-*",
            "gpt-4o-search-preview",
            "*deep-research",
        ]);
        let list = list.expect("patterns");
        options.models = ModelLists {
            anthropic: list.clone(),
            gemini: list.clone(),
            openai_chat: list.clone(),
            openai_responses: list,
        };
        let mut bench = Bench::new(options).speaking(case.format);
        assert_eq!(bench.connect().await.post(case.path, case.request).await.status, 400);
        assert_eq!(bench.ended().await.refusal, Some(RefusalKind::ModelNotAllowed));
        let mut client = bench.connect().await;
        let serve = async {
            provider.receive().await.answer("200 OK", "content-type: application/json\r\n", case.json).await
        };
        let (answer, ()) = tokio::join!(client.post(path, request), serve);
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn model_that_the_run_was_told_to_use_is_allowed_unless_the_operator_has_a_list() {
    let request = r#"{"model":"llama3","messages":[]}"#;
    let provider = Provider::start().await;
    let options = options_for(Format::OpenAiChat, provider.base_url());
    let bench = Bench::new(options.clone()).speaking(Format::OpenAiChat).told_to_use("local/llama3");
    let mut client = bench.connect().await;
    let serve =
        async { provider.receive().await.answer("200 OK", "content-type: application/json\r\n", "{}").await };
    let (answer, ()) = tokio::join!(client.post("/v1/chat/completions", request), serve);
    assert_eq!(answer.status, 200, "{}", answer.body);

    let openai_chat = AllowedModels::listed(["gpt-*"]).expect("patterns");
    let options = Options { models: ModelLists { openai_chat, ..ModelLists::default() }, ..options };
    let bench = Bench::new(options).speaking(Format::OpenAiChat).told_to_use("local/llama3");
    assert_eq!(bench.connect().await.post("/v1/chat/completions", request).await.status, 400);
}

#[tokio::test]
async fn every_model_that_a_router_may_choose_must_be_allowed() {
    let provider = Provider::start().await;
    let mut bench =
        Bench::new(options_for(Format::OpenAiChat, provider.base_url())).speaking(Format::OpenAiChat);
    let request = r#"{"model":"gpt-5","models":["gpt-5-mini","gpt-4o-search-preview"],"messages":[]}"#;
    let answer = bench.connect().await.post("/v1/chat/completions", request).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert_eq!(bench.ended().await.refusal, Some(RefusalKind::ModelNotAllowed));
    assert!(provider.received_nothing().await);
}

#[tokio::test]
async fn service_that_costs_more_is_refused_unless_granted() {
    for case in cases() {
        let provider = Provider::start().await;
        let mut bench = case.bench(&provider);
        let answer = bench.connect().await.post(case.path, case.dearer).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.contains("services that cost more than the standard one"), "{}", answer.body);
        assert_eq!(bench.ended().await.refusal, Some(RefusalKind::NotGranted));

        let bench = case.bench(&provider).granting(&[Feature::DearerService]);
        let mut client = bench.connect().await;
        let serve = async {
            provider.receive().await.answer("200 OK", "content-type: application/json\r\n", case.json).await
        };
        let (answer, ()) = tokio::join!(client.post(case.path, case.dearer), serve);
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
