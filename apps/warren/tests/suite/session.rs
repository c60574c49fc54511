//! The life of a session, end to end.

use std::collections::HashSet;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{Conversations, Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestEvent, TestServer};

/// What a person would see, folded from the log by the domain's own fold.
pub(super) fn folded(log: &[TestEvent]) -> Conversations {
    let mut all = Conversations::default();
    log.iter().for_each(|event| all.apply(&event.event()));
    all
}

pub(super) fn kinds(events: &[TestEvent]) -> Vec<&str> {
    events.iter().map(TestEvent::kind).collect()
}

pub(super) fn assert_contiguous(log: &[TestEvent]) {
    let numbers: Vec<u64> = log.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=log.len() as u64).collect::<Vec<_>>());
}

async fn detail(client: &TestClient, session: SessionId) -> Value {
    client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK)
}

#[tokio::test]
async fn a_message_makes_files_blocks_usage_and_a_version_and_all_of_it_is_in_the_log() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let events = client.run(session, "Build me a dashboard of our sales").await;
    let last = events.last().expect("events");
    assert_eq!((last.kind(), &last.json["version"]), ("run_completed", &json!(1)), "{:#}", last.json);

    let log = client.log(session).await;
    assert_contiguous(&log);
    assert_eq!(log[log.len() - events.len()..], events[..], "what was streamed is what is stored");

    let detail = detail(&client, session).await;
    let all = folded(&log);
    assert_eq!(detail["blocks"], serde_json::to_value(all.main()).unwrap());
    let kinds: Vec<_> =
        all.main().iter().map(|block| serde_json::to_value(block).unwrap()["type"].clone()).collect();
    for kind in ["user_message", "thinking", "assistant_text", "tool_use", "tool_result", "subagent"] {
        assert!(kinds.contains(&json!(kind)), "no {kind} among {kinds:?}");
    }
    let subagents = detail["subagents"].as_array().expect("threads");
    assert_eq!(subagents.len(), 1, "{subagents:#?}");
    assert_eq!(subagents[0]["blocks"][0]["type"], "system");
    let spent_in = |thread: &serde_json::Value| {
        log.iter()
            .filter(|event| event.kind() == "model_called" && event.json["conversationId"] == *thread)
            .count()
    };
    assert!(spent_in(&json!("main")) > 0 && spent_in(&subagents[0]["id"]) > 0, "each call is in its thread");
    let files: Vec<_> =
        detail["workspaceFiles"].as_array().unwrap().iter().map(|f| f["path"].clone()).collect();
    assert_eq!(files, [json!("outputs/dashboard/index.html"), json!("outputs/data/sales.csv")]);
    for file in detail["workspaceFiles"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        let told = log.iter().rfind(|event| event.kind() == "file_changed" && event.json["path"] == path);
        let whole = client.get(&format!("/api/sessions/{session}/fs/read?path={path}")).await;
        let whole = whole.body.as_str().expect("text").as_bytes().to_vec();
        let hash = json!(blake3::hash(&whole).to_hex().to_string());
        assert_eq!((&file["hash"], &told.unwrap().json["hash"]), (&hash, &hash), "{path}");
    }
    assert!(last.json["usage"]["totalTokens"].as_u64().unwrap() > 0);
    assert_eq!(last.json["costUSD"], 0.0, "the demo model is free");
    let models: HashSet<_> = log
        .iter()
        .filter(|event| event.kind() == "metadata_update")
        .map(|event| &event.json["model"])
        .collect();
    assert_eq!(models, HashSet::from([&json!("warren-demo-1")]), "live says what the record says");
    assert_eq!((&detail["version"], &detail["lastSeq"]), (&json!(1), &json!(log.len())));
}

#[tokio::test]
async fn pages_of_a_conversation_say_where_they_are_current_and_which_blocks_are_in_them() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run 12 times: echo hi > file.txt").await;
    let whole = detail(&client, session).await;
    let ids: Vec<&str> =
        whole["blocks"].as_array().unwrap().iter().map(|block| block["id"].as_str().unwrap()).collect();
    assert!(ids.len() > 20 && !whole["workspaceFiles"].as_array().unwrap().is_empty());
    let read = async |query: String| {
        client.get(&format!("/api/sessions/{session}{query}")).await.expect(StatusCode::OK)
    };
    let newest = read("?limit=5".to_owned()).await;
    assert_eq!(
        newest["blocks"].as_array().unwrap()[..],
        whole["blocks"].as_array().unwrap()[ids.len() - 5..]
    );
    assert_eq!((&newest["lastSeq"], &newest["workspaceFiles"]), (&whole["lastSeq"], &json!([])));
    let cursor = newest["previousCursor"].as_str().expect("there is more");
    let before = read(format!("/messages?limit=5&before={cursor}")).await;
    assert_eq!(before["lastSeq"], whole["lastSeq"]);
    assert_eq!(before["blocks"][4], whole["blocks"][ids.len() - 6]);
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    let only = read(format!("/messages?before={cursor}&only=[%22{last}%22,%22{first}%22,%22none%22]")).await;
    assert_eq!(only["blocks"], json!([whole["blocks"][0]]));
    assert_eq!(only.get("previousCursor"), None);
}

