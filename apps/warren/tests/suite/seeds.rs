//! Warren as a strict client sees it that was written from the seed documents and from nothing else.
//!
//! It knows the types of the seeds alone (`seeds/types.rs`) and walks REST, SSE, Socket.IO and `/api/build`. Whatever
//! it meets that the types do not say, and whatever they say that it does not meet, has to be listed in
//! `docs/protocols.md`, with the reason; a difference that is listed and gone has to leave the list.

mod listed;
mod shape;
mod socket;
mod types;

use std::collections::BTreeSet;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

use super::files::browse;

use shape::{Difference, Differences, Shape};
use socket::Socket;

/// What makes blocks of every type but `error`, files, usage and an app.
const DASHBOARD: &str = "Build me a dashboard of our sales";
/// What makes one artifact of each kind that is a file, and a file that is none.
const FILES: &str = "run: echo 1 > notes.txt; cd outputs; for name in a.pptx b.docx c.xlsx d.md e.png; do echo 1 > $name; done";
/// What changes one and removes another.
const CHANGES: &str = "run: cd outputs && echo 2 >> d.md && rm b.docx";
/// What no model answers.
const FAILURE: &str = "error 400";

/// The client: whom it calls, and what it found.
struct Strict {
    server: TestServer,
    client: TestClient,
    found: Differences,
}

impl Strict {
    async fn get(&mut self, path: &str, shape: &Shape) -> Value {
        let body = self.client.get(path).await.expect(StatusCode::OK);
        self.found.check(path, shape, &body);
        body
    }

    /// The status of an answer, where a seed says which.
    fn status(&mut self, route: &str, said: StatusCode, got: StatusCode) {
        assert!(got.is_success(), "{route} is answered with {got}");
        if got != said {
            self.found.add(Difference::Adds(route.to_owned(), got.as_u16().to_string()));
        }
    }
}

#[tokio::test]
async fn a_client_made_from_the_seeds_alone_finds_no_difference_that_is_not_listed() {
    let server = Setup::new().begin_with_template().start().await;
    let client = server.admin();
    let mut strict = Strict { server, client, found: Differences::default() };
    sessions(&mut strict).await;
    build(&mut strict).await;
    let (found, listed) = (strict.found.0, listed::listed());
    let told = |some: Vec<&Difference>| some.iter().map(ToString::to_string).collect::<Vec<_>>();
    let unlisted = told(found.difference(&listed).collect());
    let gone = told(listed.difference(&found).collect());
    assert!(
        unlisted.is_empty() && gone.is_empty(),
        "not listed: {unlisted:#?}\nlisted, but not found: {gone:#?}"
    );
}

/// Seeds 000 and 001: a session over REST, SSE and Socket.IO at the same time.
async fn sessions(strict: &mut Strict) {
    strict.get("/api/profiles", &Shape::Object(&types::AGENT_PROFILES)).await;
    let mut socket = Socket::connect(&strict.client, strict.server.token()).await;
    let made = json!({"name": "Sales", "metadata": {"of": "a test"}});
    let made = strict.client.post("/api/sessions", &made).await.expect(StatusCode::CREATED);
    strict.found.check("a new session", &Shape::Object(&types::SESSION_LIST_ITEM), &made);
    assert_eq!(made["runtime"], json!({"isLoaded": true, "sandbox": null}));
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let path = format!("/api/sessions/{session}");
    socket.emit("session:join", &json!({"sessionId": session, "after": 0})).await;
    strict.client.patch(&path, &json!({"name": "Sales of May"})).await.expect(StatusCode::OK);
    for text in [DASHBOARD, FILES, CHANGES, FAILURE] {
        let sent = strict.client.post(&format!("{path}/messages"), &json!({"content": text})).await;
        strict.status("POST /api/sessions/{id}/messages", StatusCode::OK, sent.status);
    }
    let mut came = socket.until(|name, _| name == "session:run:failed").await;
    let events = strict.client.events(session, warren_domain::Seq(0)).await.until(is_failure).await;
    for event in &events {
        strict.found.check("an event", &types::STREAM_EVENT, &event.json);
    }
    let kinds: BTreeSet<_> = events.iter().map(warren_testkit::TestEvent::kind).collect();
    all_seen("StreamEvent", &tags(&types::STREAM_EVENT), &kinds);
    let blocks: BTreeSet<_> =
        events.iter().filter_map(|event| event.json["block"]["type"].as_str()).collect();
    // The eighth type is of the details behind the seeds: a run that fails says so by its last event.
    let known: Vec<_> = tags(&types::BLOCK).into_iter().filter(|tag| *tag != "error").collect();
    all_seen("ConversationBlock", &known, &blocks);

    strict.get("/api/sessions", &Shape::Object(&types::SESSION_LIST)).await;
    strict.get(&path, &Shape::Object(&types::RUNTIME_SESSION_DATA)).await;
    strict.get(&format!("{path}?include=rawTranscript"), &Shape::Object(&types::SAVED_SESSION_DATA)).await;
    unload(strict, &path).await;
    let is_unloaded = |name: &str, content: &Value| {
        name == "session:status" && content["runtime"] == json!({"isLoaded": false, "sandbox": null})
    };
    came.extend(socket.until(is_unloaded).await);
    messages(strict, &came);
    strict.client.delete(&path).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(strict.client.get(&path).await.status, StatusCode::NOT_FOUND);
}

