//! The entry point: makes, finds and ends sessions, and hands everything else to their owners.

mod agents;
mod approvals;
mod artifacts;
mod documents;
mod files;
mod imports;
mod incoming;
mod knowledge;
mod making;
mod previews;
mod providers;
mod records;
mod recovery;
mod replays;
mod roster;
mod runs;
mod sandboxes;
mod sessions;
mod strays;
mod upkeep;
mod versions;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;
use warren_domain::SessionId;
use warren_store::SessionRecord;

pub use recovery::RecoverError;
pub(crate) use roster::Roster;

use crate::{
    admission::Admission,
    api::{self, SessionError, SessionSummary},
    documents::{Converter, Uids},
    options::{Directories, Options, Parts, Shared},
    providers::Providers,
    replay::Registry,
    session::{Leave, Reply, Request},
    workspaces::Workspaces,
};

/// All sessions of this node. A cheap clone.
#[derive(Clone)]
pub struct SessionManager {
    shared: Arc<Shared>,
    roster: Arc<Roster>,
    replays: Arc<Registry>,
}

impl SessionManager {
    /// Takes up what an earlier server left: ends stray sandboxes, records cut runs as failed, begins waiting messages.
    ///
    /// # Errors
    /// When what was left cannot be read or ended: then nothing may start.
    pub async fn start(mut parts: Parts, options: Options) -> Result<Self, RecoverError> {
        let admission = Admission::new(options.max_sandboxes);
        let records = parts.store.providers.clone();
        let providers = Providers::new(options.providers.clone(), records, parts.env.clone());
        parts.models = parts.models.overridden(Arc::new(providers.clone()));
        let converter = Arc::new(converter(&parts, &options));
        let manager = Self::within(Arc::new(Shared {
            parts,
            options,
            converter,
            admission,
            providers,
            gate: Arc::default(),
            directories: Directories::Stay,
            workspaces: Workspaces::default(),
        }));
        manager.recover().await?;
        manager.keep_leases();
        manager.keep_taking_up();
        manager.keep_up();
        Ok(manager)
    }

    /// A manager that takes up nothing and has nothing to prolong: for a replay's one session.
    pub(crate) fn within(shared: Arc<Shared>) -> Self {
        Self { roster: Arc::new(Roster::new(shared.clone())), shared, replays: Arc::default() }
    }

    /// Ends everything: runs are interrupted and recorded, sandboxes ended, leases given back. Messages that wait stay.
    pub async fn drain(&self, patience: Duration) {
        self.roster.close();
        if tokio::time::timeout(patience, self.replays.cancel(None)).await.is_err() {
            tracing::error!("some replays did not end in time");
        }
        let leaving = self.roster.owned().into_iter().map(|session| self.ask_to_leave(session, Leave::Drain));
        let all = futures::future::join_all(leaving);
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::error!("some sessions did not end in time");
        }
    }

    pub(crate) async fn ask_to_leave(&self, session: SessionId, how: Leave) -> Result<(), SessionError> {
        self.ask(session, |reply| Request::Leave(how, reply)).await
    }

    /// Asks a session's owner and waits for the answer. Makes an owner if there is none.
    pub(crate) async fn ask<T>(
        &self,
        session: SessionId,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        self.roster.dispatch(session, request(reply)).await?;
        match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(self.why_unanswered(session).await),
        }
    }

    /// Why a session's owner went without an answer: it may have found that the session is not this server's any more.
    async fn why_unanswered(&self, session: SessionId) -> SessionError {
        if let Err(gone @ SessionError::NotFound { .. }) = self.record(session).await {
            return gone;
        }
        match self.shared.parts.store.leases.holder(session).await {
            Ok(Some(holder)) if holder != self.shared.options.node => {
                SessionError::Elsewhere { session, holder: holder.to_string() }
            }
            Ok(_) | Err(_) => SessionError::Internal {
                doing: "reach the session",
                source: "its owner stopped before it answered".into(),
            },
        }
    }

    async fn record(&self, session: SessionId) -> Result<SessionRecord, SessionError> {
        let found = self.shared.parts.store.sessions.session(session).await;
        let found = found.map_err(|error| SessionError::internal("read the session", error))?;
        found.ok_or_else(|| SessionError::not_found("session", session))
    }

    fn summary(&self, record: SessionRecord) -> SessionSummary {
        let status = self.roster.status(record.session_id);
        SessionSummary { record, runtime: status.runtime, running: status.running }
    }
}

fn converter(parts: &Parts, options: &Options) -> Converter {
    let uids = Uids {
        projects: parts.store.projects.clone(),
        env: parts.env.clone(),
        first: options.first_uid,
        last: options.last_uid,
    };
    let (backend, tasks) = (Arc::clone(&parts.backend), parts.tasks.clone());
    let documents = options.documents.clone();
    Converter::new(documents, &options.directory, backend, options.required.clone(), uids, tasks)
}

impl api::Runtime for SessionManager {
    fn sessions(&self) -> &dyn api::Sessions {
        self
    }

    fn runs(&self) -> &dyn api::Runs {
        self
    }

    fn records(&self) -> &dyn api::Records {
        self
    }

    fn sandboxes(&self) -> &dyn api::Sandboxes {
        self
    }

    fn approvals(&self) -> &dyn api::Approvals {
        self
    }

    fn imports(&self) -> &dyn api::Imports {
        self
    }

    fn agents(&self) -> &dyn api::Agents {
        self
    }

    fn versions(&self) -> &dyn api::Versions {
        self
    }

    fn version_files(&self) -> &dyn api::VersionFiles {
        self
    }

    fn replays(&self) -> &dyn api::Replays {
        self
    }

    fn files(&self) -> &dyn api::Files {
        self
    }

    fn documents(&self) -> &dyn api::Documents {
        self
    }

    fn artifacts(&self) -> &dyn api::ArtifactRecords {
        self
    }

    fn previews(&self) -> &dyn api::Previews {
        self
    }

    fn knowledge(&self) -> &dyn api::Knowledge {
        self
    }

    fn providers(&self) -> &dyn api::ModelProviders {
        self
    }
}
