//! The status of a loaded session, for lists.

use std::sync::{Mutex, OnceLock, PoisonError};

use warren_domain::{Fence, Head, RunId, SessionRuntimeState};

use super::SessionTask;
use crate::traffic::Traffic;

/// The owner writes it, lists read it: nobody waits for anybody.
#[derive(Debug, Default)]
pub(crate) struct StatusCell {
    shown: Mutex<Status>,
    /// The lease under which its owner works, once it has taken charge.
    fence: OnceLock<Fence>,
    /// Written by others, read by the owner.
    pub(crate) traffic: Traffic,
}

/// State right now.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) runtime: SessionRuntimeState,
    pub(crate) running: Option<RunId>,
    /// There is something that is in no version.
    pub(crate) is_dirty: bool,
}

impl StatusCell {
    /// In memory, nothing more.
    pub(crate) fn loaded() -> Self {
        let runtime = SessionRuntimeState { is_loaded: true, sandbox: None };
        let status = Status { runtime, running: None, is_dirty: false };
        Self { shown: Mutex::new(status), ..Self::default() }
    }

    /// The owner has taken charge under this lease. An owner has one lease only.
    pub(crate) fn owned_under(&self, fence: Fence) {
        self.fence.get_or_init(|| fence);
    }

    /// The lease under which the owner works.
    pub(crate) fn fence(&self) -> Option<Fence> {
        self.fence.get().copied()
    }

    pub(crate) fn get(&self) -> Status {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a new state in. Says whether it is another than before.
    fn set(&self, status: Status) -> bool {
        let mut current = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = *current != status;
        *current = status;
        changed
    }
}

impl SessionTask {
    /// The sandbox's current status for clients.
    pub(super) fn runtime_state(&self) -> SessionRuntimeState {
        SessionRuntimeState { is_loaded: true, sandbox: self.sandbox.state() }
    }

    /// Shows that there is something in no version, while nobody can have heard of it yet.
    pub(super) fn show_dirty(&self) {
        let status = Status { is_dirty: true, ..self.status.get() };
        // Whoever has to be told is told by what follows.
        self.status.set(status);
    }

    pub(super) fn show_status(&self) {
        let status = Status {
            runtime: self.runtime_state(),
            running: self.recorder.state.running(),
            is_dirty: self.recorder.state.head != Head::Clean,
        };
        if self.status.set(status) {
            self.shared.parts.live.runtime_changed(self.identity.session);
        }
    }
}
