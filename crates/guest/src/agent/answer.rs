//! One answer of the model, turned into blocks while it comes in.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, EventBody, Timestamp, Usage};

use super::{
    api::{Api, ApiError, ApiEvent, ApiUsage, ContentBlock, Delta},
    block,
    clock::now,
    role::Role,
    thread::Thread,
    tools::Call,
    transcript::Native,
};

/// An answer that is coming in.
pub(super) struct Answer<'a> {
    thread: &'a Thread,
    role: &'a Role,
    message_id: String,
    model: String,
    usage: ApiUsage,
    stop_reason: Option<String>,
    is_whole: bool,
    /// Pieces that grow, by their index in the answer.
    open: BTreeMap<u64, Piece>,
    /// What was shown of this answer, in case it has to be taken back.
    shown: Vec<BlockId>,
    calls: Vec<Call>,
    last_text: Option<String>,
}

/// What a whole answer asks for.
pub(super) struct Reply {
    pub(super) calls: Vec<Call>,
    /// The last text in it.
    pub(super) text: Option<String>,
    pub(super) stop_reason: Option<String>,
}

enum Piece {
    Text(Growing),
    Thinking { text: Growing, signature: String },
    Redacted { id: BlockId, data: String },
    Call { id: String, name: String, at: Timestamp, input: Value, json: String, signature: String },
    Ignored,
}

/// A text that grows. Its block begins with its first letter, so that none is empty.
struct Growing {
    id: BlockId,
    at: Timestamp,
    content: String,
}

impl<'a> Answer<'a> {
    pub(super) fn new(thread: &'a Thread, role: &'a Role) -> Self {
        Self {
            thread,
            role,
            message_id: String::new(),
            model: role.model.clone(),
            usage: ApiUsage::default(),
            stop_reason: None,
            is_whole: false,
            open: BTreeMap::new(),
            shown: Vec::new(),
            calls: Vec::new(),
            last_text: None,
        }
    }

