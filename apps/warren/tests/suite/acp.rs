//! Real agents that speak ACP, in the real sandbox, through the REST API: whatever a profile's `command` starts.

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

use super::real::{
    answer, assert_ends, assert_heard, end_of, outputs_of, pending, server, text_of, until, whole,
};

const GEMINI: &str = "gemini-cli";
const OPENCODE: &str = "opencode";
const CODEX: &str = "codex-acp";

/// What each is given: the command, and how it finds the model that is on the sandbox's loopback.
fn profile(agent: &str, asks: bool) -> Value {
    match agent {
        GEMINI => json!({
            "command": ["gemini-cli", "--acp"],
            "environmentVariables": {
                "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_COLOR": "1",
                "GEMINI_MODEL": "gemini-2.5-pro",
            },
        }),
        OPENCODE => {
            let options = json!({"baseURL": "http://127.0.0.1:4100/v1", "apiKey": "{env:ANTHROPIC_API_KEY}"});
            let permission = if asks { "ask" } else { "allow" };
            let config = json!({
                "model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-sonnet-4-5",
                "enabled_providers": ["anthropic"], "permission": {"*": permission},
                "provider": {"anthropic": {
                    "npm": "@ai-sdk/anthropic", "options": options,
                    "models": {"claude-sonnet-4-5": {"name": "Claude", "tool_call": true}},
                }},
                "autoupdate": false, "share": "disabled", "snapshot": false,
            });
            let off = |name: &str| (name.to_owned(), json!("true"));
            let mut variables: serde_json::Map<String, Value> = [
                "OPENCODE_DISABLE_AUTOUPDATE",
                "OPENCODE_DISABLE_MODELS_FETCH",
                "OPENCODE_DISABLE_LSP_DOWNLOAD",
            ]
            .into_iter()
            .map(off)
            .collect();
            variables.insert("OPENCODE_CONFIG_CONTENT".to_owned(), json!(config.to_string()));
            json!({"command": ["opencode", "acp"], "environmentVariables": variables})
        }
        _ => {
            let provider = "model_providers.warren={name=\"Warren\", base_url=\"http://127.0.0.1:4103/v1\", \
                            env_key=\"OPENAI_API_KEY\", wire_api=\"responses\"}";
            let policy = if asks { "approval_policy=\"untrusted\"" } else { "approval_policy=\"never\"" };
            let sandbox = "sandbox_mode=\"danger-full-access\"";
            let settings = [
                provider,
                "model_provider=\"warren\"",
                "model=\"gpt-5.5\"",
                policy,
                sandbox,
                "analytics.enabled=false",
                "web_search=\"disabled\"",
            ];
            let command = ["codex-acp"].into_iter().chain(settings.into_iter().flat_map(|it| ["-c", it]));
            json!({"command": command.collect::<Vec<_>>()})
        }
    }
}

async fn session(client: &TestClient, agent: &str, mode: &str) -> SessionId {
    let path = format!("/api/profiles/{agent}-{mode}");
    client.put(&path, &profile(agent, mode == "ask")).await.expect(StatusCode::OK);
    let body = json!({
        "type": "acp", "agentProfileReference": format!("{agent}-{mode}"), "options": {"permissionMode": mode},
    });
    let made = client.post("/api/sessions", &body).await.expect(StatusCode::CREATED);
    made["sessionId"].as_str().expect("an id").parse().expect("an id")
}

async fn interrupt(client: &TestClient, session: SessionId) {
    let path = format!("/api/sessions/{session}/interrupt");
    client.post(&path, &json!({})).await.expect(StatusCode::ACCEPTED);
}

fn left(server: &TestServer, command: &str) -> usize {
    server.processes().iter().filter(|process| process.command().contains(command)).count()
}

async fn an_acp_agent_streams_text_and_uses_tools(agent: &str) {
    let server = server(&[agent]).await;
    let client = server.admin();
    let session = session(&client, agent, "auto").await;
    let events = client.run(session, "hello").await;
    assert_ends(agent, &events, "run_completed");
    assert!(!text_of(&events).is_empty(), "{agent}");
    assert!(events.iter().any(|event| event.kind() == "text_delta"), "{agent} streams");

    let events = client.run(session, "run: echo marzipan > made.txt; cat made.txt").await;
    assert_ends(agent, &events, "run_completed");
    let call = whole(&events, "tool_use").pop().expect("a call").clone();
    assert_eq!(call["status"], "success", "{agent}: {call:#}");
    // Gemini does not say by ACP what a command printed.
    assert!(agent == GEMINI || outputs_of(&events).contains("marzipan"), "{agent}: {}", outputs_of(&events));
    let made = events.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == "made.txt");
    assert!(made, "{agent}: the file is in the log");
}

