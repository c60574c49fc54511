//! How a command ends: its exit code, and what is said about a failure.

use std::{io, process::ExitCode};

use warren_config::ConfigError;
use warren_programs::InstallError;

use crate::client::CallError;

/// The outcome of a command, as its exit code tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what it says.
    Done,
    /// It did not.
    Failed,
    /// Someone stopped it.
    Interrupted,
    /// Someone stopped it, and did not wait for its end.
    Left,
    /// Nobody answered.
    Unreachable,
    /// A replay was not as recorded.
    Diverged,
}

/// A failure with something the user can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Advised {
    message: String,
    hint: String,
}

impl Advised {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Unreachable => 3,
            Outcome::Diverged => 4,
            Outcome::Interrupted | Outcome::Left => 130,
        })
    }
}

/// Tells the user about an error, and says how the command ended.
pub(crate) fn report(error: &anyhow::Error) -> Outcome {
    if is_broken_pipe(error) {
        // Whoever read our output has seen enough, as in `warren sessions list | head`.
        return Outcome::Done;
    }
    eprintln!("error: {error:#}");
    if let Some(hint) = hint(error) {
        eprintln!("hint: {hint}");
    }
    match error.downcast_ref::<CallError>() {
        Some(CallError::Unreachable { .. } | CallError::Ended { .. }) => Outcome::Unreachable,
        _ => Outcome::Failed,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The first advice in the chain of causes.
fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        None.or_else(|| cause.downcast_ref::<Advised>().map(|advised| advised.hint.clone()))
            .or_else(|| cause.downcast_ref::<ConfigError>().and_then(ConfigError::hint))
            .or_else(|| cause.downcast_ref::<InstallError>()?.hint().map(str::to_owned))
            .or_else(|| cause.downcast_ref::<CallError>().and_then(CallError::hint))
    })
}
