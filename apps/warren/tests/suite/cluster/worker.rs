//! A client that works on its sessions through whichever server answers.

use std::{collections::BTreeMap, time::Duration};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use warren_domain::{RunId, SessionId};
use warren_testkit::{Seed, TestAnswer};

use crate::suite::versions::of;

use super::{N_NODES, node::Clients};

/// How long a client waits for an answer. A stopped server gives none.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client follows a run before it goes on with something else.
const RUN_TIMEOUT: Duration = Duration::from_secs(12);

/// What a client knows of one session: everything that was acknowledged or shown.
pub(super) struct History {
    pub(super) session: SessionId,
    /// Entries that were read, by number.
    pub(super) seen: BTreeMap<u64, Value>,
    /// Runs that a server accepted, with the line each writes.
    pub(super) accepted: BTreeMap<RunId, String>,
    pub(super) is_erased: bool,
}

/// One client.
pub(super) struct Worker {
    n: usize,
    seed: Seed,
    clients: Clients,
    n_messages: u32,
    histories: Vec<History>,
}

impl Worker {
    pub(super) fn new(n: usize, seed: Seed, clients: Clients) -> Self {
        Self { n, seed, clients, n_messages: 0, histories: Vec::new() }
    }

    pub(super) fn into_histories(self) -> Vec<History> {
        self.histories
    }

    /// Works until `end`. The last session of the list is the one it works on.
    pub(super) async fn work_until(&mut self, end: Instant) {
        while Instant::now() < end {
            if self.histories.last().is_none_or(|last| last.is_erased) && !self.create().await {
                continue;
            }
            match self.seed.below(20) {
                0 => self.erase().await,
                1 | 2 => self.fork().await,
                3 | 4 => self.restore().await,
                5 => self.request(Method::POST, "snapshot", &json!({})).await,
                6 | 7 => self.request(Method::POST, "unload", &json!({})).await,
                _ => self.message().await,
            }
        }
    }

    async fn create(&mut self) -> bool {
        let answer =
            self.clients.call_any(&mut self.seed, Method::POST, "/api/sessions", Some(&json!({}))).await;
        let Some(session) = answer.as_ref().and_then(made) else {
            sleep(Duration::from_millis(200)).await;
            return false;
        };
        self.histories.push(History::new(session));
        true
    }

    /// Sends a message under one idempotency key until some server takes it, and follows its run.
    async fn message(&mut self) {
        self.n_messages += 1;
        let line = format!("w{}m{}", self.n, self.n_messages);
        let size = self.seed.below(200_000);
        let content =
            format!("run: echo {line} >> lines.txt; head -c {size} /dev/urandom > r{}.bin", size % 4);
        let body = json!({"content": content, "idempotencyKey": line});
        let path = of(self.session(), "messages");
        let first = self.seed.below(N_NODES as u64) as usize;
        for n in first..first + 2 * N_NODES {
            let answer = self.clients.call(n % N_NODES, Method::POST, &path, Some(&body)).await;
            if let Some(answer) = answer
                && answer.status == StatusCode::ACCEPTED
            {
                let run: RunId =
                    answer.body["runId"].as_str().and_then(|id| id.parse().ok()).expect("a run's id");
                self.history().accepted.insert(run, line);
                return self.follow(run).await;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Reads the log, each page from another server, until the run has ended or takes too long.
    async fn follow(&mut self, run: RunId) {
        let deadline = Instant::now() + RUN_TIMEOUT;
        while Instant::now() < deadline && !self.history().has_ended(run) {
            let after = self.history().seen.last_key_value().map_or(0, |(seq, _)| *seq);
            let path = of(self.session(), &format!("events?after={after}"));
            let answer = self.clients.call_any(&mut self.seed, Method::GET, &path, None).await;
            if let Some(answer) = answer
                && answer.status == StatusCode::OK
            {
                self.history().note(&answer.body);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn fork(&mut self) {
        let path = of(self.session(), "fork");
        let answer = self.clients.call_any(&mut self.seed, Method::POST, &path, Some(&json!({}))).await;
        if let Some(session) = answer.as_ref().and_then(made) {
            let own = self.histories.len() - 1;
            self.histories.insert(own, History::new(session));
        }
    }

    async fn restore(&mut self) {
        let path = of(self.session(), "versions?limit=4");
        let Some(answer) = self.clients.call_any(&mut self.seed, Method::GET, &path, None).await else {
            return;
        };
        let kept: Vec<u64> = answer.body["versions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|version| version["expired"] != true)
            .filter_map(|version| version["version"].as_u64())
            .collect();
        if let Some(version) = kept.get(self.seed.below(kept.len().max(1) as u64) as usize) {
            self.request(Method::POST, "restore", &json!({"version": version})).await;
        }
    }

    /// Whatever becomes of it: what counts is what is there at the end.
    async fn request(&mut self, method: Method, what: &str, body: &Value) {
        let path = of(self.session(), what);
        drop(self.clients.call_any(&mut self.seed, method, &path, Some(body)).await);
    }

    async fn erase(&mut self) {
        let path = format!("/api/sessions/{}", self.session());
        for _ in 0..10 {
            let answer = self.clients.call_any(&mut self.seed, Method::DELETE, &path, None).await;
            if answer.is_some_and(|answer| {
                [StatusCode::NO_CONTENT, StatusCode::NOT_FOUND].contains(&answer.status)
            }) {
                self.history().is_erased = true;
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    fn history(&mut self) -> &mut History {
        self.histories.last_mut().expect("it works on a session")
    }

    fn session(&mut self) -> SessionId {
        self.history().session
    }
}

impl History {
    fn new(session: SessionId) -> Self {
        Self { session, seen: BTreeMap::new(), accepted: BTreeMap::new(), is_erased: false }
    }

    /// Keeps a page of the log. What was read twice must be the same both times.
    fn note(&mut self, page: &Value) {
        for event in page["events"].as_array().into_iter().flatten() {
            let Some(seq) = event["seq"].as_u64() else { continue };
            if let Some(before) = self.seen.insert(seq, event.clone()) {
                assert_eq!(before, *event, "entry {seq} of {} changed", self.session);
            }
        }
    }

    fn has_ended(&self, run: RunId) -> bool {
        self.seen.values().rev().any(|event| ends_run(event) && event["runId"] == json!(run))
    }
}

/// Whether an entry ends a run.
pub(super) fn ends_run(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("run_completed" | "run_failed" | "run_interrupted"))
}

/// The session that was made.
fn made(answer: &TestAnswer) -> Option<SessionId> {
    if answer.status != StatusCode::CREATED {
        return None;
    }
    answer.body["sessionId"].as_str()?.parse().ok()
}
