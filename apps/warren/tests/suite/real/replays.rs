//! Runs of real agents, carried out once more.

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{RunId, SessionId};
use warren_testkit::TestClient;

use super::{BUILTIN, CLAUDE, CODEX, GEMINI, OPENCODE, assert_ends, end_of, server, session, until};
use crate::suite::replay::{assert_same, replay};

/// Carries a message out, and its replay.
async fn twice(client: &TestClient, session: SessionId, agent: &str, text: &str) {
    let events = client.run(session, text).await;
    assert_ends(agent, &events, "run_completed");
    let run: RunId = events[0].json["runId"].as_str().expect("a run").parse().expect("an id");
    let report = replay(client, session, run).await;
    assert_same(&format!("{agent}, {text}"), &report);
    assert!(report["calls"]["compared"].as_u64() > Some(0), "{agent}: {report:#}");
}

/// A run with a tool that writes a file; then one that goes on from there with what the agent remembers, and with a subagent
/// if the agent has them.
async fn check(agent: &str) {
    let server = server(&[agent]).await;
    let client = server.admin();
    let session = session(&client, agent, json!({})).await;
    twice(&client, session, agent, "run: echo marzipan > made.txt; cat made.txt").await;
    let next = if agent == CODEX { "what did I say?" } else { "ask a subagent for a review" };
    twice(&client, session, agent, next).await;
}

/// A message that the agent took up while it worked is said again where it was.
async fn check_steered(agent: &str) {
    let installed: &[&str] = if agent == BUILTIN { &[] } else { &[agent] };
    let server = server(installed).await;
    let client = server.admin();
    let session = session(&client, agent, json!({})).await;
    let (run, _) = client.message_send(session, "run: touch began; sleep 3").await;
    until(&client, session, |event| event.kind() == "file_changed" && event.json["path"] == "began").await;
    let body = json!({"content": "and hello", "whenBusy": "steer"});
    let sent = client.post(&format!("/api/sessions/{session}/messages"), &body).await;
    let steered = sent.expect(StatusCode::ACCEPTED)["runId"].as_str().expect("a run").to_owned();
    end_of(&client, session, run).await;
    let report = replay(&client, session, run).await;
    assert_same(&format!("{agent}, steered"), &report);
    assert!(report["notes"].as_array().is_none_or(Vec::is_empty), "{agent}: {report:#}");
    let replay = report["replayId"].as_str().expect("an id");
    let path = format!("/api/sessions/{session}/replays/{replay}/events");
    let events = client.get(&path).await.expect(StatusCode::OK)["events"].clone();
    let is_taken_up = |event: &serde_json::Value| event["block"]["id"] == format!("msg-{steered}");
    assert_eq!(
        events.as_array().expect("events").iter().filter(|event| is_taken_up(event)).count(),
        1,
        "{agent}"
    );
}

#[tokio::test]
async fn a_steered_run_of_the_built_in_agent_replayed_is_the_same() {
    check_steered(BUILTIN).await;
}

#[tokio::test]
async fn a_steered_run_of_claude_code_replayed_is_the_same() {
    check_steered(CLAUDE).await;
}

#[tokio::test]
async fn a_steered_run_of_opencode_replayed_is_the_same() {
    check_steered(OPENCODE).await;
}

#[tokio::test]
async fn a_steered_run_of_codex_replayed_is_the_same() {
    check_steered(CODEX).await;
}

#[tokio::test]
async fn a_run_of_claude_code_replayed_is_the_same() {
    check(CLAUDE).await;
}

#[tokio::test]
async fn a_run_of_gemini_cli_replayed_is_the_same() {
    check(GEMINI).await;
}

#[tokio::test]
async fn a_run_of_opencode_replayed_is_the_same() {
    check(OPENCODE).await;
}

#[tokio::test]
async fn a_run_of_codex_replayed_is_the_same() {
    check(CODEX).await;
}
