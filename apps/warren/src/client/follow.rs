//! Follows a session's log over whatever happens to the connection.

use std::{collections::VecDeque, pin::Pin, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use reqwest::{Method, header};
use warren_domain::{Event, Seq, SessionId};

use super::{
    CallError, Client,
    sse::{Message, Parser},
};

/// The first pause before another try; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The server sends something at least every 15 seconds; a line that is silent for this long is dead.
const SILENCE: Duration = Duration::from_secs(60);
/// After this many tries without a single byte, about 25 seconds, it is given up.
const N_TRIES: u32 = 16;

type Body = Pin<Box<dyn Stream<Item = Result<Bytes, reqwest::Error>> + Send>>;

/// A log from some number on. When the connection drops, it resumes after the last entry it gave: no gap, no duplicate.
pub(crate) struct Follow {
    client: Client,
    session: SessionId,
    after: Seq,
    connection: Option<(Body, Parser)>,
    ready: VecDeque<Message>,
    n_failed: u32,
}

/// One entry, as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The server's own text.
    pub(crate) json: String,
    /// What it says; `None` if this version does not know such an event.
    pub(crate) event: Option<Event>,
}

impl Follow {
    pub(super) fn new(client: Client, session: SessionId, after: Seq) -> Self {
        Self { client, session, after, connection: None, ready: VecDeque::new(), n_failed: 0 }
    }

    /// The next entry. Cancel-safe: an entry is taken only when it is given.
    pub(crate) async fn next(&mut self) -> Result<Entry, CallError> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                if let Some(entry) = self.accept(message) {
                    return Ok(entry);
                }
            }
            if let Err(error) = self.receive().await {
                self.connection = None;
                self.n_failed += 1;
                if !error.is_passing() || self.n_failed >= N_TRIES {
                    return Err(error);
                }
                tracing::debug!(after = self.after.0, %error, "the stream of events broke off; resuming");
                tokio::time::sleep(pause(self.n_failed)).await;
            }
        }
    }

    /// Drops what was seen before.
    fn accept(&mut self, message: Message) -> Option<Entry> {
        if let Ok(seq) = message.id.parse() {
            if Seq(seq) <= self.after {
                return None;
            }
            self.after = Seq(seq);
        }
        let event = serde_json::from_str(&message.data).ok();
        Some(Entry { json: message.data, event })
    }

    /// Waits for the next bytes, on a new connection if there is none.
    async fn receive(&mut self) -> Result<(), CallError> {
        if self.connection.is_none() {
            self.connection = Some((self.connect().await?, Parser::default()));
        }
        let Some((body, parser)) = &mut self.connection else { return Ok(()) };
        let received = tokio::time::timeout(SILENCE, body.next()).await;
        match received.unwrap_or_default() {
            Some(Ok(bytes)) => {
                self.n_failed = 0;
                let mut messages = Vec::new();
                let parsed = parser.feed(&bytes, &mut messages);
                self.ready.extend(messages);
                parsed.map_err(|source| CallError::Stream { url: self.client.url.clone(), source })
            }
            Some(Err(source)) => Err(self.client.unreachable(source)),
            // The server ends streams in good order when it stops; a line that went dead does not end at all.
            None => Err(CallError::Ended { url: self.client.url.clone() }),
        }
    }

    async fn connect(&self) -> Result<Body, CallError> {
        let path = format!("/api/sessions/{}/events", self.session);
        let request = self
            .client
            .request(Method::GET, &path)
            .header(header::ACCEPT, "text/event-stream")
            .header("Last-Event-ID", self.after.to_string());
        Ok(Box::pin(self.client.call(request).await?.bytes_stream()))
    }
}

fn pause(n_failed: u32) -> Duration {
    (FIRST_PAUSE * 2_u32.saturating_pow(n_failed.saturating_sub(1).min(10))).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
