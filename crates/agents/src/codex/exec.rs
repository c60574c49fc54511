//! `codex exec --json`: events without ids of their own and without what the person said.

use serde_json::Value;
use warren_domain::{Draft, ErrorCode, EventBody, Timestamp};

use super::{codec::CodexCodec, ids::Scheme, notices::attempt, printed, story::TurnOutcome, usage::Tokens};
use crate::{
    Output,
    fields::{error_text, text},
};

impl CodexCodec {
    /// A line of `exec --json`. `false`: nobody understands it.
    pub(super) fn printed(&mut self, value: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        const THREAD: &str = "exec";
        let thread = self.story.main.clone().unwrap_or_else(|| THREAD.to_owned());
        let mut drafts = Vec::new();
        match text(value, "type").unwrap_or_default() {
            "thread.started" => {
                self.story.main = text(value, "thread_id").map(str::to_owned);
                self.story.scheme = Scheme::Content;
                self.has_ended = false;
            }
            "turn.started" => {
                self.story.scheme = Scheme::Content;
                self.has_ended = false;
                self.story.turn_began(&thread, None, at, &mut drafts);
            }
            "item.started" | "item.updated" => {
                if let Some(item) = value.get("item").and_then(printed::item) {
                    self.story.began(&thread, &item, at, &mut drafts);
                }
            }
            "item.completed" => {
                if let Some(item) = value.get("item").and_then(printed::item) {
                    self.story.ended(&thread, &item, at, &mut drafts);
                }
            }
            "error" => drafts.extend(retrying(value)),
            "turn.completed" => {
                let usage = value.get("usage").map(Tokens::read).unwrap_or_default();
                drafts.push(self.metadata(usage, None));
                self.printed_end(&thread, TurnOutcome::Completed, at, drafts, out);
                return true;
            }
            "turn.failed" => {
                let message = value.get("error").and_then(|error| text(error, "message")).unwrap_or_default();
                let outcome = TurnOutcome::Failed(error_text(message));
                self.printed_end(&thread, outcome, at, drafts, out);
                return true;
            }
            _ => return false,
        }
        out.extend(drafts.into_iter().map(Output::Event));
        true
    }

    fn printed_end(
        &mut self,
        thread: &str,
        outcome: TurnOutcome,
        at: Timestamp,
        mut drafts: Vec<Draft>,
        out: &mut Vec<Output>,
    ) {
        self.story.turn_ended(thread, &outcome, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
        self.end(outcome, ErrorCode::LlmError, out);
    }
}

/// An `error` of `exec --json`: only one that is followed by another try says more than the turn's end will.
fn retrying(value: &Value) -> Option<Draft> {
    let message = text(value, "message")?;
    let is_retry = message.starts_with("Reconnecting... ") || message.starts_with("Re-connecting... ");
    let reason = message.split_once(" (").map_or(message, |(_, reason)| reason.trim_end_matches(')'));
    is_retry.then(|| {
        Draft::of_session(EventBody::Retrying {
            attempt: attempt(message),
            reason: reason.to_owned(),
            next_at: None,
        })
    })
}
