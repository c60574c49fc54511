//! A request as the demo model reads it, and what the real API would refuse about it.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) max_tokens: Option<u64>,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    pub(super) system: Content,
    #[serde(default)]
    pub(super) tools: Vec<Tool>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    pub(super) thinking: Option<Thinking>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thinking {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) input_schema: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Content,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

impl ApiError {
    pub(super) fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into() }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }
}

impl Request {
    pub(super) fn read(body: &[u8]) -> Result<Self, ApiError> {
        serde_json::from_slice(body).map_err(|error| ApiError::invalid(error.to_string()))
    }

    /// Refuses what the real API refuses, so that an agent that works here works there.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        if self.max_tokens.is_none_or(|tokens| tokens == 0) {
            return Err(ApiError::invalid("max_tokens: Field required"));
        }
        let (Some(first), Some(last)) = (self.messages.first(), self.messages.last()) else {
            return Err(ApiError::invalid("messages: at least one message is required"));
        };
        if first.role != Role::User {
            return Err(ApiError::invalid("messages: first message must use the \"user\" role"));
        }
        if last.role != Role::User {
            return Err(ApiError::invalid("The conversation must end with a user message."));
        }
        self.messages.iter().enumerate().try_for_each(|(idx, message)| message.content.check(idx))?;
        self.check_pairs()
    }

    /// Each call of a tool is answered in the next message, and nothing else is answered.
    fn check_pairs(&self) -> Result<(), ApiError> {
        let mut open = BTreeSet::new();
        for (idx, message) in self.messages.iter().enumerate() {
            for answered in message.content.tool_results() {
                if !open.remove(answered) {
                    return Err(ApiError::invalid(format!(
                        "messages.{idx}: unexpected `tool_use_id` found in `tool_result` blocks: {answered}. Each \
                         `tool_result` block must have a corresponding `tool_use` block in the previous message."
                    )));
                }
            }
            if let Some(id) = open.first() {
                return Err(ApiError::invalid(format!(
                    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
                     `tool_use` block must have a corresponding `tool_result` block in the next message.",
                    idx - 1
                )));
            }
            open = message.content.tool_uses().collect();
        }
        Ok(())
    }
}

impl Content {
    pub(super) fn blocks(&self) -> &[Block] {
        match self {
            Content::Text(_) => &[],
            Content::Blocks(blocks) => blocks,
        }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let alone = match self {
            Content::Text(text) => Some(text.as_str()),
            Content::Blocks(_) => None,
        };
        alone.into_iter().chain(self.blocks().iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other => None,
        }))
    }

    /// All texts, one under the other.
    pub(super) fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    fn tool_uses(&self) -> impl Iterator<Item = &str> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str()),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Other => None,
        })
    }

    fn tool_results(&self) -> impl Iterator<Item = &str> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            Block::Text { .. } | Block::ToolUse { .. } | Block::Other => None,
        })
    }

    fn check(&self, idx: usize) -> Result<(), ApiError> {
        let empty = match self {
            Content::Text(text) => text.is_empty(),
            Content::Blocks(blocks) => blocks.is_empty(),
        };
        if empty {
            return Err(ApiError::invalid(format!(
                "messages.{idx}: all messages must have non-empty content"
            )));
        }
        if self.blocks().iter().any(|block| matches!(block, Block::Text { text } if text.is_empty())) {
            return Err(ApiError::invalid("messages: text content blocks must be non-empty"));
        }
        Ok(())
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Blocks(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Request;

    fn refusal(messages: &Value) -> Option<String> {
        let body = json!({ "model": "m", "max_tokens": 9, "messages": messages }).to_string();
        Request::read(body.as_bytes()).and_then(|request| request.check()).err().map(|error| error.message)
    }

    #[test]
    fn a_conversation_that_the_real_api_takes_is_taken() {
        let used = json!({ "type": "tool_use", "id": "t", "name": "bash", "input": {} });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "ok" });
        let messages = json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": "", "signature": "" }, used] },
            { "role": "user", "content": [result, { "type": "text", "text": "go on" }] },
        ]);
        assert_eq!(refusal(&messages), None);
    }

    #[test]
    fn what_the_real_api_refuses_is_refused() {
        let user = json!({ "role": "user", "content": "hi" });
        let used = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "bash", "input": {} }] });
        let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "u" }] });
        let cases = [
            (json!([]), "messages: at least one message"),
            (json!([used]), "messages: first message must use"),
            (json!([user, { "role": "assistant", "content": "x" }]), "The conversation must end with"),
            (json!([user, used, user]), "messages.1: `tool_use` ids were found without"),
            (json!([user, used, result]), "messages.2: unexpected `tool_use_id`"),
            (json!([user, result]), "messages.1: unexpected `tool_use_id`"),
            (json!([{ "role": "user", "content": "" }]), "messages.0: all messages must have"),
            (
                json!([{ "role": "user", "content": [{ "type": "text", "text": "" }] }]),
                "messages: text content",
            ),
        ];
        for (messages, expected) in cases {
            let found = refusal(&messages).unwrap_or_default();
            assert!(found.starts_with(expected), "{messages}: {found}");
        }
    }
}
