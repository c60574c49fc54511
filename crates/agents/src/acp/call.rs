//! A tool call, put together from what agents tell of it bit by bit.

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, Timestamp};

use crate::{
    command::{exit_code, was_stopped, with_exit_code},
    fields::{list, present, text},
};

/// The code that a shell gives for a command that a signal ended.
const SIGNALLED: i64 = 128;

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
    /// What the command wrote to its terminal: some agents tell it beside the protocol's own fields, piece by piece.
    terminal: String,
    /// What a working tool says of how far it is.
    progress: String,
    exit_code: Option<i64>,
}

impl Call {
    /// A call that is told about for the first time, by whatever message; it takes over nothing of it but the name.
    pub(super) fn new(id: &str, told: &Value, at: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            began: at,
            name: name(told),
            title: None,
            input: json!({}),
            status: BlockStatus::Pending,
            content: Vec::new(),
            raw_output: Value::Null,
            terminal: String::new(),
            progress: String::new(),
            exit_code: None,
        }
    }

    /// Takes over what a message tells. What it leaves out stays. Gives what it adds to the terminal.
    pub(super) fn update<'a>(&mut self, told: &'a Value) -> &'a str {
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
        let added = self.take_terminal(told);
        if self.status == BlockStatus::Success && self.has_failed_command() {
            self.status = BlockStatus::Error;
        }
        added
    }

    /// The keys are not the protocol's: editors made them up, and agents send them unasked.
    fn take_terminal<'a>(&mut self, told: &'a Value) -> &'a str {
        let meta = |key: &str| told.get("_meta").and_then(|meta| present(meta, key));
        let data = |key: &str| meta(key).and_then(|it| text(it, "data"));
        let added = data("terminal_output_delta").or_else(|| data("terminal_output")).unwrap_or_default();
        self.terminal.push_str(added);
        self.progress.push_str(data("mcp_output_delta").unwrap_or_default());
        if let Some(exit) = meta("terminal_exit") {
            let by_signal = || present(exit, "signal").map(|_| SIGNALLED);
            self.exit_code = exit_code(exit).or_else(by_signal).or(self.exit_code);
        }
        added
    }

    /// Some agents call a command completed however it ended.
    fn has_failed_command(&self) -> bool {
        let stopped = || raw_words(&self.raw_output).is_some_and(was_stopped);
        let is_command = self.raw_output.pointer("/metadata/exit").is_some();
        self.code().is_some_and(|code| code != 0) || (is_command && stopped())
    }

    fn code(&self) -> Option<i64> {
        self.exit_code.or_else(|| exit_code(&self.raw_output))
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

    /// The output of a working tool as far as it has come, where all of it is told each time.
    pub(super) fn growing(&self) -> Option<String> {
        let is_growing = self.status == BlockStatus::Running && !self.is_piecemeal();
        if let (true, Value::String(given)) = (is_growing, self.given()) { Some(given) } else { None }
    }

    /// Whether all that is known of its output is what came piece by piece.
    pub(super) fn is_piecemeal(&self) -> bool {
        self.words().is_none()
    }

    /// What the call gave: what its terminal had and its texts, else what the tool itself said, else what it changed.
    pub(super) fn output(&self) -> Value {
        match self.given() {
            Value::String(output) => Value::String(with_exit_code(output, self.code())),
            other => other,
        }
    }

    fn given(&self) -> Value {
        match (self.words(), self.terminal.is_empty()) {
            (Some(words), true) => return Value::String(words),
            (None, false) => return Value::String(self.terminal.clone()),
            (Some(words), false) if self.terminal.contains(words.as_str()) => {
                return Value::String(self.terminal.clone());
            }
            (Some(words), false) if words.contains(self.terminal.trim()) => return Value::String(words),
            (Some(words), false) => return Value::String(joined(&self.terminal, &words)),
            (None, true) => {}
        }
        if let Some(output) = raw_text(&self.raw_output) {
            return output;
        }
        if !self.progress.is_empty() {
            return Value::String(self.progress.clone());
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
        // Nothing but how it ended.
        Value::Object(fields) if fields.keys().all(|key| key == "exit_code" || key == "exitCode") => None,
        Value::Object(_) => {
            let found = KEYS.iter().find_map(|key| text(raw, key));
            Some(found.map_or_else(|| raw.clone(), |text| json!(text)))
        }
        other => Some(other.clone()),
    }
}

fn raw_words(raw: &Value) -> Option<&str> {
    raw.as_str().or_else(|| text(raw, "output"))
}

/// Two texts, each on lines of its own.
fn joined(one: &str, other: &str) -> String {
    format!("{}\n{other}", one.strip_suffix('\n').unwrap_or(one))
}