#[tokio::test]
async fn the_saved_transcript_says_the_same_as_the_log() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "Build me a dashboard of our sales").await;
    let live = folded(&client.log(session).await);

    let transcript = client.get(&format!("/api/sessions/{session}/transcript")).await;
    let text = |answer: &warren_testkit::TestAnswer| answer.body.as_str().expect("text").as_bytes().to_vec();
    let mut subagents = Vec::new();
    for (id, _) in live.subagents() {
        let answer = client.get(&format!("/api/sessions/{session}/transcript?subagent={id}")).await;
        subagents.push((id.to_string(), text(&answer)));
    }
    let adapter = warren_agents::adapter("builtin").expect("the built-in agent");
    let parsed = adapter.parse(&text(&transcript), &subagents);
    assert_eq!(parsed.conversations, live);
}

#[tokio::test]
async fn reading_never_makes_a_sandbox() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    for path in ["", "/messages", "/events", "/runs", "/sandbox"] {
        client.get(&format!("/api/sessions/{session}{path}")).await.expect(StatusCode::OK);
    }
    assert_eq!(detail(&client, session).await["runtime"], json!({"isLoaded": true, "sandbox": null}));
    assert_eq!(kinds(&client.log(session).await), ["session_created"]);
}

#[tokio::test]
async fn a_session_remembers_in_a_fresh_sandbox_and_on_a_new_server() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(detail(&client, session).await["runtime"]["sandbox"], Value::Null);
    let answer = client.run(session, "what did I say?").await;
    assert!(said(&answer).contains("ananas"), "{}", said(&answer));

    server.restart().await;
    // As if on another machine: nothing but the store knows the conversation.
    std::fs::remove_dir_all(server.directory().join("sessions").join(session.to_string()).join("home"))
        .unwrap();
    let answer = server.admin().run(session, "what did I say?").await;
    assert!(said(&answer).contains("ananas"), "{}", said(&answer));
}

/// The text of the assistant in these events.
pub(super) fn said(events: &[TestEvent]) -> String {
    let texts = events.iter().filter(|event| event.kind() == "block_complete");
    let texts = texts.filter(|event| event.json["block"]["type"] == "assistant_text");
    texts.filter_map(|event| event.json["block"]["content"].as_str()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn an_idle_sandbox_ends_and_the_next_message_makes_a_new_one() {
    let server = Setup::new().config("[sandbox]\nidle_timeout_seconds = 1").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let first = client.run(session, "run: touch kept.txt").await;
    let mut events = client.events(session, first.last().unwrap().seq).await;
    let ended = events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    assert_eq!(ended.last().unwrap().json["runtime"]["sandbox"]["statusMessage"], "idle");
    let second = client.run(session, "run: ls").await;
    assert!(kinds(&second).contains(&"session_status"), "a sandbox was made");
    assert!(said(&second).contains("kept.txt"), "{}", said(&second));
}

#[tokio::test]
async fn an_agent_that_is_interrupted_in_a_tool_stops_and_the_session_goes_on() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, seq) = client.message_send(session, "sleep 60").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    let end = events.until(|event| event.ends_run(run)).await;
    let last = end.last().unwrap();
    assert_eq!((last.kind(), &last.json["version"]), ("run_interrupted", &json!(1)), "{:#}", last.json);
    let after = client.run(session, "run: echo still here").await;
    assert_eq!(after.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn a_run_that_takes_too_long_fails_with_its_reason() {
    let server = TestServer::start().await;
    let client = server.admin();
    let options = json!({"options": {"timeBudget": {"hardSeconds": 1}}});
    let answer = client.post("/api/sessions", &options).await.expect(StatusCode::CREATED);
    let session: SessionId = answer["sessionId"].as_str().unwrap().parse().unwrap();
    let events = client.run(session, "sleep 120").await;
    let last = events.last().unwrap();
    assert_eq!((last.kind(), &last.json["code"]), ("run_failed", &json!("TIMEOUT")));
    let hash = last.json["diagnostics"]["lastLines"].as_str().expect("what the agent said last is kept");
    let lines = client.get(&format!("/api/sessions/{session}/blobs/{hash}")).await;
    let said = lines.body.to_string();
    assert!(said.contains("sleep 120"), "{said}");
    let log = client.log(session).await;
    let open = folded(&log).main().iter().filter(|block| block.cut_short().is_some()).count();
    assert_eq!(open, 0, "no tool call stays open");
}

#[tokio::test]
async fn an_erased_session_leaves_nothing() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo x > outputs/x.txt").await;
    // More than fits into an entry of the log.
    let long = format!("hello {}", "x".repeat(300 << 10));
    client.run(session, &long).await;
    let spaces = |of: SessionId| {
        let all = std::fs::read_dir(server.directory().join("blobs")).expect("there are some").flatten();
        let is_its = |name: &String| name.contains(&of.to_string());
        all.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(is_its).count()
    };
    let other = client.session_create().await;
    client.run(other, &long).await;
    assert_eq!((spaces(session), spaces(other)), (2, 2), "long fields and recordings");
    client.delete(&format!("/api/sessions/{session}")).await.expect(StatusCode::NO_CONTENT);
    assert_eq!((spaces(session), spaces(other)), (0, 2));
    client.delete(&format!("/api/sessions/{other}")).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(client.get(&format!("/api/sessions/{session}")).await.refusal(), (404, "NOT_FOUND"));
    for place in ["sessions", "workspaces"] {
        let left: Vec<_> = std::fs::read_dir(server.directory().join(place)).unwrap().collect();
        assert!(left.is_empty(), "{place}: {left:?}");
    }
    let guests = server.processes().into_iter().filter(|process| process.name.contains("guest")).count();
    assert_eq!(guests, 0);
}

#[tokio::test]
async fn a_server_that_is_asked_to_stop_records_running_work_and_takes_it_up_again() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (_, seq) = client.message_send(session, "sleep 60").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;
    let (queued, _) = client.message_send(session, "run: echo later").await;
    server.stop().await;
    server.restart().await;
    let client = server.admin();
    let mut events = client.events(session, seq).await;
    let all = events.until(|event| event.ends_run(queued)).await;
    let ends: Vec<_> =
        all.iter().filter(|event| event.kind().starts_with("run_")).map(TestEvent::kind).collect();
    assert_eq!(ends, ["run_queued", "run_interrupted", "run_started", "run_completed"]);
}

