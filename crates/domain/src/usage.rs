//! Usage: tokens and money.

use serde::{Deserialize, Serialize};

/// Tokens and money of one model call, one run or one session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from a provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Input tokens written into a provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Output tokens spent on thinking, if the provider reports them.
    #[serde(skip_serializing_if = "is_zero")]
    pub thinking_tokens: u64,
    /// Estimated tokens of calls whose provider did not report everything. Part of the total and of no other field.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
    /// All of the above that are billed: input, output, cache, and estimated tokens.
    pub total_tokens: u64,
    /// Cost in US dollars, by the price table. Includes the cost of estimated tokens.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// The model, or `None` when several took part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Usage {
    /// Adds another usage to this one. The model stays only if both agree.
    pub fn add(&mut self, other: &Usage) {
        if self.total_tokens == 0 && self.model.is_none() {
            self.model.clone_from(&other.model);
        } else if self.model != other.model {
            self.model = None;
        }
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.thinking_tokens = self.thinking_tokens.saturating_add(other.thinking_tokens);
        self.estimated_tokens = self.estimated_tokens.saturating_add(other.estimated_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cost_usd += other.cost_usd;
    }

    /// Adds tokens that no provider reported, with their cost.
    pub fn add_estimate(&mut self, tokens: u64, cost_usd: f64) {
        self.estimated_tokens = self.estimated_tokens.saturating_add(tokens);
        self.total_tokens = self.total_tokens.saturating_add(tokens);
        self.cost_usd += cost_usd;
    }

    /// Sets the total from its parts.
    #[must_use]
    pub fn totalled(mut self) -> Self {
        let parts =
            [self.output_tokens, self.cache_read_tokens, self.cache_write_tokens, self.estimated_tokens];
        self.total_tokens = parts.into_iter().fold(self.input_tokens, u64::saturating_add);
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn usage_of_two_models_names_neither() {
        let of = |model: &str, n| {
            Usage { input_tokens: n, model: Some(model.to_owned()), ..Usage::default() }.totalled()
        };
        let mut sum = Usage::default();
        sum.add(&of("a", 1));
        assert_eq!(sum, of("a", 1));
        sum.add(&of("b", 2));
        assert_eq!(sum, Usage { input_tokens: 3, total_tokens: 3, ..Usage::default() });
    }

    #[test]
    fn estimated_tokens_are_part_of_the_total_and_shown_apart() {
        let mut sum = Usage { input_tokens: 3, output_tokens: 4, ..Usage::default() }.totalled();
        sum.add_estimate(10, 0.5);
        let expected = Usage {
            input_tokens: 3,
            output_tokens: 4,
            estimated_tokens: 10,
            total_tokens: 17,
            cost_usd: 0.5,
            ..Usage::default()
        };
        assert_eq!((&sum, sum.clone().totalled()), (&expected, expected.clone()));
        let exact = serde_json::to_string(&Usage::default()).expect("usage is JSON");
        assert!(!exact.contains("estimated"), "{exact}");
    }
}
