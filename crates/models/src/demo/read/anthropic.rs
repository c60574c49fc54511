//! Anthropic's Messages requests, and what the real API would refuse about them.

use std::{borrow::Cow, collections::BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::parse;
use crate::demo::ask::{self, ApiError, Ask, Form, Made};

/// Borrows from the body what it can: a conversation may be long.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    #[serde(default)]
    model: String,
    max_tokens: Option<u64>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(borrow, default)]
    system: Content<'a>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    thinking: Option<Thinking>,
    #[serde(default)]
    output_config: Value,
    #[serde(default)]
    metadata: Value,
}

#[derive(Debug, Deserialize)]
struct Thinking {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    input_schema: Value,
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    role: Role,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
    /// Agents add instructions in the middle of a conversation.
    System,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    #[serde(borrow)]
    Blocks(Vec<Block<'a>>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        #[serde(borrow)]
        text: Cow<'a, str>,
    },
    ToolUse {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow, default)]
        name: Cow<'a, str>,
    },
    ToolResult {
        #[serde(borrow)]
        tool_use_id: Cow<'a, str>,
        #[serde(borrow, default)]
        content: Content<'a>,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

pub(super) fn read(path: &str, body: &[u8]) -> Result<Ask, ApiError> {
    let request: Request<'_> = parse(body)?;
    if !path.ends_with("/count_tokens") {
        request.check()?;
    }
    let mut ask = Ask {
        model: request.model,
        system: request.system.text(),
        tools: request.tools.into_iter().map(tool).collect(),
        stream: request.stream,
        thinks: request.thinking.is_none_or(|thinking| thinking.kind != "disabled"),
        schema: request.output_config.pointer("/format/schema").cloned(),
        max_tokens: request.max_tokens,
        caches: body.windows(15).any(|window| window == b"\"cache_control\""),
        tells_usage: true,
        session: super::string(&request.metadata["user_id"]),
        ..Ask::default()
    };
    // Not joined: an answer that was interrupted and the next one are two.
    ask.messages.extend(request.messages.into_iter().map(message));
    Ok(ask)
}

fn tool(tool: Tool) -> ask::Tool {
    let Tool { name, description, input_schema: schema } = tool;
    ask::Tool { name, namespace: None, description, schema, form: Form::Function }
}

fn message(message: Message<'_>) -> ask::Message {
    let role = match message.role {
        Role::User => ask::Role::User,
        Role::Assistant => ask::Role::Model,
        Role::System => ask::Role::System,
    };
    let mut heard = ask::Message::of(role);
    heard.texts = message.content.texts().map(str::to_owned).collect();
    let blocks = if let Content::Blocks(blocks) = message.content { blocks } else { Vec::new() };
    for block in blocks {
        match block {
            Block::Text { .. } => {}
            Block::ToolUse { id, name } => {
                heard.calls.push(Made { id: id.into_owned(), tool: name.into_owned() });
            }
            Block::ToolResult { tool_use_id: id, content, is_error } => {
                let (id, text) = (id.into_owned(), content.text());
                heard.results.push(ask::ToolResult { id, text, is_error });
            }
            Block::Other => heard.n_other += 1,
        }
    }
    heard
}

impl Request<'_> {
    /// Refuses what the real API refuses, so that an agent that works here works there.
    fn check(&self) -> Result<(), ApiError> {
        if self.max_tokens.is_none_or(|tokens| tokens == 0) {
            return Err(ApiError::invalid("max_tokens: Field required"));
        }
        let spoken = || self.messages.iter().filter(|message| message.role != Role::System);
        let (Some(first), Some(last)) = (spoken().next(), spoken().next_back()) else {
            return Err(ApiError::invalid("messages: at least one message is required"));
        };
        if first.role != Role::User {
            return Err(ApiError::invalid("messages: first message must use the \"user\" role"));
        }
        if last.role != Role::User {
            return Err(ApiError::invalid("The conversation must end with a user message."));
        }
        let mut numbered =
            self.messages.iter().enumerate().filter(|(_, message)| message.role != Role::System);
        numbered.try_for_each(|(idx, message)| message.content.check(idx))?;
        self.check_pairs()
    }

    /// Each call of a tool is answered in the next message, and nothing else is answered.
    fn check_pairs(&self) -> Result<(), ApiError> {
        let mut open = BTreeSet::new();
        let spoken = self.messages.iter().enumerate().filter(|(_, message)| message.role != Role::System);
        for (idx, message) in spoken {
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

impl<'a> Content<'a> {
    fn blocks(&self) -> &[Block<'a>] {
        match self {
            Content::Text(_) => &[],
            Content::Blocks(blocks) => blocks,
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let alone = match self {
            Content::Text(text) => Some(text.as_ref()),
            Content::Blocks(_) => None,
        };
        alone.into_iter().chain(self.blocks().iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_ref()),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other => None,
        }))
    }

    /// All texts, one under the other.
    fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    fn tool_uses(&self) -> impl Iterator<Item = &str> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_ref()),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Other => None,
        })
    }

    fn tool_results(&self) -> impl Iterator<Item = &str> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_ref()),
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

impl Default for Content<'_> {
    fn default() -> Self {
        Content::Blocks(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    fn refusal(messages: &Value) -> Option<String> {
        let body = json!({ "model": "m", "max_tokens": 9, "messages": messages }).to_string();
        read("/v1/messages", body.as_bytes()).err().map(|error| error.message)
    }

    #[test]
    fn a_conversation_that_the_real_api_takes_is_taken() {
        // Agents add instructions anywhere, and after a compaction also empty ones.
        let used = json!({ "type": "tool_use", "id": "t", "name": "bash", "input": {} });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "ok" });
        let messages = json!([
            { "role": "user", "content": "hi" },
            { "role": "system", "content": [] },
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": "", "signature": "" }, used] },
            { "role": "user", "content": [result, { "type": "text", "text": "go on" }] },
            { "role": "system", "content": "be brief" },
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
