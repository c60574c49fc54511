//! Writes one thread of Codex's items down as events.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use warren_domain::{
    Block, BlockId, BlockStatus, Content, ConversationId, Draft, EventBody, SystemSubtype, Timestamp,
};

use super::{
    ids::Ids,
    item::{Item, Tool, What},
};

/// One thread.
#[derive(Debug)]
pub(super) struct Scribe {
    thread: ConversationId,
    pub(super) ids: Ids,
    /// What has begun and not ended, by item.
    open: HashMap<String, Open>,
    /// The last thing the agent said.
    pub(super) last_text: Option<String>,
}

#[derive(Debug)]
enum Open {
    /// Something is being written, and nothing of it is there yet.
    Awaited(Timestamp),
    /// Something is being written; for thoughts also which part.
    Written { block: Block, part: u64 },
    /// A tool works. The result's id, once it has begun to come.
    Working { block: Block, result: Option<BlockId> },
}

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growing {
    Text,
    /// A part of a thought; parts are paragraphs.
    Thinking(u64),
    Output,
}

impl Scribe {
    pub(super) fn new(thread: ConversationId, ids: Ids) -> Self {
        Self { thread, ids, open: HashMap::new(), last_text: None }
    }

    /// An item begins.
    pub(super) fn began(&mut self, item: &Item, at: Timestamp, out: &mut Vec<Draft>) {
        let at = item.started.unwrap_or(at);
        match &item.what {
            What::Text(_) | What::Thinking(_) | What::User { .. } | What::Compaction => {
                self.open.insert(item.id.clone(), Open::Awaited(at));
            }
            What::Tool(tool) => {
                self.open_tool(&item.id, tool, at, out);
            }
            What::Spawn(_) | What::Notice(_) | What::Nothing => {}
        }
    }

    /// An item is whole.
    pub(super) fn ended(&mut self, item: &Item, at: Timestamp, out: &mut Vec<Draft>) {
        let started = item.started.unwrap_or(at);
        match &item.what {
            What::User { client_id, content } => {
                let started = self.awaited_since(item, started);
                self.user(item, client_id.as_deref(), content, started, out);
            }
            What::Text(text) => self.written(&item.id, "text", text, started, out),
            What::Thinking(text) => self.written(&item.id, "thinking", text, started, out),
            What::Tool(tool) => self.tool(item, tool, at, out),
            What::Compaction => {
                let summary = EventBody::ContextCompacted { summary: None, before: None, after: None };
                out.push(self.draft(summary));
                let started = self.awaited_since(item, started);
                self.said(&item.id, SystemSubtype::Status, "Context compacted", started, out);
            }
            What::Notice(text) => self.said(&item.id, SystemSubtype::Error, text, started, out),
            What::Spawn(_) | What::Nothing => {}
        }
    }

    /// When an item began that comes whole. Not every version says so again when it ends.
    fn awaited_since(&mut self, item: &Item, otherwise: Timestamp) -> Timestamp {
        match self.open.remove(&item.id) {
            Some(Open::Awaited(at)) => at,
            _ => otherwise,
        }
    }

    /// More of something.
    pub(super) fn grew(
        &mut self,
        item: &str,
        what: Growing,
        delta: &str,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        if delta.is_empty() {
            return;
        }
        match what {
            Growing::Text => self.grew_text(item, "text", 0, delta, at, out),
            Growing::Thinking(part) => self.grew_text(item, "thinking", part, delta, at, out),
            Growing::Output => self.grew_output(item, delta, at, out),
        }
    }

    /// The agent begins its answer anew: what it was writing is void.
    pub(super) fn abandon(&mut self, reason: &str, out: &mut Vec<Draft>) {
        let written = self.open.extract_if(|_, open| !matches!(open, Open::Working { .. }));
        let mut ids: Vec<BlockId> = written
            .filter_map(|(_, open)| match open {
                Open::Written { block, .. } => Some(block.id().clone()),
                _ => None,
            })
            .collect();
        ids.sort();
        for block_id in ids {
            out.push(self.draft(EventBody::BlockDiscarded { block_id, reason: reason.to_owned() }));
        }
    }

