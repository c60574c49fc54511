//! Strangers, wrong tokens and bad input.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use warren_domain::{Partition, ProjectId};
use warren_env::{Env, Tasks};
use warren_store::ProjectRecord;
use warren_testkit::TestServer;

#[tokio::test]
async fn a_stranger_a_reader_and_another_project_each_get_what_is_theirs_and_no_more() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let project = second_project(&server).await;
    server.restart().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let path = format!("/api/sessions/{session}");
    let token = |scope: String| {
        let admin = admin.clone();
        async move {
            let made = admin.post("/api/tokens", &json!({"name": "t", "scope": scope})).await;
            made.expect(StatusCode::CREATED)["secret"].as_str().expect("a secret").to_owned()
        }
    };
    assert_eq!(server.anonymous().get(&path).await.refusal(), (401, "UNAUTHORIZED"));
    assert_eq!(admin.with_token("wrn_wrong").get(&path).await.refusal(), (401, "UNAUTHORIZED"));

    let reader = admin.with_token(&token("admin:ro".to_owned()).await);
    reader.get(&path).await.expect(StatusCode::OK);
    let refused = reader.post(&format!("{path}/messages"), &json!({"content": "x"})).await;
    assert_eq!(refused.refusal(), (403, "FORBIDDEN"));

    let stranger = admin.with_token(&token(format!("project:{project}")).await);
    assert_eq!(stranger.get(&path).await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(stranger.delete(&path).await.refusal(), (404, "NOT_FOUND"));
    let listed = stranger.get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(listed["sessions"], json!([]));
}

/// Makes a project beside the default one, in the store of a server that does not run.
pub(super) async fn second_project(server: &TestServer) -> ProjectId {
    let (env, tasks) = (Env::system(), Tasks::new());
    let options = warren_store::Options {
        database: warren_store::Database::Sqlite(server.directory().join("warren.db")),
        blobs_dir: server.directory().join("blobs"),
    };
    assert!(server.directory().join("warren.db").exists(), "the server's own database");
    let store = warren_store::open(options, env.clone(), &tasks).await.expect("the store opens");
    let project = ProjectRecord {
        project_id: ProjectId(env.uuid()),
        partition: Partition::default_partition(),
        name: "second".to_owned(),
        options: json!({}),
        created_at: env.now(),
    };
    let made = store.projects.put_project(&project).await.expect("the project is kept");
    tasks.cancel();
    assert!(tasks.wait(Duration::from_secs(10)).await, "the store closes");
    made.project_id
}

#[tokio::test]
async fn bad_input_is_refused_with_a_problem_document_and_nothing_is_lost() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let messages = format!("/api/sessions/{session}/messages");
    let send = |path: &str, body: Vec<u8>| {
        let request =
            client.request(Method::POST, path).header("Content-Type", "application/json").body(body);
        client.send(request)
    };
    let unknown = format!("/api/sessions/{}/messages", uuid::Uuid::from_u128(1));
    let ok = br#"{"content":"x"}"#.to_vec();
    for (path, body, expected) in [
        (messages.as_str(), b"{\"content\":".to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), b"[]".to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), br#"{"content":5}"#.to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), br#"{"content":"x","nonsense":1}"#.to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), br#"{"content":"  "}"#.to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), b"{\"content\":\"\xff\xfe\"}".to_vec(), (400, "BAD_REQUEST")),
        (messages.as_str(), vec![b'['; 200_000], (400, "BAD_REQUEST")),
        (messages.as_str(), vec![b' '; 3 << 20], (413, "TOO_LARGE")),
        (unknown.as_str(), ok.clone(), (404, "NOT_FOUND")),
        ("/api/sessions/not-an-id/messages", ok.clone(), (404, "NOT_FOUND")),
        ("/api/nothing", ok, (404, "NOT_FOUND")),
        ("/api/sessions", br#"{"type":"nobody"}"#.to_vec(), (400, "AGENT_UNKNOWN")),
    ] {
        let answer = send(path, body).await;
        assert_eq!(answer.refusal(), expected, "{path}: {:#}", answer.body);
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{path}");
        assert!(
            answer.body["requestId"].is_string() && answer.body["detail"].is_string(),
            "{:#}",
            answer.body
        );
    }
    assert_eq!(client.log(session).await.len(), 1, "nothing was recorded");
    assert_eq!(client.run(session, "run: echo fine").await.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn nul_in_a_name_is_refused_whatever_keeps_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}");
    let refused = [
        client.post("/api/sessions", &json!({"name": "a\0b"})).await,
        client.patch(&path, &json!({"name": "a\0b"})).await,
        client.post(&format!("{path}/messages"), &json!({"content": "x", "idempotencyKey": "k\0"})).await,
        client.post("/api/tokens", &json!({"name": "t\0", "scope": "admin:ro"})).await,
        client.get("/api/profiles/a%00b").await,
        client.get("/api/approvals?status=%00").await,
    ];
    for answer in refused {
        assert_eq!(answer.refusal(), (400, "BAD_REQUEST"), "{:#}", answer.body);
    }
    let unknown = client.post("/api/sessions", &json!({"agentProfileReference": "a\0b"})).await;
    assert_eq!(unknown.refusal(), (404, "NOT_FOUND"));
    // What an agent is told may hold it: it is kept as JSON.
    let events = client.run(session, "hello\0there").await;
    assert_eq!(events.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn a_web_page_elsewhere_cannot_drive_the_server() {
    let server = TestServer::start().await;
    let client = server.admin();
    let request = client.request(Method::GET, "/api/sessions").header("Host", "evil.example");
    assert_eq!(client.send(request).await.refusal(), (421, "MISDIRECTED"));
    let request = client
        .request(Method::POST, "/api/sessions")
        .header("Origin", "https://evil.example")
        .json(&json!({}));
    assert_eq!(client.send(request).await.refusal(), (403, "FORBIDDEN"));
}
