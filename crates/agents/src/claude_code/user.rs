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
    said(id, body, at)
}

/// What stands where a person says something: a message, or what a program or another agent put there.
pub(super) fn said(id: &str, body: Body<'_>, at: Timestamp) -> Words {
    let body = without_context(body);
    let first = first_text(&body).unwrap_or_default();
    if first.starts_with("[Request interrupted by user") {
        return Words::Shown(notice(id, first.to_owned(), at));
    }
    if let Some(output) = local_output(first) {
        return Words::Shown(notice(id, output.to_owned(), at));
    }
    if let Some(told) = told_by_others(first).or_else(|| remembered(first)) {
        return Words::Shown(notice(id, told, at));
    }
    if NOT_SAID.iter().any(|tag| first.starts_with(tag))
        || matches!(&body, Body::Parts(parts) if parts.is_empty())
    {
        return Words::Hidden;
    }
    Words::Shown(message(id, typed_command(first).map_or_else(|| blocks::content(body), Into::into), at))
}

/// What editors and Claude Code put before or behind a person's words for the model, each in a tag of its own.
const CONTEXT: [&str; 6] = [
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "ide-diagnostics",
    "post-tool-use-hook",
    "system-reminder",
];

/// What is left without what editors told the model.
fn without_context(body: Body<'_>) -> Body<'_> {
    match body {
        Body::Text(text) => match spoken(&text) {
            spoken if spoken.len() == text.len() => Body::Text(text),
            "" => Body::Parts(Vec::new()),
            spoken => Body::Text(spoken.to_owned().into()),
        },
        Body::Parts(mut parts) => {
            parts.retain_mut(|part| {
                let spoken = spoken(&part.text);
                let is_gone = spoken.is_empty() && !part.text.is_empty() && part.kind == b"text";
                if spoken.len() < part.text.len() {
                    part.text = spoken.to_owned().into();
                }
                !is_gone
            });
            Body::Parts(parts)
        }
        Body::Nothing => Body::Nothing,
    }
}

/// A text without the tags for the model at its beginning; the text itself if there are none.
fn spoken(text: &str) -> &str {
    let mut rest = text;
    while let Some(after) = CONTEXT.iter().find_map(|tag| behind(rest.trim_start(), tag)) {
        rest = after;
    }
    if rest.len() < text.len() { rest.trim() } else { text }
}

/// What follows an element that a text begins with.
fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let inner =
        text.strip_prefix('<')?.strip_prefix(name).filter(|rest| rest.starts_with(['>', ' ', '\n']))?;
    inner.split_once(&format!("</{name}>")).map(|(_, after)| after)
}

/// The tags of what others than the person said to the agent: agents of its team and of other sessions, and people
/// elsewhere.
const OF_OTHERS: [&str; 7] = [
    "teammate-message",
    "agent-message",
    "cross-session-message",
    "coordinator-relay",
    "slack-ping",
    "slack-tag-message",
    "channel",
];

/// What others said, each with who it was. Words that follow are nobody's we know, and are kept.
fn told_by_others(text: &str) -> Option<String> {
    let mut told = Vec::new();
    let mut rest = text.trim_start();
    while let Some((sender, message, after)) = OF_OTHERS.iter().find_map(|tag| told_by_another(rest, tag)) {
        told.push(format!("Message from {sender}: {}", message.trim()));
        rest = after.trim_start();
    }
    if told.is_empty() {
        return None;
    }
    told.extend(Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned));
    Some(told.join("\n\n"))
}

/// Who sent the message that a text begins with, the message, and what follows it.
fn told_by_another<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let inner = text.strip_prefix('<')?.strip_prefix(tag)?;
    let (attributes, inner) = inner.strip_prefix([' ', '\n']).and_then(|inner| inner.split_once('>'))?;
    let (message, after) = inner.split_once(&format!("</{tag}>"))?;
    let attribute =
        |name: &str| attributes.split_once(&format!("{name}=\""))?.1.split_once('"').map(|(it, _)| it);
    let sender = ["teammate_id", "from", "source", "name"].iter().find_map(|name| attribute(name));
    Some((sender.unwrap_or("another agent"), message, after))
}

