//! Pieces of conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BlockId, Content, MAX_EVENT_BYTES, Timestamp};

/// A part of a conversation: the fold of the events with its ID.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Block {
    /// A message of a person, or of a subagent's parent.
    UserMessage {
        /// Its name.
        id: BlockId,
        /// When it was said.
        timestamp: Timestamp,
        /// Text or parts.
        content: Content,
    },
    /// Text of the agent.
    AssistantText {
        /// Its name.
        id: BlockId,
        /// When it began.
        timestamp: Timestamp,
        /// The text so far.
        content: String,
        /// The model that wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent's thinking.
    Thinking {
        /// Its name.
        id: BlockId,
        /// When it began.
        timestamp: Timestamp,
        /// The thinking so far.
        content: String,
        /// A summary, if the agent provides one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// A tool the agent called.
    ToolUse {
        /// Its name.
        id: BlockId,
        /// When it was called.
        timestamp: Timestamp,
        /// The tool's name as the agent knows it.
        tool_name: String,
        /// Matches it with its result.
        tool_use_id: String,
        /// Its arguments.
        input: Value,
        /// Its status.
        status: BlockStatus,
        /// A display name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
        /// A description of this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// The result of a tool.
    ToolResult {
        /// Its name.
        id: BlockId,
        /// When it returned.
        timestamp: Timestamp,
        /// The tool call.
        tool_use_id: String,
        /// The output: text, or a value of the tool.
        output: Value,
        /// The tool failed.
        is_error: bool,
        /// Its duration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// The output is markdown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        render_output_as_markdown: Option<bool>,
    },
    /// A system message.
    System {
        /// Its name.
        id: BlockId,
        /// When it was said.
        timestamp: Timestamp,
        /// Its kind.
        subtype: SystemSubtype,
        /// The text.
        message: String,
        /// Data for programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Map<String, Value>>,
    },
    /// Represents a subagent's thread in the conversation that called it.
    Subagent {
        /// Its name.
        id: BlockId,
        /// When it was called.
        timestamp: Timestamp,
        /// The thread's conversation id.
        subagent_id: String,
        /// The kind of subagent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The task it was given.
        input: Value,
        /// Its status.
        status: BlockStatus,
        /// Its report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// Its duration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// The tool call that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
    },
    /// Something went wrong.
    Error {
        /// Its name.
        id: BlockId,
        /// When it happened.
        timestamp: Timestamp,
        /// What happened.
        message: String,
        /// A stable code, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// The status of a tool call or a subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockStatus {
    /// Announced.
    Pending,
    /// Under way.
    Running,
    /// Ended well.
    Success,
    /// Failed, or was stopped.
    Error,
}

/// The kind of a system message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SystemSubtype {
    /// A session or a thread begins.
    SessionStart,
    /// A session or a thread ends.
    SessionEnd,
    /// An error that is not the agent's answer.
    Error,
    /// Anything worth showing.
    Status,
    /// What a hook said.
    HookResponse,
    /// News about sign-in.
    AuthStatus,
}

impl Block {
    /// The block's name.
    #[must_use]
    pub fn id(&self) -> &BlockId {
        match self {
            Block::UserMessage { id, .. }
            | Block::AssistantText { id, .. }
            | Block::Thinking { id, .. }
            | Block::ToolUse { id, .. }
            | Block::ToolResult { id, .. }
            | Block::System { id, .. }
            | Block::Subagent { id, .. }
            | Block::Error { id, .. } => id,
        }
    }

    /// The block's name, for who must give it another.
    pub fn id_mut(&mut self) -> &mut BlockId {
        match self {
            Block::UserMessage { id, .. }
            | Block::AssistantText { id, .. }
            | Block::Thinking { id, .. }
            | Block::ToolUse { id, .. }
            | Block::ToolResult { id, .. }
            | Block::System { id, .. }
            | Block::Subagent { id, .. }
            | Block::Error { id, .. } => id,
        }
    }

    /// When it was sent, or started.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        match self {
            Block::UserMessage { timestamp, .. }
            | Block::AssistantText { timestamp, .. }
            | Block::Thinking { timestamp, .. }
            | Block::ToolUse { timestamp, .. }
            | Block::ToolResult { timestamp, .. }
            | Block::System { timestamp, .. }
            | Block::Subagent { timestamp, .. }
            | Block::Error { timestamp, .. } => *timestamp,
        }
    }

    /// Appends streamed text to the part of the block that grows. Blocks that do not grow stay as they are.
    pub fn push_delta(&mut self, delta: &str) {
        match self {
            Block::AssistantText { content, .. } | Block::Thinking { content, .. } => content.push_str(delta),
            Block::ToolResult { output: Value::String(text), .. } => text.push_str(delta),
            Block::ToolResult { output, .. } if output.is_null() => *output = Value::String(delta.to_owned()),
            Block::ToolResult { .. }
            | Block::UserMessage { .. }
            | Block::ToolUse { .. }
            | Block::System { .. }
            | Block::Subagent { .. }
            | Block::Error { .. } => {}
        }
    }

    /// Appends a delta, up to the size limit of an event. The completed block carries no more either, and folding a log must
    /// not hold everything that a program prints.
    pub fn grow(&mut self, delta: &str) {
        let room = MAX_EVENT_BYTES.saturating_sub(self.text().len());
        self.push_delta(&delta[..delta.floor_char_boundary(room)]);
    }

    /// The text that grows by deltas.
    fn text(&self) -> &str {
        match self {
            Block::AssistantText { content, .. } | Block::Thinking { content, .. } => content,
            Block::ToolResult { output: Value::String(text), .. } => text,
            Block::ToolResult { .. }
            | Block::UserMessage { .. }
            | Block::ToolUse { .. }
            | Block::System { .. }
            | Block::Subagent { .. }
            | Block::Error { .. } => "",
        }
    }

    /// This block with `updates` put over its fields, or `None` if the result would not be a block.
    #[must_use]
    pub fn updated(&self, updates: &Map<String, Value>) -> Option<Block> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return None };
        for (key, value) in updates {
            if key != "type" && key != "id" {
                fields.insert(key.clone(), value.clone());
            }
        }
        serde_json::from_value(Value::Object(fields)).ok()
    }

    /// What this block becomes if whoever was writing it is gone, or `None` if it is whole already.
    #[must_use]
    pub fn cut_short(&self) -> Option<Block> {
        let mut cut = self.clone();
        match &mut cut {
            Block::ToolUse { status, .. } | Block::Subagent { status, .. }
                if matches!(status, BlockStatus::Pending | BlockStatus::Running) =>
            {
                *status = BlockStatus::Error;
                Some(cut)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Block;
    use crate::MAX_EVENT_BYTES;

    #[test]
    fn text_grows_up_to_what_an_event_holds_and_is_cut_between_characters() {
        let at = "2026-01-01T00:00:00.000Z";
        for start in [
            json!({"type": "assistant_text", "id": "a", "timestamp": at, "content": ""}),
            json!({"type": "tool_result", "id": "a", "timestamp": at, "toolUseId": "t", "output": null, "isError": false}),
        ] {
            let mut block: Block = serde_json::from_value(start).expect("a block");
            block.grow("x");
            for _ in 0..300 {
                block.grow(&"é".repeat(512));
            }
            // One byte is left, and no character fits.
            assert_eq!(block.text().len(), MAX_EVENT_BYTES - 1);
            assert!(block.text().starts_with("xéé") && block.text().ends_with('é'));
        }
    }
}
