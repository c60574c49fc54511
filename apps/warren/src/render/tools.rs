//! Tools: one line each, written when the answer is there.

use std::collections::HashSet;

use serde_json::{Map, Value};
use warren_domain::{Block, BlockId};

use super::{Paint, clean, duration};

/// How much of a call's arguments is shown, in characters.
const BRIEF: usize = 72;
/// How much of an error's first line is shown.
const ERROR: usize = 100;
/// The argument that says most about a call, best first.
const TELLING: [&str; 13] = [
    "command",
    "cmd",
    "script",
    "pattern",
    "query",
    "file_path",
    "path",
    "url",
    "description",
    "prompt",
    "name",
    "title",
    "input",
];

/// The calls that have not been answered, oldest first.
#[derive(Default)]
pub(super) struct Tools {
    open: Vec<Call>,
    /// Calls that have their line. An agent may tell more of them afterwards; it is not shown.
    shown: HashSet<String>,
}

struct Call {
    /// Always a [`Block::ToolUse`].
    block: Block,
    depth: usize,
}

impl Tools {
    /// A call begins, or is whole.
    pub(super) fn called(&mut self, block: &Block, depth: usize) {
        let Block::ToolUse { tool_use_id, .. } = block else { return };
        if self.shown.contains(tool_use_id) {
            return;
        }
        match self.open.iter_mut().find(|call| call.id() == tool_use_id) {
            Some(call) => call.block = block.clone(),
            None => self.open.push(Call { block: block.clone(), depth }),
        }
    }

    /// More is known of a call, if the block is one.
    pub(super) fn updated(&mut self, block: &BlockId, updates: &Map<String, Value>) {
        let call = self.open.iter_mut().find(|call| call.block.id() == block);
        if let Some((call, updated)) =
            call.and_then(|call| call.block.updated(updates).map(|new| (call, new)))
        {
            call.block = updated;
        }
    }

    /// The line of a call whose answer is there, with its depth.
    pub(super) fn answered(&mut self, block: &Block, paint: Paint) -> Option<(usize, String)> {
        let Block::ToolResult { tool_use_id, output, is_error, duration_ms, timestamp, .. } = block else {
            return None;
        };
        let call = self.take(tool_use_id)?;
        let measured = timestamp.as_millis() - call.called_at();
        let took = duration(duration_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(measured));
        let mark = if *is_error { paint.red("✗") } else { paint.green("✓") };
        let mut line = format!("{}  {}", call.line(&mark, paint), paint.dim(&took));
        if let Some(error) = first_line(output).filter(|_| *is_error) {
            line = format!("{line}  {}", paint.red(&error));
        }
        Some((call.depth, line))
    }

    /// A call that is shown in another way.
    pub(super) fn forget(&mut self, id: &str) {
        self.take(id);
    }

    /// The lines of the calls that will get no answer any more.
    pub(super) fn unanswered(&mut self, paint: Paint) -> Vec<(usize, String)> {
        self.shown.clear();
        let cut = |call: Call| {
            (call.depth, format!("{}  {}", call.line(&paint.red("✗"), paint), paint.dim("not finished")))
        };
        self.open.drain(..).map(cut).collect()
    }

    /// What the newest call is doing.
    pub(super) fn status(&self) -> Option<String> {
        let call = self.open.last()?;
        let others = self.open.len() - 1;
        let more = if others > 0 { format!(" (and {others} more)") } else { String::new() };
        Some(format!("{}{more}", call.line("", Paint::Plain).trim_start()))
    }

    fn take(&mut self, id: &str) -> Option<Call> {
        self.shown.insert(id.to_owned());
        let at = self.open.iter().position(|call| call.id() == id)?;
        Some(self.open.remove(at))
    }
}

impl Call {
    fn id(&self) -> &str {
        match &self.block {
            Block::ToolUse { tool_use_id, .. } => tool_use_id,
            _ => "",
        }
    }

