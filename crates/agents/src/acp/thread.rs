//! Writes one session's updates down as events.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use warren_domain::{
    Block, BlockId, BlockStatus, Content, ConversationId, Draft, EventBody, SystemSubtype, Timestamp,
};

use super::call::Call;
use crate::fields::{list, text};

/// One session of an agent: the main thread, or what it does in another.
#[derive(Debug)]
pub(super) struct Thread {
    conversation: ConversationId,
    /// How many prompts there were, this one included: what has no name is counted within its prompt.
    pub(super) n_prompts: u64,
    counts: HashMap<String, u32>,
    writing: Option<Writing>,
    /// Calls that were told about in this prompt.
    calls: HashMap<String, Call>,
    /// Outputs that are coming, by call.
    growing: HashMap<String, Shown>,
    pub(super) last_text: Option<String>,
}

/// What of a call's output is shown.
#[derive(Debug)]
enum Shown {
    /// All that was told.
    Whole(String),
    /// What came piece by piece, which nobody need keep.
    Pieces,
}

/// A text or thought that grows.
#[derive(Debug)]
struct Writing {
    kind: Kind,
    message: Option<String>,
    block: Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
}

impl Thread {
    pub(super) fn new(conversation: ConversationId, n_prompts: u64) -> Self {
        Self {
            conversation,
            n_prompts,
            counts: HashMap::new(),
            writing: None,
            calls: HashMap::new(),
            growing: HashMap::new(),
            last_text: None,
        }
    }

    /// A prompt begins. `id` is the name of its block, which is counted if it has none.
    pub(super) fn prompted(
        &mut self,
        id: Option<BlockId>,
        content: Content,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        self.counts.retain(|name, _| !name.starts_with("p"));
        self.calls.clear();
        let id = id.unwrap_or_else(|| BlockId(format!("p{}-prompt", self.n_prompts)));
        self.whole(Block::UserMessage { id, timestamp: at, content }, out);
    }

    /// Text or thought comes.
    pub(super) fn wrote(&mut self, kind: Kind, update: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        let message = text(update, "messageId").map(str::to_owned);
        let shown = update.get("content").map(shown).unwrap_or_default();
        let goes_on = self.writing.as_ref().is_some_and(|it| it.kind == kind && it.message == message);
        if goes_on {
            return self.grew(&shown, out);
        }
        // Some agents part their thoughts by blank lines, before the first too.
        let shown = shown.trim_start_matches('\n');
        self.stop_writing(out);
        if shown.is_empty() {
            return;
        }
        let block = self.text_block(kind, message.as_deref(), at);
        out.push(self.draft(EventBody::BlockStart { block: block.clone() }));
        self.writing = Some(Writing { kind, message, block });
        self.grew(shown, out);
    }

    fn grew(&mut self, delta: &str, out: &mut Vec<Draft>) {
        let Some(writing) = &mut self.writing else { return };
        if delta.is_empty() {
            return;
        }
        writing.block.push_delta(delta);
        let body = EventBody::TextDelta { block_id: writing.block.id().clone(), delta: delta.to_owned() };
        out.push(self.draft(body));
    }

    /// Whatever was being written is whole.
    pub(super) fn stop_writing(&mut self, out: &mut Vec<Draft>) {
        if let Some(Writing { block, .. }) = self.writing.take() {
            if let Block::AssistantText { content, .. } = &block {
                self.last_text = Some(content.clone());
            }
            self.whole(block, out);
        }
    }

    fn text_block(&mut self, kind: Kind, message: Option<&str>, timestamp: Timestamp) -> Block {
        let content = String::new();
        match kind {
            Kind::Text => {
                let id = self.name("text", message);
                Block::AssistantText { id, timestamp, content, model: None }
            }
            Kind::Thinking => {
                let id = self.name("thinking", message);
                Block::Thinking { id, timestamp, content, summary: None }
            }
        }
    }

    /// A name by the message, or by the prompt and the order in it.
    fn name(&mut self, kind: &str, message: Option<&str>) -> BlockId {
        let name = match message {
            Some(message) => format!("{message}-{kind}"),
            None => format!("p{}-{kind}", self.n_prompts),
        };
        let count = self.counts.entry(name.clone()).or_default();
        *count += 1;
        match (message, *count) {
            (Some(_), 1) => BlockId(name),
            (_, n) => BlockId(format!("{name}-{n}")),
        }
    }

    /// A call is told about, for the first time or again. Gives what is known of it.
    pub(super) fn called(&mut self, told: &Value, at: Timestamp, out: &mut Vec<Draft>) -> Option<&Call> {
        let id = text(told, "toolCallId")?.to_owned();
        self.stop_writing(out);
        let before = self.calls.remove(&id);
        let is_new = before.is_none();
        let mut call = before.unwrap_or_else(|| Call::new(&id, told, at));
        let block_before = call.block();
        let added = call.update(told);
        if call.is_open() {
            if is_new {
                out.push(self.draft(EventBody::BlockStart { block: call.block() }));
            } else if let Some(updates) = changes(&block_before, &call.block()) {
                out.push(self.draft(EventBody::BlockUpdate { block_id: BlockId(id.clone()), updates }));
            }
            self.output_grew(&id, &call, added, at, out);
        } else {
            if is_new {
                out.push(self.draft(EventBody::BlockStart { block: call.block() }));
            }
            self.growing.remove(&id);
            self.whole(call.result(call.output(), at), out);
            self.whole(call.block(), out);
        }
        Some(self.calls.entry(id).or_insert(call))
    }

