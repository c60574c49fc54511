//! Turns a turn into the bytes of a dialect: a stream of events, or one object.
//!
//! Ids and signatures come from a seed and token counts from lengths, so that the same request and seed get the same
//! bytes. JSON is written with its names in alphabetical order, so that the bytes do not depend on how maps are
//! built.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Dialect, MODEL,
    ask::{ApiError, Ask, Message},
    turn::{Part, Tempo, Turn},
};
use crate::Pace;

/// When every answer was made, for dialects that tell: the same request gets the same bytes.
const CREATED: u64 = 1_767_225_600;

/// How many bytes of a tool's input go into one event.
const INPUT_PIECE: usize = 160;
const FLOOD_PIECE: usize = 4096;

/// A part of a stream, and how long to wait before it.
pub(super) struct Piece {
    tempo: Tempo,
    pub(super) bytes: Bytes,
}

/// An answer to be written: what was asked, what is said, and what both come to.
pub(super) struct Answer<'a> {
    ask: &'a Ask,
    turn: &'a Turn,
    usage: Usage,
    ids: Ids,
}

/// Tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    /// Read afresh, neither from the cache nor into it.
    input: u64,
    cache_write: u64,
    cache_read: u64,
    /// Thoughts included.
    output: u64,
    thinking: u64,
}

/// Makes ids that depend on nothing but the seed.
struct Ids {
    seed: blake3::Hash,
}

/// Events on their way out.
struct Events {
    tempo: Tempo,
    pieces: Vec<Piece>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(ask: &'a Ask, turn: &'a Turn, seed: blake3::Hash) -> Self {
        Self { ask, turn, usage: usage(ask, turn), ids: Ids { seed } }
    }

    /// The whole answer, event by event.
    pub(super) fn stream(&self, dialect: Dialect) -> Vec<Piece> {
        match dialect {
            Dialect::Anthropic => anthropic::stream(self),
            Dialect::Gemini => gemini::stream(self),
            Dialect::OpenAiChat => chat::stream(self),
            Dialect::OpenAiResponses => responses::stream(self),
        }
    }

    /// The whole answer in one object.
    pub(super) fn whole(&self, dialect: Dialect) -> Bytes {
        let whole = match dialect {
            Dialect::Anthropic => return anthropic::whole(self),
            Dialect::Gemini => gemini::whole(self),
            Dialect::OpenAiChat => chat::whole(self),
            Dialect::OpenAiResponses => responses::whole(self),
        };
        whole.to_string().into()
    }

    /// The model that was asked for says that it answers.
    fn model(&self) -> &str {
        if self.ask.model.is_empty() { MODEL } else { &self.ask.model }
    }

    fn events(&self) -> Events {
        Events { tempo: self.turn.tempo, pieces: Vec::new() }
    }
}

/// An error in the dialect's own words.
pub(super) fn error(dialect: Dialect, error: &ApiError) -> Bytes {
    match dialect {
        Dialect::Anthropic => anthropic::error(error),
        Dialect::Gemini => gemini::error(error).to_string().into(),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => chat::error(error).to_string().into(),
    }
}

/// What a question for the number of tokens is answered.
pub(super) fn token_count(dialect: Dialect, ask: &Ask) -> Bytes {
    let tokens = system_tokens(ask) + messages_tokens(ask, ask.messages.len());
    let count = match dialect {
        Dialect::Anthropic | Dialect::OpenAiChat => json!({ "input_tokens": tokens }),
        Dialect::OpenAiResponses => json!({ "input_tokens": tokens, "object": "response.input_tokens" }),
        Dialect::Gemini => json!({
            "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": tokens }],
            "totalTokens": tokens,
        }),
    };
    count.to_string().into()
}

/// Plausible numbers: four bytes a token. A request that uses the cache finds there all but what came last, as it would
/// with the real API.
fn usage(ask: &Ask, turn: &Turn) -> Usage {
    let of = |wanted: fn(&Part) -> bool| turn.blocks.iter().filter(|part| wanted(part)).map(Part::len).sum();
    let n_before = ask.messages.len().saturating_sub(2);
    let system = system_tokens(ask);
    let before = messages_tokens(ask, n_before);
    let fresh = messages_tokens(ask, ask.messages.len()) - before;
    let (input, cache_write, cache_read) = match (ask.caches, n_before) {
        (false, _) => (system + before + fresh, 0, 0),
        (true, 0) => (fresh, system, 0),
        (true, _) => (4, fresh, system + before),
    };
    let output = tokens(of(|_| true));
    let thinking = tokens(of(|part| matches!(part, Part::Thinking(_))));
    Usage { input, cache_write, cache_read, output, thinking: thinking.min(output) }
}