    fn called_at(&self) -> i64 {
        match &self.block {
            Block::ToolUse { timestamp, .. } => timestamp.as_millis(),
            _ => 0,
        }
    }

    fn line(&self, mark: &str, paint: Paint) -> String {
        let Block::ToolUse { tool_name, display_name, description, input, .. } = &self.block else {
            return mark.to_owned();
        };
        let name = paint.bold(&clean(display_name.as_deref().unwrap_or(tool_name)));
        // What it does before what somebody calls it.
        let mut brief = brief(input);
        if brief.is_empty() {
            brief = shorten(&one_line(description.as_deref().unwrap_or_default()), BRIEF);
        }
        format!("{mark} {name}  {brief}").trim_end().to_owned()
    }
}

/// The one argument that says most, on one line.
pub(super) fn brief(input: &Value) -> String {
    let text = match input {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => TELLING
            .iter()
            .find_map(|key| words(fields.get(*key)?))
            .or_else(|| changed(fields.get("changes")?))
            .or_else(|| fields.values().find_map(words)),
        _ => None,
    };
    let text = text.unwrap_or_default();
    shorten(&one_line(patched(&text).as_deref().unwrap_or(&text)), BRIEF)
}

/// A text, or the words of a command.
fn words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words?.as_slice() {
                [_shell, "-c" | "-lc", script] => (*script).to_owned(),
                words => words.join(" "),
            }
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The files of a list of changes: `[{"path": …}, …]`, or `{"<path>": …, …}`.
fn changed(changes: &Value) -> Option<String> {
    let files: Vec<&str> = match changes {
        Value::Array(changes) => changes.iter().filter_map(|change| change.get("path")?.as_str()).collect(),
        Value::Object(changes) => changes.keys().map(String::as_str).collect(),
        _ => return None,
    };
    (!files.is_empty()).then(|| files.join(", "))
}

/// The files of a patch in the form that `apply_patch` takes.
fn patched(text: &str) -> Option<String> {
    let patch = text.split_once("*** Begin Patch")?.1;
    let files = patch.lines().filter_map(|line| {
        ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
    });
    let files: Vec<&str> = files.collect();
    (!files.is_empty()).then(|| files.join(", "))
}

fn first_line(output: &Value) -> Option<String> {
    let text = match output {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().find_map(|part| part.get("text")?.as_str())?.to_owned(),
        Value::Null => return None,
        other => other.to_string(),
    };
    let text = clean(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shorten(line, ERROR))
}

fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shorten(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{brief, first_line};

    #[test]
    fn a_call_is_told_by_its_most_telling_argument_on_one_line() {
        assert_eq!(brief(&json!({"timeout": 3, "command": "ls\n  -la"})), "ls -la");
        assert_eq!(brief(&json!({"description": "Look", "command": "ls"})), "ls");
        assert_eq!(brief(&json!({"description": "Look", "prompt": "Look at all of it"})), "Look");
        assert_eq!(brief(&json!({"command": ["bash", "-lc", "ls | wc"]})), "ls | wc");
        assert_eq!(brief(&json!({"command": ["ls", "-la"]})), "ls -la");
        let patch =
            "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch";
        assert_eq!(brief(&json!({ "input": patch })), "a.py, b.py");
        assert_eq!(brief(&json!({"x": 1, "odd": "y"})), "y");
        assert_eq!(brief(&json!({"command": "é".repeat(80)})), format!("{}…", "é".repeat(72)));
        assert_eq!(brief(&json!(null)), "");
    }

    #[test]
    fn an_error_is_told_by_its_first_line_that_is_not_empty() {
        assert_eq!(first_line(&json!("\n  no such file\nmore")), Some("no such file".to_owned()));
        assert_eq!(first_line(&json!([{"type": "text", "text": "bad"}])), Some("bad".to_owned()));
        assert_eq!(first_line(&json!(null)), None);
    }
}
