//! A client that was let in: who it is, and which sessions it follows.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use warren_domain::{ErrorCode, SessionId};
use warren_env::TaskKind;
use warren_gateway::{Action, Denied, Identity, Target, Validity, authorize};

use crate::{deps::App, failure::Failure};

/// Sessions one client may follow at a time.
const MOST_JOINED: usize = 64;

/// A client that was let in.
pub(crate) struct Member {
    pub(super) app: App,
    /// Asked for whenever it wants something.
    secret: String,
    /// The validity of its token: a socket ends with it.
    pub(super) validity: Validity,
    joined: Mutex<HashMap<SessionId, Joined>>,
    /// The client is gone, or was sent away.
    gone: CancellationToken,
    _place: OwnedSemaphorePermit,
}

struct Joined {
    left: CancellationToken,
    /// As the client was last told.
    is_loaded: bool,
}

impl Member {
    pub(super) fn new(app: App, secret: String, validity: Validity, place: OwnedSemaphorePermit) -> Self {
        let gone = app.deps.tasks.token().child_token();
        Self { app, secret, validity, joined: Mutex::default(), gone, _place: place }
    }

    /// The caller, if its token is still valid.
    pub(super) async fn identity(&self) -> Result<Identity, Failure> {
        Ok(self.app.gateway().authenticate(&self.secret).await?)
    }

    /// Checks that it may read a session. One that is not its own is not there. Says whether the session is in memory.
    pub(super) async fn check(&self, session: SessionId) -> Result<bool, Failure> {
        let identity = self.identity().await?;
        let summary = self.app.runtime().sessions().session_get(session).await?;
        let target =
            Target::Project { partition: &summary.record.partition, project: summary.record.project_id };
        authorize(&identity, Action::Read, target).map_err(|denied| match denied {
            Denied::NotFound => Failure::not_found("session", session),
            Denied::ReadOnly
            | Denied::NotAdmin
            | Denied::WiderEgress
            | Denied::ProviderTools
            | Denied::NotOperator => Failure::from(denied),
        })?;
        Ok(summary.runtime.is_loaded)
    }

    /// Begins to follow a session, and ends an earlier following of it.
    pub(super) fn join(&self, session: SessionId, is_loaded: bool) -> Result<CancellationToken, Failure> {
        let mut joined = self.joined();
        if joined.len() >= MOST_JOINED && !joined.contains_key(&session) {
            let detail = format!("a socket can join at most {MOST_JOINED} sessions");
            return Err(Failure::new(ErrorCode::Conflict, detail).hint("leave one of them first"));
        }
        let left = self.gone.child_token();
        if let Some(earlier) = joined.insert(session, Joined { left: left.clone(), is_loaded }) {
            earlier.left.cancel();
        }
        Ok(left)
    }

    pub(super) fn leave(&self, session: SessionId) {
        if let Some(joined) = self.joined().remove(&session) {
            joined.left.cancel();
        }
    }

    /// The client is gone.
    pub(super) fn leave_all(&self) {
        self.gone.cancel();
        self.joined().clear();
    }

    /// Whether it follows the session and its last known state differs.
    pub(super) fn note_loaded(&self, session: SessionId, is_loaded: bool) -> bool {
        let mut joined = self.joined();
        let Some(known) = joined.get_mut(&session) else { return false };
        std::mem::replace(&mut known.is_loaded, is_loaded) != is_loaded
    }

    /// Whether it follows the session.
    pub(super) fn has_joined(&self, session: SessionId) -> bool {
        self.joined().contains_key(&session)
    }

    /// Runs something until it ends or the client is gone.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let gone = self.gone.clone();
        self.app.deps.tasks.spawn_to_end(TaskKind::Connection, async move {
            gone.run_until_cancelled(task).await;
        });
    }

    fn joined(&self) -> MutexGuard<'_, HashMap<SessionId, Joined>> {
        // Every critical section leaves the map whole, so a panic elsewhere does not spoil it.
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
