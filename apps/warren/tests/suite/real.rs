//! Every real agent, from the npm registry, in the real sandbox, through the REST API. Only the model is scripted.
//!
//! Each test is one capability; the agents that have it are its cases. `docs/agents.md` is the table of both.

mod replays;

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{RunId, SessionId};
use warren_testkit::{Setup, TestClient, TestEvent, TestServer};

use super::session::{assert_contiguous, folded};

/// A part of Warren, which needs no installing.
const BUILTIN: &str = "builtin";
const CLAUDE: &str = "claude-code";
const GEMINI: &str = "gemini-cli";
const OPENCODE: &str = "opencode";
const CODEX: &str = "codex";

/// All agents that are programs of their own.
pub(super) const ALL: [&str; 4] = [CLAUDE, GEMINI, OPENCODE, CODEX];

pub(super) async fn server(agents: &[&str]) -> TestServer {
    Setup::new().agents(agents).await.start().await
}

pub(super) async fn session(client: &TestClient, agent: &str, more: Value) -> SessionId {
    let mut body = json!({"type": agent});
    body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    let made = client.post("/api/sessions", &body).await.expect(StatusCode::CREATED);
    made["sessionId"].as_str().expect("an id").parse().expect("an id")
}

/// The blocks of a run's events, each as it was when it was whole.
pub(super) fn whole<'a>(events: &'a [TestEvent], kind: &str) -> Vec<&'a Value> {
    let completed = events.iter().filter(|event| event.kind() == "block_complete");
    completed.map(|event| &event.json["block"]).filter(|block| block["type"] == kind).collect()
}

pub(super) fn text_of(events: &[TestEvent]) -> String {
    whole(events, "assistant_text").iter().filter_map(|block| block["content"].as_str()).collect()
}

pub(super) fn outputs_of(events: &[TestEvent]) -> String {
    whole(events, "tool_result").iter().map(|block| block["output"].to_string()).collect()
}

#[track_caller]
pub(super) fn assert_ends(agent: &str, events: &[TestEvent], kind: &str) {
    let last = events.last().expect("events");
    assert_eq!(last.kind(), kind, "{agent}: {:#}", last.json);
}

/// Nothing an agent of the pinned version says is beyond its codec.
#[track_caller]
pub(super) fn assert_understood(agent: &str, events: &[TestEvent]) {
    let strange: Vec<_> = events.iter().filter(|event| event.kind() == "unrecognized").collect();
    assert!(strange.is_empty(), "{agent}: {strange:#?}");
}

#[tokio::test]
async fn text_and_thinking_stream_and_are_kept() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let events = client.run(session, "think about it").await;
        assert_ends(agent, &events, "run_completed");
        assert_understood(agent, &events);
        assert!(!text_of(&events).is_empty(), "{agent}");
        assert!(!whole(&events, "thinking").is_empty(), "{agent} shows its thoughts");
        let users = whole(&events, "user_message");
        assert_eq!(users.len(), 1, "{agent}: {users:#?}");
        let run = events[0].json["runId"].as_str().expect("a run");
        assert_eq!(users[0]["content"], "think about it");
        // Gemini keeps no name that it is given.
        let is_named = users[0]["id"] == format!("msg-{run}");
        assert_eq!(is_named, agent != GEMINI, "{agent}: {}", users[0]);
        let last = events.last().expect("events");
        assert!(last.json["usage"]["outputTokens"].as_u64() > Some(0), "{agent}: {:#}", last.json);
        assert_eq!(last.json["costUSD"], 0.0, "{agent}: the demo model is free: {:#}", last.json);
        assert_contiguous(&client.log(session).await);
    }
}

