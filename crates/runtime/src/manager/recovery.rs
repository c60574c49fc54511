//! What a start must look after, and what must go on while the server runs.

use std::collections::BTreeSet;

use warren_env::TaskKind;
use warren_sandbox::SweepError;
use warren_store::ReadError;

use super::SessionManager;
use crate::{api::SessionError, session::Request};

/// Why the runtime cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// Stray sandboxes could not be ended.
    #[error("failed to end what an earlier server left running")]
    Sweep(#[source] SweepError),
    /// Unfinished runs could not be read.
    #[error("failed to read the unfinished runs")]
    Read(#[source] ReadError),
}

impl SessionManager {
    /// Ends stray sandboxes and erases half-made sessions, then gives every session with an unfinished run an owner, which
    /// records cut runs as failed and begins waiting messages.
    pub(super) async fn recover(&self) -> Result<(), RecoverError> {
        let parts = &self.shared.parts;
        let swept = parts.backend.sweep().await.map_err(RecoverError::Sweep)?;
        if swept.processes + swept.cgroups > 0 {
            tracing::warn!(?swept, "ended what an earlier server left running");
        }
        self.remove_replays().await;
        self.erase_half_made().await;
        let unfinished = parts.store.runs.unfinished().await.map_err(RecoverError::Read)?;
        let sessions: BTreeSet<_> = unfinished.into_iter().map(|run| run.session_id).collect();
        for session in sessions {
            match self.ask(session, Request::PickUp).await {
                // Held elsewhere: another node runs it, and it is not ours to look after.
                Ok(()) | Err(SessionError::Elsewhere { .. }) => {}
                // One session that cannot be read must not keep the others from being served.
                Err(error) => {
                    tracing::error!(%session, error = &error as &dyn std::error::Error, "a session with an unfinished run was not taken up");
                }
            }
        }
        Ok(())
    }

    /// Removes the directories of replays that were cut.
    async fn remove_replays(&self) {
        let directory = crate::replay::directory_of_all(&self.shared.options);
        match tokio::fs::remove_dir_all(&directory).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                // They take room and nothing else.
                tracing::warn!(%error, "failed to remove what replays left");
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Prolongs this node's leases for as long as the server runs.
    pub(super) fn keep_leases(&self) {
        let shared = self.shared.clone();
        self.shared.parts.tasks.spawn(TaskKind::Housekeeping, async move {
            let lease = shared.options.lease;
            let mut ticks = tokio::time::interval(lease / 3);
            loop {
                ticks.tick().await;
                let millis = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
                let until = shared.parts.env.now().plus_millis(millis);
                if let Err(error) = shared.parts.store.leases.renew(&shared.options.node, until).await {
                    // A writer whose lease was taken over meanwhile is refused at its next commit.
                    tracing::error!(error = &error as &dyn std::error::Error, "failed to prolong the leases");
                }
            }
        });
    }
}
