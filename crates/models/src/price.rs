//! What tokens cost.

use crate::format::Metered;

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input that came from no cache.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input that the provider's cache answered.
    pub cache_read: f64,
    /// Input written into the provider's cache for a few minutes.
    pub cache_write: f64,
    /// Input written into the provider's cache for an hour.
    pub cache_write_long: f64,
}

/// Prices by the beginning of a model's name; the longest that fits counts.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceTable {
    rows: Vec<(String, Price)>,
}

impl Price {
    /// The price of a model whose cache costs what Anthropic's does: reading a tenth of the input's price, writing 1.25
    /// times, for an hour twice.
    #[must_use]
    pub const fn of(input: f64, output: f64) -> Self {
        Self {
            input,
            output,
            cache_read: input * 0.1,
            cache_write: input * 1.25,
            cache_write_long: input * 2.0,
        }
    }

    /// The price of a model whose cache is filled at no charge of its own, as OpenAI's and Gemini's are.
    #[must_use]
    pub const fn with_cache(input: f64, output: f64, cache_read: f64) -> Self {
        Self { input, output, cache_read, cache_write: input, cache_write_long: input }
    }

    /// The same prices, all so many times as high.
    pub(crate) fn times(self, factor: f64) -> Price {
        Price {
            input: self.input * factor,
            output: self.output * factor,
            cache_read: self.cache_read * factor,
            cache_write: self.cache_write * factor,
            cache_write_long: self.cache_write_long * factor,
        }
    }

    /// Whether nothing is paid, as with the demo model.
    pub(crate) fn is_free(&self) -> bool {
        self.input <= 0.0 && self.output <= 0.0
    }

    /// What so many tokens cost at most, whatever a cache does.
    pub(crate) fn most(&self, input: u64, output: u64) -> f64 {
        let dearest =
            [self.cache_read, self.cache_write, self.cache_write_long].into_iter().fold(self.input, f64::max);
        (to_f64(input) * dearest + to_f64(output) * self.output) / 1_000_000.0
    }

    fn cost(&self, metered: &Metered) -> f64 {
        let usage = &metered.usage;
        let short_writes = usage.cache_write_tokens.saturating_sub(metered.long_cache_write_tokens);
        let parts = [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (short_writes, self.cache_write),
            (metered.long_cache_write_tokens, self.cache_write_long),
        ];
        parts.into_iter().map(|(tokens, price)| to_f64(tokens) * price / 1_000_000.0).sum()
    }
}

impl PriceTable {
    /// A table without rows: everything costs nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self { rows: Vec::new() }
    }

    /// Adds a row, or replaces the one with the same prefix.
    #[must_use]
    pub fn with(mut self, prefix: &str, price: Price) -> Self {
        self.rows.retain(|(known, _)| known != prefix);
        self.rows.push((prefix.to_owned(), price));
        self
    }

    /// The price of a model; `None` if no row fits. A name such as `openai/gpt-5` counts as what follows the last slash,
    /// unless a row has it whole.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        let own_name = || model.rsplit_once('/').and_then(|(_, name)| self.of_name(name));
        self.of_name(model).or_else(own_name)
    }

    fn of_name(&self, model: &str) -> Option<Price> {
        let fitting = self.rows.iter().filter(|(prefix, _)| model.starts_with(prefix.as_str()));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, price)| *price)
    }

    /// What a call cost. A model without a price costs nothing, and the log says so.
    pub(crate) fn cost(&self, model: &str, metered: &Metered) -> f64 {
        if metered.usage.total_tokens == 0 {
            return 0.0;
        }
        match self.price(model) {
            Some(price) => price.cost(metered),
            None => {
                tracing::warn!(model, "no price is known for this model; its calls count as free");
                0.0
            }
        }
    }
}

