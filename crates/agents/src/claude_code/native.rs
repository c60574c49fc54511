//! Claude Code's own words, as far as they matter here: lines of its output and of its transcripts, which differ
//! mostly in spelling (`tool_use_result`, `toolUseResult`).

mod line;
mod message;
mod stream;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use warren_domain::Usage;

use super::scan::{Cursor, Malformed, Progress, number};
pub(super) use line::{Kind, Line, QUIET_SYSTEM};
pub(super) use message::{Attachment, Body, Message, Part};
pub(super) use stream::StreamEvent;

/// The model of a message that Claude Code wrote itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// What one call of the API used.
#[derive(Clone, Copy, Default)]
pub(super) struct Tokens {
    input: u64,
    output: u64,
    cache_write: u64,
    cache_read: u64,
    thinking: u64,
}

/// What one model used in all.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    thinking_tokens: u64,
    #[serde(default, rename = "costUSD")]
    cost_usd: f64,
}

/// The last line of a turn.
#[derive(Deserialize)]
pub(super) struct TurnResult {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) errors: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) api_error_status: Option<Value>,
    #[serde(default)]
    pub(super) terminal_reason: Option<String>,
    #[serde(default)]
    pub(super) total_cost_usd: Option<f64>,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: Option<BTreeMap<String, ModelUsage>>,
}

/// What a transcript says of all costs so far.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CostState {
    #[serde(default, rename = "totalCostUSD")]
    pub(super) total_cost_usd: f64,
    #[serde(default)]
    pub(super) model_usage: BTreeMap<String, ModelUsage>,
}

/// What the tool that calls subagents says beside its result.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentReport {
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) total_duration_ms: Option<u64>,
}

/// What the end of a compaction says.
#[derive(Deserialize, Default)]
pub(super) struct CompactMetadata {
    #[serde(default)]
    pub(super) trigger: Option<String>,
    #[serde(default, alias = "preTokens")]
    pub(super) pre_tokens: Option<u64>,
    #[serde(default, alias = "postTokens")]
    pub(super) post_tokens: Option<u64>,
}

impl Tokens {
    /// What the field says; fields that are not there or are no numbers count nothing.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let (mut tokens, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            let field = match key {
                b"input_tokens" => &mut tokens.input,
                b"output_tokens" => &mut tokens.output,
                b"cache_creation_input_tokens" => &mut tokens.cache_write,
                b"cache_read_input_tokens" => &mut tokens.cache_read,
                b"output_tokens_details" => {
                    tokens.thinking = cursor.attempt(thinking_tokens)?.unwrap_or(0);
                    continue;
                }
                _ => {
                    cursor.value()?;
                    continue;
                }
            };
            *field = number(cursor.value()?).unwrap_or(0);
        }
        Ok(tokens)
    }

    pub(super) fn usage(self, model: &str) -> Usage {
        Usage {
            input_tokens: self.input,
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            thinking_tokens: self.thinking,
            model: (!model.is_empty()).then(|| model.to_owned()),
            ..Usage::default()
        }
        .totalled()
    }
}

fn thinking_tokens(cursor: &mut Cursor<'_>) -> Result<u64, Malformed> {
    let (mut tokens, mut progress) = (0, Progress::default());
    while let Some(key) = cursor.next_key(&mut progress)? {
        let value = cursor.value()?;
        if key == b"thinking_tokens" {
            tokens = number(value).unwrap_or(0);
        }
    }
    Ok(tokens)
}

/// What all models used together.
pub(super) fn total(models: &BTreeMap<String, ModelUsage>) -> Usage {
    let mut total = Usage::default();
    for (model, used) in models {
        let usage = Usage {
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            cache_read_tokens: used.cache_read_input_tokens,
            cache_write_tokens: used.cache_creation_input_tokens,
            thinking_tokens: used.thinking_tokens,
            cost_usd: used.cost_usd,
            model: Some(model.clone()),
            ..Usage::default()
        };
        total.add(&usage.totalled());
    }
    total
}
