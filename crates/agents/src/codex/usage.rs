//! What was spent.

use serde_json::Value;
use warren_domain::Usage;

use crate::fields::number;

/// Tokens as OpenAI counts them: the input includes what came from the cache, the output what was thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) cache_written: u64,
    pub(super) output: u64,
    pub(super) thinking: u64,
}

impl Tokens {
    /// As rollouts and `exec --json` write them.
    pub(super) fn read(usage: &Value) -> Self {
        Self {
            input: number(usage, "input_tokens"),
            cached: number(usage, "cached_input_tokens"),
            cache_written: number(usage, "cache_write_input_tokens"),
            output: number(usage, "output_tokens"),
            thinking: number(usage, "reasoning_output_tokens"),
        }
    }

    /// What was spent since `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            cache_written: self.cache_written.saturating_sub(before.cache_written),
            output: self.output.saturating_sub(before.output),
            thinking: self.thinking.saturating_sub(before.thinking),
        }
    }

    /// In the words of the log.
    pub(super) fn usage(self, model: Option<&str>) -> Usage {
        let usage = Usage {
            input_tokens: self.input.saturating_sub(self.cached).saturating_sub(self.cache_written),
            output_tokens: self.output,
            cache_read_tokens: self.cached,
            cache_write_tokens: self.cache_written,
            thinking_tokens: self.thinking,
            model: model.map(str::to_owned),
            ..Usage::default()
        };
        usage.totalled()
    }

    /// Everything the model had before it at the end.
    pub(super) fn context(self) -> u64 {
        self.input + self.output
    }
}
