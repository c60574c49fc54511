//! The replays that go on in this server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use warren_domain::{Replay, ReplayId, ReplayStatus, SessionId};
use warren_store::Live;

use super::Tape;

/// How many replays have a sandbox at a time. The others wait their turn.
const AT_ONCE: usize = 4;

/// Replays that go on, by name.
pub(crate) struct Registry {
    running: Mutex<HashMap<ReplayId, Running>>,
    pub(crate) turns: Arc<Semaphore>,
}

/// One of them, as readers see it. A cheap clone.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) session: SessionId,
    pub(crate) tape: Arc<Tape>,
    pub(crate) live: Live,
    pub(crate) report: watch::Receiver<Replay>,
    pub(crate) cancel: CancellationToken,
}

impl Default for Registry {
    fn default() -> Self {
        Self { running: Mutex::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Registry {
    pub(crate) fn insert(&self, replay: ReplayId, running: Running) {
        self.running().insert(replay, running);
    }

    pub(crate) fn remove(&self, replay: ReplayId) {
        self.running().remove(&replay);
    }

    /// One of a session's.
    pub(crate) fn get(&self, session: SessionId, replay: ReplayId) -> Option<Running> {
        self.running().get(&replay).filter(|running| running.session == session).cloned()
    }

    /// Ends all of a session's, or all there are, and waits for them.
    pub(crate) async fn cancel(&self, session: Option<SessionId>) {
        let concerned: Vec<Running> = {
            let running = self.running();
            running
                .values()
                .filter(|it| session.is_none_or(|session| it.session == session))
                .cloned()
                .collect()
        };
        concerned.iter().for_each(|running| running.cancel.cancel());
        for mut running in concerned {
            // Closed: it has ended too.
            let _ = running.report.wait_for(|report| report.status != ReplayStatus::Running).await;
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<ReplayId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
