//! What can go wrong, named after the operation. Every error that a user can do something about has a hint.

use std::{path::PathBuf, time::Duration};

use super::{Layer, SandboxId};

/// A cause the caller can only report.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a sandbox did not start. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The machine cannot give what the spec requires.
    #[error("sandbox `{id}` requires isolation that this machine cannot provide: {}", list(missing))]
    MissingIsolation {
        /// The sandbox that was refused.
        id: SandboxId,
        /// What is not there.
        missing: Vec<Layer>,
    },
    /// The spec asks for something no backend can do.
    #[error("sandbox `{id}` cannot be started as specified: {problem}")]
    Spec {
        /// The sandbox that was refused.
        id: SandboxId,
        /// What is wrong.
        problem: String,
    },
    /// A directory of the host could not be made ready.
    #[error("failed to prepare `{path}` for sandbox `{id}`")]
    Directory {
        /// The sandbox that was refused.
        id: SandboxId,
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The process that starts sandboxes could not be reached.
    #[error("failed to ask the launcher for sandbox `{id}`")]
    Launcher {
        /// The sandbox that was not started.
        id: SandboxId,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The sandbox ended before its guest answered.
    #[error("sandbox `{id}` ended before its guest answered: {complaint}")]
    Ended {
        /// The sandbox that did not start.
        id: SandboxId,
        /// What the isolating program or the guest said.
        complaint: String,
    },
    /// The guest answered nonsense, or in a version of the protocol that is not ours.
    #[error("failed to communicate with the guest of sandbox `{id}`")]
    Guest {
        /// The sandbox that did not start.
        id: SandboxId,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The guest did not answer in time.
    #[error("the guest of sandbox `{id}` did not answer within {after:?}")]
    TimedOut {
        /// The sandbox that did not start.
        id: SandboxId,
        /// How long it was waited for.
        after: Duration,
    },
}

impl StartError {
    /// What the operator can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            StartError::MissingIsolation { missing, .. } => {
                let mut hints: Vec<&str> = missing.iter().map(|layer| layer.hint()).collect();
                hints.dedup();
                Some(hints.join("; "))
            }
            StartError::Directory { .. } => {
                Some("check that the data directory exists, is on a disk with room, and belongs to the server's user".into())
            }
            StartError::Launcher { .. } | StartError::Ended { .. } => {
                Some("`warren doctor` tries every layer and says which one fails".into())
            }
            StartError::TimedOut { .. } => Some("the machine may be overloaded; try again".into()),
            StartError::Spec { .. } | StartError::Guest { .. } => None,
        }
    }
}

fn list(layers: &[Layer]) -> String {
    layers.iter().map(Layer::to_string).collect::<Vec<_>>().join(", ")
}

/// Why a sandbox could not be ended.
#[derive(Debug, thiserror::Error)]
pub enum TerminateError {
    /// Something of it is still there after the time a kill takes.
    #[error("sandbox `{id}` did not stop within {after:?}")]
    StillThere {
        /// The sandbox.
        id: SandboxId,
        /// How long it was waited for.
        after: Duration,
    },
}

/// Why a sandbox's use of resources could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StatsError {
    /// The sandbox has ended.
    #[error("sandbox `{id}` has ended")]
    Ended {
        /// The sandbox.
        id: SandboxId,
    },
    /// The numbers could not be read.
    #[error("failed to measure the resource usage of sandbox `{id}`")]
    Backend {
        /// The sandbox.
        id: SandboxId,
        /// Why.
        #[source]
        source: BoxError,
    },
}

/// Why leftovers could not be ended.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The backend failed.
    #[error("failed to stop the sandboxes of an earlier server")]
    Backend {
        /// Why.
        #[source]
        source: BoxError,
    },
}
