//! A tool call, put together from what agents tell of it bit by bit.

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, Timestamp};

use crate::fields::{list, present, text};

/// A tool call as far as it was told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    id: String,
    began: Timestamp,
    name: String,
    title: Option<String>,
    input: Value,
    status: BlockStatus,
    content: Vec<Value>,
    raw_output: Value,
}

impl Call {
    /// A call that is told about for the first time, by whatever message.
    pub(super) fn new(id: &str, told: &Value, at: Timestamp) -> Self {
        let mut call = Self {
            id: id.to_owned(),
            began: at,
            name: name(told),
            title: None,
            input: json!({}),
            status: BlockStatus::Pending,
            content: Vec::new(),
            raw_output: Value::Null,
        };
        call.update(told);
        call
    }

    /// Takes over what a message tells. What it leaves out stays.
    pub(super) fn update(&mut self, told: &Value) {
        if let Some(title) = text(told, "title").filter(|title| !title.is_empty()) {
            self.title = Some(title.to_owned());
        }
        if let Some(content) = present(told, "content").and_then(Value::as_array) {
            self.content.clone_from(content);
        }
        match present(told, "rawInput") {
            // Some agents begin with nothing, and some ask for permission with another form of the same.
            Some(Value::Object(fields)) if fields.is_empty() => {}
            Some(input) => self.input = input.clone(),
            None => self.take_difference(told),
        }
        if let Some(output) = present(told, "rawOutput") {
            self.raw_output = output.clone();
        }
        self.status = match text(told, "status") {
            Some("in_progress") if self.is_open() => BlockStatus::Running,
            Some("completed") => BlockStatus::Success,
            Some("failed" | "cancelled" | "rejected") => BlockStatus::Error,
            _ => self.status,
        };
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.status, BlockStatus::Pending | BlockStatus::Running)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn input(&self) -> &Value {
        &self.input
    }

    pub(super) fn block(&self) -> Block {
        Block::ToolUse {
            id: BlockId(self.id.clone()),
            timestamp: self.began,
            tool_name: self.name.clone(),
            tool_use_id: self.id.clone(),
            input: self.input.clone(),
            status: self.status,
            display_name: None,
            description: self.title.clone(),
        }
    }

    pub(super) fn result_id(&self) -> BlockId {
        BlockId(format!("{}-result", self.id))
    }

    pub(super) fn result(&self, output: Value, at: Timestamp) -> Block {
        Block::ToolResult {
            id: self.result_id(),
            timestamp: at,
            tool_use_id: self.id.clone(),
            output,
            is_error: self.status == BlockStatus::Error,
            duration_ms: None,
            render_output_as_markdown: None,
        }
    }

    /// The output of a working tool as far as it has come.
    pub(super) fn growing(&self) -> Option<String> {
        self.words().filter(|_| self.status == BlockStatus::Running)
    }

    /// What the call gave: its texts, else what the tool itself said, else what it changed.
    pub(super) fn output(&self) -> Value {
        if let Some(words) = self.words() {
            return Value::String(words);
        }
        if let Some(output) = raw_text(&self.raw_output) {
            return output;
        }
        let shown = self.content.iter().filter(|part| text(part, "type") != Some("terminal"));
        let shown: Vec<Value> = shown.cloned().collect();
        if shown.is_empty() { json!("") } else { Value::Array(shown) }
    }

    fn words(&self) -> Option<String> {
        let parts = self.content.iter().filter(|part| text(part, "type") == Some("content"));
        let texts: Vec<&str> = parts.filter_map(|part| text(part.get("content")?, "text")).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Agents that do not tell the input tell what an edit changes, or at least which file is meant.
    fn take_difference(&mut self, told: &Value) {
        if !self.input.as_object().is_some_and(serde_json::Map::is_empty) {
            return;
        }
        let difference = self.content.iter().find(|part| text(part, "type") == Some("diff"));
        let Some(meant) = difference.or_else(|| list(told, "locations").first()) else { return };
        let keys = ["path", "oldText", "newText"];
        let fields = keys.iter().filter_map(|key| Some(((*key).to_owned(), present(meant, key)?.clone())));
        self.input = Value::Object(fields.collect());
    }
}

/// What the agent calls the tool. The protocol has only a title, which changes, and a kind, which does not.
fn name(told: &Value) -> String {
    let meta = present(told, "_meta").and_then(Value::as_object).into_iter().flatten();
    let of_meta = meta.filter_map(
        |(key, value)| {
            if key == "toolName" { value.as_str() } else { text(value, "toolName") }
        },
    );
    let kind = text(told, "kind").filter(|kind| *kind != "other");
    let name = of_meta.into_iter().next().or(kind).or_else(|| text(told, "title"));
    name.filter(|name| !name.is_empty()).unwrap_or("tool").to_owned()
}

/// The text in what a tool itself said, if there is one.
fn raw_text(raw: &Value) -> Option<Value> {
    const KEYS: [&str; 7] =
        ["formatted_output", "aggregated_output", "output", "stdout", "text", "error", "message"];
    match raw {
        Value::Null => None,
        Value::Object(_) => {
            let found = KEYS.iter().find_map(|key| text(raw, key));
            Some(found.map_or_else(|| raw.clone(), |text| json!(text)))
        }
        other => Some(other.clone()),
    }
}
