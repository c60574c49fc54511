//! Sign-ins that are made from tokens, and end with them.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use serde_json::{Value, json};
use warren_domain::Timestamp;
use warren_env::ManualClock;

use crate::support::{TestServer, request};

/// Shows a token at the page's sign-in; the secret of the cookie that comes back works as a token too.
pub(crate) async fn exchange(server: &TestServer, token: &str) -> String {
    let request =
        request(Method::POST, "/api/auth/sign-in", None).header(header::CONTENT_TYPE, "application/json");
    let reply = server
        .call(request.body(Body::from(json!({ "token": token }).to_string())).expect("a request"))
        .await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let cookie = reply.headers[header::SET_COOKIE].to_str().expect("text");
    let secret = cookie.strip_prefix("warren_session=").and_then(|rest| rest.split(';').next());
    secret.expect("a secret").to_owned()
}

/// A new token: what the API says of it, and its secret.
pub(crate) async fn token(server: &TestServer, wanted: &Value) -> (Value, String) {
    let reply = server.post(&server.owner, "/api/tokens", &wanted.to_string()).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    let made = reply.json();
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    (made, secret)
}

#[tokio::test]
async fn a_sign_in_made_from_a_short_token_is_dead_when_the_token_is() {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let server = TestServer::on_clock(clock.clone()).await;
    let expires_at = Timestamp::from_millis(1_700_000_004_000);
    let (_, short) =
        token(&server, &json!({"name": "short", "scope": "admin", "expiresAt": expires_at})).await;
    let browser = exchange(&server, &short).await;
    let renewed = exchange(&server, &browser).await;
    for secret in [&short, &browser, &renewed] {
        assert_eq!(server.get(secret, "/api/auth").await.status, StatusCode::OK);
    }
    clock.advance_millis(4_000);
    for secret in [&short, &browser, &renewed] {
        assert_eq!(server.get(secret, "/api/auth").await.problem(), "UNAUTHORIZED");
    }
}

#[tokio::test]
async fn a_sign_in_made_from_a_revoked_administrator_can_do_nothing() {
    let server = TestServer::start().await;
    let (admin, secret) = token(&server, &json!({"name": "leaver", "scope": "admin"})).await;
    let browser = exchange(&server, &secret).await;
    let renewed = exchange(&server, &browser).await;
    let link = server.post(&secret, "/api/auth/link", "").await.json();
    let listed = server.get(&server.owner, "/api/tokens").await.json();
    let parents: Vec<_> =
        listed["tokens"].as_array().expect("tokens").iter().map(|one| &one["parent"]).collect();
    assert!(parents.contains(&&admin["tokenId"]), "an administrator sees what it was made from: {listed}");

    let path = format!("/api/tokens/{}", admin["tokenId"].as_str().expect("an id"));
    let revoked = server.send(Method::DELETE, &server.owner, &path, "").await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT);
    let another = json!({"name": "another", "scope": "admin"}).to_string();
    for dead in [&secret, &browser, &renewed] {
        assert_eq!(server.get(dead, "/api/sessions").await.problem(), "UNAUTHORIZED");
        assert_eq!(server.post(dead, "/api/tokens", &another).await.problem(), "UNAUTHORIZED");
    }
    let enter = request(Method::GET, link["path"].as_str().expect("a path"), None);
    let entered = server.call(enter.body(Body::empty()).expect("a request")).await;
    assert_eq!(entered.problem(), "UNAUTHORIZED", "its links are closed too");
}

#[tokio::test]
async fn renewing_a_sign_in_never_extends_it_past_its_token() {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let server = TestServer::on_clock(clock.clone()).await;
    let (_, endless) = token(&server, &json!({"name": "endless", "scope": "admin"})).await;
    let mut browser = exchange(&server, &endless).await;
    let day = 24 * 60 * 60 * 1000;
    for _ in 0..3 {
        clock.advance_millis(9 * day);
        browser = exchange(&server, &browser).await;
    }
    clock.advance_millis(3 * day - 1);
    assert_eq!(server.get(&browser, "/api/auth").await.status, StatusCode::OK, "thirty days from the first");
    clock.advance_millis(1);
    assert_eq!(server.get(&browser, "/api/auth").await.problem(), "UNAUTHORIZED");
    assert_eq!(server.get(&endless, "/api/auth").await.status, StatusCode::OK, "the token itself goes on");
}

#[tokio::test]
async fn looking_at_a_sign_in_link_does_not_use_it_up() {
    let server = TestServer::start().await;
    let link = server.post(&server.owner, "/api/auth/link", "").await.json();
    let ask = |method: Method| request(method, link["path"].as_str().expect("a path"), None);
    for method in [Method::HEAD, Method::OPTIONS, Method::POST] {
        let looked = server.call(ask(method.clone()).body(Body::empty()).expect("a request")).await;
        assert_eq!(looked.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(looked.headers.get(header::SET_COOKIE), None, "{method}");
    }
    let entered = server.call(ask(Method::GET).body(Body::empty()).expect("a request")).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "it still works");
    assert!(entered.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn used_sign_in_link_shows_a_browser_the_command_for_a_new_one() {
    let server = TestServer::start().await;
    let link = server.post(&server.owner, "/api/auth/link", "").await.json();
    let session = "0199aaaa-0000-7000-8000-000000000001";
    let path = format!("{}&session={session}", link["path"].as_str().expect("a path"));
    let visit = |accept: &str| {
        let visit = request(Method::GET, &path, None).header(header::ACCEPT, accept);
        visit.body(Body::empty()).expect("a request")
    };
    let entered = server.call(visit("text/html")).await;
    assert_eq!(
        entered.headers[header::LOCATION],
        format!("/sessions/{session}").as_str(),
        "it leads to the session"
    );

    let again = server.call(visit("text/html,application/xhtml+xml,*/*;q=0.8")).await;
    assert_eq!((again.status, again.headers.get(header::SET_COOKIE)), (StatusCode::UNAUTHORIZED, None));
    assert_eq!(again.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    let shown = String::from_utf8_lossy(&again.body);
    assert!(shown.contains("<code>warren open</code>"), "{shown}");
    assert_eq!(server.call(visit("application/json")).await.problem(), "UNAUTHORIZED", "programs get JSON");

    let elsewhere = format!("/auth?code=x&session={}", "//evil.example");
    let refused = request(Method::GET, &elsewhere, None).body(Body::empty()).expect("a request");
    assert_eq!(server.call(refused).await.problem(), "BAD_REQUEST", "only IDs of sessions");
}
