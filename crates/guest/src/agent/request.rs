//! The request for an answer.

use serde_json::{Value, json};

use super::role::Role;

/// Whether and how a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model decides how much.
    Adaptive,
    /// At most this many tokens.
    Budget(u32),
    Off,
}

impl Thinking {
    /// What a model can do, by its name. A wrong guess costs one refused request.
    pub(super) fn of_model(model: &str) -> Self {
        let is_any = |names: &[&str]| names.iter().any(|name| model.contains(name));
        if !model.contains("claude") || (model.contains("claude-3") && !model.contains("claude-3-7")) {
            Self::Off
        } else if is_any(&["claude-3-7", "-4-0", "-4-1", "-4-5", "opus-4-2025", "sonnet-4-2025"]) {
            Self::Budget(8_000)
        } else {
            Self::Adaptive
        }
    }
}

/// The body of a request. The end of what stays the same is marked, so that the provider's cache serves it.
pub(super) fn body(role: &Role, mut messages: Vec<Value>, thinking: Thinking) -> Vec<u8> {
    if let Some(last) = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut())
    {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    let mut body = json!({
        "model": role.model,
        "max_tokens": max_tokens(&role.model),
        "stream": true,
        "system": [{"type": "text", "text": role.system, "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
    });
    if !role.tools.is_empty() {
        body["tools"] = Value::Array(role.schemas());
    }
    match thinking {
        Thinking::Adaptive => body["thinking"] = json!({"type": "adaptive", "display": "summarized"}),
        Thinking::Budget(tokens) => body["thinking"] = json!({"type": "enabled", "budget_tokens": tokens}),
        Thinking::Off => {}
    }
    body.to_string().into_bytes()
}

fn max_tokens(model: &str) -> u32 {
    if model.contains("claude-3-opus") || model.contains("claude-3-haiku") {
        4_096
    } else if model.contains("claude-3-5") {
        8_192
    } else {
        32_000
    }
}

#[cfg(test)]
mod tests {
    use super::Thinking;

    #[test]
    fn models_are_asked_to_think_in_the_way_they_can() {
        let of = Thinking::of_model;
        assert_eq!(of("claude-sonnet-4-5"), Thinking::Budget(8_000));
        assert_eq!(of("claude-3-7-sonnet-latest"), Thinking::Budget(8_000));
        assert_eq!(of("claude-opus-4-7"), Thinking::Adaptive);
        assert_eq!(of("claude-3-5-haiku-latest"), Thinking::Off);
        assert_eq!(of("demo"), Thinking::Off);
    }
}
