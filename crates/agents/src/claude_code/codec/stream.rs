//! The API's own stream: blocks that grow.

use serde_json::Value;
use warren_domain::{Block, BlockId, BlockStatus, ConversationId, EventBody, Timestamp};

use super::{ClaudeCodec, Speaker, Unreadable, event};
use crate::{
    Output,
    claude_code::{
        blocks::{self, Counts, Origin},
        native::{Line, Part, StreamEvent, Tokens},
    },
};

/// The message that is being written in the main thread.
pub(super) struct OpenMessage {
    pub(super) id: String,
    model: String,
    /// How many blocks of each kind began.
    begun: Counts,
    /// Blocks that began, by their place in the message.
    blocks: Vec<(u64, BlockId)>,
    /// Those of them that are whole.
    pub(super) whole: Vec<BlockId>,
}

impl OpenMessage {
    /// What began and is not whole.
    pub(super) fn unfinished(self) -> impl Iterator<Item = BlockId> {
        let whole = self.whole;
        self.blocks.into_iter().map(|(_, id)| id).filter(move |id| !whole.contains(id))
    }

    pub(super) fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    fn block(&self, index: u64) -> Option<&BlockId> {
        self.blocks.iter().rev().find(|(place, _)| *place == index).map(|(_, id)| id)
    }

    pub(super) fn has_begun(&self, id: &BlockId) -> bool {
        self.blocks.iter().any(|(_, begun)| begun == id)
    }
}

impl ClaudeCodec {
    pub(super) fn stream_event(
        &mut self,
        line: &mut Line<'_>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), Unreadable> {
        let stream = line.event.take().ok_or(Unreadable)?;
        self.has_stream = true;
        // Subagents' blocks come whole.
        if line.parent_call().is_some() {
            return Ok(());
        }
        match self.early.take() {
            Some(mut early) => {
                self.grow(stream, at, &mut early);
                self.early = Some(early);
            }
            None => self.grow(stream, at, out),
        }
        Ok(())
    }

    fn grow(&mut self, stream: StreamEvent<'_>, at: Timestamp, out: &mut Vec<Output>) {
        match stream.kind {
            b"content_block_delta" => self.delta(stream, out),
            b"content_block_start" => self.block_start(stream, at, out),
            b"message_start" => self.message_start(stream, out),
            b"message_delta" => self.message_delta(&stream, out),
            b"message_stop" => self.message_stop(out),
            _ => {}
        }
    }

    fn message_start(&mut self, stream: StreamEvent<'_>, out: &mut Vec<Output>) {
        let Some(message) = stream.message else { return };
        self.discard_open("the answer began anew", out);
        self.flush(out);
        let id = message.id.into_owned();
        self.speakers
            .insert(super::MAIN.to_owned(), Speaker { message: id.clone(), counts: Counts::default() });
        self.open = Some(OpenMessage {
            id,
            model: message.model.into_owned(),
            begun: Counts::default(),
            blocks: Vec::new(),
            whole: Vec::new(),
        });
    }

    fn block_start(&mut self, stream: StreamEvent<'_>, at: Timestamp, out: &mut Vec<Output>) {
        self.take_up_prompt(at, out);
        let (Some(part), Some(open)) = (stream.content_block, &mut self.open) else { return };
        let origin = Origin { message: &open.id, model: &open.model, at };
        let block = match part.kind {
            b"text" => blocks::text(open.begun.text(&open.id), String::new(), origin),
            b"thinking" | b"redacted_thinking" => {
                let id = open.begun.thought(&open.id);
                Block::Thinking { id, timestamp: at, content: String::new(), summary: None }
            }
            b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => blocks::call(
                Part { input: Value::Object(serde_json::Map::new()), ..*part },
                at,
                BlockStatus::Pending,
            ),
            _ => return,
        };
        open.blocks.push((stream.index, block.id().clone()));
        out.push(event(ConversationId::main(), EventBody::BlockStart { block }));
    }

    fn delta(&mut self, stream: StreamEvent<'_>, out: &mut Vec<Output>) {
        let block = self.open.as_ref().and_then(|open| open.block(stream.index));
        if let (Some(block_id), false) = (block, stream.delta.is_empty()) {
            let body = EventBody::TextDelta { block_id: block_id.clone(), delta: stream.delta.into_owned() };
            out.push(event(ConversationId::main(), body));
        }
    }

    fn message_delta(&mut self, stream: &StreamEvent<'_>, out: &mut Vec<Output>) {
        let (Some(tokens), Some(open)) = (stream.usage, &self.open) else { return };
        let usage = Tokens::usage(tokens, &open.model);
        self.usage.add(&usage);
        let body = EventBody::MetadataUpdate {
            cost_usd: self.usage.cost_usd,
            usage: self.usage.clone(),
            model: usage.model,
            context_tokens: Some(usage.total_tokens),
        };
        out.push(event(ConversationId::main(), body));
    }

    /// The message is whole, or was given up: then no line says what its blocks became.
    fn message_stop(&mut self, out: &mut Vec<Output>) {
        self.discard_open("the answer was given up", out);
        self.flush(out);
    }
}