#[tokio::test]
async fn tools_run_fail_and_run_side_by_side() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let events = client.run(session, "run: echo marzipan > made.txt; cat made.txt").await;
        assert_ends(agent, &events, "run_completed");
        assert!(outputs_of(&events).contains("marzipan"), "{agent}: {}", outputs_of(&events));
        let call = whole(&events, "tool_use").pop().expect("a call").clone();
        assert_eq!(call["status"], "success", "{agent}: {call:#}");
        let made =
            events.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == "made.txt");
        assert!(made, "{agent}: the file is in the log");

        let events = client.run(session, "show me a failing tool").await;
        assert_ends(agent, &events, "run_completed");
        let failed = whole(&events, "tool_result").iter().any(|block| block["isError"] == true)
            || whole(&events, "tool_use").iter().any(|block| block["status"] == "error")
            // Gemini and OpenCode call a command that failed a success, and tell its exit code.
            || outputs_of(&events).contains("No such file");
        assert!(failed, "{agent}: {:#?}", whole(&events, "tool_result"));

        let events = client.run(session, "use tools in parallel").await;
        assert_ends(agent, &events, "run_completed");
        assert!(whole(&events, "tool_result").len() >= 2, "{agent}");
        assert_understood(agent, &events);
    }
}

#[tokio::test]
async fn a_subagent_has_a_thread_of_its_own() {
    let agents = [CLAUDE, GEMINI, OPENCODE];
    let server = server(&agents).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({})).await;
        let events = client.run(session, "ask a subagent for a review").await;
        assert_ends(agent, &events, "run_completed");
        let log = client.log(session).await;
        let all = folded(&log);
        let threads: Vec<_> = all.subagents().collect();
        assert_eq!(threads.len(), 1, "{agent}");
        let blocks = serde_json::to_value(threads[0].1).expect("JSON");
        let kinds: Vec<_> = blocks.as_array().expect("blocks").iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds[..2], ["system", "user_message"], "{agent}: {blocks:#}");
        assert_eq!(kinds.last(), Some(&&json!("system")), "{agent}: {blocks:#}");
        // Gemini's subagents report by a tool.
        let report = if agent == GEMINI { "tool_result" } else { "assistant_text" };
        assert!(kinds.contains(&&json!(report)), "{agent}: {blocks:#}");
        // It looks for files, and has what that takes.
        let failed = blocks.as_array().expect("blocks").iter().any(|block| block["isError"] == true);
        assert!(!failed, "{agent}: {blocks:#}");
        for kind in ["subagent_started", "subagent_completed"] {
            assert_eq!(log.iter().filter(|event| event.kind() == kind).count(), 1, "{agent}: {kind}");
        }
    }
}

/// Waits for an entry of a run.
pub(super) async fn until(
    client: &TestClient,
    session: SessionId,
    is_it: impl Fn(&TestEvent) -> bool,
) -> Vec<TestEvent> {
    let mut events = client.events(session, warren_domain::Seq(0)).await;
    events.until(is_it).await
}

pub(super) async fn end_of(client: &TestClient, session: SessionId, run: RunId) -> TestEvent {
    until(client, session, |event| event.ends_run(run)).await.pop().expect("an end")
}

#[tokio::test]
async fn an_interrupt_stops_text_and_tools_and_the_session_goes_on() {
    let server = Setup::new().agents(&ALL).await.start().await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let (run, _) = client.message_send(session, "count to 500").await;
        until(&client, session, |event| event.kind() == "text_delta").await;
        client
            .post(&format!("/api/sessions/{session}/interrupt"), &json!({}))
            .await
            .expect(StatusCode::ACCEPTED);
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_interrupted", "{agent}: {:#}", end.json);

        let (run, _) = client.message_send(session, "run: touch began; sleep 300").await;
        until(&client, session, |event| event.kind() == "file_changed" && event.json["path"] == "began")
            .await;
        client
            .post(&format!("/api/sessions/{session}/interrupt"), &json!({}))
            .await
            .expect(StatusCode::ACCEPTED);
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_interrupted", "{agent}: {:#}", end.json);

        let events = client.run(session, "hello").await;
        assert_ends(agent, &events, "run_completed");
        let left =
            server.processes().iter().filter(|process| process.command().contains("sleep 300")).count();
        assert_eq!(left, 0, "{agent}: what it started is gone");
    }
}

#[tokio::test]
async fn an_unloaded_session_goes_on_in_a_new_sandbox_and_remembers() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        client.run(session, "remember the word marzipan").await;
        client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
        // Another machine has nothing of the agent's home but what was saved.
        let home = server.directory().join("sessions").join(session.to_string()).join("home");
        assert!(home.exists(), "{}", home.display());
        std::fs::remove_dir_all(&home).expect("removed");
        let events = client.run(session, "what word did I tell you?").await;
        assert_ends(agent, &events, "run_completed");
        assert!(text_of(&events).contains("marzipan"), "{agent}: {}", text_of(&events));
    }
}

