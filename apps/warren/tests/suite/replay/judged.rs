//! What counts as the same, and what does not.

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use warren_domain::{RunId, SessionId};
use warren_testkit::{Setup, TestClient, TestServer};

use super::{super::sandbox::with_keys, assert_same, blob, recordings, replay, run};

/// A text that is another one each time.
const CHANCE: &str = "cat /proc/sys/kernel/random/uuid";

async fn session_with(client: &TestClient, options: Value) -> SessionId {
    let made = client.post("/api/sessions", &json!({"options": options})).await;
    made.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").parse().expect("an id")
}

/// A run that is interrupted once a file is there.
async fn interrupted(client: &TestClient, session: SessionId, text: &str, file: &str) -> RunId {
    let (run, seq) = client.message_send(session, text).await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == file).await;
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(run)).await;
    run
}

/// What Ctrl-C makes of the replay that a command began, when there were so many before.
async fn interrupted_command(server: &TestServer, session: SessionId, run: RunId, n_before: usize) -> Value {
    let (client, path) = (server.admin(), format!("/api/sessions/{session}/replays"));
    let list = async || client.get(&path).await.expect(StatusCode::OK)["replays"].clone();
    let mut command = server.command(&["replay", &session.to_string(), &run.to_string()]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("it runs");
    loop {
        let replays = list().await;
        let is_begun = replays.as_array().is_some_and(|replays| replays.len() > n_before);
        let newest = replays[0]["replayId"].as_str().unwrap_or_default().to_owned();
        // Its agent is at work: the command was told long ago that it has begun.
        if is_begun
            && client.get(&format!("{path}/{newest}/events")).await.body.to_string().contains("tool_use")
        {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw).expect("a number");
    kill_process(pid, Signal::INT).expect("it is told");
    assert_eq!(child.wait().await.expect("it ends").code(), Some(130));
    list().await[0].clone()
}

#[tokio::test]
async fn a_replay_has_the_options_that_the_run_had() {
    let server = with_keys(Setup::new(), "a-key").await.start().await;
    let client = server.admin();
    let session = session_with(&client, json!({"model": "model-a"})).await;
    let first = run(&client, session, "bash: echo one > one").await;
    let path = format!("/api/sessions/{session}");
    client.patch(&path, &json!({"options": {"model": "model-b"}})).await.expect(StatusCode::OK);
    let second = run(&client, session, "bash: echo two > two").await;
    client.patch(&path, &json!({"options": {"model": "model-c"}})).await.expect(StatusCode::OK);
    for run in [first, second] {
        assert_same("builtin", &replay(&client, session, run).await);
    }
}

#[tokio::test]
async fn what_an_interrupted_run_had_written_is_compared() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let text = format!("bash: {CHANCE} > chance; echo same > same; touch began; sleep 300");
    let run = interrupted(&client, session, &text, "began").await;
    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(true)), "{report:#}");
    assert_eq!(report["firstDivergence"]["kind"], "files", "{report:#}");
    assert_eq!(report["files"]["different"], json!(["chance"]), "{report:#}");
}

#[tokio::test]
async fn a_file_that_grew_until_the_run_was_stopped_may_be_longer_or_shorter() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let text = "bash: touch began; for i in $(seq 3000); do echo $i >> log; [ $i -lt 40 ] || touch f$i; sleep 0.02; done";
    let run = interrupted(&client, session, text, "f45").await;
    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    assert_eq!(report["files"]["equal"], report["files"]["compared"], "{report:#}");
}

#[tokio::test]
async fn files_that_came_and_went_make_no_divergence() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let text = "bash: for i in $(seq 60); do echo x > t$i.tmp; sleep 0.006; mv t$i.tmp f$i; done; mkdir .git; head -c 9 /dev/urandom > .git/index";
    let run = run(&client, session, text).await;
    assert_same("builtin", &replay(&client, session, run).await);
}

#[tokio::test]
async fn names_that_are_others_each_time_are_a_matter_of_files() {
    let server = TestServer::start().await;
    let client = server.admin();
    for make in ["echo x >", "mkdir", "ln -s x"] {
        let session = client.session_create().await;
        let run = run(&client, session, &format!("bash: {make} $({CHANCE})")).await;
        let report = replay(&client, session, run).await;
        assert_eq!(report["firstDivergence"]["kind"], "files", "{make}: {report:#}");
        assert_eq!(report["files"]["different"].as_array().map(Vec::len), Some(2), "{make}: {report:#}");
    }
}

#[tokio::test]
async fn a_run_whose_budget_was_spent_ends_the_same_way_in_its_replay() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = session_with(&client, json!({"budget": {"tokens": 20}})).await;
    let run = run(&client, session, "hello").await;
    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    assert_eq!(report["calls"], json!({"compared": 1, "equal": 1}));
}