    /// A call that permission is asked for. What is known of it counts more than what is told with the question, but
    /// some agents tell about a call for the first time by asking.
    pub(super) fn asked_about(&mut self, call: &Value, at: Timestamp, out: &mut Vec<Draft>) -> Option<&Call> {
        match text(call, "toolCallId") {
            Some(id) if self.calls.contains_key(id) => self.calls.get(id),
            _ => self.called(&without_words(call), at, out),
        }
    }

    /// Output that comes bit by bit is told whole each time, but for that of terminals.
    fn output_grew(&mut self, id: &str, call: &Call, added: &str, at: Timestamp, out: &mut Vec<Draft>) {
        if call.is_piecemeal() && !added.is_empty() {
            return self.terminal_grew(id, call, added, at, out);
        }
        let Some(now) = call.growing() else { return };
        let before = self.growing.insert(id.to_owned(), Shown::Whole(now.clone()));
        let block_id = call.result_id();
        let delta = match &before {
            None => {
                return out.push(self.draft(EventBody::BlockStart { block: call.result(json!(now), at) }));
            }
            Some(Shown::Whole(before)) => now.strip_prefix(before.as_str()),
            Some(Shown::Pieces) => None,
        };
        let body = match delta {
            Some("") => return,
            Some(delta) => EventBody::TextDelta { block_id, delta: delta.to_owned() },
            None => {
                let updates = [("output".to_owned(), json!(now))].into_iter().collect();
                EventBody::BlockUpdate { block_id, updates }
            }
        };
        out.push(self.draft(body));
    }

    fn terminal_grew(&mut self, id: &str, call: &Call, added: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let is_new = self.growing.insert(id.to_owned(), Shown::Pieces).is_none();
        out.push(self.draft(if is_new {
            EventBody::BlockStart { block: call.result(call.output(), at) }
        } else {
            EventBody::TextDelta { block_id: call.result_id(), delta: added.to_owned() }
        }));
    }

    /// The plan: one block a prompt, as a call of the tool that writes it.
    pub(super) fn planned(&mut self, update: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        self.stop_writing(out);
        let id = format!("p{}-plan", self.n_prompts);
        let block = Block::ToolUse {
            id: BlockId(id.clone()),
            timestamp: at,
            tool_name: "plan".to_owned(),
            tool_use_id: id,
            input: json!({"entries": list(update, "entries")}),
            status: BlockStatus::Success,
            display_name: None,
            description: None,
        };
        self.whole(block, out);
    }

    /// Something the system says.
    pub(super) fn said(&mut self, message: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let id = self.name("system", None);
        let (subtype, message) = (SystemSubtype::Status, message.to_owned());
        self.whole(Block::System { id, timestamp: at, subtype, message, metadata: None }, out);
    }

    /// Something went wrong.
    pub(super) fn failed(&mut self, message: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let (id, message) = (BlockId(format!("p{}-error", self.n_prompts)), message.to_owned());
        self.whole(Block::Error { id, timestamp: at, message, code: None }, out);
    }

    /// The prompt is answered: what is still under way was cut.
    pub(super) fn ended(&mut self, out: &mut Vec<Draft>) {
        self.stop_writing(out);
        self.growing.clear();
        let mut open: Vec<Block> =
            self.calls.drain().filter_map(|(_, call)| call.block().cut_short()).collect();
        open.sort_by(|a, b| a.id().cmp(b.id()));
        open.into_iter().for_each(|block| self.whole(block, out));
    }

    fn whole(&self, block: Block, out: &mut Vec<Draft>) {
        out.push(self.draft(EventBody::BlockComplete { block }));
    }

    fn draft(&self, body: EventBody) -> Draft {
        Draft::of_session(body).within(self.conversation.clone())
    }
}

/// What of a block is new.
fn changes(before: &Block, after: &Block) -> Option<Map<String, Value>> {
    let fields = |block: &Block| match serde_json::to_value(block) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let before = fields(before);
    let is_new = |(key, value): &(String, Value)| before.get(key) != Some(value);
    let changes: Map<String, Value> = fields(after).into_iter().filter(is_new).collect();
    (!changes.is_empty()).then_some(changes)
}

/// A call without the texts that explain it to whoever is asked: they are not its output.
fn without_words(call: &Value) -> Value {
    let mut call = call.clone();
    if let Some(Value::Array(content)) = call.get_mut("content") {
        content.retain(|part| text(part, "type") == Some("diff"));
    }
    call
}

/// A piece of content as text.
pub(super) fn shown(content: &Value) -> String {
    if let Some(text) = text(content, "text") {
        return text.to_owned();
    }
    match text(content, "type").unwrap_or_default() {
        "image" => format!("[image {}]", text(content, "mimeType").unwrap_or_default()),
        "audio" => format!("[audio {}]", text(content, "mimeType").unwrap_or_default()),
        "resource_link" => format!("[file {}]", text(content, "uri").unwrap_or_default()),
        "resource" => {
            let resource = content.get("resource").unwrap_or(&Value::Null);
            text(resource, "text").or_else(|| text(resource, "uri")).unwrap_or_default().to_owned()
        }
        "" => String::new(),
        kind => format!("[{kind}]"),
    }
}