#[tokio::test]
async fn an_agent_that_is_killed_fails_its_run_and_the_next_message_goes_on() {
    let server = Setup::new().agents(&ALL).await.start().await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        client.run(session, "remember the word marzipan").await;
        let (run, _) = client.message_send(session, "run: touch began; sleep 300").await;
        until(&client, session, |event| event.kind() == "file_changed" && event.json["path"] == "began")
            .await;
        kill_agent(&server, agent);
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_failed", "{agent}: {:#}", end.json);
        assert!(!end.json["message"].as_str().expect("a message").is_empty());

        let events = client.run(session, "what word did I tell you?").await;
        assert_ends(agent, &events, "run_completed");
        assert!(text_of(&events).contains("marzipan"), "{agent}: {}", text_of(&events));
        let left =
            server.processes().iter().filter(|process| process.command().contains("sleep 300")).count();
        assert_eq!(left, 0, "{agent}: no process is left");
        assert_leaves_nothing(&server, &client, session).await;
    }
}

#[tokio::test]
async fn what_an_agent_did_is_kept_while_it_works_on() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let (run, _) = client.message_send(session, "run 30 times: printf '%s%s' mar zipan; sleep 2").await;
        let path = format!("/api/sessions/{session}/transcript");
        let kept = async {
            while !String::from_utf8_lossy(&kept(&client, &path).await).contains("marzipan") {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(100), kept).await;
        in_time.unwrap_or_else(|_| panic!("{agent}: a result is readable before the run ends"));
        kill_agent(&server, agent);
        assert_eq!(end_of(&client, session, run).await.kind(), "run_failed", "{agent}");

        // As if on another machine: only what was kept meanwhile is there to go on from.
        client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
        let home = server.directory().join("sessions").join(session.to_string()).join("home");
        std::fs::remove_dir_all(home).expect("a home");
        let events = client.run(session, "what did I say?").await;
        assert_ends(agent, &events, "run_completed");
        assert!(text_of(&events).contains("zipan"), "{agent}: {}", text_of(&events));
    }
}

/// When a session is unloaded, nothing runs that is not the server's own.
async fn assert_leaves_nothing(server: &TestServer, client: &TestClient, session: SessionId) {
    client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
    let is_of_sandbox =
        |command: &str| ["/opt/agents/", "/warren/guest", "bwrap"].iter().any(|part| command.contains(part));
    let left: Vec<_> =
        server.processes().into_iter().filter(|process| is_of_sandbox(&process.command())).collect();
    let left = warren_testkit::wait_until_gone(&left, Duration::from_secs(10)).await;
    assert!(left.is_empty(), "{:?}", left.iter().map(|process| process.command()).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_error_of_the_model_is_tried_again_and_one_that_stays_fails_the_run() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let events = client.run(session, "error 529 once").await;
        assert_ends(agent, &events, "run_completed");
        let statuses: Vec<_> = events
            .iter()
            .filter(|event| event.kind() == "model_called")
            .map(|event| event.json["status"].clone())
            .collect();
        assert!(statuses.contains(&json!(529)) || statuses.contains(&json!(503)), "{agent}: {statuses:?}");

        let events = client.run(session, "error 400").await;
        assert_ends(agent, &events, "run_failed");
        let last = events.last().expect("events");
        assert_eq!(last.json["code"], "LLM_ERROR", "{agent}: {:#}", last.json);
    }
}

