//! Revoking a token ends what it began, whatever that is.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use bytes::Bytes;
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use warren_domain::{ArtifactKind, SessionId, Timestamp};
use warren_env::ManualClock;

use crate::{
    previews::{enter, grant, socket},
    sign_ins::{exchange, token},
    support::{Stream, TestServer, request},
};

/// Nothing here takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("{what} does not end"))
}

async fn revoke(server: &TestServer, made: &Value) {
    let path = format!("/api/tokens/{}", made["tokenId"].as_str().expect("an id"));
    let revoked = server.send(Method::DELETE, &server.owner, &path, "").await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT, "{revoked:?}");
}

/// Reads a stream to its end; what it says last is why it ended.
async fn last_words(what: &str, mut stream: Stream) -> Value {
    let mut last = Value::Null;
    while let Some((_, said)) = soon(what, stream.next()).await {
        last = said;
    }
    last
}

/// A Socket.IO client that polls.
struct Poller<'a> {
    server: &'a TestServer,
    path: String,
}

impl<'a> Poller<'a> {
    async fn connect(server: &'a TestServer, secret: &str) -> Self {
        let path = "/socket.io/?EIO=4&transport=polling".to_owned();
        let mut poller = Self { server, path };
        let opened = poller.poll().await.remove(0);
        let opened: Value =
            serde_json::from_str(opened.strip_prefix('0').expect("an open packet")).expect("JSON");
        poller.path = format!("{}&sid={}", poller.path, opened["sid"].as_str().expect("an id"));
        let hello = format!("40{}", json!({ "token": secret }));
        let sent = request(Method::POST, &poller.path, None).body(Body::from(hello)).expect("a request");
        assert_eq!(server.call(sent).await.status, StatusCode::OK);
        poller.until(|packet| packet.starts_with("42[\"sessions:list\"")).await;
        poller
    }

    async fn poll(&self) -> Vec<String> {
        let asked = request(Method::GET, &self.path, None).body(Body::empty()).expect("a request");
        let reply = soon("a poll", self.server.call(asked)).await;
        let text = String::from_utf8(reply.body).expect("text");
        text.split('\u{1e}').map(str::to_owned).collect()
    }

    /// Everything up to the first packet of which `is_last` is true.
    async fn until(&self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            for packet in self.poll().await {
                let ends = is_last(&packet);
                seen.push(packet);
                if ends {
                    return seen;
                }
            }
        }
    }
}

/// An upload that has begun and does not end by itself: what it is answered, and where its pieces come from.
fn upload(session: SessionId, secret: &str) -> (axum::http::Request<Body>, tokio::sync::mpsc::Sender<Bytes>) {
    let (pieces, come) = tokio::sync::mpsc::channel(1);
    let come = futures::stream::unfold(come, |mut come| async {
        let piece: Bytes = come.recv().await?;
        Some((Ok::<_, Infallible>(piece), come))
    });
    let request = request(Method::PUT, &format!("/api/sessions/{session}/fs?path=half.txt"), Some(secret));
    (request.body(Body::from_stream(come)).expect("a request"), pieces)
}

#[tokio::test]
async fn all_that_a_token_holds_open_ends_when_it_is_revoked() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (made, secret) = token(&server, &json!({"name": "leaver", "scope": "admin"})).await;
    let browser = exchange(&server, &secret).await;

    let events = format!("/api/sessions/{session}/events");
    let mut streams = Vec::new();
    for (what, secret, path) in [
        ("the events of a session", &secret, events.as_str()),
        ("news", &secret, "/api/events"),
        ("the events of a derived sign-in", &browser, events.as_str()),
    ] {
        let stream = server.stream_with(secret, path, &[]).await;
        assert_eq!(stream.status, StatusCode::OK, "{what}");
        streams.push((what, stream));
    }
    let mine = server.stream(&events, &[]).await;

    let (host, way_in) = grant(&server, &secret, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &way_in).await;
    let mut hot_reload = socket(&server, &host, &cookie).await;
    let endless =
        axum::http::Request::get("/endless").header(header::HOST, &host).header(header::COOKIE, &cookie);
    let endless = server.open(endless.body(Body::empty()).expect("a request")).await;
    let mut endless = endless.into_body().into_data_stream();
    assert_eq!(soon("a preview's answer", endless.next()).await.expect("a piece").expect("whole"), "first");

    let poller = Poller::connect(&server, &secret).await;
    let waiting = format!("{events}?after=1&wait=60");
    let waits = server.get(&secret, &waiting);
    let (request, pieces) = upload(session, &secret);
    let uploaded = server.call(request);

    let story = async {
        // The second is taken when the first has been read: the upload is under way.
        for piece in ["one", "two", "three"] {
            pieces.send(Bytes::from(piece)).await.expect("it is read");
        }
        revoke(&server, &made).await;
    };
    let (waited, uploaded, ()) = soon("a request", async { tokio::join!(waits, uploaded, story) }).await;
    assert_eq!(waited.problem(), "UNAUTHORIZED", "who waits is told");
    assert_eq!(uploaded.problem(), "UNAUTHORIZED", "an upload is not taken");
    assert_eq!(uploaded.json()["detail"], "the token has been revoked");
    assert_eq!(server.runtime.files.paths(), Vec::<String>::new(), "nothing of it stays");

    for (what, stream) in streams {
        let last = last_words(what, stream).await;
        assert_eq!((&last["code"], &last["status"]), (&json!("UNAUTHORIZED"), &json!(401)), "{what}: {last}");
        assert_eq!(last["detail"], "the token has been revoked", "{what}");
    }
    let rest = soon("a preview's answer", endless.next()).await.expect("an end that is none");
    assert!(rest.is_err(), "it breaks off, so that nobody takes it for the whole");
    let mut said = Vec::new();
    soon("a preview's socket", hot_reload.read_to_end(&mut said)).await.expect("it is closed");

    let packets = poller.until(|packet| packet == "41").await;
    let why = packets.iter().find(|packet| packet.starts_with("42[\"error\"")).expect("why");
    assert!(why.contains("UNAUTHORIZED") && why.contains("revoked"), "{why}");

    // Others go on.
    let mut mine = mine;
    assert_eq!(mine.ids(1).await, [1]);
    server.tasks.cancel();
}

#[tokio::test]
async fn a_stream_ends_when_its_token_expires() {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let server = TestServer::on_clock(clock.clone()).await;
    let session = server.session().await;
    let expires_at = Timestamp::from_millis(1_700_000_600_000);
    let (_, short) =
        token(&server, &json!({"name": "short", "scope": "admin", "expiresAt": expires_at})).await;
    let stream = server.stream_with(&short, &format!("/api/sessions/{session}/events"), &[]).await;
    clock.advance_millis(600_000);
    let last = last_words("a stream", stream).await;
    assert_eq!((&last["code"], &last["detail"]), (&json!("UNAUTHORIZED"), &json!("the token has expired")));
    server.tasks.cancel();
}

#[tokio::test]
async fn revoking_ones_own_token_is_answered() {
    let server = TestServer::start().await;
    let (made, secret) = token(&server, &json!({"name": "own", "scope": "admin"})).await;
    let path = format!("/api/tokens/{}", made["tokenId"].as_str().expect("an id"));
    let revoked = server.send(Method::DELETE, &secret, &path, "").await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT, "{revoked:?}");
    assert_eq!(server.get(&secret, "/api/auth").await.problem(), "UNAUTHORIZED");
}
