//! Reaching what listens in sandboxes, and starting it where it does not run.

use std::time::Duration;

use async_trait::async_trait;
use warren_domain::{Artifact, ArtifactId, ArtifactKind, ErrorCode, SessionId};
use warren_env::TaskKind;

use super::SessionManager;
use crate::{
    api::{ArtifactRecords as _, Dialled, PreviewTarget, Previews, Sandboxes as _, SessionError, Wake},
    session::{Door, Request, Visit},
};

/// How long opening a preview waits for its app. Then the browser waits, on a page that says so.
const PATIENCE: Duration = Duration::from_secs(8);

/// Between two signs that somebody waits for an answer, where the session does not fall asleep sooner than that.
const PULSE: Duration = Duration::from_secs(15);
const SHORTEST: Duration = Duration::from_millis(100);

#[async_trait]
impl Previews for SessionManager {
    async fn preview_open(
        &self,
        session: SessionId,
        artifact: ArtifactId,
        wake: Wake,
    ) -> Result<PreviewTarget, SessionError> {
        let artifact = self.artifact(session, artifact).await?;
        match artifact.kind {
            ArtifactKind::WebApp => {}
            ArtifactKind::Html => return Ok(PreviewTarget::Files { path: artifact.path }),
            _ => {
                return Err(SessionError::Invalid {
                    code: ErrorCode::BadRequest,
                    message: format!("`{}` has no preview", artifact.path),
                    hint: Some("read its content instead".to_owned()),
                });
            }
        }
        let may_start = wake == Wake::IfAsleep;
        if may_start && self.guest(session).await?.is_none() {
            self.sandbox_start(session).await?;
        }
        if self.guest(session).await?.is_none() {
            return Err(asleep());
        }
        let port = self.ask(session, |reply| Request::Visit(Visit::Open(artifact.id, wake, reply))).await?;
        let opened = self.ask(session, |reply| Request::Visit(Visit::Await(port, reply)));
        let is_ready = matches!(tokio::time::timeout(PATIENCE, opened).await, Ok(Ok(())));
        Ok(PreviewTarget::Port { port, is_ready })
    }

    async fn preview_wake(&self, session: SessionId, port: u16) -> Result<(), SessionError> {
        let all = self.artifact_list(session).await?;
        let served = served_on(&all, port).ok_or_else(|| SessionError::not_found("app on port", port))?.id;
        let manager = self.clone();
        self.shared.parts.tasks.spawn(TaskKind::Session, async move {
            if let Err(error) = manager.preview_open(session, served, Wake::IfAsleep).await {
                // Whoever looks sees a page that says that nothing listens.
                tracing::info!(%session, port, error = &error as &dyn std::error::Error, "an app was not started");
            }
        });
        Ok(())
    }

    async fn preview_dial(&self, session: SessionId, port: u16) -> Result<Dialled, SessionError> {
        if !self.roster.is_owned(session) {
            self.record(session).await?;
            return Ok(Dialled::Asleep);
        }
        match self.ask(session, |reply| Request::Visit(Visit::Dial(port, reply))).await? {
            Door::Open(guest, port) => match guest.connect(port).await {
                Ok(stream) => {
                    let traffic = self.roster.traffic(session).unwrap_or_default();
                    Ok(Dialled::Connected(Box::new(traffic.carried(stream))))
                }
                // It closed just now; the watch will say so.
                Err(_) => Ok(Dialled::Starting),
            },
            Door::Opening => Ok(Dialled::Starting),
            Door::Shut { complaint } => Ok(Dialled::Closed { complaint }),
            Door::NoSandbox => Ok(Dialled::Asleep),
        }
    }

    fn preview_pulse(&self) -> Duration {
        (self.shared.options.idle / 3).clamp(SHORTEST, PULSE)
    }

    async fn preview_touch(&self, session: SessionId) {
        if self.roster.is_owned(session) {
            // A session that is gone by now needs no sign of life.
            let _ = self.ask(session, |reply| Request::Visit(Visit::Touch(reply))).await;
        }
    }
}

/// The app that is seen on a port: the one that listened there, else the only one that never listened anywhere, which
/// then was told to take it and fell asleep before it did.
fn served_on(all: &[Artifact], port: u16) -> Option<&Artifact> {
    let apps = || all.iter().filter(|it| it.command.is_some());
    apps().find(|it| it.port == Some(port)).or_else(|| {
        let mut silent = apps().filter(|it| it.port.is_none());
        silent.next().filter(|_| silent.next().is_none())
    })
}

fn asleep() -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::Conflict,
        message: "the session's sandbox is not running".to_owned(),
        hint: Some("open it with a token that may write to wake it".to_owned()),
    }
}