    /// The turn is over: what still works is cut.
    pub(super) fn turn_ended(&mut self, out: &mut Vec<Draft>) {
        self.ids.turn_ended();
        let mut cut: Vec<Block> = self
            .open
            .drain()
            .filter_map(|(_, open)| match open {
                Open::Working { block, .. } => block.cut_short(),
                _ => None,
            })
            .collect();
        cut.sort_by(|a, b| a.id().cmp(b.id()));
        out.extend(cut.into_iter().map(|block| self.draft(EventBody::BlockComplete { block })));
    }

    /// The turn failed.
    pub(super) fn failed(&mut self, message: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let id = BlockId(self.ids.of_turn("error", message));
        let block = Block::Error { id, timestamp: at, message: message.to_owned(), code: None };
        out.push(self.draft(EventBody::BlockComplete { block }));
    }

    /// Something the system says.
    pub(super) fn said(
        &mut self,
        item: &str,
        subtype: SystemSubtype,
        message: &str,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let id = BlockId(self.ids.of(item, "system", message));
        let block = Block::System { id, timestamp: at, subtype, message: message.to_owned(), metadata: None };
        out.push(self.draft(EventBody::BlockComplete { block }));
    }

    /// The arguments of a call that is under way.
    pub(super) fn input_of(&self, item: &str) -> Option<(&str, &Value)> {
        match self.open.get(item) {
            Some(Open::Working { block: Block::ToolUse { tool_name, input, .. }, .. }) => {
                Some((tool_name, input))
            }
            _ => None,
        }
    }

    pub(super) fn draft(&self, body: EventBody) -> Draft {
        Draft::of_session(body).within(self.thread.clone())
    }

    pub(super) fn thread(&self) -> &ConversationId {
        &self.thread
    }

    fn user(
        &mut self,
        item: &Item,
        client_id: Option<&str>,
        content: &Content,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let id = client_id.map_or_else(|| self.ids.of(&item.id, "user", &content.to_text()), str::to_owned);
        let block = Block::UserMessage { id: BlockId(id), timestamp: at, content: content.clone() };
        out.push(self.draft(EventBody::BlockComplete { block }));
    }

    /// A text or a thought, whole. One that says nothing is none.
    fn written(&mut self, item: &str, kind: &'static str, text: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let begun = self.open.remove(item);
        if text.is_empty() {
            if let Some(Open::Written { block, .. }) = begun {
                out.push(self.draft(EventBody::BlockComplete { block }));
            }
            return;
        }
        let at = match &begun {
            Some(Open::Awaited(at)) => *at,
            Some(Open::Written { block, .. }) => timestamp(block),
            _ => at,
        };
        if kind == "text" {
            self.last_text = Some(text.to_owned());
        }
        let block = self.text_block(item, kind, text, at);
        out.push(self.draft(EventBody::BlockComplete { block }));
    }

    fn text_block(&mut self, item: &str, kind: &str, text: &str, timestamp: Timestamp) -> Block {
        let id = BlockId(self.ids.of(item, kind, text));
        let content = text.to_owned();
        match kind {
            "text" => Block::AssistantText { id, timestamp, content, model: None },
            _ => Block::Thinking { id, timestamp, content, summary: None },
        }
    }

