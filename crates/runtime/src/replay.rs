//! Carries out a run once more: a fresh sandbox from the run's base version, the same agent, the recorded answers.
//!
//! In: a run that ended, its entries of the log and its recordings. Out: a [`Replay`](warren_domain::Replay), and a log of
//! its own. A replay is a session like any other, with the same ids, but in a store and in directories that are thrown
//! away: so whatever a session does here, nothing of it is listed, versioned, charged or kept.
//! **Invariant:** nothing of a replay reaches the store of the server but its report, its log and what that log refers to.
//! Start with `task.rs`, the whole of it in order; then `recorded.rs` and `told.rs`, what is read, `scratch.rs`, where it runs,
//! `driver.rs`, what is done while it runs, and `compare.rs`, what came of it.

mod blobs;
mod compare;
mod driver;
mod files;
mod recorded;
mod registry;
mod scratch;
mod stop;
mod tape;
mod task;
mod told;

pub(crate) use registry::{Registry, Running};
pub(crate) use scratch::directory_of_all;
pub(crate) use task::{Job, record, run};

pub(crate) use tape::Tape;

use warren_domain::{ErrorCode, ReplayProblem};

/// Why a replay cannot be carried out.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Failure {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Something on our side.
    fn internal(doing: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        Self::new(ErrorCode::Internal, format!("failed to {doing}: {}", crate::session::chain(error)))
    }

    fn problem(&self) -> ReplayProblem {
        ReplayProblem { code: self.code, message: self.message.clone() }
    }
}
