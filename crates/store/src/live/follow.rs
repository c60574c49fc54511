//! One follower.

use std::{collections::VecDeque, sync::Arc};

use futures::{Stream, stream};
use tokio::sync::broadcast;
use warren_domain::{Seq, SessionId};

use super::{
    ListChange,
    hub::{Notice, Subscription},
};
use crate::{EventLog, LogEntry, ReadError};

/// How many entries are read at once, at most.
const PAGE: u32 = 128;

/// How many are read before it is known how long they are.
const FIRST_PAGE: u32 = 16;

/// About as many bytes are read at once: what a follower that reads the log may hold in memory.
pub(super) const PAGE_BYTES: usize = 256 << 10;

/// A session's entries in order, each once, without end; or until the session is erased.
pub struct Follow {
    log: Arc<dyn EventLog>,
    subscription: Subscription,
    session: SessionId,
    /// The last entry that was given out or is waiting in `waiting`.
    position: Seq,
    waiting: VecDeque<LogEntry>,
    phase: Phase,
    /// How many entries are read next.
    page: u32,
}

/// Where a follower gets its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// From the log: it has just begun, or missed something.
    Reading,
    /// From what it is told.
    Listening,
    /// The session was erased.
    Over,
}

impl Follow {
    pub(super) fn new(
        log: Arc<dyn EventLog>,
        subscription: Subscription,
        session: SessionId,
        after: Seq,
    ) -> Self {
        let (waiting, phase) = (VecDeque::new(), Phase::Reading);
        Self { log, subscription, session, position: after, waiting, phase, page: FIRST_PAGE }
    }

    /// The next entry, as soon as it is recorded; `None` when the session does not exist (any more). Cancel-safe.
    ///
    /// # Errors
    /// When the log cannot be read; calling again tries again, and nothing is lost.
    pub async fn next(&mut self) -> Result<Option<LogEntry>, ReadError> {
        self.fill().await?;
        Ok(self.waiting.pop_front())
    }

    /// The entries that are there, at least one and about [`PAGE_BYTES`] at most; empty when the session does not exist
    /// (any more). A reader that does not read holds one batch. Cancel-safe.
    ///
    /// # Errors
    /// As [`Follow::next`].
    pub async fn next_batch(&mut self) -> Result<Vec<LogEntry>, ReadError> {
        self.fill().await?;
        while self.phase == Phase::Listening && self.has_room() {
            match self.subscription.ready() {
                Some(notice) => self.hear(notice),
                None => break,
            }
        }
        Ok(self.waiting.drain(..).collect())
    }

    /// The same as a stream, which ends with the session or after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<LogEntry, ReadError>> + Send {
        stream::unfold(Some(self), |follow| async {
            let mut follow = follow?;
            match follow.next().await {
                Ok(entry) => entry.map(|entry| (Ok(entry), Some(follow))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// The last entry that was given out or is about to be.
    #[must_use]
    pub fn position(&self) -> Seq {
        self.position
    }

    /// Reads the log to its end, of which nothing must be new, so that the next entry is one it is told.
    #[cfg(test)]
    pub(super) async fn listen(&mut self) {
        while self.phase == Phase::Reading {
            self.read().await.expect("the log is read");
        }
        assert_eq!((self.phase, self.waiting.len()), (Phase::Listening, 0));
    }

    /// Whether more may be added to the batch.
    fn has_room(&self) -> bool {
        let n_bytes: usize = self.waiting.iter().map(|entry| entry.json.len()).sum();
        self.waiting.len() < PAGE as usize && n_bytes < PAGE_BYTES
    }

    /// Waits until there is an entry, or the session is over.
    async fn fill(&mut self) -> Result<(), ReadError> {
        while self.waiting.is_empty() {
            match self.phase {
                Phase::Over => break,
                Phase::Reading => self.read().await?,
                Phase::Listening => {
                    let notice = self.subscription.next().await;
                    self.hear(notice);
                }
            }
        }
        Ok(())
    }

    /// Takes one page of the log. All that was recorded before this follower subscribed is found here; a page that is
    /// not full is the last, for what was recorded since is told.
    async fn read(&mut self) -> Result<(), ReadError> {
        let page = self.log.read(self.session, self.position, self.page).await?;
        let is_last = page.len() < self.page as usize;
        if let Some(last) = page.last() {
            self.position = last.seq;
            self.page = next_page(&page);
            self.waiting.extend(page);
        } else if self.log.head(self.session).await?.is_none() {
            self.phase = Phase::Over;
            return Ok(());
        }
        if is_last {
            self.phase = Phase::Listening;
        }
        Ok(())
    }

    /// Takes what is new in a notice. `None` stands for notices that were missed.
    fn hear(&mut self, notice: Option<Notice>) {
        match notice {
            Some(Notice::Entries(entries)) => self.take(&entries),
            Some(Notice::Look) | None => self.phase = Phase::Reading,
            Some(Notice::Erased) => self.phase = Phase::Over,
        }
    }

    fn take(&mut self, entries: &[LogEntry]) {
        let new = entries.partition_point(|entry| entry.seq <= self.position);
        let Some(first) = entries.get(new) else { return };
        if first.seq == self.position.next() {
            self.waiting.extend(entries[new..].iter().cloned());
            self.position = self.waiting.back().map_or(self.position, |entry| entry.seq);
        } else {
            // Two commits told in the wrong order: what lies between is in the log already.
            self.phase = Phase::Reading;
        }
    }
}

/// Changes of the list of sessions.
pub struct Changes {
    changes: broadcast::Receiver<ListChange>,
}

impl Changes {
    pub(super) fn new(changes: broadcast::Receiver<ListChange>) -> Self {
        Self { changes }
    }

    /// The next change; `None` when there will be none. Cancel-safe.
    pub async fn next(&mut self) -> Option<ListChange> {
        match self.changes.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(ListChange::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// How many entries to read after these, if the next are as long.
fn next_page(page: &[LogEntry]) -> u32 {
    let bytes: usize = page.iter().map(|entry| entry.json.len()).sum();
    let fitting = PAGE_BYTES * page.len() / bytes.max(1);
    u32::try_from(fitting).unwrap_or(PAGE).clamp(1, PAGE)
}
