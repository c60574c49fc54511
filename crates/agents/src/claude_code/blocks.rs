//! Blocks from Claude Code's words: the same for its output and for its transcripts.

use std::borrow::Cow;

use serde_json::{Map, Value};
use warren_domain::{Block, BlockId, BlockStatus, Content, ContentPart, SystemSubtype, Timestamp};

use super::native::{Body, CompactMetadata, Line, Part, SYNTHETIC};

/// The tool that calls subagents; it had another name before.
pub(super) fn is_agent_tool(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// How many blocks of each kind a message had so far. Blocks are named by the message and their place among their
/// kind, because that is what deltas, whole lines and transcripts have in common, even if some kind is left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    texts: u32,
    thoughts: u32,
}

/// What a block of a message is.
pub(super) enum Said {
    /// A block that is whole.
    Whole(Block),
    /// A call, which is under way from now on.
    Call {
        block: Block,
        /// Nobody waits for the subagent that it starts.
        in_background: bool,
    },
    /// The answer to a call.
    Answer(ToolAnswer),
    /// Nothing that is known.
    Unknown,
}

/// What a tool answered.
#[derive(Clone)]
pub(super) struct ToolAnswer {
    pub(super) call: String,
    pub(super) output: Value,
    pub(super) is_error: bool,
}

/// What all blocks of a line have in common.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The message's id, or the line's where it has none.
    pub(super) message: &'a str,
    pub(super) model: &'a str,
    pub(super) at: Timestamp,
}

impl Counts {
    /// The name of the next text.
    pub(super) fn text(&mut self, message: &str) -> BlockId {
        self.texts += 1;
        numbered(message, "-text-", self.texts - 1)
    }

    /// The name of the next thought.
    pub(super) fn thought(&mut self, message: &str) -> BlockId {
        self.thoughts += 1;
        numbered(message, "-thinking-", self.thoughts - 1)
    }
}

/// The name of a message's block. Every block has one, so it is put together by hand.
fn numbered(message: &str, kind: &str, number: u32) -> BlockId {
    let mut name = String::with_capacity(message.len() + kind.len() + 2);
    name.push_str(message);
    name.push_str(kind);
    match char::from_digit(number, 10) {
        Some(digit) => name.push(digit),
        None => name.push_str(&number.to_string()),
    }
    BlockId(name)
}

/// One block of an assistant's message.
pub(super) fn said(part: Part<'_>, origin: Origin<'_>, counts: &mut Counts) -> Said {
    match part.kind {
        b"text" => Said::Whole(text(
            counts.text(origin.message),
            cited(part.text.into_owned(), &part.citations),
            origin,
        )),
        b"thinking" | b"redacted_thinking" => {
            let id = counts.thought(origin.message);
            Said::Whole(Block::Thinking {
                id,
                timestamp: origin.at,
                content: part.thinking.into_owned(),
                summary: None,
            })
        }
        b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => Said::Call {
            in_background: part.input.get("run_in_background") == Some(&Value::Bool(true)),
            block: call(part, origin.at, BlockStatus::Running),
        },
        _ => answer(part).map_or(Said::Unknown, Said::Answer),
    }
}

/// How Claude Code begins to tell that the API failed. Older versions say so in no other way while they run.
const FAILURES: [&str; 6] = [
    "API Error",
    "Prompt is too long",
    "Invalid API key",
    "Credit balance is too low",
    "Claude AI usage limit reached",
    "There's an issue with the selected model",
];

/// Whose words a line of the assistant really has.
pub(super) enum Author {
    Model,
    /// Claude Code's: the API failed, or a command was carried out without the model.
    Program(Block),
    /// Claude Code's, where a killed turn is gone on from: nothing to show.
    Nobody,
}