#[tokio::test]
async fn a_session_that_goes_while_its_sandbox_starts_leaves_nothing_running() {
    let server = TestServer::start().await;
    let client = server.admin();
    let force = json!({"force": true});
    for (how, body) in [("unload", &force), ("sandbox/stop", &force), ("end", &json!({}))] {
        let session = client.session_create().await;
        let path = format!("/api/sessions/{session}");
        let (run, seq) = client.message_send(session, "hello").await;
        // Twice at once: both want the same, and both get it.
        let end = format!("{path}/{how}");
        let (first, second) = tokio::join!(client.post(&end, body), client.post(&end, body));
        assert!(first.status.is_success() && second.status.is_success(), "{how}: {first:?} {second:?}");
        client.events(session, Seq(seq.0 - 1)).await.until(|event| event.ends_run(run)).await;
        let guests = server.processes().into_iter().filter(|process| process.name.contains("guest"));
        assert_eq!(guests.collect::<Vec<_>>(), [], "{how}");
    }
}

#[tokio::test]
async fn a_session_that_ends_drops_its_waiting_messages_and_their_runs_are_over() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.message_send(session, "sleep 60").await;
    client.message_send(session, "run: echo never").await;
    client.post(&format!("/api/sessions/{session}/end"), &json!({})).await.expect(StatusCode::OK);
    let runs = client.get(&format!("/api/sessions/{session}/runs")).await.expect(StatusCode::OK);
    let states: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(states, ["interrupted", "interrupted"]);
}

#[tokio::test]
async fn a_budget_beyond_all_clocks_is_only_a_long_one() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let body = json!({"content": "hello", "timeBudget": {"softSeconds": u64::MAX, "hardSeconds": u64::MAX}});
    let sent = client.post(&format!("/api/sessions/{session}/messages"), &body).await;
    let run = sent.expect(StatusCode::ACCEPTED)["runId"].as_str().unwrap().parse().unwrap();
    let end = client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await;
    assert_eq!(end.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn an_agent_whose_soft_budget_is_spent_is_told_and_its_run_completes() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let body = json!({"content": "sleep 3", "timeBudget": {"softSeconds": 1, "hardSeconds": 600}});
    let path = format!("/api/sessions/{session}/messages");
    let sent = client.post(&path, &body).await.expect(StatusCode::ACCEPTED);
    let run = sent["runId"].as_str().unwrap().parse().unwrap();
    let log = client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await;
    let told = format!("wrap-up-{run}");
    let told: Vec<_> = log.iter().filter(|event| event.json["block"]["id"] == told).collect();
    assert_eq!(told.len(), 1, "{log:#?}");
    assert_eq!(told[0].json["runId"], json!(run), "by the run that is going on");
    assert!(told[0].json["block"].to_string().contains("time for this task is used up"), "{told:#?}");
    assert_eq!(log.last().expect("events").kind(), "run_completed");
}

#[tokio::test]
async fn a_transcript_is_saved_while_its_run_goes_on() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, seq) = client.message_send(session, "sleep 600").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;
    let path = format!("/api/sessions/{session}/transcript");
    let saved = async {
        loop {
            let answer = client.get(&path).await;
            if answer.body.to_string().contains("Waiting for 600 seconds") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let patience = std::time::Duration::from_secs(20);
    tokio::time::timeout(patience, saved).await.expect("what was said is readable before the run ends");
    let status = client.get(&format!("/api/sessions/{session}/runs/{run}")).await.expect(StatusCode::OK);
    assert_eq!(status["status"], "running");
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(run)).await;
}
