//! A run carried out once more: the same, or where it was not.

mod judged;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{RunId, SessionId};
use warren_testkit::{Setup, TestClient, TestServer};

/// Replays one run and waits for it.
pub(crate) async fn replay(client: &TestClient, session: SessionId, run: RunId) -> Value {
    let path = format!("/api/sessions/{session}/runs/{run}/replay");
    client.post(&path, &json!({"wait": true})).await.expect(StatusCode::OK)
}

/// Carries a message out, and gives its run.
async fn run(client: &TestClient, session: SessionId, text: &str) -> RunId {
    let events = client.run(session, text).await;
    events[0].json["runId"].as_str().expect("a run").parse().expect("an id")
}

#[track_caller]
pub(crate) fn assert_same(agent: &str, report: &Value) {
    assert_eq!(report["status"], "done", "{agent}: {report:#}");
    assert_eq!(report["diverged"], false, "{agent}: {report:#}");
    for of in ["calls", "events", "files"] {
        assert_eq!(report[of]["equal"], report[of]["compared"], "{agent}: {of}: {report:#}");
    }
    assert!(report["files"]["compared"].as_u64() > Some(0), "{agent}: no file was compared: {report:#}");
    assert_eq!(report["differences"], json!([]), "{agent}: {report:#}");
}

#[tokio::test]
async fn a_run_replayed_is_the_same_and_leaves_nothing_behind() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let run = run(&client, session, "bash: echo marzipan > made.txt; cat made.txt").await;
    client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
    let before = client.get("/api/sessions").await.expect(StatusCode::OK);
    let usage = client.get("/api/usage").await.expect(StatusCode::OK);
    let log = client.log(session).await;

    let report = replay(&client, session, run).await;
    assert_same("builtin", &report);
    assert!(report["calls"]["compared"].as_u64() >= Some(2), "{report:#}");
    assert!(report["events"]["compared"].as_u64() >= Some(4), "{report:#}");

    assert_eq!(client.get("/api/sessions").await.expect(StatusCode::OK), before, "no session is listed");
    assert_eq!(client.get("/api/usage").await.expect(StatusCode::OK), usage, "nothing is charged");
    assert_eq!(client.log(session).await.len(), log.len(), "the session's log is as it was");
    let sandboxes = client.get("/api/sandboxes").await.expect(StatusCode::OK);
    assert_eq!(sandboxes["sandboxes"], json!([]));
    assert_eq!(left_in(&server), Vec::<String>::new(), "its directories are gone");
    let guests =
        server.processes().iter().filter(|process| process.command().contains("/warren/guest")).count();
    assert_eq!(guests, 0, "no sandbox is left");
}

/// What replays left on disk.
fn left_in(server: &TestServer) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(server.directory().join("replays")) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn a_replay_has_a_log_of_its_own_that_outlives_the_server() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "bash: echo kept > kept.txt").await;
    let run = run(&client, session, "ask a subagent for a review").await;
    let report = replay(&client, session, run).await;
    assert_same("builtin", &report);
    let path = format!("/api/sessions/{session}/replays/{}", report["replayId"].as_str().expect("an id"));
    let page = client.get(&format!("{path}/events")).await.expect(StatusCode::OK);
    let events = page["events"].as_array().expect("events").clone();
    assert_eq!(page["head"], json!(events.len()));
    assert_eq!(events.last().expect("an end")["type"], "run_completed");
    assert!(events.iter().zip(1..).all(|(event, seq)| event["seq"] == json!(seq)), "numbered from 1");

    server.restart().await;
    let client = server.admin();
    assert_eq!(client.get(&path).await.expect(StatusCode::OK), report);
    let list = client.get(&format!("/api/sessions/{session}/replays")).await.expect(StatusCode::OK);
    assert_eq!(list["replays"], json!([report]));
    let again = client.get(&format!("{path}/events")).await.expect(StatusCode::OK);
    assert_eq!(again["events"], json!(events));
    // Followed, it comes to its end.
    let stream = client.request(reqwest::Method::GET, &format!("{path}/events"));
    let stream = client.send(stream.header("Accept", "text/event-stream")).await;
    let text = stream.body.as_str().expect("a text").to_owned();
    assert_eq!(
        text.matches("\nid: ").count() + usize::from(text.starts_with("id: ")),
        events.len(),
        "{text}"
    );
}

/// The file of a blob.
fn blob(server: &TestServer, hash: &str) -> std::path::PathBuf {
    let partitions = std::fs::read_dir(server.directory().join("blobs")).expect("blobs");
    let mut paths = partitions.map(|entry| entry.expect("an entry").path().join(&hash[..2]).join(hash));
    paths.find(|path| path.exists()).expect("the blob is there")
}

fn recordings(log: &[warren_testkit::TestEvent]) -> Vec<String> {
    let calls = log.iter().filter(|event| event.kind() == "model_called");
    calls.map(|event| event.json["recording"].as_str().expect("a recording").to_owned()).collect()
}