impl Default for PriceTable {
    /// The providers' list prices, as far as they were known when this was built; an operator overrides them in the
    /// configuration. Where long requests cost more, this is the price of short ones.
    ///
    /// The demo model costs nothing.
    fn default() -> Self {
        let demo = [(crate::demo::MODEL, Price::of(0.0, 0.0))];
        let rows = CLAUDE.iter().chain(GEMINI).chain(OPENAI).chain(&demo);
        Self { rows: rows.map(|(prefix, price)| ((*prefix).to_owned(), *price)).collect() }
    }
}

/// The short prefixes at the end of each list price models that came later by their family.
const CLAUDE: &[(&str, Price)] = &[
    ("claude-opus-4-0", Price::of(15.0, 75.0)),
    ("claude-opus-4-1", Price::of(15.0, 75.0)),
    ("claude-opus-4-2025", Price::of(15.0, 75.0)),
    ("claude-3-opus", Price::of(15.0, 75.0)),
    ("claude-3-5-sonnet", Price::of(3.0, 15.0)),
    ("claude-3-7-sonnet", Price::of(3.0, 15.0)),
    ("claude-3-5-haiku", Price::of(0.8, 4.0)),
    ("claude-3-haiku", Price::of(0.25, 1.25)),
    ("claude-opus", Price::of(5.0, 25.0)),
    ("claude-sonnet", Price::of(3.0, 15.0)),
    ("claude-haiku", Price::of(1.0, 5.0)),
    ("claude", Price::of(5.0, 25.0)),
];

const GEMINI: &[(&str, Price)] = &[
    ("gemini-1.5-flash", Price::with_cache(0.075, 0.3, 0.018_75)),
    ("gemini-1.5-pro", Price::with_cache(1.25, 5.0, 0.3125)),
    ("gemini-2.0-flash-lite", Price::with_cache(0.075, 0.3, 0.018_75)),
    ("gemini-2.0-flash", Price::with_cache(0.1, 0.4, 0.025)),
    ("gemini-2.5-flash-lite", Price::with_cache(0.1, 0.4, 0.01)),
    ("gemini-2.5-flash", Price::with_cache(0.3, 2.5, 0.03)),
    ("gemini-2.5-pro", Price::with_cache(1.25, 10.0, 0.125)),
    ("gemini-3-flash", Price::with_cache(0.5, 3.0, 0.05)),
    ("gemini-3-pro", Price::with_cache(2.0, 12.0, 0.2)),
    ("gemini", Price::with_cache(2.0, 12.0, 0.2)),
];

