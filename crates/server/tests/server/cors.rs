//! Pages of other origins that the operator lets call.

use axum::{
    body::Body,
    http::{HeaderMap, Method, StatusCode, header},
};
use serde_json::json;

use crate::support::{Reply, TestServer, request};

const APP: &str = "https://app.example.com";

/// What a browser asks before it lets a page call.
async fn preflight(server: &TestServer, origin: &str, path: &str) -> Reply {
    let asked = request(Method::OPTIONS, path, None)
        .header(header::ORIGIN, origin)
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "PATCH")
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,content-type,last-event-id");
    server.call(asked.body(Body::empty()).expect("a request")).await
}

async fn call(server: &TestServer, method: Method, origin: &str, path: &str, secret: Option<&str>) -> Reply {
    let asked = request(method, path, secret)
        .header(header::ORIGIN, origin)
        .header(header::CONTENT_TYPE, "application/json");
    server.call(asked.body(Body::from("{}")).expect("a request")).await
}

fn allowed(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).map(|value| value.to_str().expect("text"))
}

#[tokio::test]
async fn preflight_of_allowed_origin_names_it_and_never_a_wildcard() {
    let server = TestServer::allowing(&["http://localhost:5173", APP]).await;
    for path in ["/api/sessions", "/api/build/sessions", "/api/events", "/socket.io/?EIO=4&transport=polling"]
    {
        let reply = preflight(&server, APP, path).await;
        assert!(reply.status.is_success(), "{path} {reply:?}");
        assert_eq!(allowed(&reply.headers), Some(APP), "{path}");
        let text = |name| reply.headers[name].to_str().expect("text").to_lowercase();
        assert!(text(header::ACCESS_CONTROL_ALLOW_METHODS).contains("patch"), "{path}");
        assert!(text(header::ACCESS_CONTROL_ALLOW_HEADERS).contains("last-event-id"), "{path}");
        assert_eq!(text(header::ACCESS_CONTROL_ALLOW_CREDENTIALS), "true", "{path}");
        let varies = reply.headers.get_all(header::VARY).iter();
        let varies = varies.map(|value| value.to_str().expect("text").to_lowercase()).collect::<String>();
        assert!(varies.contains("origin"), "{path} {varies}");
    }
}

#[tokio::test]
async fn origin_that_differs_in_scheme_host_or_port_is_not_allowed() {
    let server = TestServer::allowing(&[APP]).await;
    for origin in [
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "https://evil.example",
        "https://sub.app.example.com",
        "null",
        "",
    ] {
        let asked = preflight(&server, origin, "/api/sessions").await;
        assert_eq!(allowed(&asked.headers), None, "{origin}");
        let sent = call(&server, Method::POST, origin, "/api/sessions", Some(&server.owner)).await;
        assert_eq!((sent.problem().as_str(), allowed(&sent.headers)), ("FORBIDDEN", None), "{origin}");
        let socket = call(&server, Method::GET, origin, "/socket.io/?EIO=4&transport=polling", None).await;
        assert_eq!(socket.status, StatusCode::FORBIDDEN, "{origin}");
        let read = call(&server, Method::GET, origin, "/api/sessions", Some(&server.owner)).await;
        assert_eq!(allowed(&read.headers), None, "{origin}");
    }
}

#[tokio::test]
async fn page_of_allowed_origin_reads_writes_and_follows_with_its_token() {
    let server = TestServer::allowing(&[APP]).await;
    let made = call(&server, Method::POST, APP, "/api/sessions", Some(&server.owner)).await;
    assert_eq!((made.status, allowed(&made.headers)), (StatusCode::CREATED, Some(APP)));
    let exposed = made.headers[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().expect("text").to_lowercase();
    assert!(exposed.contains("etag") && exposed.contains("x-request-id"), "{exposed}");
    // A refusal can be read too: the page has to know what went wrong.
    let refused = call(&server, Method::GET, APP, "/api/sessions", None).await;
    assert_eq!((refused.problem().as_str(), allowed(&refused.headers)), ("UNAUTHORIZED", Some(APP)));

    let session = made.json()["sessionId"].as_str().expect("an id").to_owned();
    let follow = request(Method::GET, &format!("/api/sessions/{session}/events"), Some(&server.owner))
        .header(header::ORIGIN, APP)
        .header(header::ACCEPT, "text/event-stream");
    let stream = server.open(follow.body(Body::empty()).expect("a request")).await;
    assert_eq!((stream.status(), allowed(stream.headers())), (StatusCode::OK, Some(APP)));
    let socket = call(&server, Method::GET, APP, "/socket.io/?EIO=4&transport=polling", None).await;
    assert_eq!((socket.status, allowed(&socket.headers)), (StatusCode::OK, Some(APP)));
    server.tasks.cancel();
}

#[tokio::test]
async fn cookie_of_allowed_origin_changes_nothing_without_its_companion() {
    let server = TestServer::allowing(&[APP]).await;
    let sign_in = json!({ "token": server.owner }).to_string();
    let signed_in = server.post(&server.owner, "/api/auth/sign-in", &sign_in).await;
    let cookies = signed_in.headers.get_all(header::SET_COOKIE).iter();
    let cookies =
        cookies.map(|value| value.to_str().expect("text").split(';').next().expect("a pair").to_owned());
    let cookies = cookies.collect::<Vec<_>>().join("; ");
    assert!(cookies.contains("warren_session="), "{signed_in:?}");
    let sent = request(Method::POST, "/api/sessions", None)
        .header(header::ORIGIN, APP)
        .header(header::COOKIE, cookies)
        .header(header::CONTENT_TYPE, "application/json");
    let refused = server.call(sent.body(Body::from("{}")).expect("a request")).await;
    assert_eq!(refused.problem(), "FORBIDDEN");
}

#[tokio::test]
async fn preview_host_is_never_an_allowed_origin() {
    let session = "00000000-0000-0000-0000-000000000007";
    let preview = format!("http://3000-{session}.localhost:7777");
    let server = TestServer::allowing(&[&preview, APP]).await;
    assert_eq!(allowed(&preflight(&server, &preview, "/api/sessions").await.headers), None);
    let sent = call(&server, Method::POST, &preview, "/api/sessions", Some(&server.owner)).await;
    assert_eq!(sent.problem(), "FORBIDDEN");
}

#[tokio::test]
async fn server_without_allowed_origins_answers_no_preflight() {
    let server = TestServer::start().await;
    let reply = preflight(&server, APP, "/api/sessions").await;
    assert_eq!((reply.problem().as_str(), allowed(&reply.headers)), ("METHOD_NOT_ALLOWED", None));
}
