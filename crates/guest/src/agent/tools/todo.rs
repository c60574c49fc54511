//! Keeps a list of what is to be done. The list is the call itself: it is in the transcript like any other.

use serde::Deserialize;
use serde_json::Value;

use super::input;

#[derive(Deserialize)]
struct Input {
    todos: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    content: String,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

pub(super) fn run(value: Value) -> Result<String, String> {
    let input: Input = input(value)?;
    let line = |item: &Item| {
        let mark = match item.status {
            Status::Pending => ' ',
            Status::InProgress => '>',
            Status::Completed => 'x',
        };
        format!("[{mark}] {}", item.content)
    };
    let lines: Vec<String> = input.todos.iter().map(line).collect();
    Ok(if lines.is_empty() { "The list is empty.".to_owned() } else { lines.join("\n") })
}
