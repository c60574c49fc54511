//! The built-in agent: windows smaller than the conversation, models of every provider, questions.

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warren_domain::{Seq, SessionId};
use warren_env::{TaskKind, Tasks};
use warren_testkit::{Setup, TestClient, TestEvent, TestServer};

use super::{
    real::{answer, pending},
    replay::{assert_same, replay},
    sandbox::{demo_upstream, with_keys},
    versions::of,
};

/// The window in tokens of four bytes; the system's words and the tools do not count.
const WINDOW: usize = 8_000;

/// The demo model, but for requests that do not fit the window: these it refuses as Anthropic does.
async fn narrow_upstream() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let demo = demo_upstream().await.trim_start_matches("http://").to_owned();
    Tasks::new().spawn(TaskKind::Connection, async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            serve(stream, &demo).await;
        }
    });
    url
}

async fn serve(mut stream: TcpStream, demo: &str) {
    let Some((head, body)) = read_request(&mut stream).await else { return };
    let request: Value = serde_json::from_str(&body).expect("a request is JSON");
    let sent = request["messages"].to_string().len() / 4;
    if sent > WINDOW {
        let message = format!("prompt is too long: {sent} tokens > {WINDOW} maximum");
        let error = json!({"type": "invalid_request_error", "message": message});
        let body = json!({"type": "error", "error": error}).to_string();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}",
            body.len()
        );
        stream
            .write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes())
            .await
            .expect("sent");
        return;
    }
    let mut demo = TcpStream::connect(demo).await.expect("connected");
    let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    demo.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.expect("sent");
    tokio::io::copy(&mut demo, &mut stream).await.expect("an answer");
}

/// Head and body. `None`: the connection was closed without a request.
async fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.expect("a request") == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.expect("a length").parse::<usize>().expect("a number") {
            return Some((head.to_owned(), body.to_owned()));
        }
    }
}

/// The last thing that the agent said.
fn said(events: &[TestEvent]) -> String {
    let mut texts = events.iter().filter(|event| event.json["block"]["type"] == "assistant_text");
    let last = texts.rfind(|event| event.kind() == "block_complete");
    last.unwrap_or_else(|| panic!("{events:#?}")).json["block"]["content"]
        .as_str()
        .expect("a text")
        .to_owned()
}

async fn forked(client: &TestClient, session: SessionId, version: u64) -> SessionId {
    let forked = client.post(&of(session, "fork"), &json!({ "version": version })).await;
    let forked = forked.expect(StatusCode::CREATED);
    forked["sessionId"].as_str().expect("an id").parse().expect("an id")
}

#[tokio::test]
async fn conversation_three_times_as_long_as_the_window_goes_on_remembers_and_replays_the_same() {
    let setup = Setup::new().variable("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    let server = setup.variable("ANTHROPIC_BASE_URL", &narrow_upstream().await).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember that I like teal").await;
    let mut n_compactions = 0;
    for n in 0..12 {
        let events = client.run(session, &format!("hello {n} {}", "blah ".repeat(1_600))).await;
        let last = events.last().expect("events");
        assert_eq!(last.kind(), "run_completed", "{n}: {:#}", last.json);
        n_compactions += events.iter().filter(|event| event.kind() == "context_compacted").count();
    }
    assert!(12 * 8_000 / 4 >= 3 * WINDOW && n_compactions >= 2, "{n_compactions}");
    let events = client.run(session, "what did I say?").await;
    assert!(said(&events).contains("I like teal"), "{}", said(&events));

    let log = client.log(session).await;
    let shown = log.iter().filter_map(|event| event.json["block"]["message"].as_str());
    let shown = shown.filter(|message| message.starts_with("Context compacted: about "));
    assert_eq!(shown.count(), n_compactions, "each is shown");

    let report = client.post(&of(session, "replay"), &json!({"wait": true})).await.expect(StatusCode::OK);
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    for run in report["runs"].as_array().expect("runs") {
        assert_eq!((&run["diverged"], &run["differences"]), (&json!(false), &json!([])), "{run:#}");
    }

    // Before the first compaction, and after the last.
    for version in [2, 13] {
        let fork = forked(&client, session, version).await;
        let events = client.run(fork, "what did I say?").await;
        assert!(said(&events).contains("I like teal"), "{version}: {}", said(&events));
    }
}

