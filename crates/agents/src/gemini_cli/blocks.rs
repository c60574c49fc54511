//! The blocks of a record.

use serde_json::Value;
use warren_domain::{Block, BlockId, BlockStatus, Content, SystemSubtype, Timestamp};

use super::{
    chat::{Chat, Entry},
    native::{ToolCall, time},
    record::{Role, agent_text, prompt_text, thinking},
    text,
};
use crate::command::was_stopped;

/// Tools that start a subagent.
const AGENT_TOOLS: [&str; 2] = ["invoke_agent", "delegate_to_agent"];

/// The tool that carries out commands, and what the model is told below their output.
const SHELL_TOOL: &str = "run_shell_command";
const BELOW: [&str; 5] = ["Error", "Exit Code", "Signal", "Background PIDs", "Process Group PGID"];

/// Answers that are written down together have times that differ by no more. Between two rounds the model is asked.
const TOGETHER_MS: i64 = 25;

/// A call, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) at: Timestamp,
    pub(super) status: BlockStatus,
    /// The thread of the subagent that carries it out.
    pub(super) agent: Option<String>,
}

/// The id of what a person said.
pub(super) fn prompt_id(turn: &str) -> BlockId {
    BlockId(format!("prompt-{turn}"))
}

/// The id of the `nth` text of a round.
pub(super) fn text_id(turn: &str, round: u32, nth: u32) -> BlockId {
    numbered("text", turn, round, nth)
}

/// The id of the `nth` thought of a round.
pub(super) fn thought_id(turn: &str, round: u32, nth: u32) -> BlockId {
    numbered("thought", turn, round, nth)
}

/// The id of a call's answer.
pub(super) fn result_id(call: &str) -> BlockId {
    BlockId(format!("{call}-result"))
}

/// The blocks of an entry, in order.
pub(super) fn of_entry(chat: &Chat, entry: &Entry, at: Timestamp) -> Vec<Block> {
    let at = time(entry.record.timestamp.as_deref(), at);
    match entry.role {
        Role::Prompt => vec![Block::UserMessage {
            id: prompt_id(chat.turn(entry)),
            timestamp: at,
            content: Content::Text(prompt_text(&entry.record)),
        }],
        Role::Agent => {
            let said = thought(chat, entry, at).into_iter().chain(said(chat, entry, at));
            said.chain(of_calls(&chat.calls(entry), at)).collect()
        }
        Role::Summary => vec![compacted(entry, at)],
        Role::Note => note(entry, at).into_iter().collect(),
        Role::Answers | Role::Hidden => Vec::new(),
    }
}

/// What an entry's model thought.
pub(super) fn thought(chat: &Chat, entry: &Entry, at: Timestamp) -> Option<Block> {
    let (content, summary) = thinking(&entry.record);
    let id = thought_id(chat.turn(entry), entry.place.round, entry.place.thought);
    (!content.is_empty()).then_some(Block::Thinking { id, timestamp: at, content, summary })
}

/// What an entry's model said.
pub(super) fn said(chat: &Chat, entry: &Entry, at: Timestamp) -> Option<Block> {
    let content = agent_text(&entry.record);
    let id = text_id(chat.turn(entry), entry.place.round, entry.place.text);
    let model = entry.record.model.clone();
    (!content.is_empty()).then_some(Block::AssistantText { id, timestamp: at, content, model })
}

/// Calls, then their answers, round by round: Gemini waits for all of a round.
fn of_calls(calls: &[ToolCall], at: Timestamp) -> Vec<Block> {
    let rounds = calls.chunk_by(is_same_round);
    let of_round = |round: &[ToolCall]| {
        let uses = round.iter().map(|call| used(call, at));
        uses.chain(round.iter().filter_map(|call| answered(call, at))).collect::<Vec<_>>()
    };
    rounds.flat_map(of_round).collect()
}

/// Whether two calls were written down together. Some versions keep several rounds in one record.
fn is_same_round(one: &ToolCall, next: &ToolCall) -> bool {
    let at = |call: &ToolCall| Some(Timestamp::parse(call.timestamp.as_deref()?)?.as_millis());
    match (at(one), at(next)) {
        (Some(one), Some(next)) => next - one <= TOGETHER_MS,
        _ => true,
    }
}

/// The block of a call of a record that was written `at`.
pub(super) fn used(call: &ToolCall, at: Timestamp) -> Block {
    let output = has_answer(call).then(|| Value::String(output(call)));
    Call::of(call, at).block(output)
}

/// The block of a call's answer, if there is one. A subagent's answer is part of its own block.
pub(super) fn answered(call: &ToolCall, at: Timestamp) -> Option<Block> {
    if !has_answer(call) || is_agent_tool(&call.name) {
        return None;
    }
    Some(Block::ToolResult {
        id: result_id(&call.id),
        timestamp: time(call.timestamp.as_deref(), at),
        tool_use_id: call.id.clone(),
        output: Value::String(output(call)),
        is_error: status(call) == BlockStatus::Error,
        duration_ms: None,
        render_output_as_markdown: call.render_output_as_markdown,
    })
}

/// Whether a tool with this name starts a subagent.
pub(super) fn is_agent_tool(name: &str) -> bool {
    AGENT_TOOLS.contains(&name)
}

