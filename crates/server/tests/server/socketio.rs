//! Socket.IO, with the official client.

#[path = "socketio/puppet.rs"]
mod puppet;

use std::{future::Future, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use warren_domain::{BlockId, Draft, EventBody, RunId, Seq, SessionId};
use warren_server::{ServeOptions, serve};

use crate::support::TestServer;
use puppet::Puppet;

async fn listening(server: &TestServer) -> (SocketAddr, impl Future<Output = ()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (address, serve(listener, server.router.clone(), server.tasks.clone(), ServeOptions::default()))
}

/// Runs a story against a server that listens, then stops the server, which must leave nothing behind.
async fn story<F: Future<Output = ()>>(server: &TestServer, tell: impl FnOnce(String) -> F) {
    let (address, serving) = listening(server).await;
    let told = async {
        tell(format!("http://{address}")).await;
        server.tasks.cancel();
    };
    tokio::join!(serving, told);
    assert!(server.tasks.wait(Duration::from_secs(10)).await, "no connection is left");
}

fn delta(n: usize) -> Draft {
    let body = EventBody::TextDelta { block_id: BlockId::from("b"), delta: format!("piece {n} ") };
    Draft::of_run(RunId(uuid::Uuid::nil()), body)
}

async fn emit(server: &TestServer, session: SessionId, n: usize) -> Seq {
    server.runtime.emit(session, (0..n).map(delta).collect()).await
}

fn numbers(seen: &[Value]) -> Vec<u64> {
    let events = seen.iter().filter(|line| line["is"] == "event");
    events.filter_map(|line| line["payload"]["seq"].as_u64()).collect()
}

fn token(secret: &str) -> Value {
    json!({ "auth": { "token": secret } })
}

async fn a_client_that_drops_misses_nothing(transports: &[&str]) {
    let Some(mut puppet) = Puppet::new() else { return };
    let server = TestServer::start().await;
    let session = server.session().await;
    story(&server, async |url| {
        puppet.connect(&url, json!({ "auth": { "token": server.owner }, "transports": transports })).await;
        let mut seen = puppet.until(|line| line["is"] == "connect").await;
        emit(&server, session, 40).await;
        puppet.tell(json!({ "do": "follow", "sessionId": session, "after": 0 })).await;
        seen.extend(puppet.until(|line| line["is"] == "joined").await);
        assert_eq!(seen.last().expect("an answer")["answer"], json!({ "lastSeq": 41 }));
        for round in 0..4 {
            // Some before it drops, some while it is away, some after it came back.
            let middle = emit(&server, session, 30).await;
            let last_seen = middle.0 - 10;
            seen.extend(puppet.until(|line| line["payload"]["seq"].as_u64() >= Some(last_seen)).await);
            puppet.tell(json!({ "do": "drop" })).await;
            emit(&server, session, 30).await;
            seen.extend(puppet.until(|line| line["is"] == "joined").await);
            assert!(seen.iter().any(|line| line["is"] == "disconnect"), "round {round}");
        }
        let last = emit(&server, session, 5).await.0;
        seen.extend(puppet.until(|line| line["payload"]["seq"] == last).await);
        assert_eq!(numbers(&seen), (1..=last).collect::<Vec<_>>(), "{transports:?}");
        let ways = |is: &str| {
            seen.iter()
                .filter(|line| line["is"] == is)
                .map(|line| line["transport"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ways("open"), vec![json!(transports[0]); 5], "five connections");
        // One that was dropped at once may not have got so far.
        assert_eq!(ways("upgrade").first(), transports.get(1).map(|way| json!(way)).as_ref());
    })
    .await;
}

#[tokio::test]
async fn a_client_that_drops_misses_nothing_by_polling() {
    a_client_that_drops_misses_nothing(&["polling"]).await;
}

#[tokio::test]
async fn a_client_that_drops_misses_nothing_by_websocket() {
    a_client_that_drops_misses_nothing(&["websocket"]).await;
}

#[tokio::test]
async fn a_client_that_drops_misses_nothing_by_upgrade() {
    a_client_that_drops_misses_nothing(&["polling", "websocket"]).await;
}

#[tokio::test]
async fn only_those_who_show_a_good_token_connect() {
    let server = TestServer::start().await;
    let identity = server.owner_identity().await;
    let link = server.gateway.sign_in_link_for(&identity).expect("a link");
    let signed_in = server.gateway.sign_in(&link.code).await.expect("signed in");
    let cookie = format!("warren_session={}", signed_in.secret.expose());
    let bearer = format!("Bearer {}", server.owner);
    let cases = [
        ("nothing", json!({}), Some("UNAUTHORIZED: a token is needed; connect with `auth: {token}`")),
        ("a wrong token", json!({"auth": {"token": "wrn_no"}}), Some("UNAUTHORIZED: the token is unknown")),
        (
            "nonsense",
            json!({"auth": {"token": 7}}),
            Some("UNAUTHORIZED: a token is needed; connect with `auth: {token}`"),
        ),
        ("a token in the header", json!({"extraHeaders": {"Authorization": bearer}}), None),
        (
            "a cookie alone",
            json!({"extraHeaders": {"Cookie": cookie}}),
            Some("FORBIDDEN: `auth.csrf` is missing or wrong; it is the cookie `warren_csrf`"),
        ),
        (
            "a cookie and its companion",
            json!({"extraHeaders": {"Cookie": cookie}, "auth": {"csrf": signed_in.csrf}}),
            None,
        ),
        (
            "a page of another origin",
            json!({"extraHeaders": {"Origin": "http://evil.example"}, "auth": {"token": server.owner}}),
            Some("xhr poll error"),
        ),
    ];
    story(&server, async |url| {
        for (who, options, expect) in cases {
            let Some(mut puppet) = Puppet::new() else { return };
            puppet.connect(&url, options).await;
            let ended = |line: &Value| line["is"] == "connect" || line["is"] == "connect_error";
            let last = puppet.until(ended).await.pop().expect("an end");
            assert_eq!(last["message"].as_str(), expect, "{who}: {last}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_joins_only_what_it_may_read() {
    let Some(mut puppet) = Puppet::new() else { return };
    let server = TestServer::start().await;
    let foreign = server.session().await;
    let project = server.project("default", "mine").await;
    let writer = server.token("default", &format!("project:{project}")).await;
    let own = server.post(&writer, "/api/sessions", "{}").await.json()["sessionId"].clone();
    let reader = server.token("default", &format!("project:{project}:ro")).await;
    story(&server, async |url| {
        puppet.connect(&url, token(&reader)).await;
        let list = puppet.wait_for("sessions:list").await;
        let listed: Vec<_> =
            list["payload"].as_array().expect("sessions").iter().map(|it| &it["sessionId"]).collect();
        assert_eq!(listed, [&own], "only its own");
        for (asked, expect) in [
            (json!({ "sessionId": foreign, "after": 0 }), "NOT_FOUND"),
            (json!({ "sessionId": uuid::Uuid::nil() }), "NOT_FOUND"),
            (json!({ "sessionId": own, "after": 99 }), "BAD_REQUEST"),
            (json!({ "sessionId": "nonsense" }), "BAD_REQUEST"),
            (json!({}), "BAD_REQUEST"),
        ] {
            puppet.tell(json!({ "do": "emit", "name": "session:join", "payload": asked })).await;
            let answer = puppet.wait_for("answer").await;
            assert_eq!(answer["answer"]["error"]["code"], expect, "{asked}");
        }
        // A message that there is not is answered too.
        puppet.tell(json!({ "do": "emit", "name": "session:jion", "payload": {} })).await;
        assert_eq!(puppet.wait_for("answer").await["answer"]["error"]["code"], "BAD_REQUEST");
        // Whoever asks for no acknowledgement is told by `error`, and only then.
        puppet
            .tell(json!({ "do": "send", "name": "session:join", "payload": { "sessionId": foreign } }))
            .await;
        let seen = puppet.until(|line| line["name"] == "error").await;
        assert_eq!(seen.last().expect("an error")["payload"]["code"], "NOT_FOUND");
        assert_eq!(seen.iter().filter(|line| line["name"] == "error").count(), 1, "{seen:?}");
        // The bare id that older clients send: from now on.
        puppet.tell(json!({ "do": "emit", "name": "session:join", "payload": own })).await;
        assert_eq!(puppet.wait_for("answer").await["answer"], json!({ "lastSeq": 1 }));
        let id: SessionId = own.as_str().expect("an id").parse().expect("an id");
        let seq = emit(&server, id, 1).await;
        let told = puppet.wait_for("session:block:delta").await;
        assert_eq!(told["payload"]["seq"], json!(seq));
        puppet.tell(json!({ "do": "emit", "name": "session:leave", "payload": { "sessionId": own } })).await;
        puppet.wait_for("answer").await;
        emit(&server, id, 1).await;
        server
            .send(axum::http::Method::PATCH, &writer, &format!("/api/sessions/{id}"), r#"{"name": "x"}"#)
            .await;
        let seen = puppet.until(|line| line["name"] == "sessions:changed").await;
        assert_eq!(numbers(&seen), [] as [u64; 0], "it left");
    })
    .await;
}

#[tokio::test]
async fn a_revoked_token_ends_what_it_began() {
    let Some(mut puppet) = Puppet::new() else { return };
    let server = TestServer::start().await;
    let session = server.session().await;
    let secret = server.token("default", "admin:ro").await;
    story(&server, async |url| {
        puppet.connect(&url, token(&secret)).await;
        puppet.wait_for("connect").await;
        puppet.tell(json!({ "do": "follow", "sessionId": session, "after": 0 })).await;
        puppet.wait_for("session:created").await;
        let id = server.gateway.authenticate(&secret).await.expect("it works").token_id;
        server.gateway.token_delete(&server.owner_identity().await, id).await.expect("revoked");
        emit(&server, session, 3).await;
        let seen = puppet.until(|line| line["is"] == "disconnect").await;
        assert_eq!(numbers(&seen), [] as [u64; 0], "nothing is told after it was revoked");
    })
    .await;
}

#[tokio::test]
async fn everyone_is_told_how_the_list_changes_and_whether_a_session_is_in_memory() {
    let Some(mut puppet) = Puppet::new() else { return };
    let server = TestServer::start().await;
    story(&server, async |url| {
        puppet.connect(&url, token(&server.owner)).await;
        assert_eq!(puppet.wait_for("sessions:list").await["payload"], json!([]));
        let session = server.session().await;
        let created = puppet.wait_for("session:created").await;
        assert_eq!(created["payload"]["sessionId"], json!(session));
        assert_eq!(
            (&created["payload"]["type"], &created["payload"]["seq"]),
            (&json!("builtin"), &Value::Null)
        );
        let change = puppet.wait_for("sessions:changed").await;
        assert_eq!(change["payload"]["change"], "created");
        assert_eq!(change["payload"]["session"]["sessionId"], json!(session));
        puppet.tell(json!({ "do": "follow", "sessionId": session, "after": 1 })).await;
        puppet.wait_for("joined").await;
        server.post(&server.owner, &format!("/api/sessions/{session}/load"), "").await;
        server.runtime.tell_runtime(session);
        let status = puppet.wait_for("session:status").await;
        assert_eq!(
            status["payload"],
            json!({ "seq": null, "sessionId": session, "runtime": { "isLoaded": true, "sandbox": null } })
        );
        puppet.tell(json!({ "do": "emit", "name": "sessions:list", "payload": {} })).await;
        let answer = puppet.wait_for("answer").await;
        assert_eq!(answer["answer"]["sessions"][0]["sessionId"], json!(session));
        server.send(axum::http::Method::DELETE, &server.owner, &format!("/api/sessions/{session}"), "").await;
        let seen = puppet.until(|line| line["payload"]["change"] == "erased").await;
        assert_eq!(seen.last().expect("news")["payload"]["sessionId"], json!(session));
    })
    .await;
}
