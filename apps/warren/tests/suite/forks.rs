//! What a fork and a restore show before anything runs in them, and what a fork does not have.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{TestClient, TestEvent, TestServer};

use super::versions::of;

async fn artifacts(client: &TestClient, session: SessionId) -> Vec<Value> {
    let listed = client.get(&of(session, "artifacts")).await.expect(StatusCode::OK);
    listed["artifacts"].as_array().expect("a list").clone()
}

/// Path, hash and the version that has them so first.
async fn shown(client: &TestClient, session: SessionId) -> Vec<(Value, Value, Value)> {
    let all = artifacts(client, session).await;
    let look = |it: &Value| (it["path"].clone(), it["hash"].clone(), it["updatedVersion"].clone());
    all.iter().map(look).collect()
}

fn is(path: &str, content: &str, version: u64) -> (Value, Value, Value) {
    (json!(path), json!(blake3::hash(content.as_bytes()).to_hex().to_string()), json!(version))
}

async fn fork(client: &TestClient, session: SessionId, body: Value) -> (SessionId, Value) {
    let forked = client.post(&of(session, "fork"), &body).await.expect(StatusCode::CREATED);
    (forked["sessionId"].as_str().expect("an id").parse().expect("an id"), forked)
}

fn of_files(events: &[TestEvent]) -> Vec<&Value> {
    let told = |kind: &str| kind == "file_changed" || kind.starts_with("artifact_");
    events.iter().filter(|event| told(event.kind())).map(|event| &event.json).collect()
}

#[tokio::test]
async fn a_fork_shows_what_its_version_has_before_anything_runs_in_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: mkdir -p outputs/web && cd outputs && printf '# Hi' > report.md && seq 1 30000 > n.csv && \
                printf '{\"scripts\":{\"dev\":\"vite\"}}' > web/package.json && \
                printf '{\"artifacts\":[{\"type\":\"markdown\",\"name\":\"Result\",\"path\":\"report.md\"}]}' > manifest.json";
    client.run(session, made).await;
    let before = artifacts(&client, session).await;
    let (forked, _) = fork(&client, session, json!({})).await;
    let after = artifacts(&client, forked).await;
    let look = |it: &Value| ["path", "name", "kind", "hash", "sizeBytes"].map(|field| it[field].clone());
    assert_eq!(after.iter().map(look).collect::<Vec<_>>(), before.iter().map(look).collect::<Vec<_>>());
    assert_eq!(after.len(), 3, "{after:#?}");
    assert!(after.iter().all(|it| it["createdVersion"] == 0), "{after:#?}");
    let id = after.iter().find(|it| it["name"] == "Result").expect("the report")["id"].clone();
    let content = client.get(&of(forked, &format!("artifacts/{}/content", id.as_str().unwrap()))).await;
    assert_eq!((content.status, content.body), (StatusCode::OK, json!("# Hi")));
    let run = client.run(forked, "run: true").await;
    assert_eq!(of_files(&run), Vec::<&Value>::new(), "nothing is another than was said");
}

#[tokio::test]
async fn a_restored_version_shows_what_it_has_before_anything_runs_in_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client
        .run(session, "run: mkdir -p outputs; printf hi > outputs/report.md; printf 1,2 > outputs/t.csv")
        .await;
    client
        .run(session, "run: rm outputs/report.md; printf 3,4,5 > outputs/t.csv; printf x > outputs/x.md")
        .await;
    assert_eq!(shown(&client, session).await, [is("outputs/t.csv", "3,4,5", 2), is("outputs/x.md", "x", 2)]);
    client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    let restored = [is("outputs/report.md", "hi", 3), is("outputs/t.csv", "1,2", 3)];
    assert_eq!(shown(&client, session).await, restored);
    let run = client.run(session, "run: true").await;
    assert_eq!(of_files(&run), Vec::<&Value>::new(), "nothing is another than was said");
    assert_eq!(shown(&client, session).await, restored);
    let log = client.log(session).await;
    for event in log.iter().filter(|event| event.kind() == "artifact_updated") {
        assert_eq!(event.json["artifact"]["updatedSeq"], event.json["seq"], "{:#}", event.json);
    }
}

