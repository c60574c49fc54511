//! Counts what a chat completion used.

use serde::Deserialize;
use warren_domain::Usage;

use crate::{
    format::Metered,
    meter::{Progress, Tally},
    sse::Event,
};

/// The usage of one completion. A stream tells it in its last chunk, if the request asked for it; some providers tell it
/// in every chunk, as a running total.
#[derive(Default)]
pub(crate) struct ChatTally {
    model: Option<String>,
    usage: WireUsage,
}

/// A whole completion, or one chunk of a stream.
#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    /// With what came from the cache.
    #[serde(default)]
    prompt_tokens: u64,
    /// With reasoning, at most providers.
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl Tally for ChatTally {
    fn on_event(&mut self, event: &Event) -> Progress {
        if event.data.trim_ascii() == b"[DONE]" {
            return Progress::Over;
        }
        self.on_whole(&event.data);
        Progress::Going
    }

    fn on_whole(&mut self, body: &[u8]) {
        let Ok(completion) = serde_json::from_slice::<Completion>(body) else { return };
        self.model = completion.model.or(self.model.take());
        if let Some(usage) = completion.usage {
            self.usage = usage;
        }
    }

    fn total(&self) -> Metered {
        let WireUsage { prompt_tokens, completion_tokens, total_tokens, .. } = self.usage;
        let cached = self.usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        let thinking =
            self.usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        let cached = cached.unwrap_or_default().min(prompt_tokens);
        let usage = Usage {
            input_tokens: prompt_tokens - cached,
            // Where reasoning is not among the completion's tokens, the total has it all the same.
            output_tokens: completion_tokens.max(total_tokens.saturating_sub(prompt_tokens)),
            cache_read_tokens: cached,
            thinking_tokens: thinking.unwrap_or_default(),
            ..Usage::default()
        };
        Metered { usage: usage.totalled(), model: self.model.clone(), ..Metered::default() }
    }
}

#[cfg(test)]
mod tests;
