//! When a turn is over, and how it went.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use warren_domain::ErrorCode;

use super::{control, uuid_of};
use crate::{
    Exit, Output, Prompt, TurnEnd,
    claude_code::{
        native::{Line, TurnResult},
        scan::read,
    },
};

/// How far the turn is.
#[derive(Default)]
pub(super) struct Turn {
    /// The process is ours and is told when it may go: the turn ends as soon as Claude Code says so. What somebody
    /// recorded may hold many turns, and ends with its last line.
    is_live: bool,
    is_interrupting: bool,
    n_interrupts: u32,
    /// Claude Code says that somebody interrupted it.
    was_interrupted: bool,
    /// Whether this version says when it is idle. If it does, that counts; a turn can have several results.
    says_state: bool,
    result: Option<TurnResult>,
    /// Subagents in the background; some versions are idle while they work.
    tasks: HashSet<String>,
    /// Messages that were sent while it worked and are not taken up.
    untaken: HashSet<String>,
    has_ended: bool,
}

#[derive(Deserialize)]
struct StateChange {
    #[serde(default)]
    state: String,
}

#[derive(Deserialize)]
struct Lifecycle {
    #[serde(default)]
    command_uuid: String,
    #[serde(default)]
    state: String,
}

impl Turn {
    pub(super) fn live() -> Self {
        Self { is_live: true, ..Self::default() }
    }

    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    pub(super) fn interrupt(&mut self) -> Output {
        self.is_interrupting = true;
        self.n_interrupts += 1;
        control::interrupt(self.n_interrupts)
    }

    pub(super) fn note_interrupted(&mut self) {
        self.was_interrupted = true;
    }

    /// Notes a message for a working turn; `false` if the turn is over.
    pub(super) fn expect_message(&mut self, prompt: &Prompt) -> bool {
        if !self.has_ended {
            self.untaken.insert(uuid_of(&prompt.message).to_owned());
        }
        !self.has_ended
    }

    pub(super) fn message_taken(&mut self, uuid: &str) {
        self.untaken.remove(uuid);
    }

    /// A message whose life is over is waited for no longer, whatever became of it.
    pub(super) fn note_lifecycle(&mut self, line: &Line<'_>, raw: &[u8]) {
        if self.untaken.is_empty() || !line.is_lifecycle() {
            return;
        }
        if let Some(life) =
            read::<Lifecycle>(raw).filter(|life| !matches!(life.state.as_str(), "queued" | "started"))
        {
            self.untaken.remove(&life.command_uuid);
        }
    }

    pub(super) fn task_started(&mut self, task: &str) {
        self.tasks.insert(task.to_owned());
    }

    pub(super) fn task_ended(&mut self, task: &str) {
        self.tasks.remove(task);
    }

    pub(super) fn state_changed(&mut self, raw: &[u8], out: &mut Vec<Output>) {
        self.says_state = true;
        match read::<StateChange>(raw).map(|change| change.state).as_deref() {
            Some("idle") => self.end_if_done(out),
            Some("running") if self.tasks.is_empty() => self.result = None,
            _ => {}
        }
    }

    pub(super) fn result(&mut self, result: TurnResult, out: &mut Vec<Output>) {
        self.result = Some(result);
        if !self.says_state {
            self.end_if_done(out);
        }
    }

    /// The process is gone.
    pub(super) fn exited(&mut self, exit: &Exit, out: &mut Vec<Output>) {
        let end = match &self.result {
            Some(result) => self.end_of(result),
            None if self.is_interrupting => TurnEnd::Interrupted,
            None => TurnEnd::Failed {
                code: ErrorCode::AgentError,
                message: format!("the agent exited before it finished ({exit})"),
                recoverable: true,
            },
        };
        self.end(end, out);
    }

    fn end_if_done(&mut self, out: &mut Vec<Output>) {
        let is_done = self.is_interrupting || (self.tasks.is_empty() && self.untaken.is_empty());
        if !self.is_live || !is_done {
            return;
        }
        if let Some(end) = self.result.as_ref().map(|result| self.end_of(result)) {
            self.end(end, out);
        }
    }

    fn end(&mut self, end: TurnEnd, out: &mut Vec<Output>) {
        if !std::mem::replace(&mut self.has_ended, true) {
            out.push(Output::TurnEnded(end));
        }
    }

    /// What a result really says: success and failure have several names, and only together they can be believed.
    fn end_of(&self, result: &TurnResult) -> TurnEnd {
        let is_aborted =
            result.terminal_reason.as_deref().is_some_and(|reason| reason.starts_with("aborted"));
        let is_cut = result.subtype == "error_during_execution";
        let is_error = result.is_error || result.subtype != "success";
        if is_aborted || (is_cut && (self.is_interrupting || self.was_interrupted)) {
            return TurnEnd::Interrupted;
        }
        if !is_error {
            return TurnEnd::Completed { summary: result.result.clone().filter(|text| !text.is_empty()) };
        }
        let is_of_api = result.api_error_status.as_ref().is_some_and(|status| !status.is_null())
            || result.subtype == "success";
        TurnEnd::Failed {
            code: if is_of_api { ErrorCode::LlmError } else { ErrorCode::AgentError },
            message: failure(result),
            recoverable: true,
        }
    }
}

fn failure(result: &TurnResult) -> String {
    let errors: Vec<&str> = result.errors.iter().flatten().filter_map(Value::as_str).collect();
    match (
        result.result.as_deref().filter(|text| !text.is_empty()),
        errors.is_empty(),
        result.subtype.as_str(),
    ) {
        (Some(text), ..) => text.to_owned(),
        (None, _, "error_max_turns") => "the agent reached its limit of turns".to_owned(),
        (None, false, _) => errors.join("\n"),
        (None, true, subtype) => format!("the agent failed ({subtype})"),
    }
}