#[tokio::test]
async fn a_restore_says_of_strange_names_what_a_sandbox_will_say() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = r#"run: printf x > 'back\slash'; printf y > "$(printf 'na\377me')"; ln -s 'back\slash' link"#;
    client.run(session, made).await;
    client.run(session, "run: rm -f * ; echo gone").await;
    let restore = client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    assert_eq!(restore["files"], json!({"added": 3, "changed": 0, "removed": 0}));
    let log = client.log(session).await;
    let told = log.iter().filter(|event| event.kind() == "file_changed" && event.json["change"] == "created");
    let told: Vec<_> = told.map(|event| event.json["path"].as_str().expect("a path")).collect();
    assert_eq!(told, [r"back\slash", "link", r"back\slash", "link"], "by the run, and by the restore");
    let run = client.run(session, "run: true").await;
    assert_eq!(of_files(&run), Vec::<&Value>::new(), "nothing is another than was said");
}

#[tokio::test]
async fn a_fork_has_long_messages_whole() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let long = format!("remember this: {}", "0123456789".repeat(30_000));
    client.run(session, &long).await;
    let (once, forked) = fork(&client, session, json!({})).await;
    assert_eq!(forked["loss"], Value::Null, "{forked:#}");
    let (twice, _) = fork(&client, once, json!({})).await;
    for fork in [once, twice] {
        let log = client.log(fork).await;
        let is_message = |event: &&TestEvent| event.json["block"]["type"] == "user_message";
        let message = &log.iter().find(is_message).expect("the message").json;
        let cut = &message["spilled"][0];
        assert_eq!(cut["sizeBytes"], long.len(), "{cut}");
        let whole = client.get(&of(fork, &format!("blobs/{}", cut["blob"].as_str().expect("a hash")))).await;
        assert_eq!(whole.expect(StatusCode::OK), json!(long));
    }
}

#[tokio::test]
async fn a_fork_says_what_it_does_not_have_and_is_whose_it_was_made_by() {
    let server = TestServer::start().await;
    let client = server.admin();
    let body = json!({"name": "n".repeat(200), "options": {"model": "warren-demo-1"}});
    let made = client.post("/api/sessions", &body).await.expect(StatusCode::CREATED);
    let session: SessionId = made["sessionId"].as_str().unwrap().parse().unwrap();
    client.run(session, "run: echo 1 > a.txt").await;
    let (same, forked) = fork(&client, session, json!({})).await;
    assert_eq!(forked["loss"], Value::Null, "{forked:#}");
    assert_eq!(forked["name"], format!("{} (fork)", "n".repeat(193)));
    let detail = client.get(of(same, "").trim_end_matches('/')).await.expect(StatusCode::OK);
    assert_eq!(detail["options"]["model"], "warren-demo-1");

    let put = client.request(Method::PUT, &of(session, "fs?path=a.txt")).body("2");
    client.send(put).await.expect(StatusCode::OK);
    let (other, forked) = fork(&client, session, json!({"type": "codex"})).await;
    let loss = forked["loss"].as_array().expect("a list").iter().map(|it| it.as_str().expect("a text"));
    let loss: Vec<_> = loss.collect();
    let [memory, model, files] = &loss[..] else { panic!("{loss:#?}") };
    assert!(memory.contains("memory") && model.contains("`warren-demo-1`"), "{loss:#?}");
    assert!(files.contains("uncommitted changes") && files.contains("version 1"), "{loss:#?}");
    let detail = client.get(of(other, "").trim_end_matches('/')).await.expect(StatusCode::OK);
    assert_eq!(detail["options"]["model"], Value::Null);
    let (_, forked) = fork(&client, session, json!({"version": 1})).await;
    assert_eq!(forked["loss"], Value::Null, "whoever names a version knows");

    let token = json!({"name": "laptop", "scope": "admin", "owner": "bob"});
    let token = client.post("/api/tokens", &token).await.expect(StatusCode::CREATED);
    let bob = client.with_token(token["secret"].as_str().expect("a secret"));
    let user = async |session: SessionId| {
        let seen = client.get(&format!("/api/build/sessions/{session}")).await.expect(StatusCode::OK);
        seen["user_id"].clone()
    };
    let (his, _) = fork(&bob, session, json!({})).await;
    let own = bob.session_create().await;
    assert_eq!(user(his).await, user(own).await);
    assert_ne!(user(his).await, user(session).await);
}
