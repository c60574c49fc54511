//! What does not go through.

use bytes::Bytes;
use hyper::Method;
use warren_domain::Timestamp;
use warren_env::{Env, ManualClock};
use warren_models::{Ending, Feature, Gateway, Options, RefusalKind, Secret, UpstreamOptions};

use crate::support::{Bench, Provider, exchange, options, request};

fn error(kind: &str, message: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}"}},"type":"error"}}"#)
}

fn unreachable(message: &str) -> String {
    let error = format!(r#"{{"message":"{message}","reason":"provider_unreachable","type":"api_error"}}"#);
    format!(r#"{{"error":{error},"type":"error"}}"#)
}

#[tokio::test]
async fn other_paths_and_methods_do_not_exist() {
    let mut bench = Bench::with_demo();
    let mut client = bench.connect().await;
    for (method, path) in [
        (Method::GET, "/v1/messages"),
        (Method::POST, "/v1/messages/batches"),
        (Method::POST, "/v1/files"),
        (Method::GET, "/v1/models"),
        (Method::POST, "/v1/messages/../files"),
        (Method::CONNECT, "/v1/messages"),
    ] {
        let answer =
            client.begin(method.clone(), path, &[], Bytes::new()).await.whole().await.expect("an answer");
        let expected = error("not_found_error", &format!("`{method} {path}` is not available here"));
        assert_eq!((answer.status, answer.body), (404, expected));
    }
    assert!(bench.nothing_ended());
}

#[tokio::test]
async fn without_a_run_no_call_is_made() {
    let provider = Provider::start().await;
    let mut bench = Bench::with_provider(&provider).without_run();
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(
        (answer.status, answer.body),
        (403, error("permission_error", "no run is active in this sandbox"))
    );
    assert!(bench.nothing_ended());
}

#[tokio::test]
async fn what_makes_the_provider_fetch_is_refused_unless_granted() {
    let body = r#"{"model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}"#;
    let mut bench = Bench::with_demo();
    let answer = bench.connect().await.post("/v1/messages", body).await;
    let message = "tools that the provider runs, such as web search or code execution, are not granted to this run\\nhint: an administrator can grant them with `providerTools` of the profile, or with `models.provider_tools`";
    assert_eq!((answer.status, answer.body), (400, error("permission_error", message)));
    let ended = bench.ended().await;
    assert_eq!((ended.called.status, ended.ending), (400, Ending::Complete));

    let bench = Bench::with_demo().granting(&[Feature::ServerTools]);
    assert_eq!(bench.connect().await.post("/v1/messages", body).await.status, 200);
}

#[tokio::test]
async fn broken_json_is_refused_before_it_goes_anywhere() {
    let mut bench = Bench::with_demo();
    let answer = bench.connect().await.post("/v1/messages", "{\"model\":").await;
    let message = "the request cannot be read: EOF while parsing a value at line 1 column 9";
    assert_eq!((answer.status, answer.body), (400, error("invalid_request_error", message)));
    assert_eq!(bench.ended().await.called.status, 400);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_a_502() {
    let provider = Provider::start().await;
    let base_url = provider.base_url();
    drop(provider);
    let mut bench = Bench::new(options(base_url));
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    let body = unreachable("Anthropic cannot be reached (connection refused)");
    assert_eq!((answer.status, answer.body.as_str()), (502, body.as_str()));
    let mut expected = exchange(502, Ending::Complete, Some("application/json"), &body);
    expected.refusal = Some(RefusalKind::Unreachable);
    assert_eq!(bench.ended().await, expected);
}

#[tokio::test]
async fn provider_whose_name_cannot_be_resolved_is_named_with_the_reason() {
    let bench = Bench::new(options("http://no-such-host.invalid".to_owned()));
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    let body = unreachable("Anthropic cannot be reached (its host name cannot be resolved)");
    assert_eq!((answer.status, answer.body), (502, body));
}

/// Agents repeat what may pass; some of them for minutes.
#[tokio::test]
async fn provider_that_stays_unreachable_is_given_up_by_an_answer_that_no_agent_retries() {
    let provider = Provider::start().await;
    let base_url = provider.base_url();
    drop(provider);
    let mut bench = Bench::new(options(base_url));
    let mut statuses = Vec::new();
    let mut last = String::new();
    for _ in 0..6 {
        let answer = bench.connect().await.post("/v1/messages", request()).await;
        let ended = bench.ended().await;
        assert_eq!((ended.called.usage.total_tokens, ended.called.cost_usd), (0, 0.0));
        statuses.push(answer.status);
        last = answer.body;
    }
    assert_eq!(statuses, [502, 502, 502, 502, 502, 400]);
    let hint = "hint: check the server's network and the base URL with `warren keys test anthropic`, then send the message again";
    let message = format!("Anthropic cannot be reached (connection refused) at any of 6 attempts\\n{hint}");
    assert_eq!(last, unreachable(&message));
}

#[tokio::test]
async fn answer_that_no_model_gave_costs_nothing() {
    let provider = Provider::start().await;
    for (headers, body) in [("", "x"), ("content-type: text/html\r\n", "<p>It works!</p>"), ("", "")] {
        let mut bench = Bench::with_provider(&provider);
        let mut client = bench.connect().await;
        let serve = async { provider.receive().await.answer("200 OK", headers, body).await };
        tokio::join!(client.post("/v1/messages", request()), serve);
        let called = bench.ended().await.called;
        assert_eq!((called.status, called.usage.total_tokens, called.cost_usd), (200, 0, 0.0), "{body}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let provider = Provider::start().await;
    let bench = Bench::with_provider(&provider);
    let mut client = bench.connect().await;
    let serve = async {
        provider
            .receive()
            .await
            .answer("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "")
            .await;
    };
    let (answer, ()) = tokio::join!(client.post("/v1/messages", request()), serve);
    let message = "Anthropic redirects elsewhere, and redirects are not followed";
    assert_eq!((answer.status, answer.body), (502, unreachable(message)));
}

#[test]
fn addresses_and_keys_that_cannot_be_right_are_refused_at_the_start() {
    let setup = |base_url: &str, key: &str| {
        let api_key = Some(Secret::new(key));
        let options = Options {
            anthropic: UpstreamOptions::Http { base_url: base_url.to_owned(), api_key },
            ..Options::default()
        };
        let env = Env::with_clock(ManualClock::at(Timestamp::from_millis(0)));
        Gateway::new(options, env).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let hint = "hint: write it as `https://host` or `https://host/path`";
    let no_address = |text: &str| format!("`{text}` is not the address of a model provider\n{hint}");
    assert_eq!(setup("api.anthropic.com", "k"), no_address("api.anthropic.com"));
    assert_eq!(setup("file:///etc/passwd", "k"), no_address("file:///etc/passwd"));
    assert_eq!(setup("https://h/?a=b", "k"), no_address("https://h/?a=b"));
    assert_eq!(setup("user:secret@host", "k"), no_address("…@host"));
    assert!(setup("https://user:secret@host", "k").starts_with("the address of the model provider contains"));
    assert!(setup("https://host", "").starts_with("the key for `host` is empty"));
    assert!(setup("https://host", "two\nlines").starts_with("the key for `host` is empty or has characters"));
}

#[tokio::test]
async fn model_that_somebody_chose_is_refused_without_a_key_and_the_demo_model_does_not_answer() {
    let message = |model: &str| {
        let hint = "hint: store one in the page under Settings or with `warren keys set anthropic`, or choose a model from `warren models`";
        format!("the model `{model}` cannot answer: there is no key for Anthropic\\n{hint}")
    };
    // Chosen under the name that is asked for, with its provider's name before it, and by an alias.
    for (bench, model) in [
        (Bench::with_demo().told_to_use("claude-opus-4-5"), "claude-opus-4-5"),
        (Bench::with_demo().told_to_use("anthropic/claude-opus-4-5"), "anthropic/claude-opus-4-5"),
        (Bench::with_demo().choosing("opus"), "opus"),
    ] {
        let mut bench = bench;
        let answer = bench.connect().await.post("/v1/messages", request()).await;
        assert_eq!((answer.status, answer.body), (400, error("permission_error", &message(model))));
        let ended = bench.ended().await;
        assert_eq!((ended.refusal, ended.called.status), (Some(RefusalKind::NoKey), 400));
        assert_eq!((ended.called.usage.total_tokens, ended.called.attempt), (0, 1));
    }
}

#[tokio::test]
async fn demo_model_answers_where_nobody_chose_a_model_and_by_its_name_even_beside_a_key() {
    let by_name = request().replace("claude-opus-4-5", "warren-demo-1");
    let provider = Provider::start().await;
    for (bench, body) in [
        (Bench::with_demo(), request().to_owned()),
        // What an agent asks for by itself, beside the model that somebody chose for something else.
        (Bench::with_demo().told_to_use("claude-haiku-4-5"), request().to_owned()),
        (Bench::with_demo().told_to_use("warren-demo-1").choosing("warren-demo-1"), by_name.clone()),
        (Bench::with_demo().choosing("warren-demo-1"), request().to_owned()),
        (Bench::with_provider(&provider).choosing("warren-demo-1"), by_name),
    ] {
        let mut bench = bench;
        assert_eq!(bench.connect().await.post("/v1/messages", body).await.status, 200);
        let ended = bench.ended().await;
        assert_eq!((ended.refusal, ended.called.model.as_str()), (None, "warren-demo-1"));
    }
    assert!(provider.received_nothing().await);
}
