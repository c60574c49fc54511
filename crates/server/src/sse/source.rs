//! Sources of a stream's lines.

use std::{borrow::Cow, future::Future};

use bytes::Bytes;
use serde::Deserialize;
use warren_domain::{BlockId, RunId, Seq, SessionId};
use warren_gateway::{Action, Identity, Target, authorize};
use warren_runtime::api::{Changes, Follow, ListChange, LogEntry, SessionRecord};
use warren_wire::{SessionNews, SessionsChanged};

use crate::{convert, deps::App, sse::Frames};

/// Gives lines, some at a time.
pub(crate) trait Source: Send + 'static {
    /// The next lines as soon as there are any; `None` at the end. Must be cancel-safe.
    fn next(&mut self) -> impl Future<Output = Option<Vec<Bytes>>> + Send;
}

/// A session's log, for as long as there is a session.
pub(crate) struct LogSource(pub(crate) Follow);

impl Source for LogSource {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        let entries = batch(&mut self.0).await?;
        let mut frames = Frames::default();
        entries.iter().for_each(|entry| frames.entry(entry));
        Some(frames.take())
    }
}

/// A replay's log, to its end.
pub(crate) struct TapeSource {
    follow: Follow,
    /// The last entry, if nothing comes after it.
    end: Option<Seq>,
}

impl TapeSource {
    pub(crate) fn new(follow: Follow, end: Option<Seq>) -> Self {
        Self { follow, end }
    }
}

impl Source for TapeSource {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        if self.end.is_some_and(|end| self.follow.position() >= end) {
            return None;
        }
        let entries = batch(&mut self.follow).await?;
        let mut frames = Frames::default();
        entries.iter().for_each(|entry| frames.entry(entry));
        Some(frames.take())
    }
}

/// The entries of one run, until it ends.
pub(crate) struct RunSource {
    follow: Follow,
    run: RunId,
    is_over: bool,
}

/// As much of an entry as is needed to tell whose it is.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "runId")]
    run_id: Option<RunId>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    block: Option<BlockHead<'a>>,
}

#[derive(Deserialize)]
struct BlockHead<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl RunSource {
    pub(crate) fn new(follow: Follow, run: RunId) -> Self {
        Self { follow, run, is_over: false }
    }

    /// Whether the entry belongs to the run; notes what it means for it.
    fn takes(&mut self, entry: &LogEntry) -> bool {
        let Ok(head) = serde_json::from_slice::<Head<'_>>(&entry.json) else { return false };
        let message = BlockId::of_message(self.run);
        let is_our_message = head.block.is_some_and(|block| block.id == message.as_str());
        // A run that was going on took our message up: from here on what becomes of it is told by that run.
        if let (true, Some(carrier)) = (is_our_message, head.run_id) {
            self.run = carrier;
        }
        let is_ours = head.run_id == Some(self.run);
        let ends = matches!(&*head.kind, "run_completed" | "run_failed" | "run_interrupted");
        self.is_over |= is_ours && ends;
        is_ours
    }
}

impl Source for RunSource {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        let mut frames = Frames::default();
        while !self.is_over {
            for entry in batch(&mut self.follow).await? {
                if !self.is_over && self.takes(&entry) {
                    frames.entry(&entry);
                }
            }
            let lines = frames.take();
            if !lines.is_empty() {
                return Some(lines);
            }
        }
        None
    }
}

/// News about the list of sessions, as far as the reader may see them.
pub(crate) struct NewsSource {
    app: App,
    identity: Identity,
    changes: Changes,
    /// A change that was taken but not told yet; it survives when the waiting is broken off.
    pending: Option<ListChange>,
}

impl NewsSource {
    pub(crate) fn new(app: App, identity: Identity, changes: Changes) -> Self {
        Self { app, identity, changes, pending: None }
    }

    /// The next change that the reader may see; `None` when there will be none. Cancel-safe.
    pub(crate) async fn next_change(&mut self) -> Option<SessionsChanged> {
        loop {
            if self.pending.is_none() {
                self.pending = Some(self.changes.next().await?);
            }
            let told = match &self.pending {
                Some(change) => self.describe(change).await,
                None => None,
            };
            self.pending = None;
            if told.is_some() {
                return told;
            }
        }
    }

    async fn describe(&self, change: &ListChange) -> Option<SessionsChanged> {
        match change {
            ListChange::Created(record) => self.session(SessionNews::Created, record.session_id).await,
            ListChange::Changed(session) | ListChange::Runtime(session) => {
                self.session(SessionNews::Changed, *session).await
            }
            ListChange::Erased { session_id, partition, project_id } => {
                let target = Target::Project { partition, project: *project_id };
                let sees = authorize(&self.identity, Action::Read, target).is_ok();
                sees.then(|| SessionsChanged::of(SessionNews::Erased, *session_id))
            }
            ListChange::Missed => Some(SessionsChanged::missed()),
        }
    }

    async fn session(&self, change: SessionNews, session: SessionId) -> Option<SessionsChanged> {
        // One that is gone by now is told about by its own change.
        let summary = self.app.runtime().sessions().session_get(session).await.ok()?;
        let SessionRecord { partition, project_id, .. } = &summary.record;
        authorize(&self.identity, Action::Read, Target::Project { partition, project: *project_id }).ok()?;
        let item = convert::listed(self.app.runtime().sessions(), summary).await.ok()?;
        Some(SessionsChanged { session: Some(item), ..SessionsChanged::of(change, session) })
    }
}

impl Source for NewsSource {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        loop {
            let told = self.next_change().await?;
            if let Ok(json) = serde_json::to_vec(&told) {
                let mut frames = Frames::default();
                frames.data(&Bytes::from(json));
                return Some(frames.take());
            }
        }
    }
}

/// The next entries; `None` when the session is gone, or its log cannot be read: then the reader comes back and resumes.
pub(super) async fn batch(follow: &mut Follow) -> Option<Vec<LogEntry>> {
    match follow.next_batch().await {
        Ok(entries) if entries.is_empty() => None,
        Ok(entries) => Some(entries),
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a stream ends: its log cannot be read"
            );
            None
        }
    }
}
