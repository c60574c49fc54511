//! How a command ends: its exit code, and what is said about a failure.

use std::process::ExitCode;

use warren_config::ConfigError;
use warren_programs::InstallError;

use crate::{client::CallError, invocation::Invocation, terminal::OutputError};

pub(crate) use warren_embed::Advised;

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

/// The user stopped the command. The text says what came of it.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: {0}")]
pub(crate) struct Interrupted(pub(crate) &'static str);

/// Prints an error and its hint, and returns the outcome of the command.
pub(crate) fn report(error: &anyhow::Error, invocation: &Invocation) -> Outcome {
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(OutputError::is_reader_gone) {
        return Outcome::Done;
    }
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        eprintln!("{interrupted}");
        return Outcome::Interrupted;
    }
    eprintln!("error: {error:#}");
    if let Some(hint) = hint(error) {
        eprintln!("hint: {}", invocation.adapt(&hint));
    }
    match error.downcast_ref::<CallError>() {
        Some(CallError::Unreachable { .. } | CallError::Ended { .. }) => Outcome::Unreachable,
        _ => Outcome::Failed,
    }
}

/// The first advice in the chain of causes.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        None.or_else(|| cause.downcast_ref::<Advised>().map(|advised| advised.hint().to_owned()))
            .or_else(|| cause.downcast_ref::<ConfigError>().and_then(ConfigError::hint))
            .or_else(|| cause.downcast_ref::<InstallError>()?.hint().map(str::to_owned))
            .or_else(|| cause.downcast_ref::<CallError>().and_then(CallError::hint))
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context as _;

    use super::{Outcome, report};
    use crate::{invocation::Invocation, terminal::OutputError};

    #[test]
    fn a_connection_that_breaks_is_not_a_reader_that_has_seen_enough() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let connection: Result<(), _> = Err(broken()).context("the server cannot be reached");
        let report = |error: anyhow::Error| report(&error, &Invocation::default());
        assert_eq!(connection.map_err(report), Err(Outcome::Failed));
        let reader = Err::<(), _>(OutputError::from(broken())).context("in the middle of a list");
        assert_eq!(reader.map_err(report), Err(Outcome::Done));
    }
}
