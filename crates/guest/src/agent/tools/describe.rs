//! What a call does, for people.

use serde_json::Value;

/// As much of a command or pattern as fits a line.
const MAX_CHARS: usize = 120;

/// A tool's name for people.
pub(super) fn display_name(name: &str) -> Option<String> {
    let display = match name {
        "bash" => "Run",
        "read" => "Read",
        "write" => "Write",
        "edit" => "Edit",
        "glob" => "Find files",
        "grep" => "Search",
        "todo" => "Plan",
        "question" => "Ask",
        "web_search" => "Search the web",
        _ => return None,
    };
    Some(display.to_owned())
}

/// What a call does, in a line.
pub(super) fn description(name: &str, input: &Value) -> Option<String> {
    let field = |key: &str| input[key].as_str().map(str::to_owned);
    let text = match name {
        "bash" => field("description").or_else(|| field("command")),
        "read" | "write" | "edit" => field("path"),
        "glob" | "grep" => field("pattern"),
        "todo" => progress(input),
        "web_search" => field("query"),
        "question" => input["questions"][0]["question"].as_str().map(str::to_owned),
        _ => None,
    };
    text.and_then(|text| one_line(&text))
}

fn progress(input: &Value) -> Option<String> {
    let items = input["todos"].as_array()?;
    let n_done = items.iter().filter(|item| item["status"] == "completed").count();
    Some(format!("{n_done} of {} done", items.len()))
}

/// The first line of a text, as much of it as fits. `None`: there is nothing in it.
pub(super) fn one_line(text: &str) -> Option<String> {
    let line = text.trim().lines().next().unwrap_or_default();
    let line = match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    (!line.is_empty()).then_some(line)
}