#[tokio::test]
async fn models_of_openai_and_gemini_use_tools_go_on_and_replay_the_same() {
    let server = with_keys(Setup::new(), "a-key").await.start().await;
    let client = server.admin();
    for model in ["gpt-5.5", "gemini-2.5-pro"] {
        let made = client.post("/api/sessions", &json!({"options": {"model": model}})).await;
        let made = made.expect(StatusCode::CREATED);
        let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
        client.run(session, "remember that I like teal").await;
        let events = client.run(session, "bash: echo marzipan > made.txt; cat made.txt").await;
        assert!(said(&events).contains("marzipan"), "{model}: {}", said(&events));
        for prompt in ["use tools in parallel", "ask a subagent for a review"] {
            let last = client.run(session, prompt).await.pop().expect("events");
            assert_eq!(last.kind(), "run_completed", "{model}: {prompt}: {:#}", last.json);
            assert!(last.json["usage"]["totalTokens"].as_u64() > Some(0), "{model}: {:#}", last.json);
        }
        let events = client.run(session, "what did I say?").await;
        assert!(said(&events).contains("I like teal"), "{model}: {}", said(&events));
        // The request's own path tells the API.
        let calls = events.iter().find(|event| event.kind() == "model_called").expect("a call");
        let hash = calls.json["recording"].as_str().expect("a recording");
        let recording = client.get(&of(session, &format!("blobs/{hash}"))).await.expect(StatusCode::OK);
        let path = if model.starts_with("gpt") { "/v1/responses" } else { ":streamGenerateContent" };
        assert!(recording.to_string().contains(path), "{model}");
        let report = client.post(&of(session, "replay"), &json!({"wait": true})).await.expect(StatusCode::OK);
        assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    }
    // A session goes from one provider to the next, with all that was said.
    let session = client.session_create().await;
    for (n, model) in
        ["claude-sonnet-4-5", "gpt-5.5", "gemini-3-pro-preview", "claude-opus-4-7"].iter().enumerate()
    {
        let body = json!({"content": format!("run: echo {n}"), "model": model});
        let sent = client.post(&of(session, "messages"), &body).await.expect(StatusCode::ACCEPTED);
        let run = sent["runId"].as_str().expect("a run").parse().expect("an id");
        let events = client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await;
        let last = events.last().expect("events");
        assert_eq!(last.kind(), "run_completed", "{model}: {:#}", last.json);
    }
}

#[tokio::test]
async fn question_of_the_built_in_agent_is_answered_and_replays_the_same() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "bash: echo kept > kept.txt").await;
    let (run, _) = client.message_send(session, "ask me a question").await;
    let asked = pending(&client, session).await;
    assert_eq!((&asked["kind"], &asked["title"]), (&json!("question"), &json!("Which colour should it be?")));
    let question = asked["detail"]["questions"][0]["question"].as_str().expect("a question");
    answer(&client, &asked, json!({"decision": "allow", "answers": {question: "Teal"}})).await;
    let events = client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await;
    assert!(said(&events).contains("Which colour should it be? → Teal"), "{}", said(&events));
    assert_same("builtin", &replay(&client, session, run).await);
}

#[tokio::test]
async fn effort_of_a_session_or_a_message_reaches_the_model_and_replays_the_same() {
    let server = with_keys(Setup::new(), "a-key").await.start().await;
    let client = server.admin();
    let options = json!({"model": "claude-opus-4-7", "effort": "low"});
    let made = client.post("/api/sessions", &json!({"options": options})).await.expect(StatusCode::CREATED);
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    for (body, effort) in [
        (json!({"content": "run: echo one > one.txt"}), "low"),
        (json!({"content": "run: echo two > two.txt", "effort": "high"}), "high"),
    ] {
        let sent = client.post(&of(session, "messages"), &body).await.expect(StatusCode::ACCEPTED);
        let run = sent["runId"].as_str().expect("a run").parse().expect("an id");
        let events = client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await;
        assert_eq!(events.last().expect("events").kind(), "run_completed", "{}", said(&events));
        let calls = events.iter().rfind(|event| event.kind() == "model_called").expect("a call");
        let hash = calls.json["recording"].as_str().expect("a recording");
        let recording = client.get(&of(session, &format!("blobs/{hash}"))).await.expect(StatusCode::OK);
        let request = recording.to_string();
        assert!(
            request.contains("output_config") && request.contains(&format!("\\\"{effort}\\\"")),
            "{request}"
        );
        assert_same("builtin", &replay(&client, session, run).await);
    }
    for agent in ["gemini-cli", "opencode", "acp"] {
        let made = client.post("/api/sessions", &json!({"type": agent, "options": {"effort": "high"}})).await;
        assert_eq!(made.refusal(), (400, "BAD_REQUEST"));
        assert_eq!(made.body["detail"], format!("the agent `{agent}` takes no reasoning effort"));
        let hint = "leave `effort` out, or use one of the agents that take it (builtin, claude-code, codex)";
        assert_eq!(made.body["hint"], hint);
    }
    let sent = client.post(&of(session, "messages"), &json!({"content": "x", "effort": "extreme"})).await;
    assert_eq!(sent.refusal(), (400, "BAD_REQUEST"));
}
