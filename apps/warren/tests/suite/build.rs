//! `/api/build` as a front end made for it uses it: the whole server, and a real sandbox.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_testkit::{TestClient, TestServer};

const FORM: &str = "multipart/form-data; boundary=XX";

async fn get(client: &TestClient, session: &str, path: &str) -> Value {
    let path = format!("/api/build/sessions/{session}{path}");
    client.get(&path).await.expect(StatusCode::OK)
}

/// Sends a message and reads its packets to their end.
pub(super) async fn send(client: &TestClient, session: &str, text: &str) -> Vec<Value> {
    let path = format!("/api/build/sessions/{session}/messages");
    let answer = client.post(&path, &json!({"content": text})).await;
    assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.body);
    let stream = answer.body.as_str().expect("a stream");
    let packets: Vec<Value> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    assert!(packets.iter().all(|packet| packet["timestamp"].is_string()), "{packets:?}");
    packets
}

fn of<'a>(packets: &'a [Value], kind: &str) -> Vec<&'a Value> {
    packets.iter().filter(|packet| packet["type"] == kind).collect()
}

async fn stop(client: &TestClient, session: &str) {
    let path = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&path, &json!({})).await.expect(StatusCode::NO_CONTENT);
}

pub(super) async fn create(client: &TestClient) -> (String, Value) {
    let made = client.post("/api/build/sessions", &json!({"name": "Report"})).await;
    let made = made.expect(StatusCode::CREATED);
    (made["id"].as_str().expect("an id").to_owned(), made)
}

#[tokio::test]
async fn a_message_right_after_a_session_was_made_waits_for_its_sandbox_and_is_told_in_packets() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (session, made) = create(&client).await;
    assert_eq!((&made["status"], &made["sandbox"]["status"]), (&json!("active"), &json!("provisioning")));
    let command = "run: mkdir -p outputs/documents && printf '# Hi' > outputs/documents/note.md && echo made";
    let packets = send(&client, &session, command).await;
    let kinds: Vec<_> = packets.iter().map(|packet| packet["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds.last(), Some(&"done"), "{kinds:?}");
    for kind in ["tool_start", "tool_output", "tool_end", "output_start", "output_delta"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    let written = of(&packets, "file_write");
    assert!(
        written.iter().any(|it| it["path"] == "documents/note.md" && it["size_bytes"] == 4),
        "{written:?}"
    );
    let artifact = &of(&packets, "artifact_created")[0]["artifact"];
    assert_eq!((&artifact["type"], &artifact["path"]), (&json!("markdown"), &json!("documents/note.md")));

    let history = get(&client, &session, "/messages").await;
    let messages = history["messages"].as_array().expect("a list");
    assert_eq!((&messages[0]["type"], &messages[0]["content"]), (&json!("user"), &json!(command)));
    assert_eq!(messages.last().expect("an answer")["type"], "assistant");

    let listed = get(&client, &session, "/artifacts").await["artifacts"].clone();
    assert_eq!((&listed[0]["id"], &listed[0]["session_id"]), (&artifact["id"], &json!(session)));
    let content = format!("/artifacts/{}/content", artifact["id"].as_str().expect("an id"));
    assert_eq!(get(&client, &session, &content).await, json!("# Hi"));
    let whole = get(&client, &session, "").await;
    let sizes: Vec<_> =
        whole["snapshots"].as_array().expect("a list").iter().map(|it| &it["size_bytes"]).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|size| size.as_u64() >= Some(4)), "{sizes:?}");
    assert!(whole["user_id"].is_string(), "the owner of the server is a user");
}

#[tokio::test]
async fn a_session_that_sleeps_says_that_its_sandbox_starts_and_files_go_in_and_out() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await.to_string();
    // The session has no sandbox yet: the message makes it.
    let packets = send(&client, &session, "run: printf 1,2 > outputs/data.csv").await;
    let step = &packets[0];
    assert_eq!((&step["type"], &step["title"]), (&json!("step_start"), &json!("Initializing sandbox…")));
    let ended = of(&packets, "step_end").into_iter().find(|it| it["step_id"] == step["step_id"]);
    assert_eq!(ended.expect("an end")["status"], "success");
    assert_eq!(packets.last().expect("a packet")["type"], "done");

    stop(&client, &session).await;
    let form =
        "--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"in.csv\"\r\n\r\n3,4\r\n--XX--\r\n";
    let upload = client
        .request(Method::POST, &format!("/api/build/sessions/{session}/fs/upload"))
        .header("content-type", FORM)
        .body(form);
    let uploaded = client.send(upload).await.expect(StatusCode::CREATED);
    assert_eq!(
        (&uploaded["files"][0]["path"], &uploaded["files"][0]["size_bytes"]),
        (&json!("/user-input/in.csv"), &json!(3))
    );
    let packets = send(&client, &session, "run: cat /user-input/in.csv").await;
    assert!(
        of(&packets, "tool_output")
            .iter()
            .any(|it| it["output"].as_str().is_some_and(|it| it.contains("3,4")))
    );
    let listed = get(&client, &session, "/fs?path=/outputs").await;
    let names: Vec<_> = listed["entries"].as_array().expect("a list").iter().map(|it| &it["path"]).collect();
    assert_eq!((&listed["path"], names), (&json!("/outputs"), vec![&json!("/outputs/data.csv")]));
    assert_eq!(get(&client, &session, "/fs/read?path=/outputs/data.csv").await, json!("1,2"));
    assert_eq!(get(&client, &session, "/fs/read?path=/user-input/in.csv").await, json!("3,4"));
}

#[tokio::test]
async fn reading_wakes_a_session_but_not_for_who_may_only_look() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await.to_string();
    send(&client, &session, "run: echo once").await;
    stop(&client, &session).await;
    let token = client.post("/api/tokens", &json!({"name": "looker", "scope": "admin:ro"})).await;
    let token = token.expect(StatusCode::CREATED);
    let looker = client.with_token(token["secret"].as_str().expect("a secret"));
    let seen = get(&looker, &session, "").await;
    assert_eq!((&seen["status"], &seen["sandbox"]["status"]), (&json!("idle"), &json!("terminated")));
    let woken = get(&client, &session, "").await;
    assert_eq!((&woken["status"], &woken["sandbox"]["status"]), (&json!("active"), &json!("running")));
    let seen = get(&looker, &session, "").await;
    assert_eq!(seen["sandbox"]["container_id"], woken["sandbox"]["container_id"]);
}