fn is_failure(event: &warren_testkit::TestEvent) -> bool {
    event.kind() == "run_failed"
}

/// Out of memory it is listed all the same, and reading it loads it, without a sandbox.
async fn unload(strict: &mut Strict, path: &str) {
    let answer = strict.client.post(&format!("{path}/unload"), &json!({})).await;
    assert!(answer.status.is_success(), "{answer:?}");
    let listed = strict.get("/api/sessions", &Shape::Object(&types::SESSION_LIST)).await;
    assert_eq!(listed["sessions"][0]["runtime"], json!({"isLoaded": false, "sandbox": null}));
    let loaded = strict.get(path, &Shape::Object(&types::RUNTIME_SESSION_DATA)).await;
    assert_eq!(loaded["runtime"], json!({"isLoaded": true, "sandbox": null}));
}

/// What came by Socket.IO.
fn messages(strict: &mut Strict, came: &[(String, Value)]) {
    for (name, content) in came.iter().filter(|(name, _)| name != "ack") {
        match types::MESSAGES.iter().find(|(known, _)| known == name) {
            Some((_, shape)) => strict.found.check(name, shape, content),
            None => strict.found.add(Difference::Adds("Socket.IO".to_owned(), name.clone())),
        }
    }
    let names: BTreeSet<_> = came.iter().map(|(name, _)| name.as_str()).collect();
    let known: Vec<_> = types::MESSAGES.iter().map(|(name, _)| *name).collect();
    all_seen("Socket.IO", &known, &names);
}

