//! What must hold when everything works again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use warren_domain::{RunId, SessionId};
use warren_testkit::TestClient;

use crate::suite::{kill_versions::contents, versions::of};

use super::{
    N_NODES,
    node::{Call, Clients},
    worker::{Fate, History, ends_run},
};

/// Leases end, and a server takes up what the last holder left open.
const RECOVERED_WITHIN: Duration = Duration::from_secs(120);

/// How many sessions are checked at once.
const N_AT_ONCE: usize = 4;

/// What was compared.
#[derive(Default)]
pub(super) struct Report {
    n_sessions: usize,
    n_erased: usize,
    /// Runs that were accepted in sessions that were erased since.
    n_erased_runs: usize,
    n_runs: usize,
    n_completed: usize,
    n_entries: usize,
    n_versions: usize,
    n_files: usize,
}

/// Checks every session on every server, some at once.
pub(super) async fn everything(clients: &Clients, histories: Vec<History>) -> Report {
    let checks = histories.iter().map(|history| one(clients, history));
    let reports = stream::iter(checks).buffer_unordered(N_AT_ONCE);
    reports.fold(Report::default(), async |all, one| all.plus(&one)).await
}

async fn one(clients: &Clients, history: &History) -> Report {
    let mut report = Report { n_sessions: 1, ..Report::default() };
    if history.fate == Fate::Kept {
        session(clients, history, &mut report).await;
    } else {
        report.n_erased = 1;
        report.n_erased_runs = history.accepted.len();
        erased(clients, history).await;
    }
    report
}

async fn erased(clients: &Clients, history: &History) {
    let path = format!("/api/sessions/{}", history.session);
    if history.fate == Fate::Doomed {
        erase(clients, path.clone()).await;
    }
    for n in 0..N_NODES {
        let answer = settled(clients, n, path.clone()).await;
        assert_eq!(answer.0, StatusCode::NOT_FOUND, "{path} is erased");
    }
}

/// Erases a session on whichever server has it, unless it is gone.
async fn erase(clients: &Clients, path: String) {
    let call = Call::delete(path);
    let deadline = Instant::now() + RECOVERED_WITHIN;
    for n in (0..N_NODES).cycle() {
        let answer = clients.call(n, &call).await.map(|answer| answer.status);
        if matches!(answer, Ok(StatusCode::NO_CONTENT | StatusCode::NOT_FOUND)) {
            return;
        }
        assert!(Instant::now() < deadline, "it cannot be erased: {answer:?}");
        sleep(Duration::from_millis(200)).await;
    }
}

async fn session(clients: &Clients, history: &History, report: &mut Report) {
    let session = history.session;
    let log = ended_log(clients, session).await;
    assert_complete(&log, session);
    assert_nothing_lost(&log, history);
    report.n_runs += history.accepted.len();
    report.n_entries += log.len();
    for n in 1..N_NODES {
        let client = clients.get(n).expect("it runs");
        assert_eq!(read_log(&client, session).await, log, "server {n} reads another log of {session}");
    }
    versions(clients, session, report).await;
    one_history(clients, history, &log, report).await;
    usable(clients, session).await;
}

/// The log, once every run has ended.
async fn ended_log(clients: &Clients, session: SessionId) -> Vec<Value> {
    let deadline = Instant::now() + RECOVERED_WITHIN;
    loop {
        let client = clients.get(0).expect("it runs");
        let log = read_log(&client, session).await;
        let open = open_runs(&log);
        if open.is_empty() {
            return log;
        }
        assert!(Instant::now() < deadline, "{session}: runs stay open: {open:?}");
        sleep(Duration::from_secs(1)).await;
    }
}

fn open_runs(log: &[Value]) -> BTreeSet<String> {
    let mut open = BTreeSet::new();
    for event in log {
        let run = event["runId"].as_str().unwrap_or_default().to_owned();
        if matches!(event["type"].as_str(), Some("run_queued" | "run_started")) {
            open.insert(run);
        } else if ends_run(event) {
            open.remove(&run);
        }
    }
    open
}

/// Pages through the log; what was compacted stands there as a range.
async fn read_log(client: &TestClient, session: SessionId) -> Vec<Value> {
    let mut log: Vec<Value> = Vec::new();
    loop {
        let after = log.last().map_or(0, last_number);
        let page = client.get(&of(session, &format!("events?after={after}"))).await.expect(StatusCode::OK);
        let events = page["events"].as_array().expect("events");
        if events.is_empty() {
            return log;
        }
        log.extend(events.iter().cloned());
    }
}

fn last_number(event: &Value) -> u64 {
    event["to"]
        .as_u64()
        .filter(|_| event["type"] == "log_compacted")
        .or(event["seq"].as_u64())
        .expect("a number")
}

/// Numbers go from 1 on without a gap.
fn assert_complete(log: &[Value], session: SessionId) {
    let mut next = 1;
    for event in log {
        let first =
            event["from"].as_u64().filter(|_| event["type"] == "log_compacted").or(event["seq"].as_u64());
        assert_eq!(first, Some(next), "{session}: {event:#}");
        next = last_number(event) + 1;
    }
}

/// Everything a client saw is there, and every accepted run began and ended once.
fn assert_nothing_lost(log: &[Value], history: &History) {
    let session = history.session;
    let stored: BTreeMap<u64, &Value> =
        log.iter().filter_map(|event| Some((event["seq"].as_u64()?, event))).collect();
    for (seq, event) in &history.seen {
        // Deltas of a completed block may have been compacted since.
        if !["text_delta", "log_compacted"].contains(&event["type"].as_str().unwrap_or_default()) {
            assert_eq!(stored.get(seq), Some(&event), "{session}: entry {seq} was shown");
        }
    }
    for run in history.accepted.keys() {
        let of_run = |event: &&Value| event["runId"] == json!(run);
        let n_begun = log.iter().filter(of_run).filter(|event| event["type"] == "run_started").count();
        let n_ended = log.iter().filter(of_run).filter(|event| ends_run(event)).count();
        assert!(
            n_begun <= 1 && n_ended == 1,
            "{session}: {run} began {n_begun} times and ended {n_ended} times"
        );
    }
}

