//! Reads server-sent events.

use std::{pin::Pin, time::Duration};

use futures::{Stream, StreamExt as _};
use serde_json::Value;
use warren_domain::{Event, RunId, Seq};

/// Nothing in a test takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// One entry of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct TestEvent {
    /// Its number.
    pub seq: Seq,
    /// What was sent.
    pub json: Value,
}

/// A stream of events.
pub struct TestEvents {
    body: Pin<Box<dyn Stream<Item = reqwest::Result<Vec<u8>>> + Send>>,
    buffer: Vec<u8>,
}

impl TestEvent {
    pub(crate) fn of(json: Value) -> Self {
        Self { seq: Seq(json["seq"].as_u64().expect("every entry has a number")), json }
    }

    /// What happened, by name.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }

    /// The event, read as the domain reads it.
    #[must_use]
    pub fn event(&self) -> Event {
        serde_json::from_value(self.json.clone()).expect("an event of the domain")
    }

    /// Whether this entry ends `run`.
    #[must_use]
    pub fn ends_run(&self, run: RunId) -> bool {
        let ends = matches!(self.kind(), "run_completed" | "run_failed" | "run_interrupted");
        ends && self.json["runId"].as_str() == Some(&run.to_string())
    }
}

impl TestEvents {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        let body = response.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec()));
        Self { body: Box::pin(body), buffer: Vec::new() }
    }

    /// The next event; `None` when the stream has ended or broken off. Its `id` must be its number.
    pub async fn next(&mut self) -> Option<TestEvent> {
        tokio::time::timeout(PATIENCE, self.read()).await.expect("an event comes, or the stream ends")
    }

    /// Everything up to the first event of which `is_last` is true.
    pub async fn until(&mut self, is_last: impl Fn(&TestEvent) -> bool) -> Vec<TestEvent> {
        let mut seen = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = is_last(&event);
            seen.push(event);
            if is_last {
                return seen;
            }
        }
        panic!("the stream ended too early, after {:#?}", seen.last());
    }

    async fn read(&mut self) -> Option<TestEvent> {
        loop {
            while let Some(message) = self.take_message() {
                if let Some(event) = parse(&message) {
                    return Some(event);
                }
            }
            let piece = self.body.next().await?.ok()?;
            self.buffer.extend(piece);
        }
    }

    /// Our server ends its lines with LF alone.
    fn take_message(&mut self) -> Option<String> {
        let end = self.buffer.windows(2).position(|pair| pair == b"\n\n")?;
        let message = self.buffer.drain(..end + 2).collect();
        Some(String::from_utf8(message).expect("events are text"))
    }
}

/// `None` for a comment.
fn parse(message: &str) -> Option<TestEvent> {
    let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name).map(str::trim_start));
    let event = TestEvent::of(serde_json::from_str(field("data:")?).expect("data is JSON"));
    assert_eq!(field("id:"), Some(event.seq.to_string().as_str()), "the id is the number");
    Some(event)
}
