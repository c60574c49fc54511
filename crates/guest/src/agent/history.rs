//! What the model is told of a thread so far: a fold of its transcript.
//!
//! The same fold serves a thread that is going on and one that is taken up again, so a resumed session sends the
//! very bytes that the uninterrupted one would have sent.

mod plan;
mod render;
mod shorten;

pub(super) use plan::Kept;

use std::collections::HashMap;

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, Content, ContentPart, EventBody};

use super::{
    transcript::{Entry, Native},
    window::tokens_of,
};

/// What a call that never answered is given as an answer, since the API wants one for each.
pub(super) const NO_RESULT: &str = "[stopped before this call finished; it may have had effects]";

/// How a summary is handed to the model.
const SUMMARY: &str = include_str!("prompts/summary.md");

/// What the model is told of a thread so far.
#[derive(Debug, Default, Clone)]
pub(super) struct History {
    items: Vec<Placed>,
    /// How many lines were folded.
    n_lines: usize,
    /// What the provider last said of the length, and how many items that was.
    measured: Option<(usize, u64)>,
    /// The window that a refusal taught, and the model whose it is.
    window: Option<(String, u64)>,
}

/// Something the model is told, and the line it came from.
#[derive(Debug, Clone)]
struct Placed {
    line: usize,
    item: Item,
}

#[derive(Debug, Clone)]
enum Item {
    /// Content of a user's message.
    User { content: Vec<Value>, is_note: bool },
    /// A piece of an answer.
    Said { block: BlockId, content: Value },
    /// What a call answered.
    Result { tool_use_id: String, output: Value, is_error: bool },
    /// Stands for what was left out.
    Summary(String),
}

impl History {
    /// Folds one line of the transcript.
    pub(super) fn apply(&mut self, entry: &Entry) {
        let none = Native::default();
        let native = entry.native.as_ref().unwrap_or(&none);
        match entry.event.as_ref().map(|draft| &draft.body) {
            Some(EventBody::BlockStart { block }) => self.begin(block, native),
            Some(EventBody::BlockComplete { block }) => self.complete(block, native),
            Some(EventBody::BlockDiscarded { block_id, .. }) => self.discard(block_id),
            Some(EventBody::MetadataUpdate { context_tokens: Some(tokens), .. }) => {
                self.measured = Some((self.items.len(), *tokens));
            }
            _ => {}
        }
        if let Some(compaction) = &native.compaction {
            self.compact(compaction);
        }
        if let Some(note) = &native.note {
            self.push(Item::User { content: vec![text(note)], is_note: true });
        }
        self.n_lines += 1;
    }

    /// About how many tokens a request takes. `fixed` are those of what comes before the messages.
    pub(super) fn tokens(&self, fixed: u64) -> u64 {
        let (n_measured, tokens) = self.measured.unwrap_or((0, fixed));
        tokens + self.items.iter().skip(n_measured).map(|placed| placed.item.tokens()).sum::<u64>()
    }

    /// A model and its window, if a refusal taught it.
    pub(super) fn window(&self) -> Option<&(String, u64)> {
        self.window.as_ref()
    }

    /// The messages to send: roles alternate, every call has its result, and nothing in them is empty.
    pub(super) fn messages(&self) -> Vec<Value> {
        let mut messages = Messages::new(&self.items);
        for Placed { item, .. } in &self.items {
            match item {
                Item::User { content, .. } => {
                    messages.answer_calls();
                    messages.push("user", content.clone());
                }
                Item::Summary(summary) => {
                    messages.answer_calls();
                    messages.push("user", vec![text(&SUMMARY.trim().replace("$SUMMARY", summary))]);
                }
                Item::Said { content, .. } => messages.push_said(content),
                Item::Result { .. } => messages.answer_calls(),
            }
        }
        messages.answer_calls();
        messages.finish()
    }

    fn begin(&mut self, block: &Block, native: &Native) {
        let (name, id, input) = match block {
            Block::ToolUse { tool_name, tool_use_id, input, .. } => (tool_name.as_str(), tool_use_id, input),
            Block::Subagent { tool_use_id: Some(id), input, .. } => ("task", id, input),
            _ => return,
        };
        let input = native.input.as_ref().unwrap_or(input);
        let mut content = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        if let (Some(signature), Some(api)) = (&native.signature, native.api) {
            content["signature"] = json!(signature);
            content["api"] = json!(api);
        }
        self.push(Item::Said { block: block.id().clone(), content });
    }

    fn push(&mut self, item: Item) {
        self.items.push(Placed { line: self.n_lines, item });
    }

    fn discard(&mut self, block_id: &BlockId) {
        self.items.retain(|placed| !matches!(&placed.item, Item::Said { block, .. } if block == block_id));
    }

