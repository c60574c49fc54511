//! Counts what generated content used.

use serde::{Deserialize, de::IgnoredAny};
use warren_domain::Usage;

use crate::{
    format::Metered,
    meter::{Progress, Tally},
    price::grounded_prompt,
    sse::Event,
};

/// The usage of one answer. Every piece of a stream tells it anew, as a running total.
#[derive(Default)]
pub(crate) struct ContentTally {
    model: Option<String>,
    usage: WireUsage,
    /// Whether Google searched for it.
    is_grounded: bool,
}

/// A whole answer, or one piece of a stream.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    usage_metadata: Option<WireUsage>,
    model_version: Option<String>,
    #[serde(default)]
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    finish_reason: Option<String>,
    grounding_metadata: Option<Grounding>,
}

/// Where an answer comes from. Also there, but empty, when nothing was searched for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grounding {
    #[serde(default)]
    web_search_queries: Vec<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUsage {
    /// With what came from the cache.
    prompt_token_count: Option<u64>,
    /// Results of the provider's own tools that the model read.
    tool_use_prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    /// Without thinking.
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl Tally for ContentTally {
    fn on_event(&mut self, event: &Event) -> Progress {
        let Ok(answer) = serde_json::from_slice::<Answer>(&event.data) else { return Progress::Going };
        // The stream has no event for its end; the reason is in its last pieces.
        let finished = answer.candidates.iter().any(|candidate| candidate.finish_reason.is_some());
        self.on_answer(answer);
        if finished { Progress::Finished } else { Progress::Going }
    }

    /// A stream that is not asked for as events is a list of the same pieces.
    fn on_whole(&mut self, body: &[u8]) {
        if body.trim_ascii_start().starts_with(b"[") {
            let pieces = serde_json::from_slice::<Vec<Answer>>(body).unwrap_or_default();
            pieces.into_iter().for_each(|piece| self.on_answer(piece));
        } else if let Ok(answer) = serde_json::from_slice(body) {
            self.on_answer(answer);
        }
    }

    fn total(&self) -> Metered {
        let count = Option::unwrap_or_default;
        let cached: u64 = count(self.usage.cached_content_token_count);
        let read = count(self.usage.prompt_token_count) + count(self.usage.tool_use_prompt_token_count);
        let thinking = count(self.usage.thoughts_token_count);
        let usage = Usage {
            input_tokens: read.saturating_sub(cached),
            output_tokens: count(self.usage.candidates_token_count) + thinking,
            cache_read_tokens: cached.min(read),
            thinking_tokens: thinking,
            ..Usage::default()
        };
        Metered {
            usage: usage.totalled(),
            tools_usd: grounded_prompt(self.is_grounded),
            model: self.model.clone(),
            ..Metered::default()
        }
    }
}

impl ContentTally {
    fn on_answer(&mut self, answer: Answer) {
        self.model = answer.model_version.or(self.model.take());
        let mut groundings = answer.candidates.iter().filter_map(|it| it.grounding_metadata.as_ref());
        self.is_grounded |= groundings.any(|grounding| !grounding.web_search_queries.is_empty());
        let Some(later) = answer.usage_metadata else { return };
        let usage = &mut self.usage;
        usage.prompt_token_count = later.prompt_token_count.or(usage.prompt_token_count);
        usage.tool_use_prompt_token_count =
            later.tool_use_prompt_token_count.or(usage.tool_use_prompt_token_count);
        usage.cached_content_token_count =
            later.cached_content_token_count.or(usage.cached_content_token_count);
        usage.candidates_token_count = later.candidates_token_count.or(usage.candidates_token_count);
        usage.thoughts_token_count = later.thoughts_token_count.or(usage.thoughts_token_count);
    }
}

#[cfg(test)]
mod tests;
