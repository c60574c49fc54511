//! What the agent is told when it is started.

use std::{ffi::OsString, path::PathBuf};

use warren_domain::{IdError, SessionId};

use super::permit::Permits;

/// What the agent is told when it is started.
pub(super) struct Options {
    /// Whose transcripts to go on with.
    pub(super) session: SessionId,
    /// The model to ask for.
    pub(super) model: String,
    /// Where the profile's files are.
    pub(super) instructions: PathBuf,
    /// A thread that asked the model this often is running in circles.
    pub(super) max_turns: u32,
    /// What it may do without asking a person.
    pub(super) permits: Permits,
    /// Where the model is.
    pub(super) base_url: String,
    /// Sent with every call; the host knows the real one.
    pub(super) api_key: String,
    /// Where transcripts are kept.
    pub(super) home: PathBuf,
    /// Where the tools work.
    pub(super) cwd: PathBuf,
}

/// Why the agent does not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum OptionsError {
    #[error("unknown argument `{0}`")]
    UnknownArgument(String),
    #[error("`{0}` needs a value")]
    NoValue(&'static str),
    #[error("`{0}` is required")]
    Missing(&'static str),
    #[error("`--session` is not usable")]
    Session(#[source] IdError),
    #[error("`--max-turns {0}` is not a number")]
    MaxTurns(String),
    #[error("`--permission-mode {0}` is neither `auto` nor `ask`")]
    PermissionMode(String),
    #[error("failed to find the working directory")]
    WorkingDirectory(#[source] std::io::Error),
}

/// The arguments as they were written.
#[derive(Default)]
struct Raw {
    session: Option<String>,
    model: Option<String>,
    instructions: Option<String>,
    max_turns: Option<String>,
    permission_mode: Option<String>,
}

impl Options {
    /// From this process's arguments, environment and working directory.
    pub(super) fn from_process() -> Result<Self, OptionsError> {
        let raw = Raw::parse(std::env::args_os().skip(2))?;
        Ok(Self {
            session: raw
                .session
                .ok_or(OptionsError::Missing("--session"))?
                .parse()
                .map_err(OptionsError::Session)?,
            model: raw.model.ok_or(OptionsError::Missing("--model"))?,
            instructions: raw.instructions.unwrap_or_else(|| "/instructions".to_owned()).into(),
            max_turns: match raw.max_turns {
                Some(text) => text.parse().map_err(|_| OptionsError::MaxTurns(text))?,
                None => 200,
            },
            permits: permits(raw.permission_mode)?,
            base_url: variable("ANTHROPIC_BASE_URL")?,
            api_key: variable("ANTHROPIC_API_KEY")?,
            home: variable("HOME")?.into(),
            cwd: std::env::current_dir().map_err(OptionsError::WorkingDirectory)?,
        })
    }
}

impl Raw {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, OptionsError> {
        let mut raw = Self::default();
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy().into_owned();
            let (name, slot) = match argument.as_str() {
                "--session" => ("--session", &mut raw.session),
                "--model" => ("--model", &mut raw.model),
                "--instructions" => ("--instructions", &mut raw.instructions),
                "--max-turns" => ("--max-turns", &mut raw.max_turns),
                "--permission-mode" => ("--permission-mode", &mut raw.permission_mode),
                _ => return Err(OptionsError::UnknownArgument(argument)),
            };
            let value = arguments.next().ok_or(OptionsError::NoValue(name))?;
            *slot = Some(value.to_string_lossy().into_owned());
        }
        Ok(raw)
    }
}

/// A mode that nobody knows is refused: taken for the other one it would let the agent act unasked.
fn permits(mode: Option<String>) -> Result<Permits, OptionsError> {
    match mode.as_deref() {
        None | Some("auto") => Ok(Permits::All),
        Some("ask") => Ok(Permits::Asks),
        Some(other) => Err(OptionsError::PermissionMode(other.to_owned())),
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this program reads its environment")]
fn variable(name: &'static str) -> Result<String, OptionsError> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or(OptionsError::Missing(name))
}
