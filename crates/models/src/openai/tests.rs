use hyper::{
    HeaderMap, Method, Uri,
    header::{HeaderName, HeaderValue},
};

use super::{answer_headers, path_at, refusal, request_headers};
use crate::{
    Format, Secret,
    format::{Route, RouteKind},
    refusal::{Refusal, RefusalKind},
};

fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    pairs.iter().map(pair).collect()
}

fn routed(format: Format, method: Method, uri: &'static str) -> Option<(String, RouteKind)> {
    let route: Option<Route> = format.wire().route(&method, &Uri::from_static(uri));
    route.map(|route| {
        assert_eq!(route.query, None);
        (route.path, route.kind)
    })
}

#[test]
fn only_exact_methods_and_paths_are_routes() {
    let found = |path: &str, kind| Some((path.to_owned(), kind));
    for (format, path) in
        [(Format::OpenAiChat, "/v1/chat/completions"), (Format::OpenAiResponses, "/v1/responses")]
    {
        assert_eq!(routed(format, Method::POST, path), found(path, RouteKind::Generate));
        assert_eq!(routed(format, Method::GET, path), None);
        assert_eq!(
            routed(format, Method::GET, "/v1/models?client_version=0.166.0"),
            found("/v1/models", RouteKind::Lookup)
        );
        for uri in [
            "/v1/models",
            "/v1/files",
            "/v1/batches",
            "/v1/responses/resp_1",
            "/v1/responses/compact",
            "/v1/chat/completions/chatcmpl-1",
            "/v1/chat//completions",
            "/v1/embeddings",
            "/responses",
        ] {
            assert_eq!(routed(format, Method::POST, uri), None, "{uri}");
        }
        assert_eq!(routed(format, Method::GET, "/v1/models/gpt-5"), None);
        assert_eq!(routed(format, Method::DELETE, "/v1/models"), None);
    }
    assert_eq!(routed(Format::OpenAiChat, Method::POST, "/v1/responses"), None);
    assert_eq!(routed(Format::OpenAiResponses, Method::POST, "/v1/chat/completions"), None);
}

#[test]
fn an_address_of_the_provider_holds_its_version_unless_it_has_no_path() {
    for (base, expected) in [
        ("", "/v1/responses"),
        ("/v1", "/v1/responses"),
        ("/api/v1", "/api/v1/responses"),
        ("/v1beta/openai", "/v1beta/openai/responses"),
    ] {
        assert_eq!(path_at(base, "/v1/responses"), expected);
    }
}

#[test]
fn only_what_is_accepted_and_the_real_key_go_to_the_provider() {
    let sandbox = map(&[
        ("authorization", "Bearer placeholder"),
        ("openai-organization", "somebody-elses"),
        ("openai-project", "somebody-elses"),
        ("session_id", "s"),
        ("accept", "text/event-stream"),
        ("accept-encoding", "gzip, br"),
    ]);
    let expected = map(&[
        ("content-type", "application/json"),
        ("user-agent", concat!("warren/", env!("CARGO_PKG_VERSION"))),
        ("accept-encoding", "identity"),
        ("accept", "text/event-stream"),
        ("authorization", "Bearer sk-proj-real"),
    ]);
    assert_eq!(request_headers(&sandbox, Some(&Secret::new("sk-proj-real"))), expected);
}

#[test]
fn an_answer_keeps_what_agents_need_and_loses_whose_account_it_is() {
    let provider = map(&[
        ("content-type", "application/json"),
        ("x-request-id", "req_1"),
        ("x-ratelimit-remaining-tokens", "9"),
        ("retry-after-ms", "300"),
        ("openai-organization", "org"),
        ("openai-project", "proj"),
        ("set-cookie", "__cf_bm=1"),
    ]);
    let kept = map(&[
        ("content-type", "application/json"),
        ("x-request-id", "req_1"),
        ("x-ratelimit-remaining-tokens", "9"),
        ("retry-after-ms", "300"),
    ]);
    assert_eq!(answer_headers(&provider), kept);
}

#[test]
fn a_refusal_has_the_shape_of_the_providers_errors() {
    let (status, body) = refusal(&Refusal::new(RefusalKind::BudgetSpent, "it is spent"));
    assert_eq!(status, 402);
    assert_eq!(
        body,
        r#"{"error":{"code":"budget_exceeded","message":"it is spent","param":null,"type":"insufficient_quota"}}"#
    );
}