#[tokio::test]
async fn an_agent_killed_in_the_middle_of_its_text_fails_its_run_and_the_next_message_goes_on() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        client.run(session, "remember the word marzipan").await;
        let (run, seq) = client.message_send(session, "count to 500").await;
        let mut events = client.events(session, seq).await;
        events.until(|event| event.kind() == "text_delta").await;
        kill_agent(&server, agent);
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_failed", "{agent}: {:#}", end.json);
        assert!(end.json["diagnostics"]["lastLines"].is_string(), "{agent}: {:#}", end.json);
        let log = client.log(session).await;
        assert_contiguous(&log);
        let open = folded(&log).main().iter().filter(|block| block.cut_short().is_some()).count();
        assert_eq!(open, 0, "{agent}: no block stays open");

        let events = client.run(session, "what word did I tell you?").await;
        assert_ends(agent, &events, "run_completed");
        assert!(text_of(&events).contains("marzipan"), "{agent}: {}", text_of(&events));
        assert_leaves_nothing(&server, &client, session).await;
    }
}

/// Ends every process of an agent's program, without a word.
pub(super) fn kill_agent(server: &TestServer, agent: &str) {
    let of_agent = |command: &str| command.contains("/opt/agents/") && !command.contains("/warren/guest");
    let victims: Vec<_> =
        server.processes().into_iter().filter(|process| of_agent(&process.command())).collect();
    assert!(!victims.is_empty(), "{agent}");
    victims.iter().for_each(|process| process.signal(rustix::process::Signal::KILL));
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_answered_with_no() {
    let agents = [CLAUDE, OPENCODE, CODEX, BUILTIN];
    let server = Setup::new().agents(&agents[..3]).await.config("[runs]\napproval_seconds = 2").start().await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
        let (run, _) = client.message_send(session, "run: touch never.txt").await;
        let end = end_of(&client, session, run).await;
        assert!(end.kind() == "run_completed" || end.kind() == "run_interrupted", "{agent}: {:#}", end.json);
        let log = client.log(session).await;
        let resolved: Vec<_> = log.iter().filter(|event| event.kind() == "approval_resolved").collect();
        assert_eq!(resolved.len(), 1, "{agent}: {resolved:#?}");
        let (decision, by) = (&resolved[0].json["decision"], &resolved[0].json["by"]);
        assert_eq!((decision, by), (&json!("expired"), &json!("time")), "{agent}");
        let made =
            log.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == "never.txt");
        assert!(!made, "{agent}: it was not allowed to");
        let page = client.get(&format!("/api/approvals?status=pending&sessionId={session}")).await;
        assert_eq!(page.expect(StatusCode::OK)["approvals"], json!([]), "{agent}");
    }
}

#[tokio::test]
async fn an_agent_whose_time_is_nearly_up_is_told_to_wrap_up() {
    let agents = [CLAUDE, OPENCODE, CODEX];
    let server = server(&agents).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({})).await;
        let body = json!({"content": "run: sleep 6", "timeBudget": {"softSeconds": 3, "hardSeconds": 600}});
        let sent = client.post(&format!("/api/sessions/{session}/messages"), &body).await;
        let run = sent.expect(StatusCode::ACCEPTED)["runId"].as_str().expect("a run").parse().expect("an id");
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_completed", "{agent}: {:#}", end.json);
        assert_heard(&client, session, "Most of the time for this task is used up").await;
    }
}