async fn an_acp_agent_is_interrupted_in_its_text_and_in_a_tool(agent: &str) {
    let server = server(&[agent]).await;
    let client = server.admin();
    let session = session(&client, agent, "auto").await;
    let (run, _) = client.message_send(session, "count to 500").await;
    until(&client, session, |event| event.kind() == "text_delta").await;
    interrupt(&client, session).await;
    let end = end_of(&client, session, run).await;
    assert_eq!(end.kind(), "run_interrupted", "{agent}: {:#}", end.json);

    let (run, _) = client.message_send(session, "run: touch began; sleep 300").await;
    until(&client, session, |event| event.kind() == "file_changed" && event.json["path"] == "began").await;
    interrupt(&client, session).await;
    let end = end_of(&client, session, run).await;
    assert_eq!(end.kind(), "run_interrupted", "{agent}: {:#}", end.json);

    let events = client.run(session, "hello").await;
    assert_ends(agent, &events, "run_completed");
    assert_eq!(left(&server, "sleep 300"), 0, "{agent}: what it started is gone");
}

async fn an_acp_agent_waits_for_a_person_who_allows_or_denies(agent: &str) {
    let server = server(&[agent]).await;
    let client = server.admin();
    let session = session(&client, agent, "ask").await;
    let (run, _) = client.message_send(session, "run: touch allowed.txt").await;
    let asked = pending(&client, session).await;
    assert_eq!((&asked["kind"], &asked["status"]), (&json!("permission"), &json!("pending")), "{agent}");
    answer(&client, &asked, json!({"decision": "allow"})).await;
    let end = end_of(&client, session, run).await;
    assert_eq!(end.kind(), "run_completed", "{agent}: {:#}", end.json);

    let (run, _) = client.message_send(session, "run: touch denied.txt").await;
    let asked = pending(&client, session).await;
    answer(&client, &asked, json!({"decision": "deny", "message": "not today"})).await;
    let end = end_of(&client, session, run).await;
    assert!(end.kind() == "run_completed" || end.kind() == "run_interrupted", "{agent}: {:#}", end.json);
    let log = client.log(session).await;
    let made =
        |name: &str| log.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == name);
    assert_eq!((made("allowed.txt"), made("denied.txt")), (true, false), "{agent}");
    assert_heard(&client, session, "not today").await;
}

async fn an_acp_agent_goes_on_in_a_new_sandbox_and_remembers(agent: &str) {
    let server = server(&[agent]).await;
    let client = server.admin();
    let session = session(&client, agent, "auto").await;
    client.run(session, "remember the word marzipan").await;
    client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
    let events = client.run(session, "what word did I tell you?").await;
    assert_ends(agent, &events, "run_completed");
    assert!(text_of(&events).contains("marzipan"), "{agent}: {}", text_of(&events));
}

#[tokio::test]
async fn agent_that_says_nothing_after_its_start_is_noted_in_the_conversation() {
    let server = Setup::new().config("[runs]\nsilence_seconds = 1").start().await;
    let client = server.admin();
    client.put("/api/profiles/mute", &json!({"command": ["sleep", "600"]})).await.expect(StatusCode::OK);
    let body = json!({"type": "acp", "agentProfileReference": "mute"});
    let made = client.post("/api/sessions", &body).await.expect(StatusCode::CREATED);
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let (run, seq) = client.message_send(session, "hello").await;
    let name = format!("silent-{run}");
    let mut events = client.events(session, seq).await;
    let noted = events.until(|event| event.json["block"]["id"] == name.as_str()).await;
    let note = &noted.last().expect("a note").json;
    assert_eq!((&note["type"], &note["runId"]), (&json!("block_complete"), &json!(run)));
    let said = note["block"]["message"].as_str().expect("a message");
    assert!(said.starts_with("The agent has not answered for 1 s after its start."), "{said}");
    interrupt(&client, session).await;
    let end = end_of(&client, session, run).await;
    assert_eq!(end.kind(), "run_interrupted", "the run went on until then: {:#}", end.json);
    let log = client.log(session).await;
    assert_eq!(log.iter().filter(|event| event.json["block"]["id"] == name.as_str()).count(), 1);
}

/// Each agent by itself: they are slow to start, and what fails is known by its name.
macro_rules! with {
    ($name:ident, $agent:expr) => {
        mod $name {
            #[tokio::test]
            async fn text_and_tools() {
                super::an_acp_agent_streams_text_and_uses_tools($agent).await;
            }

            #[tokio::test]
            async fn interrupts() {
                super::an_acp_agent_is_interrupted_in_its_text_and_in_a_tool($agent).await;
            }

            #[tokio::test]
            async fn approvals() {
                super::an_acp_agent_waits_for_a_person_who_allows_or_denies($agent).await;
            }

            #[tokio::test]
            async fn resume() {
                super::an_acp_agent_goes_on_in_a_new_sandbox_and_remembers($agent).await;
            }
        }
    };
}

with!(gemini, super::GEMINI);
with!(opencode, super::OPENCODE);
with!(codex, super::CODEX);