    /// Takes one event in.
    pub(super) fn apply(&mut self, event: ApiEvent) -> Result<(), ApiError> {
        match event {
            ApiEvent::MessageStart { message } => {
                let id = if message.id.is_empty() { "answer" } else { &message.id };
                self.message_id = self.thread.unique(id);
                if !message.model.is_empty() {
                    self.model = message.model;
                }
                self.usage.update(&message.usage);
            }
            ApiEvent::ContentBlockStart { index, content_block } => self.begin(index, content_block),
            ApiEvent::ContentBlockDelta { index, delta } => self.grow(index, delta),
            ApiEvent::ContentBlockStop { index } => {
                if let Some(piece) = self.open.remove(&index) {
                    self.complete(piece);
                }
            }
            ApiEvent::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.usage.update(&usage);
            }
            ApiEvent::MessageStop => self.is_whole = true,
            ApiEvent::Error { error } => return Err(ApiError::Stream(error)),
            ApiEvent::Other => {}
        }
        Ok(())
    }

    pub(super) fn thread(&self) -> &'a Thread {
        self.thread
    }

    pub(super) fn role(&self) -> &'a Role {
        self.role
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What it cost so far, and how much of the model's window it fills.
    pub(super) fn usage(&self) -> Usage {
        self.usage.to_usage(&self.model)
    }

    pub(super) fn into_reply(self) -> Reply {
        Reply { calls: self.calls, text: self.last_text, stop_reason: self.stop_reason }
    }

    /// Takes back all that was shown of it.
    pub(super) fn discard(self, reason: &str) {
        for block_id in self.shown {
            self.thread.record(EventBody::BlockDiscarded { block_id, reason: reason.to_owned() });
        }
    }

    /// Keeps what there is of it, and gives the calls it had made.
    pub(super) fn cut(mut self) -> Vec<Call> {
        for piece in std::mem::take(&mut self.open).into_values() {
            match piece {
                Piece::Text(_) | Piece::Thinking { .. } => self.complete(piece),
                Piece::Call { id, .. } => self.take_back(BlockId(id)),
                Piece::Redacted { .. } | Piece::Ignored => {}
            }
        }
        self.calls
    }

    fn begin(&mut self, index: u64, content: ContentBlock) {
        let growing = || Growing {
            id: BlockId(format!("{}-{index}", self.message_id)),
            at: now(),
            content: String::new(),
        };
        let (piece, first) = match content {
            ContentBlock::Text { text } => (Piece::Text(growing()), Some(Delta::Text { text })),
            ContentBlock::Thinking { thinking, signature } => {
                (Piece::Thinking { text: growing(), signature }, Some(Delta::Thinking { thinking }))
            }
            ContentBlock::RedactedThinking { data } => (Piece::Redacted { id: growing().id, data }, None),
            ContentBlock::ToolUse { id, name, input } => (self.begin_call(&id, name, input, index), None),
            ContentBlock::Other => (Piece::Ignored, None),
        };
        self.open.insert(index, piece);
        if let Some(first) = first {
            self.grow(index, first);
        }
    }

    fn begin_call(&mut self, id: &str, name: String, input: Value, index: u64) -> Piece {
        // The id names files and goes back to the API, which takes only these characters.
        let safe: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).collect();
        let safe = if safe.is_empty() { format!("call-{}-{index}", self.message_id) } else { safe };
        let (id, at) = (self.thread.unique(&safe), now());
        // A task is shown as a subagent or as a failed call: which, is known when its input is.
        if !self.role.is_task(&name) {
            let call = Call::new(id.clone(), name.clone(), json!({}), at);
            self.show(call.block(BlockStatus::Pending));
        }
        Piece::Call { id, name, at, input, json: String::new(), signature: String::new() }
    }

    fn grow(&mut self, index: u64, delta: Delta) {
        match (self.open.get_mut(&index), delta) {
            (Some(Piece::Text(growing)), Delta::Text { text }) => {
                let is_first = growing.push(&text);
                let block = is_first.then(|| growing.text(String::new(), &self.model));
                let id = growing.id.clone();
                self.say_growth(id, block, text);
            }
            (Some(Piece::Thinking { text: growing, .. }), Delta::Thinking { thinking }) => {
                let is_first = growing.push(&thinking);
                let block = is_first.then(|| growing.thinking(String::new()));
                let id = growing.id.clone();
                self.say_growth(id, block, thinking);
            }
            (
                Some(Piece::Thinking { signature, .. } | Piece::Call { signature, .. }),
                Delta::Signature { signature: more },
            ) => {
                signature.push_str(&more);
            }
            (Some(Piece::Call { json, .. }), Delta::InputJson { partial_json }) => {
                json.push_str(&partial_json);
            }
            _ => {}
        }
    }

    fn say_growth(&mut self, block_id: BlockId, begins: Option<Block>, delta: String) {
        if delta.is_empty() {
            return;
        }
        if let Some(block) = begins {
            self.show(block);
        }
        self.thread.say(EventBody::TextDelta { block_id, delta });
    }

    fn show(&mut self, block: Block) {
        self.shown.push(block.id().clone());
        self.thread.say(EventBody::BlockStart { block });
    }

    fn take_back(&mut self, block_id: BlockId) {
        if self.shown.contains(&block_id) {
            self.thread.record(EventBody::BlockDiscarded { block_id, reason: "interrupted".to_owned() });
        }
    }

    fn complete(&mut self, piece: Piece) {
        let mut native = Native { message_id: Some(self.message_id.clone()), ..Native::default() };
        let block = match piece {
            Piece::Text(growing) if growing.content.is_empty() => return,
            Piece::Text(mut growing) => {
                let content = std::mem::take(&mut growing.content);
                self.last_text = Some(content.clone());
                growing.text(content, &self.model)
            }
            Piece::Thinking { text, signature } if text.content.is_empty() && signature.is_empty() => return,
            Piece::Thinking { mut text, signature } => {
                self.sign(&mut native, signature);
                let content = std::mem::take(&mut text.content);
                text.thinking(content)
            }
            Piece::Redacted { id, data } => {
                native.redacted = Some(data);
                redacted(id)
            }
            Piece::Call { id, name, at, input, json, signature } => {
                self.sign(&mut native, signature);
                return self.complete_call(Call::received(id, name, &json, input, at), native);
            }
            Piece::Ignored => return,
        };
        if !self.shown.contains(block.id()) {
            self.shown.push(block.id().clone());
        }
        self.thread.record_with(EventBody::BlockComplete { block }, Some(native));
    }

    /// What proves that a thought or a call is its model's own.
    fn sign(&self, native: &mut Native, signature: String) {
        if !signature.is_empty() {
            native.signature = Some(signature);
            native.api = Some(Api::of_model(&self.role.model)).filter(|api| *api != Api::Anthropic);
        }
    }

    /// The input of a call is whole: shown now, kept from here on.
    fn complete_call(&mut self, mut call: Call, mut native: Native) {
        call.resolve(self.role, self.thread.id());
        let block = call.block(BlockStatus::Pending);
        let id = block.id().clone();
        let is_shown = self.shown.contains(&id);
        native.input = matches!(block, Block::Subagent { .. }).then(|| call.input.clone());
        let updates = match &block {
            Block::ToolUse { input, description: Some(description), .. } => {
                json!({"input": input, "description": description})
            }
            Block::ToolUse { input, .. } => json!({ "input": input }),
            _ => Value::Null,
        };
        let start = EventBody::BlockStart { block };
        if is_shown {
            self.thread.keep(start, Some(native));
            self.thread.say(block::update(&id, updates));
        } else {
            self.shown.push(id);
            self.thread.record_with(start, Some(native));
        }
        self.calls.push(call);
    }
}

impl Growing {
    /// Appends, and says whether these are the first letters.
    fn push(&mut self, more: &str) -> bool {
        let is_first = self.content.is_empty() && !more.is_empty();
        self.content.push_str(more);
        is_first
    }

    fn text(&self, content: String, model: &str) -> Block {
        let model = Some(model.to_owned());
        Block::AssistantText { id: self.id.clone(), timestamp: self.at, content, model }
    }

    fn thinking(&self, content: String) -> Block {
        Block::Thinking { id: self.id.clone(), timestamp: self.at, content, summary: None }
    }
}

fn redacted(id: BlockId) -> Block {
    let summary = Some("Not shown by the provider".to_owned());
    Block::Thinking { id, timestamp: now(), content: String::new(), summary }
}
