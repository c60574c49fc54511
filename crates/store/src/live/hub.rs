//! Who follows which session. A session that nobody follows costs nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::broadcast;
use warren_domain::SessionId;

use crate::LogEntry;

/// How many commits a follower may be behind before it goes back to reading the log. The memory of a followed session is
/// bounded by this many commits, however many follow it: they share the bytes.
const MAX_BEHIND: usize = 64;

/// Commits of more bytes are not buffered for followers, who read them from the log. With [`MAX_BEHIND`] this limits the
/// bytes that are buffered for a session: 16 MiB.
const MAX_BUFFERED_COMMIT: usize = 256 << 10;

/// What followers of a session are told.
#[derive(Debug, Clone)]
pub(super) enum Notice {
    /// These were committed.
    Entries(Arc<[LogEntry]>),
    /// There may be something new in the log.
    Look,
    /// There is no such session any more.
    Erased,
}

/// One channel for each session that has followers.
#[derive(Default)]
pub(super) struct Hub {
    channels: Mutex<HashMap<SessionId, broadcast::Sender<Notice>>>,
}

/// A place among a session's followers; given up by dropping it.
pub(super) struct Subscription {
    hub: Arc<Hub>,
    session: SessionId,
    /// `None` only while it is being dropped.
    notices: Option<broadcast::Receiver<Notice>>,
}

impl Notice {
    /// Reports committed entries, or only that there are some where they are large.
    pub(super) fn of(entries: Arc<[LogEntry]>) -> Self {
        let n_bytes: usize = entries.iter().map(|entry| entry.json.len()).sum();
        if n_bytes > MAX_BUFFERED_COMMIT { Notice::Look } else { Notice::Entries(entries) }
    }
}

impl Hub {
    pub(super) fn subscribe(self: &Arc<Self>, session: SessionId) -> Subscription {
        let mut channels = self.lock();
        // Bounded: when a follower is too far behind, the oldest notices are dropped and it reads the log instead.
        let channel = channels.entry(session).or_insert_with(|| broadcast::channel(MAX_BEHIND).0);
        Subscription { hub: Arc::clone(self), session, notices: Some(channel.subscribe()) }
    }

    pub(super) fn tell(&self, session: SessionId, notice: Notice) {
        if let Some(channel) = self.lock().get(&session)
            && channel.send(notice).is_err()
        {
            tracing::trace!(%session, "the last follower just left");
        }
    }

    /// Sessions that have followers.
    pub(super) fn followed(&self) -> Vec<SessionId> {
        self.lock().keys().copied().collect()
    }

    #[cfg(test)]
    pub(super) fn n_followed(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, broadcast::Sender<Notice>>> {
        // Nothing panics while it is held; and a map of senders has no half-done state.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// The next notice, or `None` if this follower missed some. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Notice> {
        // The sender lives as long as there are receivers, so the only error is having missed something.
        match &mut self.notices {
            Some(notices) => notices.recv().await.ok(),
            None => None,
        }
    }

    /// What is there already: as `next`, but `Some(None)` stands for missed, `None` for nothing new.
    pub(super) fn ready(&mut self) -> Option<Option<Notice>> {
        match self.notices.as_mut()?.try_recv() {
            Ok(notice) => Some(Some(notice)),
            Err(broadcast::error::TryRecvError::Empty) => None,
            Err(_) => Some(None),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut channels = self.hub.lock();
        self.notices = None;
        if channels.get(&self.session).is_some_and(|channel| channel.receiver_count() == 0) {
            channels.remove(&self.session);
        }
    }
}
