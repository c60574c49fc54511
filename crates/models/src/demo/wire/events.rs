//! An answer as a stream of events, in the order and shape of the real API.

use serde::Serialize;

use super::{Ids, Message, Piece, Usage, json, stop_reason, usage};
use crate::demo::{
    MODEL,
    request::Request,
    turn::{Part, Tempo, Turn},
};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    MessageStart { message: Message<'a> },
    ContentBlockStart { index: usize, content_block: Start<'a> },
    Ping,
    ContentBlockDelta { index: usize, delta: Delta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: Stop, usage: Usage },
    MessageStop,
    Error { error: StreamFault },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Start<'a> {
    Thinking { thinking: &'static str, signature: &'static str },
    Text { text: &'static str },
    ToolUse { id: String, name: &'a str, input: Empty },
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names are the protocol's")]
enum Delta<'a> {
    ThinkingDelta { thinking: &'a str },
    SignatureDelta { signature: String },
    TextDelta { text: &'a str },
    InputJsonDelta { partial_json: &'a str },
}

#[derive(Serialize)]
struct Stop {
    stop_reason: &'static str,
    stop_sequence: Option<&'static str>,
}

#[derive(Serialize)]
struct StreamFault {
    #[serde(rename = "type")]
    kind: &'static str,
    message: &'static str,
}

/// Events on their way out.
struct Writer {
    tempo: Tempo,
    pieces: Vec<Piece>,
}

/// How many bytes of a tool's input go into one event.
const INPUT_PIECE: usize = 160;
const FLOOD_PIECE: usize = 4096;

/// The whole answer, event by event.
pub(in crate::demo) fn stream(request: &Request, turn: &Turn, body: &[u8]) -> Vec<Piece> {
    let ids = Ids { seed: blake3::hash(body) };
    let used = usage(request, turn, body);
    let mut writer = Writer { tempo: turn.tempo, pieces: Vec::new() };
    let message = Message {
        id: ids.message(),
        kind: "message",
        role: "assistant",
        model: MODEL,
        content: Vec::new(),
        stop_reason: None,
        stop_sequence: None,
        usage: Usage { output_tokens: 1, ..used },
    };
    writer.event("message_start", &Event::MessageStart { message });
    for (index, part) in turn.blocks.iter().enumerate() {
        writer.part(index, part, &ids);
        if turn.breaks {
            let error = StreamFault { kind: "overloaded_error", message: "Overloaded" };
            writer.event("error", &Event::Error { error });
            return writer.pieces;
        }
    }
    let delta = Stop { stop_reason: stop_reason(turn), stop_sequence: None };
    writer.event("message_delta", &Event::MessageDelta { delta, usage: used });
    writer.event("message_stop", &Event::MessageStop);
    writer.pieces
}

impl Writer {
    fn part(&mut self, index: usize, part: &Part, ids: &Ids) {
        let content_block = match part {
            Part::Thinking(_) => Start::Thinking { thinking: "", signature: "" },
            Part::Text(_) => Start::Text { text: "" },
            Part::Call(call) => Start::ToolUse { id: ids.tool_use(index), name: &call.name, input: Empty {} },
        };
        self.event("content_block_start", &Event::ContentBlockStart { index, content_block });
        if index == 0 {
            self.event("ping", &Event::Ping);
        }
        match part {
            Part::Thinking(text) => {
                for thinking in phrases(text, self.phrase_length()) {
                    self.delta(index, Delta::ThinkingDelta { thinking });
                }
                self.delta(index, Delta::SignatureDelta { signature: ids.signature(index) });
            }
            Part::Text(text) => {
                for text in phrases(text, self.phrase_length()) {
                    self.delta(index, Delta::TextDelta { text });
                }
            }
            Part::Call(call) => {
                self.delta(index, Delta::InputJsonDelta { partial_json: "" });
                for partial_json in slices(&call.input.to_string(), INPUT_PIECE) {
                    self.delta(index, Delta::InputJsonDelta { partial_json });
                }
            }
        }
        self.event("content_block_stop", &Event::ContentBlockStop { index });
    }

    fn delta(&mut self, index: usize, delta: Delta<'_>) {
        self.event("content_block_delta", &Event::ContentBlockDelta { index, delta });
    }

    fn event(&mut self, name: &str, event: &Event<'_>) {
        let mut bytes = format!("event: {name}\ndata: ").into_bytes();
        bytes.extend_from_slice(&json(event));
        bytes.extend_from_slice(b"\n\n");
        self.pieces.push(Piece { tempo: self.tempo, bytes: bytes.into() });
    }

    fn phrase_length(&self) -> usize {
        match self.tempo {
            Tempo::Normal => 16,
            Tempo::Slow => 1,
            Tempo::Flood => FLOOD_PIECE,
        }
    }
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
