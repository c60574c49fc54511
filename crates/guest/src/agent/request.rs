//! The request for an answer.

use serde_json::Value;

use warren_domain::ReasoningEffort;

use super::api::Api;

/// A request for an answer, whichever provider gives it.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    /// In the shape of Anthropic's messages.
    pub(super) messages: Vec<Value>,
    pub(super) tools: Vec<Value>,
    /// The provider may search the web for the answer.
    pub(super) searches: bool,
    pub(super) thinking: Thinking,
    /// How much it thinks, if somebody said so.
    pub(super) effort: Option<ReasoningEffort>,
    /// Earlier thoughts go back to the provider that sealed them, unless it does not take them any more.
    pub(super) has_thoughts: bool,
    /// The longest answer, in tokens.
    pub(super) max_output: u64,
    /// The conversation goes on from here, so the provider's cache should keep it.
    pub(super) is_cached: bool,
}

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
        match Api::of_model(model) {
            Api::OpenAi if is_any(&["gpt-3", "gpt-4", "chatgpt", "gpt-5-chat"]) => Self::Off,
            Api::Gemini if is_any(&["gemma", "gemini-1", "gemini-2.0"]) => Self::Off,
            Api::OpenAi | Api::Gemini => Self::Adaptive,
            Api::Anthropic if !model.contains("claude") => Self::Off,
            Api::Anthropic if model.contains("claude-3") && !model.contains("claude-3-7") => Self::Off,
            Api::Anthropic
                if is_any(&["claude-3-7", "-4-0", "-4-1", "-4-5", "opus-4-2025", "sonnet-4-2025"]) =>
            {
                Self::Budget(8_000)
            }
            Api::Anthropic => Self::Adaptive,
        }
    }
}

/// How many tokens of thought an effort stands for, where a provider counts them.
pub(super) fn tokens(effort: ReasoningEffort) -> u32 {
    match effort {
        ReasoningEffort::Low => 2_000,
        ReasoningEffort::Medium => 8_000,
        ReasoningEffort::High => 24_000,
    }
}

/// The longest answer that a model gives.
pub(super) fn max_output(model: &str) -> u64 {
    let limits = [
        ("claude-3-opus", 4_096),
        ("claude-3-haiku", 4_096),
        ("claude-3-5", 8_192),
        ("gemini-1", 8_192),
        ("gemini-2.0", 8_192),
        ("gpt-3", 4_096),
        ("gpt-4-", 4_096),
        ("gpt-4o", 16_384),
    ];
    limits.iter().find(|(name, _)| model.contains(name)).map_or(32_000, |(_, tokens)| *tokens)
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
        assert_eq!(of("gpt-5.5"), Thinking::Adaptive);
        assert_eq!(of("gpt-4.1-mini"), Thinking::Off);
        assert_eq!(of("gemini-2.5-pro"), Thinking::Adaptive);
        assert_eq!(of("gemini-2.0-flash"), Thinking::Off);
    }
}