fn system_tokens(ask: &Ask) -> u64 {
    let tools = ask.tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len());
    tokens(ask.system.len() + tools.sum::<usize>())
}

fn messages_tokens(ask: &Ask, n_messages: usize) -> u64 {
    ask.messages.iter().take(n_messages).map(|message| 4 + tokens(length(message))).sum()
}

fn length(message: &Message) -> usize {
    let texts: usize = message.texts.iter().map(String::len).sum();
    let results: usize = message.results.iter().map(|result| result.text.len()).sum();
    texts + results + 200 * (message.calls.len() + message.n_other)
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

impl Usage {
    /// All that was read, from wherever.
    fn all_input(&self) -> u64 {
        self.input + self.cache_write + self.cache_read
    }
}

impl Piece {
    pub(super) fn pause(&self, pace: Pace) -> Duration {
        match self.tempo {
            Tempo::Normal => pace.delta,
            Tempo::Slow => pace.slow,
            Tempo::Flood => Duration::ZERO,
        }
    }
}

impl Events {
    fn named(&mut self, name: &str, data: &impl Serialize) {
        self.raw(&format!("event: {name}\ndata: {}\n\n", text(data)));
    }

    fn raw(&mut self, event: &str) {
        self.pieces.push(Piece { tempo: self.tempo, bytes: event.as_bytes().to_vec().into() });
    }

    /// How a text is cut: by phrases, by words, or hardly.
    fn phrases<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let length = match self.tempo {
            Tempo::Normal => 16,
            Tempo::Slow => 1,
            Tempo::Flood => FLOOD_PIECE,
        };
        phrases(text, length)
    }
}

fn text(value: &impl Serialize) -> String {
    // These types have nothing that JSON cannot say.
    serde_json::to_string(value).unwrap_or_default()
}

/// A call's input as dialects that want it as a text write it.
fn arguments(input: &Value) -> String {
    input.as_str().map_or_else(|| input.to_string(), str::to_owned)
}

/// Pieces that end after a space and are at least `length` bytes long.
fn phrases(text: &str, length: usize) -> impl Iterator<Item = &str> {
    cut(text, move |text| {
        let ends = text.match_indices([' ', '\n']).map(|(at, space)| at + space.len());
        ends.into_iter().find(|end| *end >= length)
    })
}

/// Pieces of `length` bytes, or a little more where a character would be cut.
fn slices(text: &str, length: usize) -> impl Iterator<Item = &str> {
    cut(text, move |text| (length..text.len()).find(|at| text.is_char_boundary(*at)))
}

fn cut(text: &str, end: impl Fn(&str) -> Option<usize>) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(end(rest).unwrap_or(rest.len()));
        rest = after;
        Some(piece)
    })
}

impl Ids {
    /// An id with the prefix by which the dialect tells its kinds apart.
    fn id(&self, prefix: &str, idx: usize) -> String {
        let mut bytes = [0; 10];
        self.derive(prefix, idx).fill(&mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{prefix}_demo_{hex}")
    }

    fn signature(&self, idx: usize) -> String {
        let mut bytes = [0; 96];
        self.derive("signature", idx).fill(&mut bytes);
        STANDARD.encode(bytes)
    }

    fn derive(&self, what: &str, idx: usize) -> blake3::OutputReader {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.seed.as_bytes()).update(what.as_bytes()).update(&(idx as u64).to_le_bytes());
        hasher.finalize_xof()
    }
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::Thinking(text) | Part::Text(text) => text.len(),
            Part::Call(call) => call.name.len() + call.input.to_string().len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{phrases, slices};

    #[test]
    fn pieces_join_to_the_text_and_cut_no_character() {
        let text = "one two three\nvier — fünf";
        assert_eq!(phrases(text, 6).collect::<Vec<_>>(), ["one two ", "three\n", "vier — ", "fünf"]);
        assert_eq!(phrases(text, 6).collect::<String>(), text);
        assert_eq!(slices("aébc", 2).collect::<Vec<_>>(), ["aé", "bc"]);
    }
}
