//! Record first, then believe: the only way a session's log grows.

mod past;
mod progress;
mod size;

use std::{ops::ControlFlow, sync::Arc};

use bytes::Bytes;
use tokio::time::Instant;
use warren_domain::{
    Command, Draft, Event, Fence, MAX_EVENT_BYTES, OpenCalls, Partition, RecordedCalls, Rejection, Seq,
    Session, SessionId, ViewState, spill,
};
use warren_env::TaskKind;
use warren_store::{Change, Commit, CommitError, EventLog, LogEntry, ReadError, WriteError};

use self::{past::Past, progress::Progress, size::LogSize};
use crate::{
    figures::{Held, committed},
    options::Shared,
    spaces,
    views::{self, Current},
};

/// At most this many entries are read at a time when a log is folded, …
const MAX_PAGE: u32 = 128;

/// … this many before it is known how long they are, …
const FIRST_PAGE: u32 = 32;

/// … and about as many bytes: however long a log is, no more of it is in memory.
const PAGE_BYTES: usize = 2 << 20;

/// One session's log as its only writer sees it.
pub(crate) struct Recorder {
    pub(crate) session: SessionId,
    pub(crate) partition: Partition,
    pub(crate) state: Session,
    pub(crate) head: Seq,
    pub(crate) fence: Fence,
    past: Past,
    pub(crate) recorded: RecordedCalls,
    pub(crate) open_calls: OpenCalls,
    progress: Progress,
    /// How much of its limits the log takes.
    pub(crate) size: LogSize,
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
    #[error("failed to write to the session's log")]
    Commit(#[source] CommitError),
    /// Something beside the log was not written.
    #[error("failed to write session data")]
    Write(#[source] WriteError),
    /// Another server has taken the session over.
    #[error("another server has taken the session over")]
    Lost,
    /// A blob that an entry needs could not be kept.
    #[error("failed to store a long field")]
    Blob(#[source] ReadError),
    /// An event could not be written as JSON.
    #[error("failed to serialise an event")]
    Serialise(#[source] serde_json::Error),
    /// The log could not be read.
    #[error("failed to read the log")]
    Read(#[source] ReadError),
    /// The temporary file of a past could not be read.
    #[error("failed to read the session's initial history")]
    Spool(#[source] std::io::Error),
    /// The session's view was moved again and again while it was read.
    #[error("the view of session `{0}` changed every time it was read")]
    Restless(SessionId),
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

impl RecordError {
    /// The session is not ours any more: another server has taken it over, or it was erased. Nothing may be written for it.
    pub(crate) fn is_not_ours(&self) -> bool {
        matches!(
            self,
            RecordError::Lost
                | RecordError::Commit(CommitError::Fenced { .. } | CommitError::NoSession(_))
                | RecordError::Write(WriteError::Fenced { .. })
        )
    }
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
            recorded: RecordedCalls::default(),
            open_calls: OpenCalls::default(),
            progress: Progress::default(),
            size: LogSize::default(),
            shared,
            _counted: Held::session(),
        }
    }

    /// Reads where the session stands. `fence` is the lease under which it will be written.
    pub(crate) async fn open(
        session: SessionId,
        partition: Partition,
        fence: Fence,
        shared: Arc<Shared>,
    ) -> Result<Self, RecordError> {
        let Current { view, base, .. } = views::current(shared.parts.source(), session).await?;
        let past = Past::of(&view, base.unwrap_or_default());
        let progress = Progress::at(base.unwrap_or_default());
        let ViewState { session: state, recorded, open_calls, .. } = view.state;
        let unborn = Self::unborn(session, partition, shared);
        Ok(Self { fence, past, recorded, open_calls, progress, state, head: view.seq, ..unborn })
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
        let mut blob_bytes = 0;
        for mut draft in drafts {
            seq = seq.next();
            self.past.keep(&mut draft, self.shared.parts.source(), self.session).await?;
            let (event, entry) = self.entry(draft.numbered(seq, self.session, now)).await?;
            blob_bytes += event.spilled.iter().map(|field| field.size_bytes).sum::<u64>();
            events.push(event);
            entries.push(entry);
        }
        let mut changes = changes(&events);
        if blob_bytes > 0 {
            changes.push(Change::AddBlobBytes(blob_bytes));
        }
        let n_bytes = entries.iter().map(|entry| entry.json.len() as u64).sum::<u64>() + blob_bytes;
        if entries.is_empty() && changes.is_empty() {
            return Ok(events);
        }
        let began = Instant::now();
        self.commit(entries, changes).await?;
        committed(&events, began.elapsed());
        self.size.add(n_bytes);
        events.iter().for_each(|event| self.believe(event));
        self.move_view_on();
        Ok(events)
    }

    /// Has the view moved on, when it is far behind: whoever reads it then has little to fold.
    fn move_view_on(&mut self) {
        if let Some(done) = self.progress.news() {
            self.past.forget(done);
        }
        if let Some(guard) = self.progress.begin(self.head) {
            let (shared, session) = (self.shared.clone(), self.session);
            self.shared.parts.tasks.spawn(TaskKind::Session, async move {
                match views::current(shared.parts.source(), session).await {
                    Ok(current) => guard.done(current.base),
                    // Nobody needs it: whoever reads does the same.
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(%session, error, "a view was not moved on");
                    }
                }
            });
        }
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
        self.recorded.apply(event);
        self.open_calls.apply(event);
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
    for_each_event_after(log, session, Seq(0), |event| {
        each(event);
        ControlFlow::Continue(())
    })
    .await
}

/// Reads a log after `after` in pages, until its end or until `each` has enough. Returns the last number read.
pub(crate) async fn for_each_event_after(
    log: &dyn EventLog,
    session: SessionId,
    after: Seq,
    mut each: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<Seq, RecordError> {
    let mut pages = Pages::after(after);
    while !pages.is_over() {
        for entry in pages.next(log, session).await? {
            let event = entry.event().map_err(|source| RecordError::Entry { seq: entry.seq, source })?;
            if each(event).is_break() {
                return Ok(entry.seq);
            }
        }
    }
    Ok(pages.after)
}

/// A log, page by page. Pages are as long as fits, going by the one before.
pub(crate) struct Pages {
    after: Seq,
    size: u32,
    is_over: bool,
}

impl Pages {
    pub(crate) fn after(after: Seq) -> Self {
        Self { after, size: FIRST_PAGE, is_over: false }
    }

    /// The next page; empty at the end.
    pub(crate) async fn next(
        &mut self,
        log: &dyn EventLog,
        session: SessionId,
    ) -> Result<Vec<LogEntry>, RecordError> {
        let page = log.read(session, self.after, self.size).await.map_err(RecordError::Read)?;
        self.is_over = page.len() < self.size as usize;
        if let Some(last) = page.last() {
            self.after = last.seq;
            let n_bytes: usize = page.iter().map(|entry| entry.json.len()).sum();
            let fitting = PAGE_BYTES.saturating_mul(page.len()) / n_bytes.max(1);
            // Never much more than before: what follows may be longer.
            let most = MAX_PAGE.min(self.size * 4);
            self.size = u32::try_from(fitting).unwrap_or(MAX_PAGE).clamp(1, most);
        }
        Ok(page)
    }

    /// The number of the last entry that was read.
    pub(crate) fn last_read(&self) -> Seq {
        self.after
    }

    /// Whether the last page ended the log.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}