/// The approval that a session's agent waits for.
pub(super) async fn pending(client: &TestClient, session: SessionId) -> Value {
    until(client, session, |event| event.kind() == "approval_requested").await;
    // That event may be an earlier one's: this one may take as long as an agent needs to ask.
    for _ in 0..1_200 {
        let page = client.get(&format!("/api/approvals?status=pending&sessionId={session}")).await;
        let page = page.expect(StatusCode::OK);
        if let Some(approval) = page["approvals"].as_array().and_then(|all| all.first()) {
            return approval.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing is pending");
}

pub(super) async fn answer(client: &TestClient, approval: &Value, body: Value) -> Value {
    let path = format!("/api/approvals/{}", approval["approvalId"].as_str().expect("an id"));
    client.post(&path, &body).await.expect(StatusCode::OK)
}

#[tokio::test]
async fn a_tool_waits_for_a_person_who_allows_or_denies_it() {
    let agents = [BUILTIN, CLAUDE, OPENCODE, CODEX];
    let server = server(&agents[1..]).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
        let (run, _) = client.message_send(session, "run: touch allowed.txt && echo marzipan").await;
        let asked = pending(&client, session).await;
        assert_eq!((&asked["kind"], &asked["status"]), (&json!("permission"), &json!("pending")), "{agent}");
        let resolved = answer(&client, &asked, json!({"decision": "allow"})).await;
        assert_eq!(resolved["status"], "resolved");
        assert_eq!(
            answer(&client, &asked, json!({"decision": "allow"})).await,
            resolved,
            "the same answer again"
        );
        let path = format!("/api/approvals/{}", asked["approvalId"].as_str().expect("an id"));
        let other = client.post(&path, &json!({"decision": "deny"})).await;
        assert_eq!(other.refusal(), (409, "APPROVAL_NOT_PENDING"));
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_completed", "{agent}: {:#}", end.json);
        let log = client.log(session).await;
        let made =
            |name: &str| log.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == name);
        assert!(made("allowed.txt"), "{agent}");

        let session = self::session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
        let (run, _) = client.message_send(session, "run: touch denied.txt").await;
        let asked = pending(&client, session).await;
        answer(&client, &asked, json!({"decision": "deny", "message": "not today"})).await;
        let end = end_of(&client, session, run).await;
        assert!(end.kind() == "run_completed" || end.kind() == "run_interrupted", "{agent}: {:#}", end.json);
        let log = client.log(session).await;
        assert!(
            !log.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == "denied.txt")
        );
        assert_heard(&client, session, "not today").await;
    }
}

#[tokio::test]
async fn a_yes_for_good_is_not_asked_for_again_in_the_session() {
    let agents = [BUILTIN, CLAUDE, OPENCODE, CODEX];
    let server = server(&agents[1..]).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
        let (run, _) = client.message_send(session, "run: touch first.txt").await;
        let asked = pending(&client, session).await;
        answer(&client, &asked, json!({"decision": "allow_always"})).await;
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_completed", "{agent}: {:#}", end.json);

        client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
        let (again, path) = ("run: touch first.txt", "first.txt");
        let events = client.run(session, again).await;
        assert_ends(agent, &events, "run_completed");
        assert!(events.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == path));
        let asked = client.get(&format!("/api/approvals?sessionId={session}")).await.expect(StatusCode::OK);
        let by: Vec<_> = asked["approvals"].as_array().expect("approvals").iter().collect();
        let people = by.iter().filter(|one| one["resolution"]["by"] != "rule").count();
        assert_eq!(people, 1, "{agent}: nobody was asked again: {asked:#}");
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_wait_for_a_person() {
    let server = server(&[]).await;
    let client = server.admin();
    let session = session(&client, BUILTIN, json!({"options": {"permissionMode": "ask"}})).await;
    let (run, _) = client.message_send(session, "run: touch never.txt").await;
    pending(&client, session).await;
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    let end = end_of(&client, session, run).await;
    assert_eq!(end.kind(), "run_interrupted", "{:#}", end.json);
    let log = client.log(session).await;
    let resolved: Vec<_> = log.iter().filter(|event| event.kind() == "approval_resolved").collect();
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0].json["decision"], "expired");
}

/// The words reached the model: they are in a request that the agent made.
pub(super) async fn assert_heard(client: &TestClient, session: SessionId, words: &str) {
    let mut n_calls = 0;
    for event in client.log(session).await.iter().filter(|event| event.kind() == "model_called") {
        let Some(hash) = event.json["recording"].as_str() else { continue };
        let exchange = client.get(&format!("/api/sessions/{session}/blobs/{hash}")).await;
        n_calls += 1;
        if exchange.body.to_string().contains(words) {
            return;
        }
    }
    panic!("`{words}` is in none of {n_calls} calls");
}

