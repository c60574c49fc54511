//! `/api/build`, and how many messages may be sent.

use std::sync::atomic::Ordering;

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use futures::future::join_all;
use serde_json::{Value, json};
use warren_domain::{ArtifactKind, Block, BlockId, Draft, EventBody, RunId, SessionId, Timestamp, Usage};

use crate::{
    fake_files::artifact,
    support::{TestServer, request},
};

async fn create(server: &TestServer, secret: &str) -> Value {
    let reply = server.post(secret, "/api/build/sessions", r#"{"name": "Dashboard"}"#).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    reply.json()
}

fn id(session: &Value) -> SessionId {
    session["id"].as_str().expect("an id").parse().expect("an id")
}

fn said(run: RunId) -> Vec<Draft> {
    let text = |content: &str| Block::AssistantText {
        id: BlockId::from("b"),
        timestamp: Timestamp::default(),
        content: content.to_owned(),
        model: None,
    };
    let completed = EventBody::RunCompleted {
        version: None,
        usage: Usage::default(),
        cost_usd: 0.0,
        summary: Some("Built it".to_owned()),
    };
    [
        EventBody::BlockStart { block: text("") },
        EventBody::TextDelta { block_id: BlockId::from("b"), delta: "I've built it.".to_owned() },
        EventBody::BlockComplete { block: text("I've built it.") },
        completed,
    ]
    .into_iter()
    .map(|body| Draft::of_run(run, body))
    .collect()
}

#[tokio::test]
async fn a_session_is_made_at_once_and_its_sandbox_is_on_its_way() {
    let server = TestServer::start().await;
    let session = create(&server, &server.owner).await;
    assert_eq!(session["status"], "active");
    assert_eq!(session["sandbox"]["status"], "provisioning");
    assert_eq!(session["name"], "Dashboard");
    assert_eq!(session["sandbox"]["session_id"], session["id"]);
    let listed = server.get(&server.owner, "/api/build/sessions?status=idle").await.json();
    assert_eq!(listed["sessions"][0]["id"], session["id"], "a session without a sandbox is idle");
}

#[tokio::test]
async fn reading_a_session_wakes_it_but_not_for_who_may_only_look() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/build/sessions/{session}");
    let looker = server.token("default", "admin:ro").await;
    let reply = server.get(&looker, &path).await;
    assert_eq!((reply.status, server.runtime.n_started.load(Ordering::SeqCst)), (StatusCode::OK, 0));
    let reply = server.get(&server.owner, &path).await;
    assert_eq!((reply.status, server.runtime.n_started.load(Ordering::SeqCst)), (StatusCode::OK, 1));
    assert_eq!((&reply.json()["artifacts"], &reply.json()["snapshots"]), (&json!([]), &json!([])));
    let erased = server.send(Method::DELETE, &server.owner, &path, "").await;
    assert_eq!(erased.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(&server.owner, &path).await.problem(), "NOT_FOUND");
}

