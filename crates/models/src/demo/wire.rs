//! Turns a turn into the bytes of the Messages API: a stream of events, or one message.
//!
//! Ids and signatures come from a hash of the request and token counts from lengths, so that the same request gets the
//! same bytes.

mod events;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Serialize;

use super::{
    MODEL,
    request::{Block, Content, Request},
    turn::{Part, Tempo, Turn},
};
use crate::Pace;
pub(super) use events::stream;

/// A part of a stream, and how long to wait before it.
pub(super) struct Piece {
    pub(super) tempo: Tempo,
    pub(super) bytes: Bytes,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    model: &'static str,
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
    ToolUse { id: String, name: &'a str, input: &'a serde_json::Value },
}

/// Makes ids that depend on nothing but the request.
struct Ids {
    seed: blake3::Hash,
}

/// The whole answer in one object.
pub(super) fn message(request: &Request, turn: &Turn, body: &[u8]) -> Bytes {
    let ids = Ids { seed: blake3::hash(body) };
    let content = turn.blocks.iter().enumerate().map(|(idx, part)| match part {
        Part::Thinking(thinking) => ContentBlock::Thinking { thinking, signature: ids.signature(idx) },
        Part::Text(text) => ContentBlock::Text { text },
        Part::Call(call) => {
            ContentBlock::ToolUse { id: ids.tool_use(idx), name: &call.name, input: &call.input }
        }
    });
    json(&Message {
        id: ids.message(),
        kind: "message",
        role: "assistant",
        model: MODEL,
        content: content.collect(),
        stop_reason: Some(stop_reason(turn)),
        stop_sequence: None,
        usage: usage(request, turn, body),
    })
}

/// What `count_tokens` answers.
pub(super) fn token_count(request: &Request) -> Bytes {
    #[derive(Serialize)]
    struct Count {
        input_tokens: u64,
    }
    let tokens = system_tokens(request) + messages_tokens(request, request.messages.len());
    json(&Count { input_tokens: tokens })
}

fn stop_reason(turn: &Turn) -> &'static str {
    if turn.calls_tools() { "tool_use" } else { "end_turn" }
}

/// Plausible numbers: four bytes a token. A request that marks something for the cache finds there all but what came
/// last, as it would with the real API.
fn usage(request: &Request, turn: &Turn, body: &[u8]) -> Usage {
    let output: usize = turn.blocks.iter().map(Part::len).sum();
    let n_before = request.messages.len().saturating_sub(2);
    let system = system_tokens(request);
    let before = messages_tokens(request, n_before);
    let fresh = messages_tokens(request, request.messages.len()) - before;
    let usage = |input, written, read| Usage {
        input_tokens: input,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: tokens(output),
    };
    let cached = body.windows(15).any(|window| window == b"\"cache_control\"");
    match (cached, n_before) {
        (false, _) => usage(system + before + fresh, 0, 0),
        (true, 0) => usage(fresh, system, 0),
        (true, _) => usage(4, fresh, system + before),
    }
}

fn system_tokens(request: &Request) -> u64 {
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len());
    tokens(request.system.text().len() + tools.sum::<usize>())
}

fn messages_tokens(request: &Request, n_messages: usize) -> u64 {
    request.messages.iter().take(n_messages).map(|message| 4 + tokens(length(&message.content))).sum()
}

fn length(content: &Content) -> usize {
    let blocks = content.blocks().iter().map(|block| match block {
        Block::Text { .. } => 0,
        Block::ToolResult { content, .. } => length(content),
        Block::ToolUse { .. } | Block::Other => 200,
    });
    content.text().len() + blocks.sum::<usize>()
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

fn json(value: &impl Serialize) -> Bytes {
    // These types have nothing that JSON cannot say.
    serde_json::to_vec(value).unwrap_or_default().into()
}

impl Ids {
    fn message(&self) -> String {
        format!("msg_demo_{}", self.hex("message", 0))
    }

    fn tool_use(&self, idx: usize) -> String {
        format!("toolu_demo_{}", self.hex("tool_use", idx))
    }

    fn signature(&self, idx: usize) -> String {
        let mut bytes = [0; 96];
        self.derive("signature", idx).fill(&mut bytes);
        STANDARD.encode(bytes)
    }

    fn hex(&self, what: &str, idx: usize) -> String {
        let mut bytes = [0; 10];
        self.derive(what, idx).fill(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
