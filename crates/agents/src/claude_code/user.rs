//! What stands in the place of a person's words, and who really said it.

use warren_domain::{Block, BlockId, BlockStatus, Timestamp};

use super::{
    blocks::{self, notice},
    native::{Body, Line},
};

/// Whose words they are.
pub(super) enum Words {
    /// A person's, or Claude Code's to a person.
    Shown(Block),
    /// A task in the background ended.
    Task(TaskEnd),
    /// The summary that stands for everything before it.
    Summary(String),
    /// Claude Code's to the model.
    Hidden,
}

/// How a task in the background ended.
pub(super) struct TaskEnd {
    pub(super) call: String,
    pub(super) status: BlockStatus,
    pub(super) result: Option<String>,
    pub(super) duration_ms: Option<u64>,
}

/// What a line of the user's side that answers no call says.
pub(super) fn words(line: &Line<'_>, body: Body<'_>, at: Timestamp) -> Words {
    if line.is_summary {
        return Words::Summary(blocks::content(body).to_text());
    }
    if line.is_hidden {
        return Words::Hidden;
    }
    let id = &*line.uuid().unwrap_or_default();
    let first = first_text(&body).unwrap_or_default();
    if line.is_of_task() || first.starts_with("<task-notification>") {
        return task_end(first).map_or(Words::Hidden, Words::Task);
    }
    if first.starts_with("[Request interrupted by user") {
        return Words::Shown(notice(id, first.to_owned(), at));
    }
    if let Some(output) = local_output(first) {
        return Words::Shown(notice(id, output.to_owned(), at));
    }
    if NOT_SAID.iter().any(|tag| first.starts_with(tag)) {
        return Words::Hidden;
    }
    Words::Shown(message(id, typed_command(first).map_or_else(|| blocks::content(body), Into::into), at))
}

/// What texts begin with that nobody said.
const NOT_SAID: &[&str] = &["<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>"];

/// What the name of a message of a person begins with; its UUID follows.
pub(super) const MESSAGE_PREFIX: &str = "msg-";

/// A person's message.
pub(super) fn message(uuid: &str, content: warren_domain::Content, at: Timestamp) -> Block {
    Block::UserMessage { id: BlockId([MESSAGE_PREFIX, uuid].concat()), timestamp: at, content }
}

fn first_text<'b>(body: &'b Body<'_>) -> Option<&'b str> {
    match body {
        Body::Nothing => None,
        Body::Text(text) => Some(text),
        Body::Parts(parts) => parts.first().map(|part| &*part.text),
    }
}

/// What a command printed that was carried out without the model.
pub(super) fn local_output(text: &str) -> Option<&str> {
    let names = ["local-command-stdout", "local-command-stderr", "bash-stdout"];
    if !text.starts_with('<') {
        return None;
    }
    names.iter().find_map(|name| tagged(text, name)).map(str::trim).filter(|output| !output.is_empty())
}

/// A slash command or a shell command as a person typed it.
fn typed_command(text: &str) -> Option<TypedCommand> {
    if !text.starts_with("<command-") && !text.starts_with("<bash-input>") {
        return None;
    }
    if let Some(shell) = tagged(text, "bash-input") {
        return Some(TypedCommand(format!("!{shell}")));
    }
    let name = tagged(text, "command-name")?.trim();
    let arguments = tagged(text, "command-args").unwrap_or_default().trim();
    Some(TypedCommand(format!("{name} {arguments}").trim_end().to_owned()))
}

struct TypedCommand(String);

impl From<TypedCommand> for warren_domain::Content {
    fn from(command: TypedCommand) -> Self {
        warren_domain::Content::Text(command.0)
    }
}

/// Reads the notification that a task in the background ended.
pub(super) fn task_end(text: &str) -> Option<TaskEnd> {
    let status = match tagged(text, "status")? {
        "completed" => BlockStatus::Success,
        _ => BlockStatus::Error,
    };
    Some(TaskEnd {
        call: tagged(text, "tool-use-id")?.to_owned(),
        status,
        result: tagged(text, "result").map(unescaped),
        duration_ms: tagged(text, "duration_ms").and_then(|number| number.parse().ok()),
    })
}

/// What stands between a tag and its end.
fn tagged<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(within, _)| within)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
