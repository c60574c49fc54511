//! How a turn ended, decided from several signals.
//!
//! In this order: an error that was printed counts, even if the last line speaks of success; then what the last line
//! says; without a last line, whether we asked for the end, or the exit code: Gemini exits with 0 when it is stopped.

use serde::Deserialize;
use warren_domain::{ErrorCode, Usage};

use crate::{Exit, TurnEnd, gemini_cli::native::Stats};

/// Exit codes of Gemini's own.
const CANCELLED: i32 = 130;
const EXITS: [(i32, &str); 6] = [
    (41, "Gemini CLI could not sign in to the model"),
    (42, "Gemini CLI did not take the prompt or its options"),
    (44, "Gemini CLI could not use its own sandbox"),
    (52, "Gemini CLI did not understand its settings"),
    (53, "Gemini CLI reached the most turns a session may have"),
    (54, "Gemini CLI gave up after a tool failed"),
];

/// What is known about the end.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    is_interrupted: bool,
    has_ended: bool,
    /// The first error is the cause; what follows are its effects.
    trouble: Option<Trouble>,
    /// The last thing the model said.
    summary: Option<String>,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) message: String,
    /// The HTTP status of the model's answer, if it was that.
    pub(super) code: Option<u16>,
    is_api: bool,
}

/// An error of the model's API, as Gemini prints it.
#[derive(Deserialize)]
struct ApiError {
    error: ApiProblem,
}

#[derive(Deserialize)]
struct ApiProblem {
    #[serde(default)]
    code: Option<u16>,
    #[serde(default)]
    message: Option<String>,
}

impl Outcome {
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    pub(super) fn interrupted(&mut self) {
        self.is_interrupted = true;
    }

    pub(super) fn said(&mut self, text: &str) {
        self.summary = Some(text.to_owned());
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
    }

    /// The end as the last line tells it; only once.
    pub(super) fn of_finish(&mut self, has_failed: bool) -> Option<TurnEnd> {
        let unknown = || Trouble {
            message: "the agent failed without saying why".to_owned(),
            code: None,
            is_api: false,
        };
        let trouble = self.trouble.take().or_else(|| has_failed.then(unknown));
        let end = match trouble {
            _ if has_failed && self.is_interrupted => TurnEnd::Interrupted,
            Some(trouble) => trouble.end(),
            None => TurnEnd::Completed { summary: self.summary.take() },
        };
        self.end(end)
    }

    /// The end of a process that printed no last line.
    pub(super) fn of_exit(&mut self, exit: &Exit) -> Option<TurnEnd> {
        let is_stopped = matches!(exit.code, Some(0 | CANCELLED));
        let end = match self.trouble.take() {
            _ if self.is_interrupted => TurnEnd::Interrupted,
            Some(trouble) => trouble.end(),
            None if is_stopped => TurnEnd::Interrupted,
            None => TurnEnd::Failed {
                code: ErrorCode::AgentError,
                message: exit_message(exit),
                recoverable: true,
            },
        };
        self.end(end)
    }

    fn end(&mut self, end: TurnEnd) -> Option<TurnEnd> {
        (!std::mem::replace(&mut self.has_ended, true)).then_some(end)
    }
}

impl Trouble {
    /// From what is printed: `[API Error: {"error":{"code":400,"message":"…"}}]`, or plain words.
    pub(super) fn of(printed: &str) -> Self {
        let inner = printed.trim().strip_prefix("[API Error: ").map(|inner| inner.trim_end_matches(']'));
        let is_api = inner.is_some();
        let inner = inner.unwrap_or(printed).trim();
        let json = inner.find('{').map(|start| &inner[start..]);
        let error = json.and_then(|json| {
            let mut values = serde_json::Deserializer::from_str(json).into_iter::<ApiError>();
            values.next()?.ok()
        });
        match error {
            Some(ApiError { error: ApiProblem { code, message } }) => {
                Self { message: message.unwrap_or_else(|| inner.to_owned()), code, is_api: true }
            }
            None => Self { message: inner.to_owned(), code: None, is_api },
        }
    }

    fn end(self) -> TurnEnd {
        let is_of_model = self.is_api || self.message.starts_with("The model ");
        let code = if is_of_model { ErrorCode::LlmError } else { ErrorCode::AgentError };
        TurnEnd::Failed { code, message: self.message, recoverable: true }
    }
}

/// What a process spent. Some versions do not say on which models: then it was the one that was asked for.
pub(super) fn usage(stats: &Stats, asked_for: Option<&str>) -> Usage {
    let thinking = stats.total_tokens.saturating_sub(stats.input_tokens + stats.output_tokens);
    let model = match stats.models.len() {
        0 => asked_for.map(str::to_owned),
        1 => stats.models.keys().next().cloned(),
        _ => None,
    };
    let usage = Usage {
        input_tokens: stats.input_tokens.saturating_sub(stats.cached),
        output_tokens: stats.output_tokens + thinking,
        cache_read_tokens: stats.cached,
        thinking_tokens: thinking,
        model,
        ..Usage::default()
    };
    usage.totalled()
}

fn exit_message(exit: &Exit) -> String {
    let own = EXITS.iter().find(|(code, _)| Some(*code) == exit.code);
    own.map_or_else(
        || format!("the agent exited before it finished ({exit})"),
        |(_, message)| format!("{message} ({exit})"),
    )
}
