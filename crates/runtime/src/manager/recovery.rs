//! What a start must look after, and what must go on while the server runs.

use std::collections::{BTreeSet, HashSet};

use warren_domain::SessionId;
use warren_env::TaskKind;
use warren_sandbox::SweepError;
use warren_store::ReadError;

use super::SessionManager;
use crate::{api::SessionError, session::Request};

/// Why the runtime cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// Stray sandboxes could not be ended.
    #[error("failed to stop what an earlier server left running")]
    Sweep(#[source] SweepError),
    /// Files of erased sessions could not be set aside.
    #[error("failed to delete the files of erased sessions")]
    Strays(#[source] Box<dyn std::error::Error + Send + Sync>),
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
        self.remove_imports().await;
        self.remove_conversions().await;
        // Before anything is made here: user numbers of erased sessions are given to others.
        self.clear_strays().await.map_err(|error| RecoverError::Strays(Box::new(error)))?;
        self.erase_half_made().await;
        let unfinished = parts.store.runs.unfinished().await.map_err(RecoverError::Read)?;
        let sessions: BTreeSet<_> = unfinished.into_iter().map(|run| run.session_id).collect();
        for session in sessions {
            self.take_up(session).await;
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

    /// Removes the directories of conversions that were cut.
    async fn remove_conversions(&self) {
        let converter = self.shared.converter.clone();
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || converter.sweep()).await {
            // They take room and nothing else.
            tracing::warn!(%error, "failed to remove what conversions left");
        }
    }

    /// Takes up what other servers left, again and again: one that never comes back leaves runs that nobody ends.
    pub(super) fn keep_taking_up(&self) {
        let manager = self.clone();
        self.shared.parts.tasks.spawn(TaskKind::Housekeeping, async move {
            let lease = manager.shared.options.lease;
            let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + lease, lease);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                if let Err(error) = manager.take_up_left().await {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "what other servers left was not looked at; it is tried again");
                }
            }
        });
    }

    /// Gives every session an owner that has an unfinished run and a lease that no other server holds. One that this server
    /// holds without owning the session is left from a start or a takeover that failed: nobody else can end its run.
    pub(super) async fn take_up_left(&self) -> Result<(), ReadError> {
        let (store, node) = (&self.shared.parts.store, &self.shared.options.node);
        let unfinished = store.runs.unfinished().await?;
        let sessions: BTreeSet<_> = unfinished.into_iter().map(|run| run.session_id).collect();
        for session in sessions {
            if self.roster.is_owned(session)
                || store.leases.holder(session).await?.is_some_and(|holder| holder != *node)
            {
                continue;
            }
            self.take_up(session).await;
        }
        Ok(())
    }

    async fn take_up(&self, session: SessionId) {
        match self.ask(session, Request::PickUp).await {
            // Held elsewhere: another node runs it, and it is not ours to look after. This one stops: whoever is next will.
            Ok(()) | Err(SessionError::Elsewhere { .. } | SessionError::Draining) => {}
            // One session that cannot be read must not keep the others from being served.
            Err(error) => {
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a session with an unfinished run was not taken up");
            }
        }
    }

    /// Prolongs this node's leases for as long as the server runs, and stops what it does under those it lost.
    pub(super) fn keep_leases(&self) {
        let manager = self.clone();
        self.shared.parts.tasks.spawn(TaskKind::Housekeeping, async move {
            let mut ticks = tokio::time::interval(manager.shared.options.lease / 3);
            loop {
                ticks.tick().await;
                if let Err(error) = manager.renew_leases().await {
                    // A writer whose lease was taken over meanwhile is refused at its next commit.
                    tracing::error!(error = &error as &dyn std::error::Error, "failed to prolong the leases");
                }
            }
        });
    }

    /// Prolongs them once.
    pub(super) async fn renew_leases(&self) -> Result<(), ReadError> {
        let (store, options) = (&self.shared.parts.store, &self.shared.options);
        // Before they are renewed: one that is taken meanwhile is in the answer, or is not looked for in it.
        let believed = self.roster.leases();
        let held: HashSet<_> = store.leases.renew(&options.node, options.lease).await?.into_iter().collect();
        for (session, fence) in believed {
            if !held.contains(&session) {
                self.roster.lose(session, fence);
            }
        }
        Ok(())
    }
}
