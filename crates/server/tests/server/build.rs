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
    assert_eq!((&session["artifacts"], &session["snapshots"]), (&json!([]), &json!([])));
    assert_eq!(session["sandbox"]["container_id"], Value::Null, "it has no name yet");
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
    assert_eq!(reply.json()["snapshots"], json!([]));
    let paths = |session: &Value| -> Vec<Value> {
        session["artifacts"].as_array().expect("a list").iter().map(|it| it["path"].clone()).collect()
    };
    assert_eq!(paths(&reply.json()), ["page.html", "web"]);
    let listed = server.get(&server.owner, "/api/build/sessions").await.json();
    assert_eq!(paths(&listed["sessions"][0]), ["page.html", "web"]);
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
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream; charset=utf-8");
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
    assert_eq!(
        limit,
        json!({"plan": "unpaid", "limit": 10, "used": 0, "remaining": 10, "resets_at": null, "resetsAt": null})
    );
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
        json!({"plan": "unlimited", "limit": null, "used": 0, "remaining": null, "resets_at": null, "resetsAt": null})
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

/// Where a browser goes with a `preview_url`: the host, and the path with its code.
fn parts(url: &Value) -> (String, String) {
    let rest = url.as_str().expect("a URL").strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    (host.to_owned(), format!("/{path}"))
}

async fn visit(server: &TestServer, url: &Value, cookie: Option<&str>) -> crate::support::Reply {
    let (host, path) = parts(url);
    let mut visit = request(Method::GET, &path, None);
    visit.headers_mut().expect("headers").insert(header::HOST, host.parse().expect("a host"));
    if let Some(cookie) = cookie {
        visit = visit.header(header::COOKIE, cookie);
    }
    server.call(visit.body(Body::empty()).expect("a request")).await
}

#[tokio::test]
async fn preview_url_of_an_artifact_opens_without_any_other_route() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let secret = server.token("default", "admin").await;
    let base = format!("/api/build/sessions/{session}/artifacts");
    let listed = server.get(&secret, &base).await.json();
    let again = server.get(&secret, &base).await.json();
    assert_eq!(listed, again, "an address does not change with every look");
    server.runtime.files.put("outputs/page.html", b"<p>hello</p>");
    for (artifact, answer) in
        [(&listed["artifacts"][0], "<p>hello</p>"), (&listed["artifacts"][1], "GET / HTTP/1.1")]
    {
        assert_eq!(artifact["type"], "web_app", "a page is an app of one file");
        let one = server.get(&secret, &format!("{base}/{}", artifact["id"].as_str().expect("an id"))).await;
        assert_eq!(one.json()["preview_url"], artifact["preview_url"]);
        // Twice: a frame that is drawn again loads it again.
        for _ in 0..2 {
            let opened = visit(&server, &artifact["preview_url"], None).await;
            assert_eq!(opened.status, StatusCode::SEE_OTHER, "{opened:?}");
            assert_eq!(opened.headers[header::REFERRER_POLICY], "no-referrer");
            let entry = json!(opened.headers[header::LOCATION].to_str().expect("text"));
            let entered = visit(&server, &entry, None).await;
            assert_eq!(entered.status, StatusCode::SEE_OTHER, "{entered:?}");
            let cookie = entered.headers[header::SET_COOKIE].to_str().expect("text");
            let cookie = cookie.split(';').next().expect("a pair").to_owned();
            let (host, _) = parts(&entry);
            let path = entered.headers[header::LOCATION].to_str().expect("text");
            let seen = visit(&server, &json!(format!("http://{host}{path}")), Some(&cookie)).await;
            assert_eq!(String::from_utf8_lossy(&seen.body), answer);
            assert_eq!(
                visit(&server, &entry, None).await.status,
                StatusCode::UNAUTHORIZED,
                "a grant works once"
            );
        }
    }
    // The link ends with the token that it was made for.
    let id = server.gateway.authenticate(&secret).await.expect("it works").token_id;
    server.gateway.token_delete(&server.owner_identity().await, id).await.expect("revoked");
    let closed = visit(&server, &listed["artifacts"][1]["preview_url"], None).await;
    assert_eq!(closed.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn preview_url_of_a_reader_starts_nothing_and_opens_no_other_session() {
    let server = TestServer::start().await;
    let (session, other) = (server.session().await, server.session().await);
    let reader = server.token("default", "admin:ro").await;
    let listed = server.get(&reader, &format!("/api/build/sessions/{session}/artifacts")).await.json();
    let url = listed["artifacts"][1]["preview_url"].clone();
    let woken = server.runtime.files.n_woken.load(Ordering::SeqCst);
    assert_eq!(visit(&server, &url, None).await.status, StatusCode::SEE_OTHER);
    assert_eq!(server.runtime.files.n_woken.load(Ordering::SeqCst), woken, "nothing is started for a reader");
    let foreign = json!(url.as_str().expect("text").replace(&session.to_string(), &other.to_string()));
    assert_eq!(visit(&server, &foreign, None).await.status, StatusCode::UNAUTHORIZED);
    let wrong = json!(format!("{}0", url.as_str().expect("text")));
    assert_eq!(visit(&server, &wrong, None).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn refusal_names_the_field_as_the_client_wrote_it() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let body = json!({"content": "x", "client_request_id": ""}).to_string();
    let refused = server.post(&server.owner, &format!("/api/build/sessions/{session}/messages"), &body).await;
    assert!(refused.json()["detail"].as_str().expect("text").contains("`client_request_id`"), "{refused:?}");
}

#[tokio::test]
async fn weekly_limit_says_when_to_come_back() {
    let server = TestServer::start().await;
    let new = json!({"name": "paid", "scope": "admin", "owner": "ada", "plan": "paid"}).to_string();
    let made = server.post(&server.owner, "/api/tokens", &new).await.json();
    let secret = made["secret"].as_str().expect("a secret");
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/messages");
    for _ in 0..50 {
        let sent = server.post(secret, &path, r#"{"content": "x", "whenBusy": "queue"}"#).await;
        assert!(sent.status.is_success(), "{sent:?}");
    }
    let refused = server.post(secret, &path, r#"{"content": "x", "whenBusy": "queue"}"#).await;
    assert_eq!(refused.problem(), "MESSAGE_LIMIT");
    let seconds: u64 = refused.headers[header::RETRY_AFTER].to_str().expect("text").parse().expect("seconds");
    assert!((1..=7 * 24 * 3600).contains(&seconds), "{seconds}");
}
