//! Transcripts that people have: shown as blocks, and made into sessions that go on.

use std::path::Path;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_testkit::TestServer;

fn recording(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/agents/fixtures");
    root.join(file).to_string_lossy().into_owned()
}

async fn printed(server: &TestServer, arguments: &[&str]) -> Value {
    let output = server.command(arguments).output().await.expect("the command ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What the main conversation says, block by block.
fn said(blocks: &Value) -> Vec<String> {
    let texts = blocks.as_array().into_iter().flatten();
    texts.filter_map(|block| Some(block["content"].as_str()?.to_owned())).collect()
}

#[tokio::test]
async fn a_saved_transcript_and_a_recorded_stream_print_the_same_blocks() {
    let server = TestServer::start().await;
    for case in ["text", "subagent", "parallel"] {
        let transcript = recording(&format!("builtin/{case}/transcript.jsonl"));
        let stream = recording(&format!("builtin/{case}/in.jsonl"));
        let parsed = printed(&server, &["transcript", "parse", "--agent", "builtin", &transcript]).await;
        let folded = printed(&server, &["transcript", "fold", "--agent", "builtin", &stream]).await;
        assert!(!parsed["blocks"].as_array().expect("blocks").is_empty());
        assert_eq!(
            (&parsed["blocks"], &parsed["subagents"]),
            (&folded["blocks"], &folded["subagents"]),
            "{case}"
        );
    }
}

#[tokio::test]
async fn an_imported_transcript_is_a_session_that_remembers() {
    let server = TestServer::start().await;
    let client = server.admin();
    let first = client.session_create().await;
    client.run(first, "remember that I like marzipan").await;
    let transcript = client.get(&format!("/api/sessions/{first}/transcript")).await.body;
    let blocks = client.get(&format!("/api/sessions/{first}")).await.expect(StatusCode::OK)["blocks"].clone();
    client.delete(&format!("/api/sessions/{first}")).await;

    let file = server.directory().join("old.jsonl");
    std::fs::write(&file, transcript.as_str().expect("text")).expect("written");
    let file = file.to_string_lossy().into_owned();
    let made = printed(&server, &["import", "--agent", "builtin", &file, "--json"]).await;
    assert_eq!(made["name"], "old");
    let session: warren_domain::SessionId =
        made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let detail = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    assert_eq!(detail["blocks"], blocks);
    assert_eq!(detail["runtime"]["sandbox"], json!(null), "reading a past needs no sandbox");

    client.run(session, "what did I say?").await;
    let detail = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    let answer = said(&detail["blocks"]).pop().expect("an answer");
    assert!(answer.contains("marzipan"), "{answer}");
}

#[tokio::test]
async fn what_is_no_transcript_makes_no_session() {
    let server = TestServer::start().await;
    let client = server.admin();
    let body = json!({"type": "builtin", "transcript": "not a transcript\n"});
    assert_eq!(client.post("/api/import", &body).await.refusal(), (400, "BAD_REQUEST"));
    let body = json!({"type": "nobody", "transcript": ""});
    assert_eq!(client.post("/api/import", &body).await.refusal(), (400, "AGENT_UNKNOWN"));
    let listed = client.get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(listed["sessions"], json!([]));
}
