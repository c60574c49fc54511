//! What tokens cost.

mod lists;

pub use lists::PRICE_LISTS;

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

/// Prices by the beginning of a model's name: the operator's, then the providers' lists, then what is assumed of models
/// that no list has.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceTable {
    /// Each stands for all models whose names begin so; the longest that fits counts.
    configured: Vec<(String, Price)>,
    lists: &'static [PriceList],
}

/// What one provider charges, and where that is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceList {
    /// Whose models they are.
    pub provider: &'static str,
    /// Where the prices were read.
    pub source: &'static str,
    /// The day of that, as `2026-11-18`.
    pub as_of: &'static str,
    /// Models by name. A name stands for that model and its dated releases, and for no other version.
    pub models: &'static [(&'static str, Price)],
    /// What models are assumed to cost that the list does not have, by the beginning of their names: families of models,
    /// at the price of a recent one that is not cheap for its family.
    pub families: &'static [(&'static str, Price)],
}

/// A price, and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceQuote {
    /// The price.
    pub price: Price,
    /// What it rests on.
    pub basis: Basis,
}

/// What a price rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The operator's configuration.
    Configured,
    /// The provider's list.
    Listed,
    /// Nothing but the family that the model's name begins with: it may be wrong, and whoever relies on it is told.
    Assumed {
        /// The beginning of the name.
        family: &'static str,
    },
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

    /// The same, where the cache is read at a price of its own.
    pub(crate) const fn reading(self, cache_read: f64) -> Self {
        Self { cache_read, ..self }
    }

    /// The same, where the cache is filled at a price of its own, and twice that for long.
    pub(crate) const fn writing(self, cache_write: f64) -> Self {
        Self { cache_write, cache_write_long: cache_write * 2.0, ..self }
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
        Self { configured: Vec::new(), lists: &[] }
    }

    /// Adds a row, or replaces the one with the same prefix. It counts before the providers' lists.
    #[must_use]
    pub fn with(mut self, prefix: &str, price: Price) -> Self {
        self.configured.retain(|(known, _)| known != prefix);
        self.configured.push((prefix.to_owned(), price));
        self
    }

    /// The price of a model; `None` if nothing fits. A name such as `openai/gpt-5` counts as what follows the last slash,
    /// unless a row has it whole.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        self.quote(model).map(|quote| quote.price)
    }

    /// The price of a model with what it rests on; `None` if nothing fits.
    #[must_use]
    pub fn quote(&self, model: &str) -> Option<PriceQuote> {
        let own_name = || model.rsplit_once('/').and_then(|(_, name)| self.of_name(name));
        self.of_name(model).or_else(own_name)
    }

    fn of_name(&self, model: &str) -> Option<PriceQuote> {
        let fitting = self.configured.iter().filter(|(prefix, _)| model.starts_with(prefix.as_str()));
        if let Some((_, price)) = fitting.max_by_key(|(prefix, _)| prefix.len()) {
            return Some(PriceQuote { price: *price, basis: Basis::Configured });
        }
        let listed =
            self.lists.iter().flat_map(|list| list.models).filter(|(name, _)| is_release(model, name));
        if let Some((_, price)) = listed.max_by_key(|(name, _)| name.len()) {
            return Some(PriceQuote { price: *price, basis: Basis::Listed });
        }
        let families = self.lists.iter().flat_map(|list| list.families);
        let (family, price) = families
            .filter(|(family, _)| model.starts_with(family))
            .max_by_key(|(family, _)| family.len())?;
        Some(PriceQuote { price: *price, basis: Basis::Assumed { family } })
    }

    /// What a call cost. A model without a price costs nothing, and one of a known family what that does; the log says
    /// both.
    pub(crate) fn cost(&self, model: &str, metered: &Metered) -> f64 {
        if metered.usage.total_tokens == 0 {
            return 0.0;
        }
        let Some(PriceQuote { price, basis }) = self.quote(model) else {
            tracing::warn!(model, "no price is known for this model; its calls count as free");
            return 0.0;
        };
        if let Basis::Assumed { family } = basis {
            tracing::warn!(
                model,
                family,
                input = price.input,
                output = price.output,
                "no price is known for this model; that of its family is assumed; `models.prices` sets the right one"
            );
        }
        price.cost(metered)
    }
}

impl Default for PriceTable {
    /// The providers' list prices, as far as they were known when this was built; an operator overrides them in the
    /// configuration. Where long requests cost more, this is the price of short ones.
    ///
    /// The demo model costs nothing.
    fn default() -> Self {
        Self { configured: Vec::new(), lists: PRICE_LISTS }
    }
}

