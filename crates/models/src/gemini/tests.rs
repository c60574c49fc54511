use hyper::{
    HeaderMap, Method, Uri,
    header::{HeaderName, HeaderValue},
};

use super::GenerateContent;
use crate::{
    Secret,
    format::{Route, RouteKind, Wire},
    refusal::{Refusal, RefusalKind},
};

fn routed(method: Method, uri: &'static str) -> Option<Route> {
    GenerateContent.route(&method, &Uri::from_static(uri))
}

fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    pairs.iter().map(pair).collect()
}

#[test]
fn only_exact_methods_and_paths_are_routes() {
    let route = |path: &str, query, kind| Some(Route { path: path.to_owned(), query, kind });
    let stream = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
    assert_eq!(
        routed(Method::POST, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=secret&alt=sse"),
        route(stream, Some("alt=sse"), RouteKind::Generate)
    );
    assert_eq!(routed(Method::POST, stream), route(stream, None, RouteKind::Generate));
    let whole = "/v1/models/gemini-3-pro_x:generateContent";
    assert_eq!(
        routed(Method::POST, "/v1/models/gemini-3-pro_x:generateContent?alt=json"),
        route(whole, None, RouteKind::Generate)
    );
    let count = "/v1beta/models/m:countTokens";
    assert_eq!(routed(Method::POST, count), route(count, None, RouteKind::Count));
    assert_eq!(
        routed(Method::GET, "/v1beta/models?pageSize=9"),
        route("/v1beta/models", None, RouteKind::Lookup)
    );
    for uri in [
        "/v1beta/models/m:embedContent",
        "/v1beta/models/m:batchGenerateContent",
        "/v1beta/models/m:generateContent/",
        "/v1beta/models/m:generateContent:x",
        "/v1beta/models/../files:generateContent",
        "/v1beta/models/a/b:generateContent",
        "/v1beta/models/%2e%2e:generateContent",
        "/v1beta/models/:generateContent",
        "/v1beta/models/.m:generateContent",
        "/v1beta/tunedModels/m:generateContent",
        "/v1alpha/models/m:generateContent",
        "/v1beta/files",
        "/v1beta/cachedContents",
        "/upload/v1beta/files",
    ] {
        assert_eq!(routed(Method::POST, uri), None, "{uri}");
    }
    assert_eq!(routed(Method::GET, count), None);
    assert_eq!(routed(Method::GET, "/v1beta/models/m"), None);
    assert_eq!(routed(Method::POST, "/v1beta/models"), None);
}

#[test]
fn the_model_is_in_the_path() {
    let route = routed(Method::POST, "/v1beta/models/gemini-2.5-pro:streamGenerateContent").expect("a route");
    let inspected = GenerateContent.inspect(&route, b"{}").expect("read");
    assert_eq!((inspected.model.as_str(), inspected.streamed), ("gemini-2.5-pro", true));
}

#[test]
fn request_that_names_another_model_than_its_path_is_refused() {
    let route = routed(Method::POST, "/v1beta/models/gemini-2.5-pro:countTokens").expect("a route");
    let inspect =
        |body: &str| GenerateContent.inspect(&route, body.as_bytes()).map_err(|refusal| refusal.kind);
    for body in [
        r#"{"model":"models/gemini-2.5-pro"}"#,
        r#"{"model":"gemini-2.5-pro"}"#,
        r#"{"generateContentRequest":{"model":"models/gemini-2.5-pro"}}"#,
    ] {
        assert!(inspect(body).is_ok(), "{body}");
    }
    for body in [
        r#"{"model":"models/other"}"#,
        r#"{"model":"models/models/gemini-2.5-pro"}"#,
        r#"{"generateContentRequest":{"model":"models/other"}}"#,
        r#"{"model":"gemini-2.5-pro","Model":"other"}"#,
    ] {
        assert_eq!(inspect(body), Err(RefusalKind::Invalid), "{body}");
    }
}

#[test]
fn only_what_is_accepted_and_the_real_key_go_to_the_provider() {
    let sandbox = map(&[
        ("x-goog-api-key", "placeholder"),
        ("authorization", "Bearer placeholder"),
        ("x-goog-user-project", "somebody-elses"),
        ("x-goog-api-client", "agent/1"),
        ("accept", "text/event-stream"),
        ("accept-encoding", "gzip"),
        ("cookie", "a=b"),
    ]);
    let expected = map(&[
        ("content-type", "application/json"),
        ("user-agent", concat!("warren/", env!("CARGO_PKG_VERSION"))),
        ("accept-encoding", "identity"),
        ("accept", "text/event-stream"),
        ("x-goog-api-key", "AIza-real"),
    ]);
    assert_eq!(GenerateContent.request_headers(&sandbox, Some(&Secret::new("AIza-real"))), expected);
    let provider = map(&[("content-type", "text/event-stream"), ("set-cookie", "a=b"), ("server", "x")]);
    assert_eq!(GenerateContent.answer_headers(&provider), map(&[("content-type", "text/event-stream")]));
}

#[test]
fn a_refusal_has_the_shape_of_the_providers_errors() {
    let (status, body) = GenerateContent.refusal(&Refusal::new(RefusalKind::BudgetSpent, "it is spent"));
    assert_eq!(status, 402);
    assert_eq!(body, r#"{"error":{"code":402,"message":"it is spent","status":"FAILED_PRECONDITION"}}"#);
}
