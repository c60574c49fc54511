//! Sessions with a long past: one of 200,000 events, one of 5,000 model calls.
//!
//! Each is read, continued, forked, replayed and erased beside a short one of the same kind, while the server's memory is
//! watched. What is asked is whether a cost follows the work or the past.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

use super::{
    server::{megabytes, resident_of},
    stats::Times,
    table::{Table, millis},
};

const EVENTS: u64 = 200_000;
const SHORT_EVENTS: u64 = 500;
/// Tool calls that the agent of the long log makes for one message.
const CALLS_PER_MESSAGE: u64 = 2_000;
const MODEL_CALLS: u64 = 5_000;
/// The built-in agent stops after 200 answers of the model in one turn.
const MODEL_CALLS_PER_MESSAGE: u64 = 190;
const ROUNDS: usize = 30;
const PROMISED_MEMORY: &str = "≤ 150 MB";

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let mut server = Setup::new().config("[sandbox]\nidle_timeout_seconds = 3600").start().await;
    let mut peak = Peak::watch(server.pid());
    let client = server.admin();
    let (short, long) = (talker(&client).await, talker(&client).await);
    grow(&client, short, SHORT_EVENTS).await;
    let began = Instant::now();
    let n_events = grow(&client, long, EVENTS).await;
    let what = format!("a log of {n_events} events is written");
    table.row(&what, seconds(began.elapsed()), peak.so_far(), PROMISED_MEMORY);

    peak = peak.next(server.pid());
    pages(table, "50 newest messages", &client, [short, long]).await;
    server.restart().await;
    peak = peak.next(server.pid());
    let client = server.admin();
    first_pages(table, &client, [short, long]).await;
    pages(table, "the same after a restart", &client, [short, long]).await;
    table.row("memory while it is read", peak.so_far(), "", PROMISED_MEMORY);

    for (what, work) in [("continued", Work::Continue), ("forked", Work::Fork), ("erased", Work::Erase)] {
        peak = peak.next(server.pid());
        let by_short = work.time(&client, short).await;
        let by_long = work.time(&client, long).await;
        let reference = format!("{} for {SHORT_EVENTS} events; memory {}", millis(by_short), peak.so_far());
        let what = format!("the session of {n_events} events is {what}");
        table.row(&what, millis(by_long), reference, PROMISED_MEMORY);
    }
    server.restart().await;
    peak = peak.next(server.pid());
    model_calls(table, &server, peak).await;
    server.stop().await;
}

/// The session of many model calls.
async fn model_calls(table: &mut Table, server: &TestServer, mut peak: Peak) {
    let client = server.admin();
    let session = client.session_create().await;
    let mut first = Duration::ZERO;
    let mut last = Duration::ZERO;
    for n in 0..MODEL_CALLS.div_ceil(MODEL_CALLS_PER_MESSAGE) {
        let began = Instant::now();
        run(&client, session, &format!("run {MODEL_CALLS_PER_MESSAGE} times: true")).await;
        last = began.elapsed();
        if n == 0 {
            first = last;
        }
    }
    let what = format!("the last {MODEL_CALLS_PER_MESSAGE} of {MODEL_CALLS} model calls of a session");
    let reference = format!("{} for the first {MODEL_CALLS_PER_MESSAGE}", seconds(first));
    table.row(&what, seconds(last), reference, "");
    let stored = directory_bytes(&server.directory().join("blobs"));
    table.row(
        "memory while they are made; blobs of the session",
        peak.so_far(),
        megabytes(stored),
        PROMISED_MEMORY,
    );
    for (what, work) in [
        ("read", Work::Read),
        ("continued", Work::Continue),
        ("forked", Work::Fork),
        ("replayed, its last run", Work::Replay),
        ("erased", Work::Erase),
    ] {
        peak = peak.next(server.pid());
        let took = work.time(&client, session).await;
        let reference = format!("memory {}", peak.so_far());
        let what = format!("the session of {MODEL_CALLS} model calls is {what}");
        table.row(&what, millis(took), reference, PROMISED_MEMORY);
    }
}

/// What is done to a session.
#[derive(Clone, Copy)]
enum Work {
    Read,
    Continue,
    Fork,
    Replay,
    Erase,
}

impl Work {
    async fn time(self, client: &TestClient, session: SessionId) -> Duration {
        // What is replayed has begun before: the longest run is the one before the last.
        let runs = client.get(&format!("/api/sessions/{session}/runs")).await.expect(StatusCode::OK);
        let began = Instant::now();
        match self {
            Work::Read => assert!(newest(client, session).await > 0),
            Work::Continue => run(client, session, "run: true").await,
            Work::Fork => {
                let fork = client.post(&format!("/api/sessions/{session}/fork"), &json!({})).await;
                let fork = fork.expect(StatusCode::CREATED);
                let fork = fork["sessionId"].as_str().unwrap().parse().unwrap();
                assert!(newest(client, fork).await > 0);
            }
            Work::Replay => replay(client, session, &runs).await,
            Work::Erase => {
                client.delete(&format!("/api/sessions/{session}")).await.expect(StatusCode::NO_CONTENT);
            }
        }
        began.elapsed()
    }
}

/// Replays the longest of the newest runs.
async fn replay(client: &TestClient, session: SessionId, runs: &Value) {
    let run = runs["runs"][1]["runId"].as_str().expect("a run before the last");
    let path = format!("/api/sessions/{session}/runs/{run}/replay");
    let report = client.post(&path, &json!({"wait": true})).await.expect(StatusCode::OK);
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
}