#[tokio::test]
async fn an_answer_is_a_stream_of_packets_and_then_part_of_the_history() {
    let server = TestServer::start().await;
    let session = id(&create(&server, &server.owner).await);
    let path = format!("/api/build/sessions/{session}/messages");
    let sending = request(Method::POST, &path, Some(&server.owner))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(r#"{"content": "Build me a dashboard"}"#))
        .expect("a request");
    let response = server.open(sending).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let runs = server.get(&server.owner, &format!("/api/sessions/{session}/runs")).await.json();
    let run: RunId = runs["runs"][0]["runId"].as_str().expect("a run").parse().expect("an id");
    server.runtime.emit(session, said(run)).await;
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("it ends");
    let text = String::from_utf8(body.to_vec()).expect("text");
    let mut packets = Vec::new();
    for message in text.split("\n\n").filter(|message| message.contains("data:")) {
        let data = message.strip_prefix("event: message\ndata: ").expect("bare packets");
        let mut packet: Value = serde_json::from_str(data).expect("JSON");
        assert!(packet["timestamp"].is_string(), "{packet}");
        packet.as_object_mut().expect("an object").remove("timestamp");
        packets.push(packet);
    }
    assert_eq!(
        packets,
        [
            json!({"type": "output_start"}),
            json!({"type": "output_delta", "content": "I've built it."}),
            json!({"type": "done", "summary": "Built it"}),
        ]
    );
    let history = server.get(&server.owner, &path).await.json();
    let answer = history["messages"].as_array().expect("messages").last().expect("an answer").clone();
    assert_eq!((&answer["type"], &answer["content"]), (&json!("assistant"), &json!("I've built it.")));
    assert_eq!(answer["packets"].as_array().expect("packets").len(), 3);
}

#[tokio::test]
async fn messages_are_counted_together_whichever_way_they_come_and_never_beyond_the_limit() {
    let server = TestServer::start().await;
    let project = server.project("default", "mine").await;
    let secret = server.token("default", &format!("project:{project}")).await;
    let sessions = join_all((0..16).map(|_| create(&server, &secret))).await;
    let limit = server.get(&secret, "/api/build/limit").await.json();
    assert_eq!(limit, json!({"plan": "unpaid", "limit": 10, "used": 0, "remaining": 10, "resetsAt": null}));
    let sends = sessions.iter().enumerate().map(|(n, session)| {
        let way = if n % 2 == 0 { "/api/build/sessions" } else { "/api/sessions" };
        let path = format!("{way}/{}/messages", id(session));
        let (server, secret) = (&server, &secret);
        async move {
            let sending = request(Method::POST, &path, Some(secret))
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(r#"{"content": "hi"}"#));
            server.open(sending.expect("a request")).await.status().as_u16()
        }
    });
    let answers = join_all(sends).await;
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 6, "{answers:?}");
    let limit = server.get(&secret, "/api/build/limit").await.json();
    assert_eq!((&limit["used"], &limit["remaining"]), (&json!(10), &json!(0)));
    let path = format!("/api/sessions/{}/messages", id(&sessions[0]));
    let refused = server.post(&secret, &path, r#"{"content": "once more"}"#).await;
    assert_eq!(refused.problem(), "MESSAGE_LIMIT");
    let owner = server.get(&server.owner, "/api/build/limit").await.json();
    assert_eq!(
        owner,
        json!({"plan": "unlimited", "limit": null, "used": 0, "remaining": null, "resetsAt": null})
    );
}

#[tokio::test]
async fn tokens_of_one_owner_share_a_plan_that_begins_anew_every_week() {
    let server = TestServer::start().await;
    let mut secrets = Vec::new();
    for name in ["laptop", "phone"] {
        let new = json!({"name": name, "scope": "admin", "owner": "ada", "plan": "paid"}).to_string();
        let made = server.post(&server.owner, "/api/tokens", &new).await.json();
        assert_eq!((&made["owner"], &made["plan"]), (&json!("ada"), &json!("paid")));
        secrets.push(made["secret"].as_str().expect("a secret").to_owned());
    }
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/messages");
    server.post(&secrets[0], &path, r#"{"content": "hi"}"#).await;
    let limit = server.get(&secrets[1], "/api/build/limit").await.json();
    assert_eq!((&limit["plan"], &limit["limit"], &limit["used"]), (&json!("paid"), &json!(50), &json!(1)));
    let resets = Timestamp::parse(limit["resetsAt"].as_str().expect("a time")).expect("a time");
    assert!(resets.as_millis() % 1000 == 0);
    let wrong = json!({"name": "x", "scope": "admin", "plan": "gold"}).to_string();
    assert_eq!(server.post(&server.owner, "/api/tokens", &wrong).await.problem(), "BAD_REQUEST");
}

const MEDIA: &str = "multipart/form-data; boundary=XX";

fn form(name: &str, content: &str) -> String {
    format!(
        "--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--XX--\r\n"
    )
}

#[tokio::test]
async fn files_are_uploaded_listed_and_read_by_their_paths_from_the_root() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let base = format!("/api/build/sessions/{session}/fs");
    let none = server.get(&server.owner, &base).await.json();
    assert_eq!(none, json!({"path": "/outputs", "entries": []}), "nothing was made yet");

    let sending = request(Method::POST, &format!("{base}/upload"), Some(&server.owner))
        .header(header::CONTENT_TYPE, MEDIA)
        .body(Body::from(form("data.csv", "a,b")));
    let uploaded = server.call(sending.expect("a request")).await;
    assert_eq!(uploaded.status, StatusCode::CREATED, "{uploaded:?}");
    let file = json!({
        "name": "data.csv", "path": "/user-input/data.csv", "type": "file", "size_bytes": 3,
        "modified_at": "1970-01-01T00:00:00.000Z", "mime_type": "text/csv; charset=utf-8",
    });
    assert_eq!(uploaded.json(), json!({"files": [file]}));
    let listed = server.get(&server.owner, &format!("{base}?path=/user-input")).await.json();
    assert_eq!(listed, json!({"path": "/user-input", "entries": [file]}));

    server.runtime.files.put("outputs/documents/report.md", b"# Report");
    server.runtime.files.put("notes.txt", b"outside");
    let listed = server.get(&server.owner, &format!("{base}?path=/outputs")).await.json();
    assert_eq!(listed["entries"][0]["path"], "/outputs/documents/report.md");
    // As a listing calls them, and as packets do.
    for (path, content) in [
        ("/outputs/documents/report.md", "# Report"),
        ("documents/report.md", "# Report"),
        ("../notes.txt", "outside"),
        ("/user-input/data.csv", "a,b"),
    ] {
        let read = server.get(&server.owner, &format!("{base}/read?path={path}")).await;
        assert_eq!((read.status, read.body.as_slice()), (StatusCode::OK, content.as_bytes()), "{path}");
    }
    let absent = server.get(&server.owner, &format!("{base}/read?path=absent.md")).await;
    assert_eq!(absent.problem(), "NOT_FOUND");
}

#[tokio::test]
async fn an_artifacts_content_is_its_file_here_too() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("outputs/page.html", b"<p>hello</p>");
    let base = format!("/api/build/sessions/{session}/artifacts");
    let page = artifact(session, "outputs/page.html", ArtifactKind::Html).id;
    let ranged = request(Method::GET, &format!("{base}/{page}/content"), Some(&server.owner))
        .header(header::RANGE, "bytes=3-7")
        .body(Body::empty());
    let content = server.call(ranged.expect("a request")).await;
    assert_eq!((content.status, content.body.as_slice()), (StatusCode::PARTIAL_CONTENT, &b"hello"[..]));
    let app = artifact(session, "outputs/web", ArtifactKind::WebApp).id;
    assert_eq!(server.get(&server.owner, &format!("{base}/{app}/content")).await.problem(), "BAD_REQUEST");
}

#[tokio::test]
async fn a_session_is_of_the_user_whose_token_made_it_and_a_services_is_nobodys() {
    let server = TestServer::start().await;
    let mut users = Vec::new();
    for (name, owner) in
        [("laptop", Some("ada")), ("phone", Some("ada")), ("other", Some("bob")), ("ci", None)]
    {
        let new = json!({"name": name, "scope": "admin", "owner": owner}).to_string();
        let made = server.post(&server.owner, "/api/tokens", &new).await.json();
        let session = create(&server, made["secret"].as_str().expect("a secret")).await;
        let path = format!("/api/build/sessions/{}", id(&session));
        let seen = server.get(&server.owner, &path).await.json()["user_id"].clone();
        assert_eq!(seen, session["user_id"], "whoever looks");
        users.push(seen.as_str().map(str::to_owned));
    }
    assert!(users[0].as_ref().is_some_and(|user| user.parse::<uuid::Uuid>().is_ok()), "{users:?}");
    assert_eq!((&users[0], &users[3]), (&users[1], &None));
    assert_ne!(users[0], users[2]);
}
