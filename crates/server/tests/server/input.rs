//! Bad input: a clear problem document, and nothing changes.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use bytes::Bytes;
use serde_json::json;
use warren_wire::{BodyForm, ROUTES, RouteName};

use crate::support::{TestServer, request, row};

#[tokio::test]
async fn every_route_that_takes_a_body_refuses_a_bad_one() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let bearer = format!("Bearer {}", server.owner);
    let is_json = |route: &&warren_wire::Route| route.body.is_some_and(|body| body.form == BodyForm::Json);
    for route in ROUTES.iter().filter(is_json) {
        let bodies: [(&[u8], &str, u16); 7] = [
            (b"{\"broken\": ", "BAD_REQUEST", 400),
            (b"[1, 2", "BAD_REQUEST", 400),
            (b"\"text\"", "BAD_REQUEST", 400),
            (b"{\"no-such-field\": 1}", "BAD_REQUEST", 400),
            (b"{\"name\": \"\xff\xfe\", \"content\": \"\xff\"}", "BAD_REQUEST", 400),
            (&[b'['; 4000], "BAD_REQUEST", 400),
            (&[b' '; 4097], "TOO_LARGE", 413),
        ];
        for (body, code, status) in bodies {
            let mut sent = row(route, session).header(header::AUTHORIZATION, &bearer);
            // A body that may be long is refused by the length it announces.
            if let Some(limit) = route.body.and_then(|body| body.limit).filter(|_| status == 413) {
                sent = sent.header(header::CONTENT_LENGTH, limit + 1);
            }
            let reply = server.call(sent.body(Body::from(body.to_vec())).expect("a request")).await;
            assert_eq!((reply.problem().as_str(), reply.status.as_u16()), (code, status), "{}", route.name);
        }
    }
    let listed = server.get(&server.owner, "/api/sessions").await.json();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "nothing was made");
    let events = server.get(&server.owner, &format!("/api/sessions/{session}/events")).await.json();
    assert_eq!(events["head"], 1, "nothing was recorded");
}

#[tokio::test]
async fn wrong_types_are_told_with_their_field() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for (path, body, field) in [
        ("/api/sessions".to_owned(), json!({"name": 7}), "name"),
        ("/api/sessions".to_owned(), json!({"projectId": "not-a-uuid"}), "projectId"),
        ("/api/sessions".to_owned(), json!({"options": {"model": {}}}), "options.model"),
        (
            "/api/sessions".to_owned(),
            json!({"options": {"budget": {"costUsd": "a lot"}}}),
            "options.budget.costUsd",
        ),
        (
            format!("/api/sessions/{session}/messages"),
            json!({"content": "x", "whenBusy": "later"}),
            "whenBusy",
        ),
        (
            format!("/api/sessions/{session}/messages"),
            json!({"content": "x", "baseVersion": -1}),
            "baseVersion",
        ),
    ] {
        let reply = server.post(&server.owner, &path, &body.to_string()).await;
        assert_eq!(reply.problem(), "BAD_REQUEST");
        assert_eq!(reply.json()["at"]["field"], field, "{}", reply.json());
    }
}

#[tokio::test]
async fn a_text_that_not_every_database_keeps_is_refused_where_it_would_be_stored() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let import =
        json!({"type": "claude-code", "transcript": "", "subagents": [{"id": "a\0b", "transcript": ""}]});
    for (path, body) in [
        ("/api/sessions".to_owned(), json!({"name": "a\0b"})),
        ("/api/import".to_owned(), import),
        ("/api/tokens".to_owned(), json!({"name": "n", "scope": "admin", "owner": "a\0b"})),
        ("/api/tokens".to_owned(), json!({"name": "n", "scope": "admin", "plan": "paid\0"})),
    ] {
        let reply = server.post(&server.owner, &path, &body.to_string()).await;
        assert_eq!(reply.problem(), "BAD_REQUEST", "{path}");
    }
    let label = format!("/api/sessions/{session}/versions/1/label");
    let labelled = server.send(Method::PUT, &server.owner, &label, r#"{"label": "a\u0000b"}"#).await;
    assert_eq!(labelled.problem(), "BAD_REQUEST");
    let token = json!({"name": "n", "scope": "admin", "owner": "o"}).to_string();
    let named = server.post(&server.owner, "/api/tokens", &token).await;
    assert_eq!(named.status, StatusCode::CREATED, "the same without NUL is taken");
}

#[tokio::test]
async fn a_body_without_an_announced_length_is_cut_off_at_the_limit() {
    let server = TestServer::start().await;
    let chunks = (0..100).map(|_| Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b' '; 100])));
    let request = request(Method::POST, "/api/sessions", Some(&server.owner))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from_stream(futures::stream::iter(chunks)))
        .expect("a request");
    assert_eq!(server.call(request).await.problem(), "TOO_LARGE");
}

#[tokio::test]
async fn only_json_is_taken() {
    let server = TestServer::start().await;
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let request = request(Method::POST, "/api/sessions", Some(&server.owner))
            .header(header::CONTENT_TYPE, media)
            .body(Body::from("{}"))
            .expect("a request");
        assert_eq!(server.call(request).await.problem(), "UNSUPPORTED_MEDIA_TYPE");
    }
}

