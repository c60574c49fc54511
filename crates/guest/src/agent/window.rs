//! The model's window: its size, and how much of it a conversation may fill.

use std::{cell::RefCell, collections::BTreeMap};

use serde_json::Value;

/// Assumed for a model that nobody named a window for. A smaller one is learned from its first refusal.
const DEFAULT: u64 = 128_000;

/// A window that was guessed from refusals without numbers is not guessed smaller than this.
const MIN_GUESS: u64 = 4_000;

/// Tokenisers make a token of about four bytes of English and three of code.
const ASCII_BYTES_PER_TOKEN: u64 = 3;
/// Other scripts take up to a token for every letter of two or three bytes.
const OTHER_BYTES_PER_TOKEN: u64 = 2;
/// A picture costs by its size in pixels; this is the cost of a large one.
const TOKENS_PER_PICTURE: u64 = 1_600;
/// A document costs by its pages.
const TOKENS_PER_DOCUMENT: u64 = 2_000;
const DOCUMENT_BYTES_PER_TOKEN: u64 = 64;
/// Quotes, names of fields and whatever else is around a piece of content.
const TOKENS_PER_PIECE: u64 = 8;

/// Windows by the name of the model.
#[derive(Debug, Default)]
pub(super) struct Windows {
    known: RefCell<BTreeMap<String, u64>>,
}

/// One model's window, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) tokens: u64,
    /// The longest answer to ask for.
    pub(super) max_output: u64,
}

impl Windows {
    pub(super) fn new(known: impl IntoIterator<Item = (String, u64)>) -> Self {
        Self { known: RefCell::new(known.into_iter().collect()) }
    }

    /// The window of `model`, whose answers are at most `max_output` tokens long.
    pub(super) fn of(&self, model: &str, max_output: u64) -> Window {
        let tokens = self.known.borrow().get(model).copied().unwrap_or(DEFAULT);
        Window { tokens, max_output: max_output.min(tokens / 4) }
    }

    /// Remembers a window, unless a smaller one is known.
    pub(super) fn learn(&self, model: &str, tokens: u64) {
        let mut known = self.known.borrow_mut();
        let entry = known.entry(model.to_owned()).or_insert(DEFAULT);
        *entry = tokens.clamp(1, *entry);
    }
}

impl Window {
    /// As much as a request may hold: the answer has to fit too, and counts are estimates.
    pub(super) fn limit(self) -> u64 {
        self.tokens.saturating_sub(self.max_output + self.tokens / 20).max(1)
    }

    /// The window after a request of `sent` tokens, as we count, was refused with these words.
    pub(super) fn after_refusal(self, message: &str, sent: u64) -> u64 {
        let named = named_limit(message).filter(|named| *named < self.tokens);
        named.unwrap_or_else(|| (self.tokens.min(sent) * 9 / 10).max(MIN_GUESS.min(self.tokens)))
    }
}

/// The limit that a refusal names. Providers give both numbers, and the limit is always the smaller one: `212345 tokens >
/// 200000 maximum`, `maximum context length is 128000 tokens. However, your messages resulted in 130000`, `token count
/// (1200000) exceeds the maximum number of tokens allowed (1048576)`.
fn named_limit(message: &str) -> Option<u64> {
    let plain = message.replace([',', '_'], "");
    let numbers = plain.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    // Anything shorter is a version or a position.
    let numbers: Vec<u64> = numbers.filter(|number| *number >= 1_000).collect();
    if numbers.len() < 2 && !plain.contains("maximum") {
        return None;
    }
    // `input length and max_tokens exceed context limit: 188240 + 32000 > 200000`: the limit is after the sign.
    match plain.split_once("context limit") {
        Some(_) => numbers.last().copied(),
        None => numbers.into_iter().min(),
    }
}

/// About how many tokens a piece of content takes. Rather too many than too few.
pub(super) fn tokens_of(content: &Value) -> u64 {
    match content {
        Value::String(text) => of_text(text),
        Value::Array(pieces) => pieces.iter().map(tokens_of).sum(),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("image") => TOKENS_PER_PICTURE,
            Some("document") => {
                let data =
                    fields.get("source").and_then(|source| source["data"].as_str()).unwrap_or_default();
                TOKENS_PER_DOCUMENT + data.len() as u64 / DOCUMENT_BYTES_PER_TOKEN
            }
            _ => TOKENS_PER_PIECE + fields.values().map(tokens_of).sum::<u64>(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

fn of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.len() as u64 - ascii;
    ascii.div_ceil(ASCII_BYTES_PER_TOKEN) + other.div_ceil(OTHER_BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DEFAULT, Window, Windows, tokens_of};

    #[test]
    fn answer_and_margin_are_left_free() {
        let windows = Windows::new([("small".to_owned(), 8_000), ("large".to_owned(), 200_000)]);
        assert_eq!(windows.of("large", 32_000).limit(), 158_000);
        assert_eq!(windows.of("small", 32_000).limit(), 5_600, "a quarter for the answer");
        assert_eq!(windows.of("unknown", 32_000).tokens, DEFAULT);
    }

    #[test]
    fn refusal_that_names_a_limit_teaches_it() {
        let window = Window { tokens: 400_000, max_output: 0 };
        for (message, limit) in [
            ("prompt is too long: 212345 tokens > 200000 maximum", 200_000),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, decrease",
                200_000,
            ),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
                128_000,
            ),
            (
                "The input token count (301,000) exceeds the maximum number of tokens allowed (300,000).",
                300_000,
            ),
            ("Your input exceeds the context window of this model.", 360_000),
        ] {
            assert_eq!(window.after_refusal(message, 500_000), limit, "{message}");
        }
        assert_eq!(window.after_refusal("too long", 50_000), 45_000, "less than was sent");
    }

    #[test]
    fn smaller_window_is_never_unlearned() {
        let windows = Windows::new([]);
        windows.learn("m", 9_000);
        windows.learn("m", 20_000);
        assert_eq!(windows.of("m", 1).tokens, 9_000);
    }

    #[test]
    fn pictures_cost_by_the_piece_and_other_scripts_more_than_english() {
        let picture = json!({"type": "image", "source": {"data": "x".repeat(1_000_000)}});
        assert_eq!(tokens_of(&picture), 1_600);
        let text = |text: &str| tokens_of(&json!(text));
        assert_eq!((text("abcdef"), text("жжж"), text("")), (2, 3, 0));
    }
}
