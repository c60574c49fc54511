//! What a call may use, before anyone can know.

use crate::{
    Charge, Feature, Price, Quote,
    format::{Inspected, Media},
    price::provider_tools,
};

/// What one call may use at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    input_tokens: u64,
    max_output_tokens: u64,
    price: Option<Price>,
    /// US dollars for tools that the provider runs.
    tools_usd: f64,
    streamed: bool,
}

/// The longest answers of the usual models, by the beginning of their names: requests need not name a limit.
const LONGEST_ANSWERS: &[(&str, u64)] = &[
    ("claude-3", 8_192),
    ("claude", 64_000),
    ("gemini-1", 8_192),
    ("gemini-2.0", 8_192),
    ("gemini", 65_536),
    ("gpt-3", 4_096),
    ("gpt-4o", 16_384),
    ("gpt-4.1", 32_768),
    ("gpt-4", 8_192),
    ("gpt-5", 128_000),
    ("o1", 100_000),
    ("o3", 100_000),
    ("o4", 100_000),
];
const LONGEST_ANSWER: u64 = 32_768;

/// Tokenisers make a token of about four bytes of English and three of code; of other scripts, up to one of each byte.
const ASCII_BYTES_PER_TOKEN: u64 = 3;
/// An image costs by its size in dots, a document by its pages. Both are more bytes than this for each token.
const TOKENS_PER_MEDIUM: u64 = 2_000;
const MEDIA_BYTES_PER_TOKEN: u64 = 64;
/// Of an answer as it is sent. The JSON around the words makes it far less than a token in truth.
const ANSWER_BYTES_PER_TOKEN: u64 = 4;

/// How many times the standard price the dearest service costs: Anthropic's fast mode.
const DEAREST_SERVICE: f64 = 6.0;

impl Estimate {
    pub(crate) fn new(body: &[u8], inspected: &Inspected, price: Option<Price>) -> Self {
        let longest_of_all =
            || longest_answer(&inspected.model).saturating_mul(inspected.n_answers.unwrap_or(1).max(1));
        // What is granted is paid for at most at this rate; the price table knows only the standard one.
        let dearer = inspected.features.contains(&Feature::DearerService);
        let price = price.map(|price| if dearer { price.times(DEAREST_SERVICE) } else { price });
        // What a provider's tools find is input too.
        let uses_tools = inspected.features.contains(&Feature::ServerTools);
        let (tools_usd, found) = if uses_tools { provider_tools() } else { (0.0, 0) };
        Self {
            input_tokens: input_tokens(body, inspected.media) + found,
            tools_usd: if price.is_some_and(|price| price.is_free()) { 0.0 } else { tools_usd },
            max_output_tokens: inspected.max_output_tokens.unwrap_or_else(longest_of_all),
            price,
            streamed: inspected.streamed,
        }
    }

    pub(crate) fn quote(&self, model: &str) -> Quote {
        Quote {
            model: model.to_owned(),
            input: self.charge(self.input_tokens, 0),
            most: self.most(),
            priced: self.price.is_some(),
        }
    }

    /// What the call uses if its answer is as long as the request allows. Also what a call counts as whose end nobody saw:
    /// all of its answer may have been sent.
    pub(crate) fn most(&self) -> Charge {
        self.charge(self.input_tokens, self.max_output_tokens)
    }

    /// What a call used whose answer does not say. `seen` are the bytes of it that came, `is_whole` whether that is all.
    pub(crate) fn untold(&self, seen: u64, is_whole: bool) -> Charge {
        self.charge(self.input_tokens, self.output_tokens(seen, is_whole))
    }

    /// What output an answer used that broke off after it had told of `told` tokens of output.
    pub(crate) fn untold_output(&self, seen: u64, told: u64) -> Charge {
        self.charge(0, self.output_tokens(seen, false).saturating_sub(told))
    }

    /// An answer that is not streamed is sent when it is finished: who leaves before saw nothing of what was made.
    fn output_tokens(&self, seen: u64, is_whole: bool) -> u64 {
        if self.streamed || is_whole {
            (seen / ANSWER_BYTES_PER_TOKEN).min(self.max_output_tokens)
        } else {
            self.max_output_tokens
        }
    }

    fn charge(&self, input: u64, output: u64) -> Charge {
        // Counted once, with the input of the call.
        let tools_usd = if input > 0 { self.tools_usd } else { 0.0 };
        let cost_usd = self.price.map_or(0.0, |price| price.most(input, output)) + tools_usd;
        Charge { cost_usd, tokens: input.saturating_add(output) }
    }
}

fn input_tokens(body: &[u8], media: Media) -> u64 {
    let other = body.iter().filter(|byte| !byte.is_ascii()).count() as u64;
    let ascii = (body.len() as u64).saturating_sub(other + media.bytes);
    let of_media = media.count.saturating_mul(TOKENS_PER_MEDIUM) + media.bytes / MEDIA_BYTES_PER_TOKEN;
    ascii.div_ceil(ASCII_BYTES_PER_TOKEN) + other + of_media
}

fn longest_answer(model: &str) -> u64 {
    let model = model.rsplit('/').next().unwrap_or(model);
    let fitting = LONGEST_ANSWERS.iter().filter(|(prefix, _)| model.starts_with(prefix));
    fitting.max_by_key(|(prefix, _)| prefix.len()).map_or(LONGEST_ANSWER, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests;