/// Whether a name is that of a model, or of one of its releases: `gpt-5-2025-08-07` is `gpt-5`, and `claude-opus-5-5` is
/// not `claude-opus-5`. What follows a name may be a date, `latest`, a preview, or what clouds put behind it.
fn is_release(name: &str, model: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else { return false };
    let is_date = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() >= 4;
    match rest.strip_prefix('-') {
        _ if rest.is_empty() => true,
        Some(rest) => {
            is_date(rest)
                || ["latest", "preview", "exp", "v1", "001", "002"].iter().any(|word| rest.starts_with(word))
        }
        None => rest.starts_with(['@', ':', '[']),
    }
}

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

    use super::{Basis, Price, PriceQuote, PriceTable};
    use crate::format::Metered;

    #[test]
    fn a_model_costs_what_the_list_says_and_its_releases_do_too() {
        let table = PriceTable::default();
        for (model, input, output, cache_read) in [
            ("claude-opus-5-5", 4.0, 20.0, 0.2),
            ("claude-opus-5-5-20260901", 4.0, 20.0, 0.2),
            ("claude-opus-5-5[1m]", 4.0, 20.0, 0.2),
            ("claude-opus-5", 5.0, 25.0, 0.5),
            ("claude-opus-4-1-20250805", 15.0, 75.0, 1.5),
            ("claude-opus-4-20250514", 15.0, 75.0, 1.5),
            ("claude-opus-4-5-20251101", 5.0, 25.0, 0.5),
            ("claude-sonnet-4-5@20250929", 3.0, 15.0, 0.3),
            ("claude-sonnet-5-5", 2.0, 10.0, 0.1),
            ("claude-3-5-haiku-latest", 0.8, 4.0, 0.08),
            ("warren-demo-1", 0.0, 0.0, 0.0),
            ("gemini-2.5-flash-lite-preview-09-2025", 0.1, 0.4, 0.01),
            ("gemini-1.5-pro-002", 1.25, 5.0, 0.3125),
            ("gpt-5-2025-08-07", 1.25, 10.0, 0.125),
            ("gpt-5.5", 5.0, 30.0, 0.5),
            ("openai/gpt-4o-mini", 0.15, 0.6, 0.075),
        ] {
            let quote = table.quote(model).expect(model);
            let is_close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            let Price { input: i, output: o, cache_read: c, .. } = quote.price;
            assert!(
                is_close(i, input) && is_close(o, output) && is_close(c, cache_read),
                "{model} {quote:?}"
            );
            assert_eq!(quote.basis, Basis::Listed, "{model}");
        }
    }

    #[test]
    fn a_model_that_no_list_has_costs_what_its_family_does_and_that_is_told() {
        let table = PriceTable::default();
        for (model, family) in [
            ("claude-opus-5-6", "claude-opus"),
            ("claude-opus-9", "claude-opus"),
            ("claude-sonnet-9", "claude-sonnet"),
            ("claude-tale-1", "claude"),
            ("gemini-9-ultra", "gemini"),
            ("gpt-5.9", "gpt"),
            ("gpt-5-ultra", "gpt"),
            ("openai/gpt-9", "gpt"),
        ] {
            assert_eq!(
                table.quote(model).map(|quote| quote.basis),
                Some(Basis::Assumed { family }),
                "{model}"
            );
        }
        assert_eq!([table.quote("somebody-elses"), table.quote("o/somebody-elses")], [None, None]);
    }

    #[test]
    fn what_an_operator_says_counts_before_every_list() {
        let own = Price::of(7.0, 8.0);
        let table = PriceTable::default().with("claude-opus", Price::of(1.0, 1.0)).with("claude-opus", own);
        for model in ["claude-opus-5-5", "claude-opus-99", "anthropic/claude-opus-5-5"] {
            assert_eq!(
                table.quote(model),
                Some(PriceQuote { price: own, basis: Basis::Configured }),
                "{model}"
            );
        }
        assert_eq!(table.price("claude-sonnet-5"), PriceTable::default().price("claude-sonnet-5"));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
    fn the_page_of_prices_is_what_would_be_generated() {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prices.md");
        let written = std::fs::read_to_string(&page).unwrap_or_default();
        let (head, _) = written.split_once("## ").unwrap_or((&written, ""));
        let generated = format!("{head}{}", super::lists::to_markdown());
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&page, &generated).expect("written");
        }
        assert_eq!(
            std::fs::read_to_string(&page).expect("a page"),
            generated,
            "UPDATE_FIXTURES=1 rewrites it"
        );
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
