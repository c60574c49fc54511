//! Sessions that are made in several steps: forks, and imports. One that was cut between them is no session.
//!
//! A file in the data directory names each that is being made. It is there before the session is, and goes when the session
//! is whole or erased again. So what another server makes, or an earlier release made, is never taken for half a session.

use std::{fs, io, path::PathBuf};

use warren_domain::{SessionId, Version};
use warren_store::ReadError;

use super::SessionManager;
use crate::{
    api::{SessionError, Sessions as _},
    session::{Imported, Request},
};

impl SessionManager {
    /// Notes that a session is being made. On disk when it returns.
    pub(super) async fn begin_making(&self, session: SessionId) -> Result<(), SessionError> {
        let directory = self.making();
        let noted = tokio::task::spawn_blocking(move || {
            fs::create_dir_all(&directory)?;
            fs::File::create(directory.join(session.to_string()))?;
            fs::File::open(&directory)?.sync_all()
        });
        let noted = noted.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        noted.map_err(|error| SessionError::internal("note that a session is being made", error))
    }

    /// Gives a session that is being made its past, with which it is whole. Half a session is worse than none: if it gets
    /// none, it is erased.
    pub(super) async fn finish_making(
        &self,
        session: SessionId,
        past: Result<Imported, SessionError>,
    ) -> Result<(), SessionError> {
        let finished = match past {
            Ok(past) => self.ask(session, |reply| Request::Import(Box::new(past), reply)).await,
            Err(error) => Err(error),
        };
        // If even the erasing fails, the next start does it.
        if finished.is_ok() || self.session_erase(session).await.is_ok() {
            self.end_making(session).await;
        }
        finished
    }

    /// Erases the sessions whose making was cut. Nobody was ever answered for them.
    pub(super) async fn erase_half_made(&self) {
        let mut sessions = match tokio::fs::read_dir(self.making()).await {
            Ok(sessions) => sessions,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                tracing::error!(%error, "failed to find the sessions whose making was cut");
                return;
            }
        };
        while let Ok(Some(entry)) = sessions.next_entry().await {
            let Some(session) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            match self.erase_if_half_made(session).await {
                Ok(()) => self.end_making(session).await,
                // It stays as it is, and so does the note.
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(%session, error, "a session whose making was cut was not erased");
                }
            }
        }
    }

    async fn erase_if_half_made(&self, session: SessionId) -> Result<(), SessionError> {
        let is_half = self.is_half_made(session).await;
        if !is_half.map_err(|error| SessionError::internal("read the session", error))? {
            return Ok(());
        }
        match self.ask(session, Request::PickUp).await {
            Ok(()) => {}
            // Another server found a use for it.
            Err(SessionError::Elsewhere { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        tracing::warn!(%session, "erased a session whose making was cut");
        self.session_erase(session).await
    }

    /// Whether a session is there without the version it begins with, and nobody has sent it a message all the same.
    async fn is_half_made(&self, session: SessionId) -> Result<bool, ReadError> {
        let store = &self.shared.parts.store;
        Ok(store.sessions.session(session).await?.is_some()
            && store.versions.version(session, Version(0)).await?.is_none()
            && store.runs.runs(session, None, 1).await?.items.is_empty())
    }

    async fn end_making(&self, session: SessionId) {
        let note = self.making().join(session.to_string());
        if let Err(error) = tokio::fs::remove_file(note).await
            && error.kind() != io::ErrorKind::NotFound
        {
            // The next start finds the session whole, and tries again.
            tracing::warn!(%session, %error, "it was not noted that a session is whole");
        }
    }

    fn making(&self) -> PathBuf {
        self.shared.options.directory.join("making")
    }
}