/// Every version that is kept is whole on every server, and the same.
async fn versions(clients: &Clients, session: SessionId, report: &mut Report) {
    let client = clients.get(0).expect("it runs");
    let listed = client.get(&of(session, "versions?limit=500")).await.expect(StatusCode::OK);
    for version in listed["versions"].as_array().expect("versions") {
        let number = version["version"].as_u64().expect("a number");
        let Some(files) = contents(&client, session, number).await else { continue };
        report.n_versions += 1;
        report.n_files += files.len();
        let other = clients.get(1 + number as usize % (N_NODES - 1)).expect("it runs");
        if let Some(again) = contents(&other, session, number).await {
            assert!(again == files, "{session}: version {number} differs between servers");
        }
    }
}

/// What the agent remembers and what is in its files are of one history: a completed run is in both, or, since a restore to a
/// version before it, in neither. A run that was cut may have written its line without being remembered.
async fn one_history(clients: &Clients, history: &History, log: &[Value], report: &mut Report) {
    let (session, client) = (history.session, clients.get(2).expect("it runs"));
    let transcript = client.get(&of(session, "transcript")).await.body.to_string();
    let lines = client.get(&of(session, "fs/read?path=lines.txt")).await;
    let written: Vec<&str> = match &lines.body {
        Value::String(text) if lines.status == StatusCode::OK => text.lines().collect(),
        _ => Vec::new(),
    };
    let lines: BTreeSet<&str> = written.iter().copied().collect();
    assert_eq!(lines.len(), written.len(), "{session}: a message was run twice: {written:?}");
    for (run, line) in &history.accepted {
        let is_completed = completed(log, *run);
        report.n_completed += usize::from(is_completed);
        let is_remembered = transcript.contains(&format!("echo {line} "));
        let is_written = lines.contains(line.as_str());
        assert!(
            !is_completed || is_remembered == is_written,
            "{session}: {line} is in one of files and transcript"
        );
    }
}

fn completed(log: &[Value], run: RunId) -> bool {
    log.iter().any(|event| event["type"] == "run_completed" && event["runId"] == json!(run))
}

/// The session takes a message where it is, and another on the next server once it was unloaded.
async fn usable(clients: &Clients, session: SessionId) {
    let mut n_runs = 0;
    let deadline = Instant::now() + RECOVERED_WITHIN;
    let mut n = 0;
    while n_runs < 2 {
        assert!(Instant::now() < deadline, "{session} takes no message");
        let client = clients.get(n % N_NODES).expect("it runs");
        let body = json!({"content": "run: echo usable"});
        let answer = client.post(&of(session, "messages"), &body).await;
        if answer.refusal() == (409, "SESSION_ELSEWHERE") {
            n += 1;
            sleep(Duration::from_millis(200)).await;
            continue;
        }
        let accepted = answer.expect(StatusCode::ACCEPTED);
        let run: RunId = accepted["runId"].as_str().and_then(|id| id.parse().ok()).expect("a run's id");
        let after = warren_domain::Seq(accepted["seq"].as_u64().expect("a number") - 1);
        let events = client.events(session, after).await.until(|event| event.ends_run(run)).await;
        let last = events.last().expect("events");
        assert_eq!(last.kind(), "run_completed", "{session}: {:#}", last.json);
        client.post(&of(session, "unload"), &json!({})).await.expect(StatusCode::OK);
        n_runs += 1;
        n += 1;
    }
}

/// The answer of a server that works again: its connections may take a moment.
async fn settled(clients: &Clients, n: usize, path: String) -> (StatusCode, Value) {
    let call = Call::get(path);
    for _ in 0..50 {
        if let Ok(answer) = clients.call(n, &call).await
            && !answer.status.is_server_error()
        {
            return (answer.status, answer.body);
        }
        sleep(Duration::from_millis(200)).await;
    }
    panic!("server {n} does not work again");
}

impl Report {
    fn plus(self, other: &Self) -> Self {
        Self {
            n_sessions: self.n_sessions + other.n_sessions,
            n_erased: self.n_erased + other.n_erased,
            n_erased_runs: self.n_erased_runs + other.n_erased_runs,
            n_runs: self.n_runs + other.n_runs,
            n_completed: self.n_completed + other.n_completed,
            n_entries: self.n_entries + other.n_entries,
            n_versions: self.n_versions + other.n_versions,
            n_files: self.n_files + other.n_files,
        }
    }

    /// Runs that servers accepted, whatever became of their sessions.
    pub(super) fn n_accepted(&self) -> u64 {
        (self.n_runs + self.n_erased_runs) as u64
    }

    #[expect(clippy::print_stdout, reason = "the report is what people read of this test")]
    pub(super) fn print(&self) {
        println!(
            "{} sessions ({} erased), {} accepted runs ({} in erased sessions, {} of the others completed), {} entries, {} versions with {} files compared, 0 losses",
            self.n_sessions,
            self.n_erased,
            self.n_accepted(),
            self.n_erased_runs,
            self.n_completed,
            self.n_entries,
            self.n_versions,
            self.n_files
        );
        assert!(self.n_completed > 0 && self.n_versions > 0, "nothing was done");
    }
}
