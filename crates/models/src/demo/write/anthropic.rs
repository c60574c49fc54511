//! Anthropic's Messages: events in the order and shape of the real API, or one message.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::{Answer, Events, INPUT_PIECE, Ids, Piece, slices, text};
use crate::{
    anthropic,
    demo::{
        ask::ApiError,
        turn::{Part, Turn},
    },
};

#[derive(Debug, Clone, Copy, Serialize)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

#[derive(Serialize)]
struct Message<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: Vec<ContentBlock<'a>>,
    stop_reason: Option<&'static str>,
    stop_sequence: Option<&'static str>,
    usage: Usage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock<'a> {
    Thinking { thinking: &'a str, signature: String },
    Text { text: &'a str },
    ToolUse { id: String, name: &'a str, input: &'a Value },
}

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

pub(super) fn whole(answer: &Answer<'_>) -> Bytes {
    let content = answer.turn.blocks.iter().enumerate().map(|(idx, part)| match part {
        Part::Thinking(thinking) => ContentBlock::Thinking { thinking, signature: answer.ids.signature(idx) },
        Part::Text(text) => ContentBlock::Text { text },
        Part::Call(call) => {
            ContentBlock::ToolUse { id: answer.ids.id("toolu", idx), name: &call.name, input: &call.input }
        }
    });
    let stop_reason = Some(stop_reason(answer.turn));
    let message = Message { content: content.collect(), stop_reason, usage: usage(answer), ..start(answer) };
    text(&message).into()
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Piece> {
    let mut events = answer.events();
    events.named("message_start", &Event::MessageStart { message: start(answer) });
    for (index, part) in answer.turn.blocks.iter().enumerate() {
        write_part(&mut events, index, part, &answer.ids);
        if answer.turn.breaks {
            let error = StreamFault { kind: "overloaded_error", message: "Overloaded" };
            events.named("error", &Event::Error { error });
            return events.pieces;
        }
    }
    let delta = Stop { stop_reason: stop_reason(answer.turn), stop_sequence: None };
    events.named("message_delta", &Event::MessageDelta { delta, usage: usage(answer) });
    events.named("message_stop", &Event::MessageStop);
    events.pieces
}

pub(super) fn error(error: &ApiError) -> Bytes {
    let kind = match error.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    anthropic::error_body(kind, &error.message)
}

/// A message of which nothing is said yet.
fn start<'a>(answer: &'a Answer<'_>) -> Message<'a> {
    Message {
        id: answer.ids.id("msg", 0),
        kind: "message",
        role: "assistant",
        model: answer.model(),
        content: Vec::new(),
        stop_reason: None,
        stop_sequence: None,
        usage: Usage { output_tokens: 1, ..usage(answer) },
    }
}

fn usage(answer: &Answer<'_>) -> Usage {
    Usage {
        input_tokens: answer.usage.input,
        cache_creation_input_tokens: answer.usage.cache_write,
        cache_read_input_tokens: answer.usage.cache_read,
        output_tokens: answer.usage.output,
    }
}

fn stop_reason(turn: &Turn) -> &'static str {
    if turn.calls_tools() { "tool_use" } else { "end_turn" }
}

fn write_part(events: &mut Events, index: usize, part: &Part, ids: &Ids) {
    let content_block = match part {
        Part::Thinking(_) => Start::Thinking { thinking: "", signature: "" },
        Part::Text(_) => Start::Text { text: "" },
        Part::Call(call) => Start::ToolUse { id: ids.id("toolu", index), name: &call.name, input: Empty {} },
    };
    events.named("content_block_start", &Event::ContentBlockStart { index, content_block });
    if index == 0 {
        events.named("ping", &Event::Ping);
    }
    match part {
        Part::Thinking(text) => {
            for thinking in events.phrases(text) {
                delta(events, index, Delta::ThinkingDelta { thinking });
            }
            delta(events, index, Delta::SignatureDelta { signature: ids.signature(index) });
        }
        Part::Text(text) => {
            for text in events.phrases(text) {
                delta(events, index, Delta::TextDelta { text });
            }
        }
        Part::Call(call) => {
            delta(events, index, Delta::InputJsonDelta { partial_json: "" });
            for partial_json in slices(&call.input.to_string(), INPUT_PIECE) {
                delta(events, index, Delta::InputJsonDelta { partial_json });
            }
        }
    }
    events.named("content_block_stop", &Event::ContentBlockStop { index });
}

fn delta(events: &mut Events, index: usize, delta: Delta<'_>) {
    events.named("content_block_delta", &Event::ContentBlockDelta { index, delta });
}
