//! What the agent is told when it is started.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use warren_domain::{IdError, ReasoningEffort, SessionId};

use super::{api::Api, permit::Permits};

/// What the agent is told when it is started.
pub(super) struct Options {
    /// Whose transcripts to go on with.
    pub(super) session: SessionId,
    /// The model to ask for.
    pub(super) model: String,
    /// Where the profile's files are.
    pub(super) instructions: PathBuf,
    /// The most answers of the model in one turn. `None`: budgets are the limit.
    pub(super) max_turns: Option<u32>,
    /// Windows of models, in tokens.
    pub(super) windows: Vec<(String, u64)>,
    /// Waits take so many times less than they should.
    pub(super) clock_speed: u32,
    /// The run may use tools that providers run.
    pub(super) provider_tools: bool,
    /// How much the model thinks, if somebody said so.
    pub(super) effort: Option<ReasoningEffort>,
    /// What it may do without asking a person.
    pub(super) permits: Permits,
    /// For each API that can be asked, where it is and what is sent as the key; the host knows the real one.
    pub(super) endpoints: BTreeMap<Api, (String, String)>,
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
    #[error("`{0} {1}` is not a number")]
    NotANumber(&'static str, String),
    #[error("`--window {0}` is not a model and its tokens, as in `gpt-5=400000`")]
    Window(String),
    #[error("`--permission-mode {0}` is neither `auto` nor `ask`")]
    PermissionMode(String),
    #[error("`--effort {0}` is not `low`, `medium` or `high`")]
    Effort(String),
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
    clock_speed: Option<String>,
    windows: Vec<String>,
    permission_mode: Option<String>,
    effort: Option<String>,
    provider_tools: Option<String>,
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
            max_turns: number("--max-turns", raw.max_turns)?,
            windows: raw.windows.into_iter().map(window).collect::<Result<_, _>>()?,
            clock_speed: number("--clock-speed", raw.clock_speed)?.unwrap_or(1),
            provider_tools: raw.provider_tools.as_deref() == Some("granted"),
            effort: raw.effort.map(effort).transpose()?,
            permits: permits(raw.permission_mode)?,
            endpoints: endpoints()?,
            home: variable("HOME").ok_or(OptionsError::Missing("HOME"))?.into(),
            cwd: std::env::current_dir().map_err(OptionsError::WorkingDirectory)?,
        })
    }
}

impl Raw {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, OptionsError> {
        let mut raw = Self::default();
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy().into_owned();
            if argument == "--window" {
                let value = arguments.next().ok_or(OptionsError::NoValue("--window"))?;
                raw.windows.push(value.to_string_lossy().into_owned());
                continue;
            }
            let (name, slot) = match argument.as_str() {
                "--session" => ("--session", &mut raw.session),
                "--model" => ("--model", &mut raw.model),
                "--instructions" => ("--instructions", &mut raw.instructions),
                "--max-turns" => ("--max-turns", &mut raw.max_turns),
                "--clock-speed" => ("--clock-speed", &mut raw.clock_speed),
                "--effort" => ("--effort", &mut raw.effort),
                "--provider-tools" => ("--provider-tools", &mut raw.provider_tools),
                "--permission-mode" => ("--permission-mode", &mut raw.permission_mode),
                _ => return Err(OptionsError::UnknownArgument(argument)),
            };
            let value = arguments.next().ok_or(OptionsError::NoValue(name))?;
            *slot = Some(value.to_string_lossy().into_owned());
        }
        Ok(raw)
    }
}

fn effort(text: String) -> Result<ReasoningEffort, OptionsError> {
    ReasoningEffort::parse(&text).ok_or(OptionsError::Effort(text))
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
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names are those that a person's own tools do not look for, but for the oldest.
fn endpoints() -> Result<BTreeMap<Api, (String, String)>, OptionsError> {
    let key = variable("ANTHROPIC_API_KEY").ok_or(OptionsError::Missing("ANTHROPIC_API_KEY"))?;
    let names = [
        (Api::Anthropic, "ANTHROPIC_BASE_URL"),
        (Api::OpenAi, "WARREN_OPENAI_BASE_URL"),
        (Api::Gemini, "WARREN_GEMINI_BASE_URL"),
    ];
    let of = |(api, name): (Api, &str)| Some((api, (variable(name)?, key.clone())));
    let found: BTreeMap<_, _> = names.into_iter().filter_map(of).collect();
    if found.is_empty() { Err(OptionsError::Missing("ANTHROPIC_BASE_URL")) } else { Ok(found) }
}

fn number(name: &'static str, text: Option<String>) -> Result<Option<u32>, OptionsError> {
    text.map(|text| text.parse().map_err(|_| OptionsError::NotANumber(name, text))).transpose()
}

fn window(text: String) -> Result<(String, u64), OptionsError> {
    let parsed =
        text.rsplit_once('=').and_then(|(model, tokens)| Some((model.to_owned(), tokens.parse().ok()?)));
    parsed.ok_or(OptionsError::Window(text))
}