    fn grew_text(
        &mut self,
        item: &str,
        kind: &'static str,
        part: u64,
        delta: &str,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let (block, before) = match self.open.remove(item) {
            Some(Open::Written { block, part }) => (block, Some(part)),
            Some(Open::Awaited(at)) => (self.text_block(item, kind, "", at), None),
            _ => (self.text_block(item, kind, "", at), None),
        };
        let mut block = block;
        if before.is_none() {
            out.push(self.draft(EventBody::BlockStart { block: block.clone() }));
        }
        let delta = match before {
            Some(before) if before != part => format!("\n\n{delta}"),
            _ => delta.to_owned(),
        };
        block.push_delta(&delta);
        out.push(self.draft(EventBody::TextDelta { block_id: block.id().clone(), delta }));
        self.open.insert(item.to_owned(), Open::Written { block, part });
    }

    fn grew_output(&mut self, item: &str, delta: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let Some(Open::Working { block: Block::ToolUse { id, tool_use_id, .. }, result }) =
            self.open.get_mut(item)
        else {
            return;
        };
        let (block_id, is_new) = match result {
            Some(id) => (id.clone(), false),
            None => (result.insert(result_id(id)).clone(), true),
        };
        let tool_use_id = tool_use_id.clone();
        if is_new {
            let block = result_block(block_id.clone(), tool_use_id, at, json!(""), false, None);
            out.push(self.draft(EventBody::BlockStart { block }));
        }
        out.push(self.draft(EventBody::TextDelta { block_id, delta: delta.to_owned() }));
    }

    fn open_tool(&mut self, item: &str, tool: &Tool, at: Timestamp, out: &mut Vec<Draft>) -> Block {
        if let Some(Open::Working { block, .. }) = self.open.get(item) {
            return block.clone();
        }
        let id = self.ids.of(item, if tool.is_plan { "plan" } else { "tool" }, &tool.key);
        let block = Block::ToolUse {
            tool_use_id: id.clone(),
            id: BlockId(id),
            timestamp: at,
            tool_name: tool.name.clone(),
            input: tool.input.clone(),
            status: BlockStatus::Running,
            display_name: None,
            description: None,
        };
        self.open.insert(item.to_owned(), Open::Working { block: block.clone(), result: None });
        out.push(self.draft(EventBody::BlockStart { block: block.clone() }));
        block
    }

    /// A call with its end; without one it is still under way.
    fn tool(&mut self, item: &Item, tool: &Tool, at: Timestamp, out: &mut Vec<Draft>) {
        let block = self.open_tool(&item.id, tool, item.started.unwrap_or(at), out);
        let Some(end) = &tool.end else { return };
        self.open.remove(&item.id);
        if let Some(output) = &end.output {
            let (id, use_id) = (result_id(block.id()), block.id().0.clone());
            let (at, is_error) = (item.completed.unwrap_or(at), end.status == BlockStatus::Error);
            let result = result_block(id, use_id, at, output.clone(), is_error, end.duration_ms);
            out.push(self.draft(EventBody::BlockComplete { block: result }));
        }
        let mut updates = Map::new();
        updates.insert("status".to_owned(), json!(end.status));
        updates.insert("input".to_owned(), tool.input.clone());
        let block = block.updated(&updates).unwrap_or(block);
        out.push(self.draft(EventBody::BlockComplete { block }));
    }
}

fn result_id(tool_use: &BlockId) -> BlockId {
    BlockId(format!("{tool_use}-result"))
}

fn result_block(
    id: BlockId,
    tool_use_id: String,
    timestamp: Timestamp,
    output: Value,
    is_error: bool,
    duration_ms: Option<u64>,
) -> Block {
    Block::ToolResult {
        id,
        timestamp,
        tool_use_id,
        output,
        is_error,
        duration_ms,
        render_output_as_markdown: None,
    }
}

fn timestamp(block: &Block) -> Timestamp {
    match block {
        Block::UserMessage { timestamp, .. }
        | Block::AssistantText { timestamp, .. }
        | Block::Thinking { timestamp, .. }
        | Block::ToolUse { timestamp, .. }
        | Block::ToolResult { timestamp, .. }
        | Block::System { timestamp, .. }
        | Block::Subagent { timestamp, .. }
        | Block::Error { timestamp, .. } => *timestamp,
    }
}