/// Whose words they are.
pub(super) fn author(line: &Line<'_>, origin: Origin<'_>, parts: &[Part<'_>]) -> Author {
    if !line.is_api_error && origin.model != SYNTHETIC {
        return Author::Model;
    }
    let text = parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join("\n");
    let is_failure = FAILURES.iter().any(|head| text.starts_with(head));
    if line.is_api_error || line.error().is_some() || is_failure {
        return Author::Program(Block::Error {
            id: BlockId(format!("{}-error", origin.message)),
            timestamp: origin.at,
            message: text,
            code: line.error().map(Cow::into_owned),
        });
    }
    match text.trim() {
        "" | "No response requested." => Author::Nobody,
        text => Author::Program(notice(&line.uuid().unwrap_or_default(), text.to_owned(), origin.at)),
    }
}

/// A text with where it is from behind it: links, or titles of documents; each once.
fn cited(text: String, citations: &Value) -> String {
    let mut sources: Vec<String> = Vec::new();
    for citation in citations.as_array().into_iter().flatten() {
        let field = |names: &[&str]| {
            let found = names.iter().find_map(|name| citation.get(*name)?.as_str());
            found.map(str::trim).filter(|text| !text.is_empty())
        };
        let (title, url) = (field(&["title", "document_title"]), field(&["url", "source"]));
        let source = match (title, url) {
            (title, Some(url)) if url.contains("://") => {
                format!("[{}](<{url}>)", link_text(title.unwrap_or(url)))
            }
            (Some(name), _) | (None, Some(name)) => name.to_owned(),
            (None, None) => continue,
        };
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    if sources.is_empty() { text } else { format!("{text} ({})", sources.join(", ")) }
}

/// A title as it may stand in a link: without what would end it.
fn link_text(title: &str) -> String {
    title.replace(['[', ']', '\n'], " ").trim().to_owned()
}

/// A text of the assistant.
pub(super) fn text(id: BlockId, content: String, origin: Origin<'_>) -> Block {
    let model = (!origin.model.is_empty()).then(|| origin.model.to_owned());
    Block::AssistantText { id, timestamp: origin.at, content, model }
}

/// A call of a tool, or of a subagent.
pub(super) fn call(part: Part<'_>, at: Timestamp, status: BlockStatus) -> Block {
    let (id, name, input) = (part.id.into_owned(), part.name.into_owned(), part.input);
    if is_agent_tool(&name) {
        return Block::Subagent {
            subagent_id: unnamed_agent(&id),
            id: BlockId(id.clone()),
            timestamp: at,
            name: Some(agent_name(&input)),
            input: input.get("prompt").cloned().unwrap_or_default(),
            status,
            output: None,
            duration_ms: None,
            tool_use_id: Some(id),
        };
    }
    let description = input.get("description").and_then(Value::as_str).map(str::to_owned);
    Block::ToolUse {
        id: BlockId(id.clone()),
        timestamp: at,
        tool_name: name,
        tool_use_id: id,
        input,
        status,
        display_name: None,
        description,
    }
}

/// The answer of a tool, if the part is one.
pub(super) fn answer(part: Part<'_>) -> Option<ToolAnswer> {
    if !part.kind.ends_with(b"tool_result") || part.tool_use_id.is_empty() {
        return None;
    }
    Some(ToolAnswer {
        call: part.tool_use_id.into_owned(),
        output: plain(part.content),
        is_error: part.is_error,
    })
}

/// The answers of tools in a message to the model, and the rest if there is any.
pub(super) fn split(body: Body<'_>) -> (Vec<ToolAnswer>, Option<Body<'_>>) {
    let Body::Parts(parts) = body else { return (Vec::new(), Some(body)) };
    let (answers, rest): (Vec<Part<'_>>, Vec<Part<'_>>) =
        parts.into_iter().partition(|part| part.kind == b"tool_result");
    let is_only_answers = !answers.is_empty() && rest.is_empty();
    (answers.into_iter().filter_map(answer).collect(), (!is_only_answers).then_some(Body::Parts(rest)))
}

impl ToolAnswer {
    pub(super) fn status(&self) -> BlockStatus {
        if self.is_error { BlockStatus::Error } else { BlockStatus::Success }
    }

    /// Whether Claude Code wrote it itself when it went on after the process that ran the tool had been killed: what
    /// really came of the call nobody knows.
    pub(super) fn is_of_cut_call(&self) -> bool {
        self.is_error && self.output.as_str().is_some_and(|text| text.starts_with("[Tool call interrupted:"))
    }

    pub(super) fn block(self, at: Timestamp) -> Block {
        Block::ToolResult {
            id: BlockId([&*self.call, "-result"].concat()),
            timestamp: at,
            tool_use_id: self.call,
            output: self.output,
            is_error: self.is_error,
            duration_ms: None,
            render_output_as_markdown: None,
        }
    }
}

/// One text instead of a list with one text.
pub(super) fn plain(content: Value) -> Value {
    match content {
        Value::Array(mut parts) if parts.len() == 1 => match parts[0].get_mut("text").map(Value::take) {
            Some(Value::String(text)) => Value::String(text),
            _ => Value::Array(parts),
        },
        other => other,
    }
}

/// The thread of a call whose subagent has no name yet.
pub(super) fn unnamed_agent(call: &str) -> String {
    format!("agent-{call}")
}

/// The kind of subagent that a call asks for.
fn agent_name(input: &Value) -> String {
    let name = input.get("subagent_type").and_then(Value::as_str).filter(|name| !name.is_empty());
    name.unwrap_or("general-purpose").to_owned()
}

/// What a person said.
pub(super) fn content(body: Body<'_>) -> Content {
    match body {
        Body::Nothing => Content::Text(String::new()),
        Body::Text(text) => Content::Text(text.into_owned()),
        Body::Parts(mut parts) => match parts.pop() {
            Some(part) if parts.is_empty() && part.kind == b"text" => Content::Text(part.text.into_owned()),
            last => Content::Parts(parts.into_iter().chain(last).map(content_part).collect()),
        },
    }
}

/// Whether something in a message of a person is of a kind that nobody here knows.
pub(super) fn has_unknown(body: &Body<'_>) -> bool {
    let Body::Parts(parts) = body else { return false };
    let is_known = |part: &Part<'_>| {
        matches!(part.kind, b"text" | b"image" | b"document" | b"tool_result") || !part.text.is_empty()
    };
    !parts.iter().all(is_known)
}

fn content_part(part: Part<'_>) -> ContentPart {
    match part.source {
        // A text that is a document of its own.
        Some(source) if source.media_type.starts_with("text/") => {
            ContentPart::Text { text: source.data.into_owned() }
        }
        Some(source) if !source.data.is_empty() && part.kind == b"document" => {
            let name = if part.title.is_empty() { source.media_type } else { part.title };
            ContentPart::File { file: name.into_owned() }
        }
        Some(source) if !source.data.is_empty() => {
            ContentPart::Image { image: source.data.into_owned(), media_type: source.media_type.into_owned() }
        }
        Some(source) => {
            let kind = String::from_utf8_lossy(part.kind);
            ContentPart::Text { text: format!("[{kind} {}]", source.url) }
        }
        None => ContentPart::Text { text: part.text.into_owned() },
    }
}

/// Something Claude Code tells people.
pub(super) fn notice(id: &str, message: String, at: Timestamp) -> Block {
    let id = BlockId(id.to_owned());
    Block::System { id, timestamp: at, subtype: SystemSubtype::Status, message, metadata: None }
}

/// The place from where on the model knows only a summary of what was before.
pub(super) fn compaction(id: &str, done: &CompactMetadata, at: Timestamp) -> Block {
    let mut metadata = Map::new();
    let mut put = |key: &str, value: Option<Value>| value.map(|value| metadata.insert(key.to_owned(), value));
    put("trigger", done.trigger.clone().map(Value::String));
    put("preTokens", done.pre_tokens.map(Value::from));
    put("postTokens", done.post_tokens.map(Value::from));
    Block::System {
        id: BlockId(id.to_owned()),
        timestamp: at,
        subtype: SystemSubtype::Status,
        message: "Conversation compacted".to_owned(),
        metadata: Some(metadata),
    }
}

/// Adds the summary to a compaction's block.
pub(super) fn with_summary(mut block: Block, summary: String) -> Block {
    if let Block::System { metadata, .. } = &mut block {
        metadata.get_or_insert_default().insert("summary".to_owned(), Value::String(summary));
    }
    block
}