#[tokio::test]
async fn what_a_tool_says_by_chance_is_told_and_no_divergence() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let said = [
        CHANCE.to_owned(),
        format!("echo /tmp/build.log:result=$({CHANCE})"),
        "echo 1$((500000000+RANDOM*RANDOM%400000000)) score $RANDOM s".to_owned(),
    ];
    for command in said {
        let run = run(&client, session, &format!("bash: {command}")).await;
        let report = replay(&client, session, run).await;
        assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
        assert_eq!(report["differences"].as_array().map(Vec::len), Some(1), "{command}: {report:#}");
    }
    let run = run(&client, session, "bash: date; date +%s; mktemp; echo x > x").await;
    assert_same("builtin", &replay(&client, session, run).await);
}

#[tokio::test]
async fn a_question_that_outlived_a_restart_is_asked_and_answered_in_the_replays_of_both_runs() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = session_with(&client, json!({"permissionMode": "ask"})).await;
    let (cut, seq) = client.message_send(session, "bash: echo x > t").await;
    let asked = client.events(session, seq).await.until(|event| event.kind() == "approval_requested").await;
    let approval = asked.last().expect("a question").json["approvalId"].clone();
    server.kill().await;
    server.restart().await;

    let client = server.admin();
    let (run, seq) = client.message_send(session, "bash: echo x > t").await;
    let mut events = client.events(session, seq).await;
    let of_run = |kind: &str, event: &warren_testkit::TestEvent| {
        event.kind() == "block_start"
            && event.json["block"]["type"] == kind
            && event.json["runId"] == json!(run)
    };
    events.until(|event| of_run("tool_use", event)).await;
    let path = format!("/api/approvals/{}", approval.as_str().expect("an id"));
    client.post(&path, &json!({"decision": "allow"})).await.expect(StatusCode::OK);
    events.until(|event| event.ends_run(run)).await;
    for run in [cut, run] {
        let report = replay(&client, session, run).await;
        assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    }
}

#[tokio::test]
async fn a_run_of_a_session_that_cannot_be_replayed_hides_nothing_of_the_others() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let command = async || {
        let output = server.command(&["replay", &session.to_string()]).output().await.expect("it runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let (code, text) = command().await;
    assert_eq!((code, text.as_str()), (Some(0), "Nothing was replayed: no run of the session has ended.\n"));

    let lost = run(&client, session, "bash: echo one > one").await;
    for hash in recordings(&client.log(session).await) {
        std::fs::remove_file(blob(&server, &hash)).expect("removed");
    }
    run(&client, session, &format!("bash: {CHANCE} > chance")).await;
    let path = format!("/api/sessions/{session}/replay");
    let report = client.post(&path, &json!({"wait": true})).await.expect(StatusCode::OK);
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(true)), "{report:#}");
    assert_eq!(report["runs"][0]["status"], "failed", "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains(&format!("run `{lost}` could not be replayed")), "{report:#}");
    let (code, text) = command().await;
    assert_eq!(code, Some(4), "{text}");
    for words in
        ["RECORDING_EXPIRED", "    - chance 644", "Of 2 runs 0 were the same, 1 diverged and 1 could not"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[tokio::test]
async fn a_replay_can_be_ended_whether_it_goes_on_or_waits_for_its_turn() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    // It takes long from a certain moment on.
    let clock = || std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    let slow_from = clock() + 10;
    let run = run(&client, session, &format!("bash: [ $(date +%s) -lt {slow_from} ] || sleep 300")).await;
    while clock() < slow_from {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let path = format!("/api/sessions/{session}/runs/{run}/replay");
    let mut begun = Vec::new();
    for _ in 0..5 {
        // A type without a body is no body.
        let request = client.request(reqwest::Method::POST, &path).header("Content-Type", "application/json");
        let report = client.send(request).await.expect(StatusCode::ACCEPTED);
        begun
            .push(format!("/api/sessions/{session}/replays/{}", report["replayId"].as_str().expect("an id")));
    }
    for path in [&begun[4], &begun[0]] {
        let ended = client.delete(path).await.expect(StatusCode::OK);
        assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!("UNAVAILABLE")));
        assert_eq!(client.delete(path).await.expect(StatusCode::OK), ended, "twice is the same as once");
    }
    let ended = interrupted_command(&server, session, run, begun.len()).await;
    assert_eq!(ended["error"]["code"], "UNAVAILABLE", "{ended:#}");
    // Erasing the session ends the others.
    client.delete(&format!("/api/sessions/{session}")).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(client.get(&begun[1]).await.refusal(), (404, "NOT_FOUND"));
}
