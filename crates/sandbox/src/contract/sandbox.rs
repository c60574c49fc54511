//! A running sandbox, as the runtime holds it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Isolation, LimitHit, Resources, SandboxId, StatsError, TerminateError};
use crate::Guest;

/// A running sandbox. Clones are the same sandbox; when the last one is dropped it is killed, without waiting.
#[derive(Clone)]
pub struct Sandbox {
    /// What it was called in its spec.
    pub id: SandboxId,
    /// What isolation it really got.
    pub isolation: Isolation,
    /// What every program inside should start from: the backend's own variables and the spec's over them.
    pub env: BTreeMap<String, String>,
    /// Runs programs and moves files inside.
    pub guest: Guest,
    running: Arc<dyn Running>,
}

/// What a backend keeps of a sandbox it started. Dropping it kills the sandbox.
#[async_trait]
pub trait Running: Send + Sync {
    /// Kills everything in the sandbox and waits until all of it is gone. Idempotent.
    async fn terminate(&self) -> Result<(), TerminateError>;

    /// Waits for the end, whoever brought it about.
    async fn exited(&self) -> Exit;

    /// What it uses now.
    async fn stats(&self) -> Result<Resources, StatsError>;

    /// Waits for a limit that the backend noticed but cannot hold. Waits for ever if there is none.
    async fn limit_hit(&self) -> LimitHit;
}

/// How a sandbox ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// The guest's exit code, if it had one.
    pub code: Option<i32>,
    /// The signal that killed the guest.
    pub signal: Option<i32>,
    /// Whether the kernel killed anything in the sandbox for lack of memory.
    pub oom: bool,
    /// The last of what the isolating program and the guest complained about; empty if all was well.
    pub complaint: String,
}

impl Sandbox {
    /// Puts together what a backend started.
    pub fn new(
        id: SandboxId,
        isolation: Isolation,
        env: BTreeMap<String, String>,
        guest: Guest,
        running: Arc<dyn Running>,
    ) -> Self {
        Self { id, isolation, env, guest, running }
    }

    /// The same sandbox, with something of a decorator's around what its backend keeps of it.
    pub(crate) fn map_running(self, around: impl FnOnce(Arc<dyn Running>) -> Arc<dyn Running>) -> Self {
        Self { running: around(self.running), ..self }
    }

    /// Kills everything in the sandbox and waits until all of it is gone. Idempotent.
    pub async fn terminate(&self) -> Result<(), TerminateError> {
        self.running.terminate().await
    }

    /// Waits for the end, whoever brought it about. Every caller gets the same answer.
    pub async fn exited(&self) -> Exit {
        self.running.exited().await
    }

    /// What it uses now.
    pub async fn stats(&self) -> Result<Resources, StatsError> {
        self.running.stats().await
    }

    /// Waits for a limit that was noticed but not held: the caller should end the agent.
    pub async fn limit_hit(&self) -> LimitHit {
        self.running.limit_hit().await
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("id", &self.id)
            .field("isolation", &self.isolation)
            .finish_non_exhaustive()
    }
}
