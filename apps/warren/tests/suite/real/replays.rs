//! Runs of real agents, carried out once more.

use serde_json::json;
use warren_domain::{RunId, SessionId};
use warren_testkit::TestClient;

use super::{CLAUDE, CODEX, GEMINI, OPENCODE, assert_ends, server, session};
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
