//! Directories of sessions that are gone: another server erased them, or an erasing was cut.
//!
//! A session's files lie on the server where it last ran, and any server may erase it once its lease is free. Then its
//! directories stay here, with files of a user number that the next workspace is given. So they are set aside when a server
//! starts, from time to time, and before a workspace is first used here. They are removed for good a day later: a server
//! that was started on another database by mistake has lost nothing yet.

use std::{path::PathBuf, sync::Arc, time::Duration};

use warren_domain::Timestamp;
use warren_store::ReadError;

use super::SessionManager;
use crate::places::{Kept, Strays};

/// How long what was set aside is kept.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Why directories of sessions that are gone were not removed.
#[derive(Debug, thiserror::Error)]
pub(super) enum StrayError {
    #[error("failed to list the sessions")]
    Read(#[from] ReadError),
    #[error("failed to move the directories of erased sessions")]
    Disk(#[from] std::io::Error),
}

impl SessionManager {
    /// Sets the directories of sessions and workspaces aside that are not in the store, and removes those that were long
    /// ago.
    pub(super) async fn clear_strays(&self) -> Result<(), StrayError> {
        let (store, now) = (&self.shared.parts.store, self.shared.parts.env.now());
        let strays = Strays::of(&self.shared.options.directory);
        let listed = strays.clone();
        let mut gone: Vec<PathBuf> = Vec::new();
        for (directory, kept) in blocking(move || listed.list()).await? {
            let is_there = match kept {
                Kept::Session(session) => store.sessions.session(session).await?.is_some(),
                Kept::Workspace(workspace) => store.projects.workspace(workspace).await?.is_some(),
            };
            if !is_there {
                gone.push(directory);
            }
        }
        if !gone.is_empty() {
            tracing::warn!(directories = gone.len(), "set aside the files of sessions that were erased");
        }
        let old = Timestamp::from_millis(now.as_millis().saturating_sub(KEPT.as_millis() as i64));
        let backend = Arc::clone(&self.shared.parts.backend);
        blocking(move || {
            gone.iter().try_for_each(|directory| strays.set_aside(directory, now, backend.as_ref()))?;
            strays.remove_older(old)
        })
        .await?;
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
}