/// What a person had Claude Code write into its memory. It was not said to the model.
fn remembered(text: &str) -> Option<String> {
    let memory = text.starts_with("<user-memory-input>").then(|| tagged(text, "user-memory-input"))??;
    Some(format!("Added to memory: {}", memory.trim()))
}

/// What texts begin with that nobody said.
const NOT_SAID: &[&str] = &[
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "Caveat: The messages below were generated by the user while running local commands.",
];

/// What the name of a message of a person begins with; its UUID follows.
pub(super) const MESSAGE_PREFIX: &str = "msg-";

/// A person's message.
pub(super) fn message(uuid: &str, content: warren_domain::Content, at: Timestamp) -> Block {
    Block::UserMessage { id: BlockId([MESSAGE_PREFIX, uuid].concat()), timestamp: at, content }
}

/// Whether this is what Claude Code tells a model that forgot everything. Not every line with it says so.
pub(super) fn is_summary(body: &Body<'_>) -> bool {
    first_text(body).is_some_and(|text| text.starts_with("This session is being continued from a previous"))
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::Timestamp;

    use super::{Words, words};
    use crate::claude_code::native::Line;

    /// The block of a line of the user's side, without what every block has.
    fn shown(content: &Value) -> Option<(String, Value)> {
        let line =
            json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": content}}).to_string();
        let mut line = Line::read(line.as_bytes()).expect("a line");
        let body = line.message.take().expect("a message").content;
        let Words::Shown(block) = words(&line, body, Timestamp::default()) else { return None };
        let block = serde_json::to_value(&block).expect("JSON");
        let said = block.get("content").or(block.get("message")).cloned().expect("words");
        Some((block["type"].as_str().expect("a type").to_owned(), said))
    }

    fn said(words: &str) -> Option<(String, Value)> {
        Some(("user_message".to_owned(), json!(words)))
    }

    fn noted(words: &str) -> Option<(String, Value)> {
        Some(("system".to_owned(), json!(words)))
    }

    #[test]
    fn what_an_editor_told_the_model_is_not_what_the_person_said() {
        let opened = "<ide_opened_file>The user opened /a.rs in the IDE.</ide_opened_file>";
        let selected = "<ide_selection>The user selected lines 1 to 2:\nx</ide_selection>";
        let part = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(shown(&json!([part(opened), part("fix it")])), said("fix it"));
        assert_eq!(shown(&json!([part("fix it"), part(selected)])), said("fix it"));
        assert_eq!(shown(&json!(format!("{opened}\n{selected}\nfix it"))), said("fix it"));
        assert_eq!(shown(&json!([part(opened), part(selected)])), None);
        assert_eq!(shown(&json!(opened)), None);
        assert_eq!(shown(&json!("what is <ide_selection> for?")), said("what is <ide_selection> for?"));
        assert_eq!(shown(&json!("<ide_selection> is what?")), said("<ide_selection> is what?"));
    }

    #[test]
    fn what_other_agents_said_bears_their_name() {
        let message = "<teammate-message teammate_id=\"lead\" color=\"blue\">\ngo on\n</teammate-message>";
        assert_eq!(shown(&json!(message)), noted("Message from lead: go on"));
        let two = format!("{message}\n<agent-message from=\"b\">hi</agent-message>\nmore");
        assert_eq!(shown(&json!(two)), noted("Message from lead: go on\n\nMessage from b: hi\n\nmore"));
        assert_eq!(shown(&json!("<channel>is no message")), said("<channel>is no message"));
    }

    #[test]
    fn what_goes_into_the_memory_is_no_message() {
        let line = json!("<user-memory-input>use tabs</user-memory-input>");
        assert_eq!(shown(&line), noted("Added to memory: use tabs"));
    }
}
