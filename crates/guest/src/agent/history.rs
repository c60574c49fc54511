//! What the model is told of a thread so far: a fold of its transcript.
//!
//! The same fold serves a thread that is going on and one that is taken up again, so a resumed session sends the
//! very bytes that the uninterrupted one would have sent.

use std::collections::HashMap;

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, Content, ContentPart, EventBody};

use super::transcript::{Entry, Native};

/// What a call that never answered is given as an answer, since the API wants one for each.
pub(super) const NO_RESULT: &str = "[stopped before this call finished; it may have had effects]";

/// What the model is told of a thread so far.
#[derive(Debug, Default)]
pub(super) struct History {
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    /// Content of a user's message.
    User(Vec<Value>),
    /// A piece of an answer.
    Said { block: BlockId, content: Value },
    /// What a call answered.
    Result { tool_use_id: String, output: String, is_error: bool },
}

impl History {
    /// Folds one line of the transcript.
    pub(super) fn apply(&mut self, entry: &Entry) {
        let none = Native::default();
        let native = entry.native.as_ref().unwrap_or(&none);
        match entry.event.as_ref().map(|draft| &draft.body) {
            Some(EventBody::BlockStart { block }) => self.begin(block, native),
            Some(EventBody::BlockComplete { block }) => self.complete(block, native),
            Some(EventBody::BlockDiscarded { block_id, .. }) => {
                self.items.retain(|item| !matches!(item, Item::Said { block, .. } if block == block_id));
            }
            _ => {}
        }
        if let Some(note) = &native.note {
            self.items.push(Item::User(vec![text(note)]));
        }
    }

    /// The messages to send: roles alternate, every call has its result, and nothing in them is empty.
    pub(super) fn messages(&self) -> Vec<Value> {
        let mut messages = Messages::new(&self.items);
        for item in &self.items {
            match item {
                Item::User(content) => {
                    messages.answer_calls();
                    messages.push("user", content.clone());
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
        let content = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.items.push(Item::Said { block: block.id().clone(), content });
    }

    fn complete(&mut self, block: &Block, native: &Native) {
        let said = |content| Item::Said { block: block.id().clone(), content };
        let item = match block {
            Block::UserMessage { content, .. } => {
                Item::User(match native.input.as_ref().and_then(Value::as_str) {
                    Some(input) => vec![text(input)],
                    None => user_content(content),
                })
            }
            Block::AssistantText { content, .. } if !content.trim().is_empty() => said(text(content)),
            Block::Thinking { content, .. } => match (&native.signature, &native.redacted) {
                (_, Some(data)) => said(json!({"type": "redacted_thinking", "data": data})),
                (Some(signature), None) => {
                    said(json!({"type": "thinking", "thinking": content, "signature": signature}))
                }
                (None, None) => return,
            },
            Block::ToolResult { tool_use_id, output, is_error, .. } => result(tool_use_id, output, *is_error),
            Block::Subagent { tool_use_id: Some(id), output, status, .. } => {
                result(id, output.as_ref().unwrap_or(&Value::Null), *status == BlockStatus::Error)
            }
            _ => return,
        };
        self.items.push(item);
    }
}

/// Messages under construction.
struct Messages<'a> {
    results: HashMap<&'a str, (&'a str, bool)>,
    /// Calls that were said and not yet answered, in the order in which they were said.
    open: Vec<String>,
    done: Vec<(&'static str, Vec<Value>)>,
}

impl<'a> Messages<'a> {
    fn new(items: &'a [Item]) -> Self {
        let results = items.iter().filter_map(|item| match item {
            Item::Result { tool_use_id, output, is_error } => {
                Some((tool_use_id.as_str(), (output.as_str(), *is_error)))
            }
            Item::User(_) | Item::Said { .. } => None,
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
        let answers = calls.iter().map(|id| {
            let (output, is_error) = self.results.get(id.as_str()).copied().unwrap_or((NO_RESULT, true));
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

fn result(tool_use_id: &str, output: &Value, is_error: bool) -> Item {
    let output = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
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
