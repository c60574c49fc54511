//! A client that works on its sessions through whichever server answers.

use std::{collections::BTreeMap, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use warren_domain::{RunId, SessionId};
use warren_testkit::{Seed, TestAnswer};

use crate::suite::versions::of;

use super::{
    node::{Call, Caller, Clients},
    tally::Operation,
};

/// How long a client follows a run before it goes on with something else.
const RUN_TIMEOUT: Duration = Duration::from_secs(12);
/// A client makes sessions until it has this many. Several, because those of a stopped server wait for its lease to end.
const MIN_SESSIONS: usize = 3;
/// A client with this many forks no more: each is checked in the end.
const MAX_SESSIONS: usize = 6;

/// What a client knows of one session: everything that was acknowledged or shown.
pub(super) struct History {
    pub(super) session: SessionId,
    /// Entries that were read, by number.
    pub(super) seen: BTreeMap<u64, Value>,
    /// Runs that a server accepted, with the line each writes.
    pub(super) accepted: BTreeMap<RunId, String>,
    /// A message that no server accepted yet, as far as its client knows. It is sent again under the same key.
    unsure: Option<Message>,
    pub(super) fate: Fate,
}

/// Whether a session is to be there in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    /// A server was asked to erase it and did not say what became of that.
    Doomed,
    Erased,
}

/// A message and the line that its run writes.
struct Message {
    line: String,
    body: Value,
}

/// One client.
pub(super) struct Worker {
    n: usize,
    seed: Seed,
    caller: Caller,
    n_messages: u32,
    /// Those it works on.
    live: Vec<History>,
    /// Those it erased, or may have erased.
    left: Vec<History>,
}

impl Worker {
    pub(super) fn new(n: usize, seed: Seed, clients: Clients) -> Self {
        let caller = Caller::new(clients);
        Self { n, seed, caller, n_messages: 0, live: Vec::new(), left: Vec::new() }
    }

    pub(super) fn into_histories(self) -> impl Iterator<Item = History> {
        self.live.into_iter().chain(self.left)
    }

    /// Works until `end`, each time on another of its sessions.
    pub(super) async fn work_until(&mut self, end: Instant) {
        while Instant::now() < end {
            if self.live.len() < MIN_SESSIONS {
                self.create().await;
            }
            if self.live.is_empty() {
                continue;
            }
            let at = self.seed.below(self.live.len() as u64) as usize;
            match self.seed.below(40) {
                0 => self.erase(at).await,
                1..4 => self.fork(at).await,
                4..8 => self.restore(at).await,
                8..10 => self.request(at, Operation::Snapshot, "snapshot", json!({})).await,
                10..14 => self.unload(at).await,
                _ => self.message(at).await,
            }
        }
    }

    async fn create(&mut self) {
        let call = Call::post("/api/sessions".to_owned(), json!({}));
        let answer = self.caller.call_any(&mut self.seed, Operation::Create, &call).await;
        match answer.as_ref().and_then(made) {
            Some(session) => self.live.push(History::new(session)),
            None => sleep(Duration::from_millis(200)).await,
        }
    }

    /// Offers a message to each server under one idempotency key, and follows its run if one takes it.
    async fn message(&mut self, at: usize) {
        let message = match self.live[at].unsure.take() {
            Some(message) => message,
            None => self.new_message(),
        };
        let call = Call::post(of(self.live[at].session, "messages"), message.body.clone());
        for n in self.caller.servers(&mut self.seed) {
            let answer = self.caller.call(n, Operation::Message, &call).await;
            if let Some(answer) = answer
                && answer.status == StatusCode::ACCEPTED
            {
                let run: RunId =
                    answer.body["runId"].as_str().and_then(|id| id.parse().ok()).expect("a run's id");
                self.live[at].accepted.insert(run, message.line);
                self.caller.tally().note_accepted();
                return self.follow(at, run).await;
            }
        }
        self.live[at].unsure = Some(message);
        sleep(Duration::from_millis(50)).await;
    }

    fn new_message(&mut self) -> Message {
        self.n_messages += 1;
        let line = format!("w{}m{}", self.n, self.n_messages);
        let size = self.seed.below(200_000);
        let content =
            format!("run: echo {line} >> lines.txt; head -c {size} /dev/urandom > r{}.bin", size % 4);
        Message { body: json!({"content": content, "idempotencyKey": line}), line }
    }

    /// Reads the log, each page from another server, until the run has ended or takes too long.
    async fn follow(&mut self, at: usize, run: RunId) {
        let began = Instant::now();
        while began.elapsed() < RUN_TIMEOUT {
            let after = self.live[at].seen.last_key_value().map_or(0, |(seq, _)| *seq);
            let path = of(self.live[at].session, &format!("events?after={after}"));
            let answer = self.caller.call_any(&mut self.seed, Operation::Follow, &Call::get(path)).await;
            if let Some(answer) = answer
                && answer.status == StatusCode::OK
            {
                self.live[at].note(&answer.body);
            }
            if self.live[at].has_ended(run) {
                return self.caller.tally().note_ended(began.elapsed());
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn fork(&mut self, at: usize) {
        if self.live.len() >= MAX_SESSIONS {
            return;
        }
        let call = Call::post(of(self.live[at].session, "fork"), json!({}));
        let answer = self.caller.call_any(&mut self.seed, Operation::Fork, &call).await;
        self.live.extend(answer.as_ref().and_then(made).map(History::new));
    }

    async fn restore(&mut self, at: usize) {
        let call = Call::get(of(self.live[at].session, "versions?limit=4"));
        let Some(answer) = self.caller.call_any(&mut self.seed, Operation::Versions, &call).await else {
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
            self.request(at, Operation::Restore, "restore", json!({"version": version})).await;
        }
    }

    /// Whatever becomes of it: what counts is what is there at the end.
    async fn request(&mut self, at: usize, operation: Operation, what: &str, body: Value) {
        let call = Call::post(of(self.live[at].session, what), body);
        for n in self.caller.servers(&mut self.seed) {
            let answer = self.caller.call(n, operation, &call).await;
            if answer.is_some_and(|answer| answer.status.is_success()) {
                return;
            }
        }
    }

    /// Asks every server: one that does not have the session says that all is well.
    async fn unload(&mut self, at: usize) {
        let call = Call::post(of(self.live[at].session, "unload"), json!({}));
        for n in self.caller.servers(&mut self.seed) {
            drop(self.caller.call(n, Operation::Unload, &call).await);
        }
    }

    async fn erase(&mut self, at: usize) {
        let call = Call::delete(format!("/api/sessions/{}", self.live[at].session));
        let mut fate = Fate::Kept;
        for n in self.caller.servers(&mut self.seed) {
            match self.caller.call(n, Operation::Erase, &call).await.map(|answer| answer.status) {
                Some(StatusCode::NO_CONTENT | StatusCode::NOT_FOUND) => {
                    fate = Fate::Erased;
                    break;
                }
                Some(status) if status.is_client_error() => {}
                Some(_) | None => fate = Fate::Doomed,
            }
        }
        if fate != Fate::Kept {
            let history = self.live.swap_remove(at);
            self.left.push(History { fate, ..history });
        }
    }
}

impl History {
    fn new(session: SessionId) -> Self {
        let (seen, accepted) = (BTreeMap::new(), BTreeMap::new());
        Self { session, seen, accepted, unsure: None, fate: Fate::Kept }
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
