//! What Gemini CLI prints and writes, as far as it is used here.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};
use warren_domain::Timestamp;

use super::text;
use crate::fields::lax;

/// A line of stdout.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Said {
    Init(Init),
    Message(Message),
    ToolUse(ToolUse),
    ToolResult(ToolResult),
    Error(Problem),
    Result(Finish),
    /// A line of a file, printed by the guest's `follow` beside the program's own lines.
    #[serde(rename = "warren.file")]
    File(FileLine),
}

#[derive(Debug, Deserialize)]
pub(super) struct Init {
    #[serde(default, deserialize_with = "lax")]
    pub(super) model: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    pub(super) role: String,
    /// A text; or parts, of which the texts count.
    #[serde(default, deserialize_with = "words")]
    pub(super) content: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolUse {
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    pub(super) tool_name: String,
    pub(super) tool_id: String,
    #[serde(default)]
    pub(super) parameters: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolResult {
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    pub(super) tool_id: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) status: Option<String>,
    /// What a person would have been shown: often nothing.
    #[serde(default, deserialize_with = "any_words")]
    pub(super) output: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) error: Option<Failure>,
}

/// An error or a warning.
#[derive(Debug, Deserialize)]
pub(super) struct Problem {
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) severity: Option<String>,
    #[serde(default, deserialize_with = "words")]
    pub(super) message: String,
}

/// The last line.
#[derive(Debug, Deserialize)]
pub(super) struct Finish {
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) error: Option<Failure>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) stats: Option<Stats>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    pub(super) message: String,
}

/// What all calls of a process spent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    #[serde(deserialize_with = "lax")]
    pub(super) total_tokens: u64,
    /// With what came from a cache.
    #[serde(deserialize_with = "lax")]
    pub(super) input_tokens: u64,
    /// Without thinking, which is only in the total.
    #[serde(deserialize_with = "lax")]
    pub(super) output_tokens: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) cached: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) models: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FileLine {
    pub(super) path: String,
    pub(super) line: String,
    #[serde(default)]
    pub(super) restart: bool,
    #[serde(default)]
    pub(super) cut: bool,
}

/// A line of a chat file: which kind it is, and what is not a record.
#[derive(Debug, Deserialize)]
pub(super) struct ChatLine<'a> {
    #[serde(rename = "$rewindTo", default)]
    pub(super) rewind_to: Option<String>,
    #[serde(default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(rename = "$set", borrow, default)]
    pub(super) set: Option<Set<'a>>,
    #[serde(rename = "sessionId", default)]
    pub(super) session_id: Option<Cow<'a, str>>,
    #[serde(rename = "startTime", default)]
    pub(super) start_time: Option<String>,
    /// Older versions wrote one document with everything.
    #[serde(borrow, default)]
    pub(super) messages: Option<Vec<&'a RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Set<'a> {
    #[serde(borrow, default)]
    pub(super) messages: Option<Vec<&'a RawValue>>,
}

/// A message of a chat. A later one with the same id replaces it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) id: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// A text, a part, or a list of them.
    #[serde(default)]
    pub(super) content: Value,
    /// What the person wrote, where the model was told more than that.
    #[serde(default)]
    pub(super) display_content: Value,
    #[serde(default, deserialize_with = "lax")]
    pub(super) thoughts: Option<Vec<Thought>>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) tokens: Option<Tokens>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Thought {
    #[serde(default, deserialize_with = "lax")]
    pub(super) subject: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) description: Option<String>,
}

/// What one call of the model spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    /// With what came from a cache.
    #[serde(deserialize_with = "lax")]
    pub(super) input: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) output: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) cached: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) thoughts: u64,
    #[serde(deserialize_with = "lax")]
    pub(super) tool: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) args: Value,
    /// A text, or parts with the answers to this call and perhaps to others.
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default, deserialize_with = "lax")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) timestamp: Option<String>,
    /// The subagent that carried it out.
    #[serde(default, deserialize_with = "lax")]
    pub(super) agent_id: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) render_output_as_markdown: Option<bool>,
}

/// The text of a content, in whatever form.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(text::of_content(&Value::deserialize(from)?))
}

/// A text, or whatever stands in its place as JSON.
fn any_words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

/// A time of Gemini's, or `otherwise`.
pub(super) fn time(text: Option<&str>, otherwise: Timestamp) -> Timestamp {
    text.and_then(Timestamp::parse).unwrap_or(otherwise)
}