#[tokio::test]
async fn unknown_ids_routes_and_methods_are_problem_documents() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let nobody = "018f0000-0000-7000-8000-000000000001";
    for path in [
        "/nowhere".to_owned(),
        "/api/sessions/".to_owned(),
        format!("/api/sessions/{nobody}"),
        "/api/sessions/..%2f..%2fetc".to_owned(),
        format!("/api/sessions/{session}/runs/{nobody}"),
        format!("/api/sessions/{session}/runs/x"),
        format!("/api/sessions/{session}/blobs/x"),
        format!("/api/sessions/{session}/blobs/{}", "0".repeat(64)),
        "/api/profiles/nobodys".to_owned(),
        format!("/api/tokens/{nobody}"),
        "/errors/NO_SUCH_CODE".to_owned(),
    ] {
        let reply = server.get(&server.owner, &path).await;
        assert_eq!(reply.problem(), "NOT_FOUND", "{path}");
    }
    // No name has these in it, so that they are asked of no database.
    for path in ["/api/sessions/%ff", "/api/sessions/%00"] {
        assert_eq!(server.get(&server.owner, path).await.problem(), "BAD_REQUEST", "{path}");
    }
    let reply = server.send(Method::PUT, &server.owner, "/api/sessions", "{}").await;
    assert_eq!(reply.problem(), "METHOD_NOT_ALLOWED");
    let mut allowed: Vec<_> = reply.headers[header::ALLOW].to_str().expect("text").split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "POST"]);
}

#[tokio::test]
async fn every_route_refuses_a_query_that_is_not_in_the_table() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for route in ROUTES {
        let plain = row(route, session).body(()).expect("a request");
        let uri = format!("{}?no-such-parameter=1", plain.uri());
        let method = Method::from_bytes(route.method.as_str().as_bytes()).expect("a method");
        let request = request(method, &uri, Some(&server.owner)).body(Body::empty()).expect("a request");
        assert_eq!(server.call(request).await.problem(), "BAD_REQUEST", "{}", route.name);
    }
    for path in ["/api/sessions?cursor=x", "/api/sessions?limit=1e3", "/api/usage?from=now&groupBy=day"] {
        assert_eq!(server.get(&server.owner, path).await.problem(), "BAD_REQUEST", "{path}");
    }
    let events = format!("/api/sessions/{session}/events");
    for wrong in ["x", "-1", "1.5", ""] {
        let mut stream =
            request(Method::GET, &events, Some(&server.owner)).header(header::ACCEPT, "text/event-stream");
        stream = stream.header("last-event-id", wrong);
        let reply = server.call(stream.body(Body::empty()).expect("a request")).await;
        assert_eq!(reply.problem(), "BAD_REQUEST", "{wrong}");
    }
}

#[tokio::test]
async fn a_form_that_cannot_be_given_is_not_acceptable() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for (path, accept) in [
        (format!("/api/sessions/{session}/events"), "text/html"),
        (format!("/api/sessions/{session}"), "text/event-stream"),
        ("/api/events".to_owned(), "application/json"),
    ] {
        let request = request(Method::GET, &path, Some(&server.owner)).header(header::ACCEPT, accept);
        let reply = server.call(request.body(Body::empty()).expect("a request")).await;
        assert_eq!((reply.status, reply.problem().as_str()), (StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE"));
    }
}

#[tokio::test]
async fn a_panic_is_an_answer_and_the_server_goes_on() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/end");
    let reply = server.post(&server.owner, &path, r#"{"reason": "secret words of a panic"}"#).await;
    assert_eq!((reply.status, reply.problem().as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL"));
    assert!(!String::from_utf8_lossy(&reply.body).contains("secret words"));
    assert_eq!(server.get(&server.owner, &format!("/api/sessions/{session}")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_request_keeps_its_id_if_it_is_a_plain_one() {
    let server = TestServer::start().await;
    for (sent, kept) in
        [("client-7:a.b_c", true), ("with space", false), (&"x".repeat(129), false), ("", false)]
    {
        let request = request(Method::GET, "/nowhere", None).header("x-request-id", sent);
        let reply = server.call(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(reply.headers["x-request-id"] == sent, kept, "{sent}");
        assert_eq!(reply.problem(), "NOT_FOUND");
    }
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let server = TestServer::start().await;
    for path in ["/health", "/nowhere", "/api/sessions"] {
        let reply = server.get(&server.owner, path).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ] {
            assert_eq!(reply.headers[name], value, "{path}");
        }
    }
}

#[tokio::test]
async fn every_problem_leads_to_a_page_that_explains_it() {
    let server = TestServer::start().await;
    let problem = server.get("nobody", "/api/sessions").await;
    assert_eq!(problem.problem(), "UNAUTHORIZED");
    let page = server.get("", problem.json()["type"].as_str().expect("a path")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.starts_with(b"# UNAUTHORIZED\n"));
    assert!(ROUTES.iter().any(|route| route.name == RouteName::ErrorPage));
}