const OPENAI: &[(&str, Price)] = &[
    ("gpt-3.5", Price::with_cache(0.5, 1.5, 0.5)),
    ("gpt-4-turbo", Price::with_cache(10.0, 30.0, 10.0)),
    ("gpt-4o-mini", Price::with_cache(0.15, 0.6, 0.075)),
    ("gpt-4o", Price::with_cache(2.5, 10.0, 1.25)),
    ("gpt-4.1-nano", Price::with_cache(0.1, 0.4, 0.025)),
    ("gpt-4.1-mini", Price::with_cache(0.4, 1.6, 0.1)),
    ("gpt-4.1", Price::with_cache(2.0, 8.0, 0.5)),
    ("gpt-4", Price::with_cache(30.0, 60.0, 30.0)),
    ("gpt-5-nano", Price::with_cache(0.05, 0.4, 0.005)),
    ("gpt-5-mini", Price::with_cache(0.25, 2.0, 0.025)),
    ("gpt-5-pro", Price::with_cache(15.0, 120.0, 15.0)),
    ("gpt-5.1-codex-mini", Price::with_cache(0.25, 2.0, 0.025)),
    ("gpt-5.1", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5.2-pro", Price::with_cache(21.0, 168.0, 21.0)),
    ("gpt-5.2", Price::with_cache(1.75, 14.0, 0.175)),
    ("gpt-5.3", Price::with_cache(1.75, 14.0, 0.175)),
    ("gpt-5.4", Price::with_cache(2.5, 15.0, 0.25)),
    ("gpt-5.", Price::with_cache(5.0, 30.0, 0.5)),
    ("gpt-5", Price::with_cache(1.25, 10.0, 0.125)),
    ("codex-mini", Price::with_cache(1.5, 6.0, 0.375)),
    ("o1-mini", Price::with_cache(1.1, 4.4, 0.55)),
    ("o1", Price::with_cache(15.0, 60.0, 7.5)),
    ("o3-mini", Price::with_cache(1.1, 4.4, 0.55)),
    ("o3-pro", Price::with_cache(20.0, 80.0, 20.0)),
    ("o3", Price::with_cache(2.0, 8.0, 0.5)),
    ("o4-mini", Price::with_cache(1.1, 4.4, 0.275)),
    ("gpt", Price::with_cache(5.0, 30.0, 0.5)),
];

/// US dollars that Anthropic and OpenAI charge for a web search, beside the tokens of what was found.
const WEB_SEARCH_USD: f64 = 0.01;
/// US dollars that Google charges for a prompt that it answered with a search.
const GROUNDED_PROMPT_USD: f64 = 0.035;
/// So many searches are set aside for a call that may search. Claude Code allows eight.
const MAX_SEARCHES: u64 = 10;
/// Tokens of input that a search brings along, at most.
const TOKENS_PER_SEARCH: u64 = 5_000;

/// What so many searches of the web cost.
pub(crate) fn web_searches(count: Option<u64>) -> f64 {
    to_f64(count.unwrap_or_default()) * WEB_SEARCH_USD
}

/// What it costs that a prompt was answered with a search of Google's.
pub(crate) fn grounded_prompt(is_grounded: bool) -> f64 {
    if is_grounded { GROUNDED_PROMPT_USD } else { 0.0 }
}

/// What the tools of a provider may use in one call: US dollars, and tokens of input.
pub(crate) fn provider_tools() -> (f64, u64) {
    (web_searches(Some(MAX_SEARCHES)).max(GROUNDED_PROMPT_USD), MAX_SEARCHES * TOKENS_PER_SEARCH)
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn to_f64(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use warren_domain::Usage;

    use super::{Price, PriceTable};
    use crate::format::Metered;

    #[test]
    fn the_longest_prefix_that_fits_sets_the_price() {
        let table = PriceTable::default();
        let input = |model| table.price(model).map(|price| price.input);
        assert_eq!(input("claude-opus-4-1-20250805"), Some(15.0));
        assert_eq!(input("claude-opus-4-20250514"), Some(15.0));
        assert_eq!(input("claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input("claude-sonnet-9"), Some(3.0));
        assert_eq!(input("warren-demo-1"), Some(0.0));
        assert_eq!(input("gemini-2.5-flash-lite-preview"), Some(0.1));
        assert_eq!(input("gemini-9-ultra"), Some(2.0));
        assert_eq!(input("gpt-5-2025-08-07"), Some(1.25));
        assert_eq!(input("gpt-5.5"), Some(5.0));
        assert_eq!(input("openai/gpt-4o-mini"), Some(0.15));
        assert_eq!(input("somebody-elses"), None);
        assert_eq!(input("o/somebody-elses"), None);
    }

    #[test]
    fn a_row_with_the_same_prefix_replaces_the_old_one() {
        let table = PriceTable::default().with("claude-sonnet", Price::of(7.0, 8.0));
        assert_eq!(table.price("claude-sonnet-4-5"), Some(Price::of(7.0, 8.0)));
    }

    #[test]
    fn each_kind_of_token_has_its_own_price() {
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 1_000_000,
            cache_read_tokens: 1_000_000,
            cache_write_tokens: 3_000_000,
            ..Usage::default()
        };
        let metered =
            Metered { usage: usage.totalled(), long_cache_write_tokens: 1_000_000, ..Metered::default() };
        let price = Price {
            input: 1.0,
            output: 10.0,
            cache_read: 100.0,
            cache_write: 1000.0,
            cache_write_long: 10_000.0,
        };
        let cost = PriceTable::empty().with("m", price).cost("m", &metered);
        assert!((cost - 12_111.0).abs() < 1e-6, "{cost}");
    }
}