/// A session with an agent that makes many calls to tools for each message, or one for `run: true`.
async fn talker(client: &TestClient) -> SessionId {
    let update = |update: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        )
    };
    let call = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"T%s-%s","title":"Read file %s","kind":"read","status":"pending"}"#,
    );
    let done = update(
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"T%s-%s","status":"completed","content":[{"type":"content","content":{"type":"text","text":"line %s of a file that somebody wrote"}}]}"#,
    );
    let script = r#"
        answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
        work() { for ((i = 0; i < $1; i++)); do printf 'CALL\nDONE\n' $stamp $i $i $stamp $i $i; done; }
        while read -r line; do
            [[ $line =~ \"id\":([0-9]+|\"[^\"]*\") ]] && id=${BASH_REMATCH[1]}
            case $line in
                *'"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}' ;;
                *'"session/new"'*) answer '{"sessionId":"s"}' ;;
                *'"session/prompt"'*)
                    stamp=${EPOCHREALTIME/./}
                    n=NUMBER; [[ $line == *'run: true'* ]] && n=1
                    work $n; answer '{"stopReason":"end_turn"}' ;;
                *'"method"'*'"id"'* | *'"id"'*'"method"'*) answer '{}' ;;
            esac
        done"#;
    let script = script.replace("CALL", &call).replace("DONE", &done);
    let script = script.replace("NUMBER", &CALLS_PER_MESSAGE.to_string());
    let profile = json!({"command": ["bash", "-c", script]});
    client.put("/api/profiles/worker", &profile).await.expect(StatusCode::OK);
    let session = json!({"type": "acp", "agentProfileReference": "worker"});
    let made = client.post("/api/sessions", &session).await.expect(StatusCode::CREATED);
    made["sessionId"].as_str().unwrap().parse().unwrap()
}

/// Sends messages until the log has at least so many events. Gives how many it has.
async fn grow(client: &TestClient, session: SessionId, n_events: u64) -> u64 {
    let message = if n_events < CALLS_PER_MESSAGE { "run: true" } else { "work" };
    loop {
        let last = run_to_end(client, session, message).await;
        if last >= n_events {
            return last;
        }
    }
}

async fn run(client: &TestClient, session: SessionId, message: &str) {
    run_to_end(client, session, message).await;
}

/// Sends a message and waits for its run's end by reading the log's end alone. Gives the number of the last entry.
async fn run_to_end(client: &TestClient, session: SessionId, message: &str) -> u64 {
    let (run, seq) = client.message_send(session, message).await;
    let mut after = seq.0 - 1;
    loop {
        let path = format!("/api/sessions/{session}/events?after={after}&limit=1000&wait=20");
        let page = client.get(&path).await.expect(StatusCode::OK);
        let events = page["events"].as_array().unwrap();
        for event in events {
            after = event["seq"].as_u64().unwrap();
            let kind = event["type"].as_str().unwrap();
            if event["runId"] == json!(run) && kind.starts_with("run_") && kind != "run_started" {
                assert_eq!(kind, "run_completed", "{event:#}");
                return after;
            }
        }
    }
}

/// The newest messages, as the page asks for them.
async fn newest(client: &TestClient, session: SessionId) -> usize {
    let path = format!("/api/sessions/{session}/messages?order=newest&limit=50");
    let answer = client.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.bytes().await.unwrap().len()
}

/// The short one and the long one in turns.
async fn pages(table: &mut Table, what: &str, client: &TestClient, sessions: [SessionId; 2]) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (session, times) in sessions.iter().zip(&mut times) {
            let began = Instant::now();
            assert!(newest(client, *session).await > 1_000, "fifty messages");
            times.push(began.elapsed());
        }
    }
    let [short, long] = times.map(Times::of);
    let what = format!("{what}: {EVENTS} events beside {SHORT_EVENTS}");
    table.compare(&what, 50, &long, &short, "≤ 2 ×");
}

/// After a restart nothing is in memory.
async fn first_pages(table: &mut Table, client: &TestClient, [short, long]: [SessionId; 2]) {
    // The first of all also opens files and connections.
    client.get("/api/sessions?limit=1").await.expect(StatusCode::OK);
    let mut times = [Duration::ZERO; 2];
    for (session, time) in [short, long].into_iter().zip(&mut times) {
        let began = Instant::now();
        newest(client, session).await;
        *time = began.elapsed();
    }
    let what = format!("first read after a restart: {EVENTS} events");
    let reference = format!("{} for {SHORT_EVENTS} events", millis(times[0]));
    table.row(&what, millis(times[1]), reference, "");
}

/// The most memory that a process has had.
struct Peak {
    bytes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl Peak {
    fn watch(pid: u32) -> Self {
        let (bytes, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, stop) = (Arc::clone(&bytes), Arc::clone(&is_over));
        let watcher = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                seen.fetch_max(resident_of(pid).unwrap_or_default(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { bytes, is_over, watcher: Some(watcher) }
    }

    /// Begins again.
    fn next(self, pid: u32) -> Self {
        drop(self);
        Self::watch(pid)
    }

    fn so_far(&self) -> String {
        megabytes(self.bytes.load(Ordering::Relaxed))
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.join().unwrap();
        }
    }
}

fn directory_bytes(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => directory_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