    fn complete(&mut self, block: &Block, native: &Native) {
        let said = |content| Item::Said { block: block.id().clone(), content };
        let item = match block {
            Block::UserMessage { content, .. } => {
                let content = match native.input.as_ref().and_then(Value::as_str) {
                    Some(input) => vec![text(input)],
                    None => user_content(content),
                };
                Item::User { content, is_note: false }
            }
            Block::AssistantText { content, .. } if !content.trim().is_empty() => said(text(content)),
            Block::Thinking { content, .. } => match (&native.signature, &native.redacted) {
                (_, Some(data)) => said(json!({"type": "redacted_thinking", "data": data})),
                (Some(signature), None) => {
                    let mut thought =
                        json!({"type": "thinking", "thinking": content, "signature": signature});
                    if let Some(api) = native.api {
                        thought["api"] = json!(api);
                    }
                    said(thought)
                }
                (None, None) => return,
            },
            Block::ToolResult { tool_use_id, output, is_error, .. } => {
                result(tool_use_id, output, &native.media, *is_error)
            }
            Block::Subagent { tool_use_id: Some(id), output, status, .. } => {
                result(id, output.as_ref().unwrap_or(&Value::Null), &[], *status == BlockStatus::Error)
            }
            _ => return,
        };
        self.push(item);
    }
}

impl Item {
    fn tokens(&self) -> u64 {
        match self {
            Item::User { content, .. } => content.iter().map(tokens_of).sum(),
            Item::Said { content, .. } => tokens_of(content),
            Item::Result { output, .. } => tokens_of(output),
            Item::Summary(summary) => tokens_of(&text(summary)),
        }
    }
}

/// Messages under construction.
struct Messages<'a> {
    results: HashMap<&'a str, (&'a Value, bool)>,
    /// Calls that were said and not yet answered, in the order in which they were said.
    open: Vec<String>,
    done: Vec<(&'static str, Vec<Value>)>,
}

impl<'a> Messages<'a> {
    fn new(items: &'a [Placed]) -> Self {
        let results = items.iter().filter_map(|placed| match &placed.item {
            Item::Result { tool_use_id, output, is_error } => {
                Some((tool_use_id.as_str(), (output, *is_error)))
            }
            Item::User { .. } | Item::Said { .. } | Item::Summary(_) => None,
        });
        Self { results: results.collect(), open: Vec::new(), done: Vec::new() }
    }

    fn push_said(&mut self, content: &Value) {
        if content["type"] == "tool_use" {
            self.open.extend(content["id"].as_str().map(str::to_owned));
        }
        self.push("assistant", vec![content.clone()]);
    }

    /// All calls of one answer are answered together, in the order of the calls.
    fn answer_calls(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let calls = std::mem::take(&mut self.open);
        let none = Value::from(NO_RESULT);
        let answers = calls.iter().map(|id| {
            let (output, is_error) = self.results.get(id.as_str()).copied().unwrap_or((&none, true));
            json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error})
        });
        let answers = answers.collect();
        self.push("user", answers);
    }

    fn push(&mut self, role: &'static str, content: Vec<Value>) {
        if self.done.last().is_some_and(|(last, _)| *last != role) {
            self.close();
        }
        match self.done.last_mut() {
            Some((last, whole)) if *last == role => whole.extend(content),
            _ => self.done.push((role, content)),
        }
    }

    /// An answer must not end with a thought; one that was cut after its thoughts had nothing to say.
    fn close(&mut self) {
        if let Some(("assistant", content)) = self.done.last_mut() {
            while content.last().is_some_and(is_thought) {
                content.pop();
            }
            if content.is_empty() {
                self.done.pop();
            }
        }
    }

    fn finish(mut self) -> Vec<Value> {
        self.close();
        self.done.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
    }
}

/// A text as content of a message.
pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn result(tool_use_id: &str, output: &Value, media: &[Value], is_error: bool) -> Item {
    let said = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    let output = if media.is_empty() {
        Value::String(said)
    } else {
        Value::Array(std::iter::once(text(&said)).chain(media.iter().cloned()).collect())
    };
    Item::Result { tool_use_id: tool_use_id.to_owned(), output, is_error }
}

fn user_content(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(said) => vec![text(said)],
        Content::Parts(parts) => parts.iter().filter_map(user_part).collect(),
    }
}

fn user_part(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text { text: said } => (!said.trim().is_empty()).then(|| text(said)),
        ContentPart::Image { image, media_type } => Some(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": image},
        })),
        ContentPart::File { file } => Some(text(&format!("[attached file: /user-input/{file}]"))),
    }
}

fn is_thought(content: &Value) -> bool {
    content["type"] == "thinking" || content["type"] == "redacted_thinking"
}

#[cfg(test)]
mod tests;
