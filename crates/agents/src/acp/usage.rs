//! What was spent, as agents tell it: with the answer to a prompt, or on the way.

use serde_json::Value;
use warren_domain::Usage;

use crate::fields::{list, number, present, text};

/// What the answer to a prompt says.
pub(super) fn of_answer(answer: &Value) -> Option<Usage> {
    if let Some(usage) = present(answer, "usage") {
        let cached = number(usage, "cachedReadTokens");
        let written = number(usage, "cachedWriteTokens");
        let counted = Usage {
            input_tokens: number(usage, "inputTokens"),
            output_tokens: number(usage, "outputTokens"),
            cache_read_tokens: cached,
            cache_write_tokens: written,
            thinking_tokens: number(usage, "thoughtTokens"),
            ..Usage::default()
        };
        return Some(counted.totalled());
    }
    let quota = answer.pointer("/_meta/quota")?;
    let tokens = quota.get("token_count")?;
    let models = list(quota, "model_usage");
    let model = match models {
        [one] => text(one, "model").map(str::to_owned),
        _ => None,
    };
    let usage = Usage {
        input_tokens: number(tokens, "input_tokens"),
        output_tokens: number(tokens, "output_tokens"),
        model,
        ..Usage::default()
    };
    Some(usage.totalled())
}