#[tokio::test]
async fn a_question_is_answered_by_a_person() {
    let agents = [BUILTIN, CLAUDE, OPENCODE, CODEX];
    let server = server(&agents[1..]).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
        let (run, _) = client.message_send(session, "ask me a question").await;
        let asked = pending(&client, session).await;
        assert_eq!(asked["kind"], "question", "{agent}: {asked:#}");
        let question = &asked["detail"]["questions"][0];
        let label = question["options"][0]["label"].as_str().expect("an option").to_owned();
        let answers = json!({question["question"].as_str().expect("a question"): label});
        answer(&client, &asked, json!({"decision": "allow", "answers": answers})).await;
        let end = end_of(&client, session, run).await;
        assert_eq!(end.kind(), "run_completed", "{agent}: {:#}", end.json);
        let said = client.log(session).await;
        assert!(text_of(&said).contains(&label), "{agent}: {}", text_of(&said));
    }
}

#[tokio::test]
async fn a_message_reaches_an_agent_that_is_at_work() {
    let agents = [CLAUDE, OPENCODE, CODEX];
    let server = server(&agents).await;
    let client = server.admin();
    for agent in agents {
        let session = session(&client, agent, json!({})).await;
        let (run, _) = client.message_send(session, "run: touch began; sleep 3").await;
        until(&client, session, |event| event.kind() == "file_changed" && event.json["path"] == "began")
            .await;
        let body = json!({"content": "and hello", "whenBusy": "steer"});
        let sent = client.post(&format!("/api/sessions/{session}/messages"), &body).await;
        let steered = sent.expect(StatusCode::ACCEPTED)["runId"].as_str().expect("a run").to_owned();
        end_of(&client, session, run).await;
        let taken =
            client.get(&format!("/api/sessions/{session}/runs/{steered}")).await.expect(StatusCode::OK);
        assert_eq!(taken["status"], "steered", "{agent}: {taken:#}");
    }
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_is_used() {
    let server = server(&ALL).await;
    let client = server.admin();
    let profile = json!({
        "bundledMCPs": [{"name": "demo", "command": "node", "args": ["/workspace/mcp_demo.mjs"]}],
        "defaultWorkspaceFiles": [{"path": "mcp_demo.mjs", "content": include_str!("real/mcp_demo.mjs")}],
    });
    client.put("/api/profiles/with-mcp", &profile).await.expect(StatusCode::OK);
    for agent in ALL {
        let session = session(&client, agent, json!({"agentProfileReference": "with-mcp"})).await;
        let events = client.run(session, "mcp: add {\"a\": 20, \"b\": 22}").await;
        assert_ends(agent, &events, "run_completed");
        assert!(outputs_of(&events).contains("42"), "{agent}: {}", outputs_of(&events));
    }
}

#[tokio::test]
async fn what_an_agent_keeps_has_the_ids_and_the_contents_that_were_seen_live() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let said = ["think about it", "run: echo marzipan > made.txt; cat made.txt", "think about it"];
        let subagent = (agent != CODEX).then_some("show me a subagent");
        for prompt in said.into_iter().chain(subagent) {
            assert_ends(agent, &client.run(session, prompt).await, "run_completed");
        }
        let live = folded(&client.log(session).await);
        let path = format!("/api/sessions/{session}/transcript");
        let main = kept(&client, &path).await;
        let mut subagents = Vec::new();
        for (id, _) in live.subagents() {
            subagents.push((id.to_string(), kept(&client, &format!("{path}?subagent={id}")).await));
        }
        let parsed = warren_agents::adapter(agent).expect("an adapter").parse(&main, &subagents);
        assert_eq!((parsed.n_unreadable, parsed.unrecognized), (0, Vec::new()), "{agent}");
        let threads = |all: &warren_domain::Conversations| {
            all.subagents().map(|(id, blocks)| (id.to_string(), shown(blocks))).collect::<Vec<_>>()
        };
        assert_eq!(shown(parsed.conversations.main()), shown(live.main()), "{agent}");
        assert_eq!(threads(&parsed.conversations), threads(&live), "{agent}");
    }
}

/// An agent's own file, as it wrote it.
async fn kept(client: &TestClient, path: &str) -> Vec<u8> {
    match client.get(path).await.body {
        Value::String(text) => text.into_bytes(),
        document => document.to_string().into_bytes(),
    }
}

