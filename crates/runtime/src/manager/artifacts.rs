//! What is worth showing, read from the log.

use async_trait::async_trait;
use warren_domain::{Artifact, ArtifactId, Event, EventBody, SessionId};

use super::SessionManager;
use crate::{
    api::{ArtifactMoment, ArtifactRecords, MomentKind, SessionError},
    recorder::for_each_event,
    views,
};

#[async_trait]
impl ArtifactRecords for SessionManager {
    async fn artifact_list(&self, session: SessionId) -> Result<Vec<Artifact>, SessionError> {
        self.record(session).await?;
        let current = views::current(self.shared.parts.source(), session).await;
        let current = current.map_err(|error| SessionError::internal("read the log", error))?;
        let mut all: Vec<_> = current.view.state.session.artifacts.into_values().collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    async fn artifact_history(
        &self,
        session: SessionId,
        artifact: ArtifactId,
    ) -> Result<Vec<ArtifactMoment>, SessionError> {
        self.record(session).await?;
        let mut moments = Vec::new();
        self.for_each(session, |event| moments.extend(moment(event).filter(|it| it.artifact.id == artifact)))
            .await?;
        if moments.is_empty() {
            return Err(SessionError::not_found("artifact", artifact));
        }
        Ok(moments)
    }
}

impl SessionManager {
    async fn for_each(&self, session: SessionId, each: impl FnMut(Event) + Send) -> Result<(), SessionError> {
        let log = self.shared.parts.store.log.as_ref();
        let read = for_each_event(log, session, each).await;
        read.map(|_| ()).map_err(|error| SessionError::internal("read the log", error))
    }

    /// One artifact as it is now.
    pub(super) async fn artifact(
        &self,
        session: SessionId,
        id: ArtifactId,
    ) -> Result<Artifact, SessionError> {
        let all = self.artifact_list(session).await?;
        all.into_iter().find(|it| it.id == id).ok_or_else(|| SessionError::not_found("artifact", id))
    }
}

fn moment(event: Event) -> Option<ArtifactMoment> {
    let (artifact, change) = match event.body {
        EventBody::ArtifactCreated { artifact } => (artifact, MomentKind::Created),
        EventBody::ArtifactUpdated { artifact, changes } => (artifact, MomentKind::Updated(changes)),
        EventBody::ArtifactDeleted { artifact } => (artifact, MomentKind::Deleted),
        _ => return None,
    };
    let version = artifact.updated_version.filter(|_| change != MomentKind::Deleted);
    Some(ArtifactMoment { seq: event.seq, at: event.timestamp, version, change, artifact })
}