#[tokio::test]
async fn a_run_whose_recordings_have_expired_cannot_be_replayed_and_says_so() {
    let config = "[retention]\nrecordings_days = 0\ninterval_seconds = 1";
    let server = Setup::new().config(config).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    // More than fits into an entry of the log, which is kept all the same.
    let run = run(&client, session, &format!("hello {}", "x".repeat(300 << 10))).await;
    let log = client.log(session).await;
    let path = |hash: &str| format!("/api/sessions/{session}/blobs/{hash}");
    let recordings = recordings(&log);
    for _ in 0..600 {
        if client.get(&path(&recordings[0])).await.status == StatusCode::NOT_FOUND {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(client.get(&path(&recordings[0])).await.refusal(), (404, "NOT_FOUND"));
    let long = log.iter().find_map(|event| event.json["spilled"][0]["blob"].as_str()).expect("a long field");
    client.get(&path(long)).await.expect(StatusCode::OK);
    let report = replay(&client, session, run).await;
    assert_eq!(
        (&report["status"], &report["error"]["code"]),
        (&json!("failed"), &json!("RECORDING_EXPIRED"))
    );
    let message = report["error"]["message"].as_str().expect("a message");
    assert!(message.contains("call 1") && message.contains("retention.recordings_days"), "{message}");
}

#[tokio::test]
async fn an_instruction_that_changed_is_the_first_divergence_shown_as_a_diff() {
    let server = TestServer::start().await;
    let client = server.admin();
    let profile = |words: &str| json!({"id": "poet", "name": "poet", "systemPrompt": words});
    client.put("/api/profiles/poet", &profile("Speak in rhymes.")).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"agentProfileReference": "poet"})).await;
    let made = made.expect(StatusCode::CREATED);
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    client.run(session, "bash: echo kept > kept.txt").await;
    let run = run(&client, session, "hello").await;
    assert_same("builtin", &replay(&client, session, run).await);

    client.put("/api/profiles/poet", &profile("Speak in riddles.")).await.expect(StatusCode::OK);
    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(true)), "{report:#}");
    let first = &report["firstDivergence"];
    assert_eq!((&first["kind"], &first["index"]), (&json!("request"), &json!(1)), "{report:#}");
    let diff = first["diff"].as_str().expect("a diff");
    assert!(diff.contains("rhymes") && diff.contains("riddles"), "{diff}");
}

#[tokio::test]
async fn an_interrupt_comes_again_where_the_run_had_come_to() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, _) = client.message_send(session, "bash: touch began; sleep 300").await;
    let mut events = client.events(session, warren_domain::Seq(0)).await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == "began").await;
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(run)).await;
    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    let left = server.processes().iter().filter(|process| process.command().contains("sleep 300")).count();
    assert_eq!(left, 0, "what it started is gone");
}

#[tokio::test]
async fn a_file_that_is_another_one_is_named() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let make = "bash: mkdir -p data && echo same > data/same.txt && head -c 64 /dev/urandom > data/chance.bin && head -c 9 /dev/urandom > ~/own";
    let run = run(&client, session, make).await;
    let before = client.get(&format!("/api/sessions/{session}/versions")).await.expect(StatusCode::OK);
    let report = replay(&client, session, run).await;
    let first = &report["firstDivergence"];
    assert_eq!((&report["diverged"], &first["kind"]), (&json!(true), &json!("files")), "{report:#}");
    assert_eq!(report["files"]["different"], json!(["data/chance.bin"]), "the agent's home is its own");
    let count = |of: &str| report["files"][of].as_u64().expect("a number");
    assert!(count("compared") >= 2 && count("equal") == count("compared") - 1, "{report:#}");
    assert!(first["message"].as_str().expect("a message").contains("`data/chance.bin`"), "{report:#}");
    assert!(first["diff"].as_str().expect("a diff").contains("- data/chance.bin 644 64 bytes"), "{report:#}");
    let after = client.get(&format!("/api/sessions/{session}/versions")).await.expect(StatusCode::OK);
    assert_eq!(after, before, "a replay makes no version");
    // What the server knows of the session's own files is not what the replay left.
    client.run(session, "bash: cat data/chance.bin | wc -c").await;
    let diff = client.get(&format!("/api/sessions/{session}/versions/2/diff")).await.expect(StatusCode::OK);
    assert_eq!(diff["files"], json!([]));
}

#[tokio::test]
async fn a_version_of_a_shared_workspace_is_said_to_be_one() {
    let server = TestServer::start().await;
    let client = server.admin();
    let one = client.session_create().await;
    client.run(one, "bash: echo one > one.txt").await;
    let workspace = client.get(&format!("/api/sessions/{one}")).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"workspaceId": workspace["workspaceId"]})).await;
    let made = made.expect(StatusCode::CREATED);
    let two: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let run = run(&client, two, "bash: echo two > two.txt").await;
    let report = replay(&client, two, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("shared"), "{report:#}");
    assert_eq!(report["files"]["different"], json!([]), "what was there before is in its base: {report:#}");
}

#[tokio::test]
async fn what_reaches_out_of_the_sandbox_is_named() {
    let server = Setup::new().config("[egress]\nallow = [\"example.com\"]").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let ask = "bash: exec 3<>/dev/tcp/127.0.0.1/4180; printf 'GET http://example.com/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3";
    let run = run(&client, session, ask).await;
    let report = replay(&client, session, run).await;
    let first = &report["firstDivergence"];
    assert_eq!(first["kind"], "egress", "{report:#}");
    assert!(first["message"].as_str().expect("a message").contains("example.com:80"), "{report:#}");
}

#[tokio::test]
async fn the_command_shows_the_report_and_its_exit_code_tells_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let run = run(&client, session, "bash: date +%N").await;
    let replay = async |arguments: &[&str]| {
        let output = server.command(arguments).output().await.expect("the command runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let (code, text) = replay(&["replay", &session.to_string(), &run.to_string()]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("The replay was the same except for the output of 1 tool.")
            && text.contains("difference: "),
        "{text}"
    );
    let (code, text) = replay(&["replay", &session.to_string(), "--json"]).await;
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &report["runs"][0]["runId"]), (Some(0), &json!(run)), "{report:#}");
    for hash in recordings(&client.log(session).await) {
        std::fs::remove_file(blob(&server, &hash)).expect("removed");
    }
    let (code, text) = replay(&["replay", &session.to_string(), &run.to_string()]).await;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("RECORDING_EXPIRED"), "{text}");
}