/// Blocks a line each, without their times: an agent writes a moment after it prints.
fn shown<'a>(blocks: impl IntoIterator<Item = &'a warren_domain::Block>) -> Vec<Value> {
    let timeless = |block: &warren_domain::Block| {
        let mut value = serde_json::to_value(block).expect("JSON");
        let fields = value.as_object_mut().expect("an object");
        fields.remove("timestamp");
        fields.remove("durationMs");
        value
    };
    blocks.into_iter().map(timeless).collect()
}

#[tokio::test]
async fn an_imported_transcript_goes_on_with_its_own_agent() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in ALL {
        let first = session(&client, agent, json!({})).await;
        client.run(first, "remember the word marzipan").await;
        // OpenCode's is one JSON document, the others' are lines.
        let transcript = match client.get(&format!("/api/sessions/{first}/transcript")).await.body {
            Value::String(text) => text,
            document => document.to_string(),
        };
        let blocks =
            client.get(&format!("/api/sessions/{first}")).await.expect(StatusCode::OK)["blocks"].clone();
        client.delete(&format!("/api/sessions/{first}")).await;

        let body = json!({"type": agent, "name": "imported", "transcript": transcript});
        let made = client.post("/api/import", &body).await.expect(StatusCode::CREATED);
        let imported: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
        let detail = client.get(&format!("/api/sessions/{imported}")).await.expect(StatusCode::OK);
        let said = |blocks: &Value| -> Vec<Value> {
            blocks.as_array().expect("blocks").iter().map(|block| block["content"].clone()).collect()
        };
        assert_eq!(said(&detail["blocks"]), said(&blocks), "{agent}");
        let events = client.run(imported, "what word did I tell you?").await;
        assert_ends(agent, &events, "run_completed");
        assert!(text_of(&events).contains("marzipan"), "{agent}: {}", text_of(&events));
    }
}