/// Seed 003: the routes of `/api/build`, in the order in which a front end calls them.
async fn build(strict: &mut Strict) {
    let session = Shape::Object(&types::SESSION);
    let made = strict.client.post("/api/build/sessions", &json!({})).await.expect(StatusCode::CREATED);
    strict.found.check("a new session", &session, &made);
    if made["sandbox"]["status"] != "running" {
        strict.found.add(Difference::Lacks("POST /api/build/sessions".to_owned(), "running".to_owned()));
    }
    let path = format!("/api/build/sessions/{}", made["id"].as_str().expect("an id"));
    let mut seen = BTreeSet::new();
    for text in [DASHBOARD, FILES, CHANGES, FAILURE] {
        seen.extend(packets(strict, &path, text).await);
    }
    all_seen("StreamPacket", &tags(&types::PACKET), &seen.iter().map(String::as_str).collect());
    let history = strict.get(&format!("{path}/messages"), &Shape::Anything).await;
    for packet in history["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|it| it["packets"].as_array())
        .flatten()
    {
        strict.found.check("a packet of the history", &types::PACKET, packet);
    }
    artifacts(strict, &path).await;
    files(strict, &path).await;
    strict.get("/api/build/limit", &Shape::Record).await;

    let before = strict.get(&path, &session).await;
    assert_eq!((&before["status"], &before["sandbox"]["status"]), (&json!("active"), &json!("running")));
    let asleep = format!("/api/sessions/{}/sandbox/stop", made["id"].as_str().expect("an id"));
    strict.client.post(&asleep, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let listed = strict.get("/api/build/sessions?status=idle", &Shape::Record).await;
    strict.found.check("the list", &types::SESSIONS, &listed["sessions"]);
    assert_eq!(listed["sessions"][0]["sandbox"]["container_id"], json!(null));
    let woken = strict.get(&path, &session).await;
    assert_eq!(woken["sandbox"]["status"], "running");
    assert_ne!(woken["sandbox"]["container_id"], before["sandbox"]["container_id"]);
    assert_eq!(woken["sandbox"]["id"], before["sandbox"]["id"]);
    strict.client.delete(&path).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(strict.client.get(&path).await.status, StatusCode::NOT_FOUND);
}

/// Sends a message and reads the stream as the seed writes it: `event: message`, one packet for each. Gives the types.
async fn packets(strict: &mut Strict, path: &str, text: &str) -> BTreeSet<String> {
    let answer = strict.client.post(&format!("{path}/messages"), &json!({"content": text})).await;
    strict.status("POST /api/build/sessions/{id}/messages", StatusCode::OK, answer.status);
    let kind = answer.headers["content-type"].to_str().expect("text");
    assert!(kind.starts_with("text/event-stream"), "{kind}");
    let mut seen = Vec::new();
    let mut steps = BTreeSet::new();
    let is_packet = |event: &&str| event.starts_with("event:");
    for event in answer.body.as_str().expect("a stream").split("\n\n").filter(is_packet) {
        let data =
            event.strip_prefix("event: message\ndata: ").unwrap_or_else(|| panic!("an event: {event}"));
        let packet: Value = serde_json::from_str(data).expect("JSON");
        strict.found.check("a packet", &types::PACKET, &packet);
        let step = packet["step_id"].to_string();
        match packet["type"].as_str() {
            Some("step_start") => assert!(steps.insert(step), "a step starts once: {packet}"),
            Some("step_end") => assert!(steps.remove(&step), "what ends has started: {packet}"),
            Some("step_delta") => assert!(steps.contains(&step), "what grows has started: {packet}"),
            Some("file_write" | "file_delete")
                if packet["path"].as_str().is_some_and(|it| it.starts_with("..")) =>
            {
                strict.found.add(Difference::Adds("FileWrite.path".to_owned(), "../".to_owned()));
            }
            _ => {}
        }
        seen.push(packet["type"].as_str().expect("a type").to_owned());
    }
    let last = if text == FAILURE { "error" } else { "done" };
    assert_eq!((seen.last().map(String::as_str), steps), (Some(last), BTreeSet::new()), "{text}");
    seen.into_iter().collect()
}

async fn artifacts(strict: &mut Strict, path: &str) {
    let listed = strict.get(&format!("{path}/artifacts"), &Shape::Record).await;
    strict.found.check("artifacts", &types::ARTIFACTS, &listed["artifacts"]);
    let listed = listed["artifacts"].as_array().expect("a list").clone();
    let kinds: BTreeSet<_> = listed.iter().filter_map(|it| it["type"].as_str()).collect();
    // The one Word document was removed again.
    assert_eq!(kinds, BTreeSet::from(["excel", "image", "markdown", "pptx", "web_app"]));
    for artifact in &listed {
        let one = format!("{path}/artifacts/{}", artifact["id"].as_str().expect("an id"));
        let told = strict.get(&one, &Shape::Object(&types::ARTIFACT)).await;
        assert_eq!((&told["id"], &told["path"]), (&artifact["id"], &artifact["path"]));
        if artifact["type"] == "web_app" {
            // A browser opens it: no token, and it is led on to the app.
            let url = artifact["preview_url"].as_str().and_then(|url| url.strip_prefix("http://"));
            let (host, path) = url.and_then(|url| url.split_once('/')).expect("an app is served");
            let opened = browse(&strict.server, host, &format!("/{path}"), None).await;
            assert_eq!(opened.status, StatusCode::SEE_OTHER, "{opened:?}");
        } else {
            strict.get(&format!("{one}/content"), &Shape::Anything).await;
        }
    }
}

async fn files(strict: &mut Strict, path: &str) {
    let form =
        "--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"in.csv\"\r\n\r\n3,4\r\n--XX--\r\n";
    let upload = strict
        .client
        .request(Method::POST, &format!("{path}/fs/upload"))
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(form);
    let uploaded = strict.client.send(upload).await;
    assert!(uploaded.status.is_success(), "{uploaded:?}");
    let uploaded =
        format!("{path}/fs/read?path={}", uploaded.body["files"][0]["path"].as_str().expect("a path"));
    assert_eq!(strict.get(&uploaded, &Shape::Text).await, json!("3,4"));
    let listed = strict.get(&format!("{path}/fs?path=/outputs"), &Shape::Record).await;
    let names: BTreeSet<_> =
        listed["entries"].as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.is_superset(&BTreeSet::from(["a.pptx", "d.md"])), "{names:?}");
}

/// The types that a union has.
fn tags(shape: &Shape) -> Vec<&'static str> {
    match shape {
        Shape::Tagged(_, types) => types.iter().map(|(tag, _)| *tag).collect(),
        _ => Vec::new(),
    }
}

/// The walk meets every type, so that no difference hides in one that did not come.
fn all_seen(of: &str, known: &[&str], seen: &BTreeSet<&str>) {
    let missed: Vec<_> = known.iter().filter(|name| !seen.contains(*name)).collect();
    assert!(missed.is_empty(), "the walk met no {missed:?} of {of}");
}
