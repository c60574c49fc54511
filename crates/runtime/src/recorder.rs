//! Record first, then believe: the only way a session's log grows.

mod past;

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;
use warren_domain::{
    Command, Draft, Event, Fence, MAX_EVENT_BYTES, Partition, Rejection, Seq, Session, SessionId, spill,
};
use warren_store::{Change, Commit, CommitError, EventLog, LogEntry, ReadError};

use self::past::Past;
use crate::{
    figures::{Held, committed},
    options::Shared,
    spaces,
};

/// How many entries are read at a time when a log is folded.
const FOLD_PAGE: u32 = 2_000;

/// One session's log as its only writer sees it.
pub(crate) struct Recorder {
    pub(crate) session: SessionId,
    pub(crate) partition: Partition,
    pub(crate) state: Session,
    pub(crate) head: Seq,
    pub(crate) fence: Fence,
    past: Past,
    shared: Arc<Shared>,
    _counted: Held,
}

/// Why something was not recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    /// The rules forbid it: nothing happened.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The store refused or failed.
    #[error("failed to record what happened")]
    Commit(#[source] CommitError),
    /// A blob that an entry needs could not be kept.
    #[error("failed to keep a long field")]
    Blob(#[source] ReadError),
    /// An event could not be written as JSON.
    #[error("failed to serialise an event")]
    Serialise(#[source] serde_json::Error),
    /// The log could not be read.
    #[error("failed to read the log")]
    Read(#[source] ReadError),
    /// An entry of the log is not an event.
    #[error("entry {seq} of the log cannot be read")]
    Entry {
        /// Which one.
        seq: Seq,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

impl Recorder {
    /// A recorder for a session that is about to exist.
    pub(crate) fn unborn(session: SessionId, partition: Partition, shared: Arc<Shared>) -> Self {
        Self {
            session,
            partition,
            state: Session::default(),
            head: Seq(0),
            fence: Fence(0),
            past: Past::default(),
            shared,
            _counted: Held::session(),
        }
    }

    /// Folds what the log says. `fence` is the lease under which it will be written.
    pub(crate) async fn open(
        session: SessionId,
        partition: Partition,
        fence: Fence,
        shared: Arc<Shared>,
    ) -> Result<Self, RecordError> {
        let mut recorder = Self { fence, ..Self::unborn(session, partition, shared) };
        let log = Arc::clone(&recorder.shared.parts.store.log);
        for_each_event(log.as_ref(), session, |event| recorder.believe(&event)).await?;
        Ok(recorder)
    }

    /// Decides what a command means and records it together with `changes`, which see the first new number.
    pub(crate) async fn carry_out(
        &mut self,
        command: Command,
        changes: impl FnOnce(&[Event]) -> Vec<Change>,
    ) -> Result<Vec<Event>, RecordError> {
        let drafts = self.state.decide(command)?;
        self.record(drafts, changes).await
    }

    /// Numbers, keeps and then applies what happened. When it returns, everyone may see it.
    pub(crate) async fn record(
        &mut self,
        drafts: Vec<Draft>,
        changes: impl FnOnce(&[Event]) -> Vec<Change>,
    ) -> Result<Vec<Event>, RecordError> {
        let now = self.shared.parts.env.now();
        let mut seq = self.head;
        let mut events = Vec::with_capacity(drafts.len());
        let mut entries = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            seq = seq.next();
            self.past.keep(&mut draft);
            let (event, entry) = self.entry(draft.numbered(seq, self.session, now)).await?;
            events.push(event);
            entries.push(entry);
        }
        let changes = changes(&events);
        if entries.is_empty() && changes.is_empty() {
            return Ok(events);
        }
        let began = Instant::now();
        self.commit(entries, changes).await?;
        committed(&events, began.elapsed());
        events.iter().for_each(|event| self.believe(event));
        Ok(events)
    }

    async fn commit(&self, entries: Vec<LogEntry>, changes: Vec<Change>) -> Result<(), RecordError> {
        let commit =
            Commit { session: self.session, fence: self.fence, expected: self.head, entries, changes };
        self.shared.parts.live.commit(commit).await.map(|_| ()).map_err(RecordError::Commit)
    }

    /// Serialises an event once. Fields that make it too long go to blobs first.
    async fn entry(&self, event: Event) -> Result<(Event, LogEntry), RecordError> {
        let entry = LogEntry::of(&event).map_err(RecordError::Serialise)?;
        if entry.json.len() <= MAX_EVENT_BYTES {
            return Ok((event, entry));
        }
        let cut = spill(event);
        let space = spaces::of_log(&self.partition, self.session);
        for (_, bytes) in cut.blobs {
            let kept = self.shared.parts.store.blobs.put_blob(&space, Bytes::from(bytes)).await;
            kept.map_err(RecordError::Blob)?;
        }
        let entry = LogEntry::of(&cut.event).map_err(RecordError::Serialise)?;
        Ok((cut.event, entry))
    }

    fn believe(&mut self, event: &Event) {
        self.head = event.seq;
        self.past.apply(event, self.state.head);
        self.state = std::mem::take(&mut self.state).apply(event.run_id, &event.body);
    }
}

/// Reads a whole log in pages and hands each event to `each`.
pub(crate) async fn for_each_event(
    log: &dyn EventLog,
    session: SessionId,
    mut each: impl FnMut(Event),
) -> Result<Seq, RecordError> {
    let mut after = Seq(0);
    loop {
        let page = log.read(session, after, FOLD_PAGE).await.map_err(RecordError::Read)?;
        for entry in &page {
            each(entry.event().map_err(|source| RecordError::Entry { seq: entry.seq, source })?);
            after = entry.seq;
        }
        if page.len() < FOLD_PAGE as usize {
            return Ok(after);
        }
    }
}
