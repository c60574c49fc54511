//! What the API streams. Unknown events, blocks and deltas are passed over: they appear with every release.

use serde::Deserialize;
use serde_json::Value;
use warren_domain::Usage;

use super::ErrorBody;

/// One event of an answer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::agent) enum ApiEvent {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        index: u64,
        content_block: ContentBlock,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: MessageDelta,
        #[serde(default)]
        usage: ApiUsage,
    },
    MessageStop,
    Error {
        error: ErrorBody,
    },
    #[serde(other)]
    Other,
}

/// The head of an answer.
#[derive(Debug, Deserialize)]
pub(in crate::agent) struct Message {
    #[serde(default)]
    pub(in crate::agent) id: String,
    #[serde(default)]
    pub(in crate::agent) model: String,
    #[serde(default)]
    pub(in crate::agent) usage: ApiUsage,
}

/// A piece of an answer begins.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::agent) enum ContentBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        #[serde(default)]
        data: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

/// A piece of an answer grows.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(in crate::agent) enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(other)]
    Other,
}

/// How an answer ends.
#[derive(Debug, Default, Deserialize)]
pub(in crate::agent) struct MessageDelta {
    #[serde(default)]
    pub(in crate::agent) stop_reason: Option<String>,
}

/// Tokens as the API counts them. Absent numbers leave earlier ones as they are.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(in crate::agent) struct ApiUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl ApiEvent {
    /// The end of an answer, in the words of an API that says it all at once.
    pub(super) fn end(stop_reason: &str, usage: ApiUsage) -> Self {
        Self::MessageDelta { delta: MessageDelta { stop_reason: Some(stop_reason.to_owned()) }, usage }
    }
}

impl ApiUsage {
    /// Of an API that counts what its cache served apart, and charges nothing for writing to it.
    pub(super) fn new(input: Option<u64>, output: Option<u64>, cached: u64) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            cache_creation_input_tokens: None,
            cache_read_input_tokens: input.map(|_| cached),
        }
    }

    /// Takes over what `later` says: the API's numbers of one answer are running totals.
    pub(in crate::agent) fn update(&mut self, later: &ApiUsage) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
    }

    /// In the domain's words. The price is known to the host only.
    pub(in crate::agent) fn to_usage(self, model: &str) -> Usage {
        Usage {
            input_tokens: self.input_tokens.unwrap_or(0),
            output_tokens: self.output_tokens.unwrap_or(0),
            cache_read_tokens: self.cache_read_input_tokens.unwrap_or(0),
            cache_write_tokens: self.cache_creation_input_tokens.unwrap_or(0),
            model: Some(model.to_owned()),
            ..Usage::default()
        }
        .totalled()
    }
}
