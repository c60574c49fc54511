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

#[tokio::test]
async fn a_file_tells_which_agent_wrote_it() {
    let server = TestServer::start().await;
    let gemini = "gemini-cli/unicode/chats/session-2026-11-16T01-58-a3400541.jsonl";
    for (agent, verb, file) in [
        ("claude-code", "parse", "claude-code/plain-text/transcript.jsonl"),
        ("gemini-cli", "parse", gemini),
        ("gemini-cli", "parse", "gemini-cli/v24_mixed/chats/session-2026-11-16T02-28-8f47a040.json"),
        ("opencode", "parse", "opencode/exported/export_session.json"),
        ("codex", "parse", "codex/app-0.120.0-tool/rollout.jsonl"),
        ("acp", "parse", "acp/gemini-basic/in.jsonl"),
        ("builtin", "parse", "builtin/text/transcript.jsonl"),
        ("claude-code", "fold", "claude-code/plain-text/in.jsonl"),
        ("opencode", "fold", "opencode/abort/events.sse"),
        ("codex", "fold", "codex/app-0.120.0-tool/stream.jsonl"),
        ("acp", "fold", "acp/gemini-basic/in.jsonl"),
    ] {
        let file = recording(file);
        let told = printed(&server, &["transcript", verb, &file]).await;
        assert_eq!(told, printed(&server, &["transcript", verb, "--agent", agent, &file]).await, "{file}");
        assert!(!told["blocks"].as_array().expect("blocks").is_empty(), "{file}");
        if verb == "parse" {
            let made = printed(&server, &["import", &file, "--json"]).await;
            assert_eq!(made["type"], agent, "{file}");
        }
    }
}

#[tokio::test]
async fn a_file_that_does_not_tell_is_refused_with_a_hint() {
    let server = TestServer::start().await;
    let file = server.directory().join("diary.txt");
    std::fs::write(&file, "Dear diary\n").expect("written");
    let file = file.to_string_lossy().into_owned();
    for arguments in [&["import", &file][..], &["transcript", "parse", &file], &["transcript", "fold", &file]]
    {
        let output = server.command(arguments).output().await.expect("the command ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{told}");
        assert!(told.contains("is not a transcript of a known agent") && told.contains("--agent"), "{told}");
    }
}