#[tokio::test]
async fn codex_rollout_of_another_installation_goes_on() {
    let server = server(&["codex"]).await;
    let client = server.admin();
    let goes_on = async |rollout: String| {
        let body = json!({"type": "codex", "name": "imported", "transcript": rollout});
        let made = client.post("/api/import", &body).await.expect(StatusCode::CREATED);
        let imported: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
        let events = client.run(imported, "what word did I tell you?").await;
        assert_ends("codex", &events, "run_completed");
        text_of(&events)
    };
    let first = session(&client, "codex", json!({})).await;
    client.run(first, "remember the word marzipan").await;
    let own = client.get(&format!("/api/sessions/{first}/transcript")).await.body;
    let own = own.as_str().expect("lines").to_owned();
    client.delete(&format!("/api/sessions/{first}")).await;
    assert!(own.contains(r#""model_provider":"warren""#), "{own}");
    for provider in ["openai", "my-company"] {
        let theirs =
            own.replace(r#""model_provider":"warren""#, &format!(r#""model_provider":"{provider}""#));
        let theirs = theirs
            .replace(r#""model_provider_id":"warren""#, &format!(r#""model_provider_id":"{provider}""#));
        let said = goes_on(theirs).await;
        assert!(said.contains("marzipan"), "{provider}: {said}");
    }
    // Recorded without Warren, by an old version and by the current one.
    for recording in ["app-0.80.0-tool", "app-resume"] {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/agents/fixtures/codex");
        let rollout = std::fs::read_to_string(format!("{fixtures}/{recording}/rollout.jsonl"));
        goes_on(rollout.expect("a recording")).await;
    }
}

#[tokio::test]
async fn no_key_and_no_token_is_anywhere_in_any_agents_sandbox() {
    const KEY: &str = "sk-0123456789-never-inside";
    let setup = Setup::new().agents(&ALL).await;
    let server = super::sandbox::with_keys(setup, KEY).await.start().await;
    let client = server.admin();
    // The command must not hold what it looks for, or it would find itself; and what it surely can find proves that it looks.
    let look = concat!(
        "run: k=0123456789; k=$k-never-inside; w=wrn; ",
        "cat /proc/*/environ /proc/*/cmdline /proc/self/mountinfo 2>/dev/null | tr '\\0' '\\n' > /tmp/seen; ",
        "grep -c '=warren-placeholder' /tmp/seen | sed s/^/control:/; ",
        "grep -ac -e $k -e ${w}_[0-9a-f] /tmp/seen | sed s/^/seen:/; ",
        "grep -rlas -e $k -e ${w}_[0-9a-f] ",
        "/home /workspace /instructions /user-input /tmp /etc /warren /dev/shm | wc -l | sed s/^/files:/",
    );
    for agent in ALL {
        let session = session(&client, agent, json!({})).await;
        let events = client.run(session, look).await;
        let output = outputs_of(&events);
        assert!(output.contains("seen:0") && output.contains("files:0"), "{agent}: {output}");
        assert!(!output.contains("control:0") && output.contains("control:"), "{agent}: {output}");
    }
}

/// Bytes of memory that a process holds: `VmRSS` now, `VmHWM` at most since [`forget_peak`].
fn memory(pid: u32, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix(which)).expect("its memory");
    line.trim_matches([':', '\t', ' ']).trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

fn forget_peak(pid: u32) {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("the kernel forgets");
}

/// How a run ended that may say nothing for minutes: some agents draw all that a tool prints on a terminal of their own.
async fn ended(client: &TestClient, session: SessionId, run: RunId) -> TestEvent {
    for _ in 0..400 {
        let found = client.get(&format!("/api/sessions/{session}/runs/{run}")).await.expect(StatusCode::OK);
        match found["status"].as_str().expect("a status") {
            "queued" | "running" => tokio::time::sleep(Duration::from_secs(1)).await,
            _ => return end_of(client, session, run).await,
        }
    }
    panic!("the run does not end");
}

#[tokio::test]
async fn much_output_of_a_tool_does_not_grow_the_server() {
    let server = server(&ALL).await;
    let client = server.admin();
    for agent in [GEMINI, OPENCODE, CODEX, BUILTIN, CLAUDE] {
        let session = session(&client, agent, json!({})).await;
        client.run(session, "hello").await;
        let before = memory(server.pid(), "VmRSS");
        forget_peak(server.pid());
        let much = "run: head -c 200000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo";
        let (run, _) = client.message_send(session, much).await;
        let end = ended(&client, session, run).await;
        // Gemini draws it on a terminal of its own, and gives that up after a minute.
        let gave_up = agent == GEMINI && end.kind() == "run_interrupted" && end.json["by"] == "agent";
        assert!(end.kind() == "run_completed" || gave_up, "{agent}: {:#}", end.json);
        let grown = memory(server.pid(), "VmHWM").saturating_sub(before);
        println!("{agent}: the server grew by {} MiB at most", grown >> 20);
        assert!(grown < 64 << 20, "{agent}: the server grew by {} MiB", grown >> 20);
        client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
    }
}

#[tokio::test]
async fn an_answer_given_after_the_server_was_killed_counts_when_the_agent_asks_the_same_again() {
    let mut server = server(&[CLAUDE]).await;
    for agent in [BUILTIN, CLAUDE] {
        an_answer_outlives_the_server(&mut server, agent).await;
    }
}

async fn an_answer_outlives_the_server(server: &mut TestServer, agent: &str) {
    let client = server.admin();
    let session = session(&client, agent, json!({"options": {"permissionMode": "ask"}})).await;
    client.message_send(session, "run: touch allowed.txt").await;
    let asked = pending(&client, session).await;
    server.kill().await;
    server.restart().await;

    let client = server.admin();
    assert_eq!(pending(&client, session).await, asked, "the question outlives the server");
    answer(&client, &asked, json!({"decision": "allow"})).await;
    let events = client.run(session, "run: touch allowed.txt").await;
    assert_ends(agent, &events, "run_completed");
    let made =
        events.iter().any(|event| event.kind() == "file_changed" && event.json["path"] == "allowed.txt");
    assert!(made, "nobody had to answer again");
    let resolved: Vec<_> = events.iter().filter(|event| event.kind() == "approval_resolved").collect();
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0].json["decision"], "allow");
}
