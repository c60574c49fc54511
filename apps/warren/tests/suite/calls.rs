//! Model calls that are in flight when something ends: what they used is counted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use warren_domain::{RunId, Seq, SessionId};
use warren_env::{TaskKind, Tasks};
use warren_testkit::{Setup, TestClient, TestEvent, TestServer};

use super::{replay::replay, sandbox::demo_upstream};

/// A provider that answers some requests as the demo model does, and takes all others without a word.
struct Upstream {
    url: String,
    n_received: Arc<AtomicUsize>,
    /// Requests that are not answered.
    hung: mpsc::Receiver<TcpStream>,
}

impl Upstream {
    async fn answering(n_answers: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let demo = demo_upstream().await.trim_start_matches("http://").to_owned();
        let n_received = Arc::new(AtomicUsize::new(0));
        // More than any test makes; when full, the provider takes no more calls.
        let (sender, hung) = mpsc::channel(16);
        let counter = Arc::clone(&n_received);
        Tasks::new().spawn(TaskKind::Connection, async move {
            loop {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                let request = read_request(&mut stream).await;
                if counter.fetch_add(1, Ordering::SeqCst) < n_answers {
                    answer(&demo, &request, &mut stream).await;
                } else {
                    sender.send(stream).await.expect("the test listens");
                }
            }
        });
        Self { url, n_received, hung }
    }

    /// A server whose models are here.
    async fn server(&self) -> TestServer {
        let setup = Setup::new().variable("ANTHROPIC_API_KEY", "sk-ant-0123456789");
        setup.variable("ANTHROPIC_BASE_URL", &self.url).start().await
    }

    /// The next request that is not answered. Dropping it breaks off the call.
    async fn hung(&mut self) -> TcpStream {
        self.hung.recv().await.expect("a request")
    }

    fn n_received(&self) -> usize {
        self.n_received.load(Ordering::SeqCst)
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        stream.read_buf(&mut bytes).await.expect("a request");
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.expect("a length").parse::<usize>().expect("a number") {
            return text.into_owned();
        }
    }
}

/// Passes one request to the demo model, on a connection that is not used again.
async fn answer(demo: &str, request: &str, stream: &mut TcpStream) {
    let mut demo = TcpStream::connect(demo).await.expect("connected");
    let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    demo.write_all(request.as_bytes()).await.expect("sent");
    tokio::io::copy(&mut demo, stream).await.expect("an answer");
}

async fn session_with(client: &TestClient, options: Value) -> SessionId {
    let made = client.post("/api/sessions", &json!({"options": options})).await;
    made.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").parse().expect("an id")
}

/// The log up to the end of a run.
async fn ended(client: &TestClient, session: SessionId, run: RunId) -> Vec<TestEvent> {
    client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await
}

/// The only entry of its kind.
#[track_caller]
fn the<'a>(log: &'a [TestEvent], kind: &str) -> &'a Value {
    let all: Vec<_> = log.iter().filter(|event| event.kind() == kind).collect();
    assert_eq!(all.len(), 1, "{kind}: {log:#?}");
    &all[0].json
}

/// What a session has used.
async fn used(client: &TestClient, session: SessionId) -> Value {
    let all = client.get("/api/usage?groupBy=session").await.expect(StatusCode::OK);
    let groups = all["rows"].as_array().unwrap_or_else(|| panic!("{all:#}"));
    let own = groups.iter().find(|group| group["group"] == json!(session));
    own.unwrap_or_else(|| panic!("{all:#}"))["usage"].clone()
}

/// Fails if a message is not refused for the budget.
async fn assert_over_budget(client: &TestClient, session: SessionId) {
    let events = client.run(session, "hello").await;
    let last = &events.last().expect("events").json;
    assert_eq!(last["code"], "BUDGET_EXCEEDED", "{last:#}");
}