/// How far a call is.
pub(super) fn status(call: &ToolCall) -> BlockStatus {
    let has_failed = || has_failed_command(&call.name, &output(call));
    match call.status.as_deref() {
        Some("success") if has_failed() => BlockStatus::Error,
        Some("success") => BlockStatus::Success,
        Some("error" | "cancelled") => BlockStatus::Error,
        Some("executing") => BlockStatus::Running,
        // A version that names no status writes a call when it is answered.
        _ if !call.result.is_null() && has_failed() => BlockStatus::Error,
        _ if !call.result.is_null() => BlockStatus::Success,
        _ => BlockStatus::Pending,
    }
}

/// Whether the answer of a tool that carries out commands tells of one that failed: Gemini calls it a success. The
/// model is told in lines below the output; a person, only where there is no output.
pub(super) fn has_failed_command(tool: &str, answer: &str) -> bool {
    if tool != SHELL_TOOL {
        return false;
    }
    let shown = answer.trim();
    let is_shown = !shown.contains('\n')
        && ["Command exited with code: ", "Command terminated by signal: ", "Command failed: "]
            .iter()
            .any(|words| shown.starts_with(words));
    let told = answer.lines().rev().map(str::trim_end).filter(|line| !line.is_empty());
    let told = told.skip_while(|line| *line == "</untrusted_context>");
    let mut told = told.map_while(|line| line.split_once(": ").filter(|(name, _)| BELOW.contains(name)));
    is_shown
        || was_stopped(answer.trim_start_matches("<untrusted_context>").trim_start())
        || told.any(|(name, value)| match name {
            "Exit Code" => value.parse().is_ok_and(|code: i64| code != 0),
            // Older versions say 0 where there was none.
            "Signal" => !matches!(value, "(none)" | "0"),
            _ => false,
        })
}

/// What the model was told that a call gave.
pub(super) fn output(call: &ToolCall) -> String {
    let own = |part: &&Value| match part.pointer("/functionResponse/id") {
        Some(id) => id.as_str() == Some(call.id.as_str()),
        None => true,
    };
    let texts: Vec<String> = text::parts(&call.result).filter(own).map(part_output).collect();
    texts.join("\n")
}

/// What happened when what was said before was summed up.
pub(super) fn compacted(entry: &Entry, at: Timestamp) -> Block {
    Block::System {
        id: BlockId(format!("compacted-{}", entry.record.id)),
        timestamp: at,
        subtype: SystemSubtype::Status,
        message: "The conversation so far was summed up to save room".to_owned(),
        metadata: None,
    }
}

impl Call {
    /// From a record that was written `at`.
    pub(super) fn of(call: &ToolCall, at: Timestamp) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.args.clone(),
            at,
            status: status(call),
            agent: call.agent_id.clone(),
        }
    }

    /// Its block.
    pub(super) fn block(&self, output: Option<Value>) -> Block {
        let id = BlockId(self.id.clone());
        if !is_agent_tool(&self.name) {
            return Block::ToolUse {
                id,
                timestamp: self.at,
                tool_name: self.name.clone(),
                tool_use_id: self.id.clone(),
                input: self.input.clone(),
                status: self.status,
                display_name: None,
                description: None,
            };
        }
        Block::Subagent {
            id,
            timestamp: self.at,
            subagent_id: self.agent.clone().unwrap_or_else(|| self.id.clone()),
            name: self.agent_name(),
            input: Value::String(self.task()),
            status: self.status,
            output,
            duration_ms: None,
            tool_use_id: Some(self.id.clone()),
        }
    }

    /// The kind of subagent it starts.
    pub(super) fn agent_name(&self) -> Option<String> {
        let name = self.input.get("agent_name").and_then(Value::as_str).map(str::to_owned);
        name.or_else(|| (!is_agent_tool(&self.name)).then(|| self.name.clone()))
    }

    /// What it tells the subagent to do.
    pub(super) fn task(&self) -> String {
        let field = |name: &str| self.input.get(name).and_then(Value::as_str);
        let task = ["prompt", "objective", "request", "task"].into_iter().find_map(field);
        task.map_or_else(|| self.input.to_string(), str::to_owned)
    }
}

fn has_answer(call: &ToolCall) -> bool {
    matches!(status(call), BlockStatus::Success | BlockStatus::Error)
}

/// One part of an answer as text.
fn part_output(part: &Value) -> String {
    let response = part.pointer("/functionResponse/response");
    let text = response.and_then(|response| response.get("output").or_else(|| response.get("error")));
    match (text, response) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(other), _) | (None, Some(other)) => other.to_string(),
        (None, None) => match part.as_str().or_else(|| part.get("text")?.as_str()) {
            Some(text) => text.to_owned(),
            None => media(part).unwrap_or_else(|| part.to_string()),
        },
    }
}

/// A picture or another file, by its kind: its bytes are nothing to read.
fn media(part: &Value) -> Option<String> {
    let kind = part.pointer("/inlineData/mimeType").or_else(|| part.pointer("/fileData/mimeType"))?;
    Some(format!("[{}]", kind.as_str()?))
}

fn note(entry: &Entry, at: Timestamp) -> Option<Block> {
    let id = BlockId(format!("note-{}", entry.record.id));
    let message = text::of_content(&entry.record.content);
    if message.is_empty() {
        return None;
    }
    Some(match entry.record.kind.as_str() {
        "error" => Block::Error { id, timestamp: at, message, code: None },
        _ => Block::System { id, timestamp: at, subtype: SystemSubtype::Status, message, metadata: None },
    })
}

fn numbered(kind: &str, turn: &str, round: u32, nth: u32) -> BlockId {
    BlockId(match nth {
        0 => format!("{kind}-{turn}-{round}"),
        nth => format!("{kind}-{turn}-{round}.{nth}"),
    })
}
