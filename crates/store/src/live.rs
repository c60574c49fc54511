//! Followers: whoever wants a session's entries as they are recorded.
//!
//! [`Live`] wraps the log. An entry is told to followers only after its commit. A follower subscribes first, then reads the
//! log, then takes what it is told and has not read: no gap, no duplicate. One that falls behind, or is told something
//! out of order, goes back to reading: the log is the truth, telling is only the fast way to it.

mod follow;
mod hints;
mod hub;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;
use warren_domain::{Fence, Partition, ProjectId, Seq, SessionId};
use warren_env::{TaskKind, Tasks};

use self::{
    hints::Board,
    hub::{Hub, Notice},
};
use crate::{
    Change, Commit, CommitError, Compaction, EventLog, LogEntry, ReadError, SessionRecord, Sessions, Store,
    WriteError,
};

pub use self::follow::{Changes, Follow};

/// How many list changes a watcher may be behind. One that is further behind is told that it missed some, and lists again.
const MAX_CHANGES: usize = 256;

/// The log with its followers. A cheap clone.
#[derive(Clone)]
pub struct Live {
    log: Arc<dyn EventLog>,
    sessions: Arc<dyn Sessions>,
    tasks: Tasks,
    hub: Arc<Hub>,
    changes: broadcast::Sender<ListChange>,
    /// What other nodes are told; `None` where there are none.
    board: Option<Arc<Board>>,
}

/// Something that a list of sessions shows has changed. Belongs to no session's log and has no number.
#[derive(Debug, Clone, PartialEq)]
pub enum ListChange {
    /// A session exists.
    Created(Arc<SessionRecord>),
    /// Its name, metadata, options, runs or versions are new.
    Changed(SessionId),
    /// It was loaded or unloaded, or its sandbox is in another state.
    Runtime(SessionId),
    /// It is gone; who may know is said here, because nothing is left to ask.
    Erased {
        /// Which one.
        session_id: SessionId,
        /// Where it was.
        partition: Partition,
        /// Where it belonged.
        project_id: ProjectId,
    },
    /// The watcher was too slow and does not know what it missed.
    Missed,
}

impl Live {
    /// Wraps a store's log. Commits run to their end in `tasks`, whatever becomes of those who asked. Where other nodes
    /// share the store, followers here see what those write, and the other way round.
    #[must_use]
    pub fn new(store: &Store, tasks: &Tasks) -> Self {
        // Bounded: the slowest watcher is told that it missed something, and no other notices.
        let (changes, _) = broadcast::channel(MAX_CHANGES);
        let board = store.hints.as_ref().map(|_| Arc::new(Board::new()));
        let live = Self {
            log: Arc::clone(&store.log),
            sessions: Arc::clone(&store.sessions),
            tasks: tasks.clone(),
            hub: Arc::default(),
            changes,
            board: board.clone(),
        };
        if let (Some(hints), Some(board)) = (&store.hints, &board) {
            live.exchange(board, hints);
        }
        live
    }

    /// Entries after `after`, those that are recorded and then those to come.
    #[must_use]
    pub fn follow(&self, session: SessionId, after: Seq) -> Follow {
        Follow::new(Arc::clone(&self.log), self.hub.subscribe(session), session, after)
    }

    /// Changes of the list of sessions from now on.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes::new(self.changes.subscribe())
    }

    /// Erases a session with everything under its name, and tells its followers. Says whether it existed. `fence` is that
    /// of the lease under which it is erased.
    ///
    /// # Errors
    /// When the store fails, or the lease was taken over.
    pub async fn erase(&self, session: SessionId, fence: Fence) -> Result<bool, WriteError> {
        let record = self.sessions.session(session).await?;
        let existed = self.sessions.erase(session, fence).await?;
        self.hub.tell(session, Notice::Erased);
        if let Some(SessionRecord { session_id, partition, project_id, .. }) = record.filter(|_| existed) {
            let change = ListChange::Erased { session_id, partition, project_id };
            self.note(session, Some(&change));
            self.announce(change);
        }
        Ok(existed)
    }

    /// Says that a session's runtime state is another one.
    pub fn runtime_changed(&self, session: SessionId) {
        self.announce(ListChange::Runtime(session));
    }

    /// Makes a session's followers look at the log: another node has written to it.
    pub fn wake(&self, session: SessionId) {
        self.hub.tell(session, Notice::Look);
    }

    /// Has other nodes told.
    fn note(&self, session: SessionId, change: Option<&ListChange>) {
        if let Some(board) = &self.board {
            board.note(session, change);
        }
    }

    fn announce(&self, change: ListChange) {
        if self.changes.send(change).is_err() {
            tracing::trace!("nobody watches the list of sessions");
        }
    }

    /// Commits, then tells.
    async fn commit_and_tell(self, commit: Commit) -> Result<Seq, CommitError> {
        let session = commit.session;
        let change = list_change(&commit);
        let entries: Arc<[LogEntry]> = commit.entries.as_slice().into();
        let head = self.log.commit(commit).await?;
        if !entries.is_empty() || change.is_some() {
            self.note(session, change.as_ref());
        }
        if !entries.is_empty() {
            self.hub.tell(session, Notice::of(entries));
        }
        if let Some(change) = change {
            self.announce(change);
        }
        Ok(head)
    }
}

#[async_trait]
impl EventLog for Live {
    /// To its end: were the caller dropped between the commit and the telling, followers would wait for ever.
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        self.tasks.finish(TaskKind::LogWriter, self.clone().commit_and_tell(commit)).await
    }

    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError> {
        self.log.read(session, after, limit).await
    }

    async fn head(&self, session: SessionId) -> Result<Option<Seq>, ReadError> {
        self.log.head(session).await
    }

    async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError> {
        self.log.compact(session, piece).await
    }
}

/// What a commit means for a list of sessions: one change at most. Mere activity and files are none.
fn list_change(commit: &Commit) -> Option<ListChange> {
    let mut changed = false;
    for change in &commit.changes {
        match change {
            Change::CreateSession(record) => return Some(ListChange::Created(Arc::new((**record).clone()))),
            Change::UpdateSession(update) => {
                changed |= update.name.is_some() || update.metadata.is_some() || update.options.is_some();
            }
            Change::PutRun(_) | Change::PutApproval(_) | Change::PutVersion(_) => changed = true,
            Change::PutKey(_)
            | Change::Count(_)
            | Change::PutFile(_)
            | Change::RemoveFile(_)
            | Change::AddBlobBytes(_) => {}
        }
    }
    changed.then_some(ListChange::Changed(commit.session))
}

#[cfg(test)]
mod tests;