#[tokio::test]
async fn model_call_cut_by_a_kill_counts_as_the_most_it_can_have_used() {
    let mut upstream = Upstream::answering(0).await;
    let mut server = upstream.server().await;
    let client = server.admin();
    // Enough for reading the request, and less than the longest answer.
    let session = session_with(&client, json!({"budget": {"tokens": 20_000}})).await;
    let (run, _) = client.message_send(session, "hello").await;
    let request = upstream.hung().await;
    // The provider has the request, so the log has its start.
    let log = client.log(session).await;
    let started = the(&log, "model_call_started").clone();
    let most = started["maxTokens"].as_u64().expect("a number");
    assert!(most > 20_000, "{started:#}");

    server.kill().await;
    drop(request);
    server.restart().await;
    let client = server.admin();
    let log = ended(&client, session, run).await;
    let called = the(&log, "model_called");
    assert_eq!((&called["status"], &called["callId"]), (&json!(0), &started["callId"]), "{called:#}");
    let failed = the(&log, "run_failed");
    assert_eq!(failed["code"], "SERVER_RESTARTED");
    let record = client.get(&format!("/api/sessions/{session}/runs/{run}")).await.expect(StatusCode::OK);
    for usage in [&called["usage"], &failed["usage"], &record["usage"], &used(&client, session).await] {
        let tokens = (&usage["estimatedTokens"], &usage["totalTokens"], &usage["inputTokens"]);
        assert_eq!(tokens, (&json!(most), &json!(most), &json!(0)), "{usage:#}");
        assert_eq!(usage["costUSD"], started["maxCostUSD"], "{usage:#}");
    }

    assert_over_budget(&client, session).await;
    // It counts once, however often the server starts.
    server.restart().await;
    assert_eq!(used(&server.admin(), session).await["totalTokens"], most);
    assert_eq!(upstream.n_received(), 1);
}

#[tokio::test]
async fn interrupted_model_call_counts_the_same_after_a_restart() {
    let mut upstream = Upstream::answering(0).await;
    let mut server = upstream.server().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, _) = client.message_send(session, "hello").await;
    let _request = upstream.hung().await;
    let interrupt = format!("/api/sessions/{session}/interrupt");
    client.post(&interrupt, &json!({})).await.expect(StatusCode::ACCEPTED);
    let log = ended(&client, session, run).await;
    let called = the(&log, "model_called");
    let tokens = called["usage"]["estimatedTokens"].as_u64().unwrap_or_default();
    assert!(called["status"] == 499 && tokens > 0, "{called:#}");
    let before = used(&client, session).await;
    assert_eq!((&before["estimatedTokens"], &before["totalTokens"]), (&json!(tokens), &json!(tokens)));

    // Enough for the interrupted call, and not for another.
    let budget = json!({"options": {"budget": {"tokens": tokens + tokens / 2}}});
    client.patch(&format!("/api/sessions/{session}"), &budget).await.expect(StatusCode::OK);
    assert_over_budget(&client, session).await;
    server.restart().await;
    let client = server.admin();
    assert_eq!(used(&client, session).await["totalTokens"], before["totalTokens"]);
    assert_over_budget(&client, session).await;
    assert_eq!(upstream.n_received(), 1);
}

#[tokio::test]
async fn replay_of_a_run_whose_last_call_was_cut_by_a_kill_does_not_diverge() {
    let mut upstream = Upstream::answering(1).await;
    let mut server = upstream.server().await;
    let session = server.admin().session_create().await;
    let (run, _) = server.admin().message_send(session, "bash: echo x > t").await;
    let _request = upstream.hung().await;
    server.kill().await;
    server.restart().await;
    let client = server.admin();
    let log = ended(&client, session, run).await;
    let calls: Vec<_> = log.iter().filter(|event| event.kind() == "model_called").collect();
    let statuses: Vec<_> = calls.iter().map(|call| call.json["status"].clone()).collect();
    assert_eq!(statuses, [json!(200), json!(0)]);
    let exact = &calls[0].json["usage"];
    assert!(exact["totalTokens"].as_u64() > Some(0) && exact.get("estimatedTokens").is_none(), "{exact:#}");

    let report = replay(&client, session, run).await;
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    assert_eq!(report["calls"]["equal"], 1, "{report:#}");
}
