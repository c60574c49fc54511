//! `codex exec --json` as it was before items: what the program tells itself, with a number that names the task.
//!
//! Calls are named; texts and thoughts are not, so that what they say names them, as for today's `exec --json`.

use serde_json::{Value, json};
use warren_domain::{Content, Draft, ErrorCode, EventBody, Timestamp};

use super::{
    codec::CodexCodec,
    ids::Scheme,
    item::{Item, Tool, What},
    notices::attempt,
    printed,
    reported::mcp_call,
    shell, stored,
    story::TurnOutcome,
    usage::Tokens,
};
use crate::{
    Output,
    fields::{error_text, list, text, texts},
};

/// The thread of a process that does not name it.
const THREAD: &str = "exec";

/// What says nothing that is not said again, or nothing about the conversation.
const SILENT: &str = "agent_message_delta agent_reasoning_delta agent_reasoning_raw_content \
    agent_reasoning_raw_content_delta agent_reasoning_section_break background_event deprecation_notice \
    exec_command_output_delta get_history_entry_response list_custom_prompts_response mcp_list_tools_response \
    mcp_startup_complete mcp_startup_update shutdown_complete turn_diff user_message view_image_tool_call \
    web_search_begin";

impl CodexCodec {
    /// A line of an old version. `None`: it is none.
    pub(super) fn legacy(&mut self, value: &Value, at: Timestamp, out: &mut Vec<Output>) -> Option<bool> {
        if let Some(said) = text(value, "prompt") {
            self.legacy_turn(at, out);
            let content = Content::Text(said.to_owned());
            self.legacy_ended(None, What::User { client_id: None, content }, at, out);
            return Some(true);
        }
        if let (Some(model), Some(_)) = (text(value, "model"), text(value, "workdir")) {
            self.model = Some(model.to_owned());
            return Some(true);
        }
        let told = value.get("msg").filter(|_| value.get("id").is_some())?;
        Some(self.legacy_told(text(told, "type")?, told, at, out))
    }

    fn legacy_told(&mut self, kind: &str, told: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        let words = |key: &str| text(told, key).unwrap_or_default().to_owned();
        match kind {
            "session_configured" => self.model = text(told, "model").map(str::to_owned),
            "task_started" => self.legacy_turn(at, out),
            "agent_message" => self.legacy_ended(None, What::Text(words("message")), at, out),
            "agent_reasoning" => self.legacy_ended(None, What::Thinking(words("text")), at, out),
            "plan_update" => {
                let plan = What::Tool(printed::plan(list(told, "plan").to_vec()));
                self.legacy_ended(Some("plan"), plan, at, out);
            }
            "token_count" => {
                let total = told.pointer("/info/total_token_usage").unwrap_or(told);
                out.push(Output::Event(self.metadata(Tokens::read(total), None)));
            }
            "stream_error" => out.push(Output::Event(retrying(&words("message")))),
            "error" => self.legacy_end(TurnOutcome::Failed(error_text(&words("message"))), at, out),
            "turn_aborted" => self.legacy_end(TurnOutcome::Interrupted, at, out),
            "task_complete" => self.legacy_end(TurnOutcome::Completed, at, out),
            _ => return self.legacy_call(kind, told, at, out),
        }
        true
    }

    fn legacy_call(&mut self, kind: &str, told: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        let Some(call) = text(told, "call_id") else { return is_silent(kind) };
        if let Some(tool) = begun(kind, told) {
            self.legacy_calls.insert(call.to_owned(), tool.clone());
            let item = item(call, What::Tool(tool));
            let mut drafts = Vec::new();
            self.story.began(THREAD, &item, at, &mut drafts);
            out.extend(drafts.into_iter().map(Output::Event));
            return true;
        }
        let ended = match kind {
            "web_search_end" => {
                let input = json!({"query": text(told, "query").unwrap_or_default()});
                let end = super::item::End::silent(warren_domain::BlockStatus::Success);
                Some(What::Tool(Tool::new("web_search", input, Some(end))))
            }
            _ => stored::item(told).map(|item| item.what),
        };
        let Some(ended) = ended else { return is_silent(kind) };
        // The end does not always repeat what was begun.
        let what = match (self.legacy_calls.remove(call), ended) {
            (Some(begun), What::Tool(ended)) => What::Tool(Tool { end: ended.end, ..begun }),
            (_, ended) => ended,
        };
        self.legacy_ended(Some(call), what, at, out);
        true
    }

    fn legacy_turn(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if std::mem::replace(&mut self.in_legacy_turn, true) {
            return;
        }
        self.story.scheme = Scheme::Content;
        self.has_ended = false;
        let mut drafts = Vec::new();
        self.story.turn_began(THREAD, None, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
    }

    fn legacy_ended(&mut self, id: Option<&str>, what: What, at: Timestamp, out: &mut Vec<Output>) {
        self.n_legacy += 1;
        let own = format!("told-{}", self.n_legacy);
        let mut drafts = Vec::new();
        self.story.ended(THREAD, &item(id.unwrap_or(&own), what), at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
    }

    fn legacy_end(&mut self, outcome: TurnOutcome, at: Timestamp, out: &mut Vec<Output>) {
        self.in_legacy_turn = false;
        let mut drafts = Vec::new();
        self.story.turn_ended(THREAD, &outcome, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
        self.end(outcome, ErrorCode::LlmError, out);
    }
}

/// The tool that an event says has begun.
fn begun(kind: &str, told: &Value) -> Option<Tool> {
    Some(match kind {
        "exec_command_begin" => Tool::shell(&shell::of_words(&texts(told, "command")), None),
        "patch_apply_begin" => Tool { end: None, ..stored::patch(told) },
        "mcp_tool_call_begin" => mcp_call(told.get("invocation").unwrap_or(told), "in_progress", None),
        _ => return None,
    })
}

fn item(id: &str, what: What) -> Item {
    Item { id: id.to_owned(), started: None, completed: None, what }
}

fn is_silent(kind: &str) -> bool {
    SILENT.split_whitespace().any(|silent| silent == kind)
}

fn retrying(message: &str) -> Draft {
    let reason = message.to_owned();
    Draft::of_session(EventBody::Retrying { attempt: attempt(message), reason, next_at: None })
}
