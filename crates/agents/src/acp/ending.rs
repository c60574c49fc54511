//! How a prompt ends: by several signals, in this order: our own interrupt, an error, the reason to stop.

use serde_json::Value;
use warren_domain::{ErrorCode, Timestamp};

use super::{codec::AcpCodec, usage};
use crate::{
    Output, TurnEnd,
    fields::{error_text, text},
    rpc::Failure,
};

impl AcpCodec {
    pub(super) fn prompt_answered(
        &mut self,
        result: Result<Value, Failure>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        out.extend(self.held.take().into_iter().flatten().map(Output::Event));
        let mut drafts = Vec::new();
        let thread = self.main_thread();
        thread.ended(&mut drafts);
        let summary = thread.last_text.take();
        out.extend(drafts.into_iter().map(Output::Event));
        let answer = match result {
            Ok(answer) => answer,
            Err(failure) if self.has_forgotten(&failure) => return self.begin_anew(&failure, at, out),
            Err(failure) => return self.fail(code(&failure), error_text(&failure.message), at, out),
        };
        if let Some(usage) = usage::of_answer(&answer) {
            self.usage.get_or_insert_default().add(&usage);
            out.push(Output::Event(self.metadata()));
        }
        let stop = text(&answer, "stopReason").unwrap_or("end_turn");
        // Some agents take a no for the wish that they stop.
        if matches!(stop, "end_turn" | "cancelled") && self.tell_reasons(at, out) {
            return;
        }
        match stop {
            "cancelled" => self.end(TurnEnd::Interrupted, out),
            // Not every agent that was told to stop says that this is why it did.
            "end_turn" if self.interrupting => self.end(TurnEnd::Interrupted, out),
            "refusal" => self.fail(ErrorCode::LlmError, "the model refused to go on".to_owned(), at, out),
            reason @ ("max_tokens" | "max_turn_requests") => {
                let message = format!("the agent stopped before it finished ({reason})");
                self.fail(ErrorCode::LlmError, message, at, out);
            }
            _ => self.end(TurnEnd::Completed { summary }, out),
        }
    }

    /// Whether a prompt failed only because the agent has lost the session that it had taken up.
    fn has_forgotten(&mut self, failure: &Failure) -> bool {
        let says_so = failure.message.to_lowercase().contains("session not found");
        if says_so && self.prompt.is_none() {
            self.prompt = self.again.take();
        }
        says_so && self.prompt.is_some()
    }

    pub(super) fn fail(&mut self, code: ErrorCode, message: String, at: Timestamp, out: &mut Vec<Output>) {
        self.repeat_prompt(at, out);
        if self.interrupting {
            return self.end(TurnEnd::Interrupted, out);
        }
        if !self.has_ended {
            let mut drafts = Vec::new();
            self.main_thread().failed(&message, at, &mut drafts);
            out.extend(drafts.into_iter().map(Output::Event));
        }
        self.end(TurnEnd::Failed { code, message, recoverable: true }, out);
    }

    /// The prompt becomes a block even if it never came to the agent.
    pub(super) fn repeat_prompt(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if let Some(prompt) = self.prompt.take() {
            self.prompted(Some(prompt.clone()), prompt.content, at, out);
        }
    }

    pub(super) fn end(&mut self, end: TurnEnd, out: &mut Vec<Output>) {
        if !std::mem::replace(&mut self.has_ended, true) {
            out.push(Output::TurnEnded(end));
        }
    }
}

/// Nearly every failure of a prompt is the model's; some are ours.
fn code(failure: &Failure) -> ErrorCode {
    match failure.code {
        -32602..=-32600 | -32700 => ErrorCode::AgentError,
        _ => ErrorCode::LlmError,
    }
}
