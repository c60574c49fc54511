//! Parts of messages as blocks: the same for a live stream and for an export, because it is the same functions.

use serde_json::{Map, Value, json, value::RawValue};
use warren_domain::{Block, BlockId, BlockStatus, Content, ContentPart, SystemSubtype, Timestamp, Usage};

use super::{
    names,
    native::{Failure, Message, Part, Progress, State, Time, Tokens, millis, read_borrowed},
};
use crate::command::with_exit_code;

/// Where the sandbox has what people sent.
pub(super) const UPLOADS: &str = "/user-input/";

/// What a part's blocks take from its message.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// When the message was made, in milliseconds.
    pub(super) created: i64,
    pub(super) model: Option<String>,
}

impl Context {
    pub(super) fn of(message: &Message, otherwise: Timestamp) -> Self {
        let created = message.time.created.map_or(otherwise.as_millis(), millis);
        Self { created, model: message.model.clone() }
    }

    /// When a part began, in milliseconds.
    pub(super) fn born(&self, part: &str) -> i64 {
        names::born(part, self.created).unwrap_or(self.created)
    }

    fn began(&self, part: &Part<'_>) -> Timestamp {
        let start = part.time.and_then(|time| time.start).map(millis);
        Timestamp::from_millis(start.unwrap_or_else(|| self.born(&part.id)))
    }
}

/// A text or a thought.
pub(super) fn text(part: &Part<'_>, context: &Context) -> Block {
    let (id, timestamp, content) = (BlockId(part.id.clone()), context.began(part), part.text.clone());
    if part.kind == "reasoning" {
        Block::Thinking { id, timestamp, content, summary: None }
    } else {
        Block::AssistantText { id, timestamp, content, model: context.model.clone() }
    }
}

/// A call of a tool.
pub(super) fn tool_use(part: &Part<'_>, state: &State<'_>, context: &Context) -> Block {
    Block::ToolUse {
        id: BlockId(part.id.clone()),
        timestamp: Timestamp::from_millis(context.born(&part.id)),
        tool_name: part.tool.clone(),
        tool_use_id: call_id(part),
        input: state.input(),
        status: status(state.progress()),
        display_name: None,
        description: state.title(),
    }
}

/// What a tool answered, or has answered so far.
pub(super) fn tool_result(part: &Part<'_>, state: &State<'_>, context: &Context) -> Block {
    let (start, end) = (state.time.start.map(millis), state.time.end.map(millis));
    Block::ToolResult {
        id: names::result(&part.id),
        timestamp: Timestamp::from_millis(end.unwrap_or_else(|| context.born(&part.id))),
        tool_use_id: call_id(part),
        output: output(state),
        is_error: state.progress() == Progress::Failed,
        duration_ms: duration(start, end),
        render_output_as_markdown: None,
    }
}

/// Stands for the thread of a task in its caller's.
pub(super) fn subagent(part: &Part<'_>, state: &State<'_>, context: &Context, session: String) -> Block {
    let (start, end) = (state.time.start.map(millis), state.time.end.map(millis));
    let task = state.task();
    Block::Subagent {
        id: BlockId(part.id.clone()),
        timestamp: Timestamp::from_millis(context.born(&part.id)),
        subagent_id: session,
        name: task.subagent,
        input: Value::String(task.prompt),
        status: status(state.progress()),
        output: report(state).map(Value::String),
        duration_ms: duration(start, end),
        tool_use_id: Some(call_id(part)),
    }
}

/// What a task's subagent reported, or why it did not.
pub(super) fn report(state: &State<'_>) -> Option<String> {
    match state.progress() {
        Progress::Completed => state.output().map(unwrapped),
        Progress::Failed => state.error(),
        Progress::Pending | Progress::Running => None,
    }
}

/// The context was made shorter here.
pub(super) fn compaction(part: &Part<'_>, context: &Context) -> Block {
    let metadata = part.auto.map(|auto| Map::from_iter([("auto".to_owned(), json!(auto))]));
    Block::System {
        id: BlockId(part.id.clone()),
        timestamp: Timestamp::from_millis(context.born(&part.id)),
        subtype: SystemSubtype::Status,
        message: "Context compacted".to_owned(),
        metadata,
    }
}

/// Why a message ended before it was whole.
pub(super) fn failure(message: &str, failure: &Failure, time: Time, context: &Context) -> Block {
    let id = BlockId(format!("{message}-error"));
    let timestamp = Timestamp::from_millis(time.completed.map_or(context.created, millis));
    if failure.is_abort() {
        let (subtype, message) = (SystemSubtype::Status, "Interrupted".to_owned());
        return Block::System { id, timestamp, subtype, message, metadata: None };
    }
    let code = (!failure.name.is_empty()).then(|| failure.name.clone());
    Block::Error { id, timestamp, message: failure.text().to_owned(), code }
}

/// The piece of a person's message that this part is, if it is one.
pub(super) fn said(part: &Part<'_>) -> Option<ContentPart> {
    match part.kind.as_str() {
        "text" if !part.synthetic && !part.ignored => Some(ContentPart::Text { text: part.text.clone() }),
        "subtask" => Some(ContentPart::Text { text: part.prompt.clone() }),
        "file" if !part.synthetic => Some(file(part)),
        _ => None,
    }
}

/// What a person said in one or several pieces.
pub(super) fn user_message(id: BlockId, mut said: Vec<ContentPart>, context: &Context) -> Block {
    let content = match said.as_mut_slice() {
        [ContentPart::Text { text }] => Content::Text(std::mem::take(text)),
        _ => Content::Parts(said),
    };
    Block::UserMessage { id, timestamp: Timestamp::from_millis(context.created), content }
}

/// What a step used.
pub(super) fn usage(tokens: &Tokens, cost: f64, context: &Context) -> Usage {
    let usage = Usage {
        input_tokens: count(tokens.input),
        // OpenCode counts thinking apart; we count it as written too.
        output_tokens: count(tokens.output + tokens.reasoning),
        cache_read_tokens: count(tokens.cache.read),
        cache_write_tokens: count(tokens.cache.write),
        thinking_tokens: count(tokens.reasoning),
        cost_usd: if cost.is_finite() { cost } else { 0.0 },
        model: context.model.clone(),
        ..Usage::default()
    };
    usage.totalled()
}

/// The model's name for a call; the part's where the model gave none.
pub(super) fn call_id(part: &Part<'_>) -> String {
    if part.call.is_empty() { part.id.clone() } else { part.call.clone() }
}

fn status(progress: Progress) -> BlockStatus {
    match progress {
        Progress::Pending => BlockStatus::Pending,
        Progress::Running => BlockStatus::Running,
        Progress::Completed => BlockStatus::Success,
        Progress::Failed => BlockStatus::Error,
    }
}

/// A tool's answer with what came with it; while it works, what it has written so far.
fn output(state: &State<'_>) -> Value {
    let so_far = || state.metadata().output.unwrap_or_default();
    let text = match state.progress() {
        Progress::Completed => state.output().unwrap_or_else(so_far),
        Progress::Failed => match state.output() {
            Some(output) => with_exit_code(output, state.metadata().exit_code()),
            None => failed_output(so_far(), &state.error().unwrap_or_default()),
        },
        Progress::Pending | Progress::Running => so_far(),
    };
    let files: Vec<Value> = state.attachments().into_iter().filter_map(attachment).collect();
    if files.is_empty() {
        return Value::String(text);
    }
    std::iter::once(json!({ "text": text })).chain(files).collect()
}

/// A tool that was stopped may have written something before.
fn failed_output(so_far: String, error: &str) -> String {
    match (so_far.is_empty(), so_far.ends_with('\n')) {
        (true, _) => error.to_owned(),
        (false, true) => so_far + error,
        (false, false) => format!("{so_far}\n{error}"),
    }
}

fn attachment(raw: &RawValue) -> Option<Value> {
    let part: Part<'_> = read_borrowed(Some(raw))?;
    serde_json::to_value(file(&part)).ok()
}

/// A picture if it is one and its bytes are there, else a file by its name.
fn file(part: &Part<'_>) -> ContentPart {
    let bytes = part.url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    match bytes {
        Some((media_type, image)) if media_type.starts_with("image/") => {
            ContentPart::Image { image: image.to_owned(), media_type: media_type.to_owned() }
        }
        Some((media_type, _)) => {
            let name = part.filename.as_deref().filter(|name| !name.is_empty());
            ContentPart::File { file: name.unwrap_or(media_type).to_owned() }
        }
        None => {
            let path = part.url.strip_prefix("file://").unwrap_or(&part.url);
            let file = path.strip_prefix(UPLOADS).unwrap_or(path);
            ContentPart::File { file: if file.is_empty() { part.mime.clone() } else { file.to_owned() } }
        }
    }
}

/// A report without the frame that is meant for the model.
fn unwrapped(output: String) -> String {
    let inner = output.split_once("<task_result>").map_or(output.as_str(), |(_, rest)| rest);
    let inner = inner.split_once("</task_result>").map_or(inner, |(inner, _)| inner);
    let inner = inner.split_once("<task_metadata>").map_or(inner, |(inner, _)| inner);
    if inner.len() == output.len() { output } else { inner.trim().to_owned() }
}

fn duration(start: Option<i64>, end: Option<i64>) -> Option<u64> {
    u64::try_from(end?.checked_sub(start?)?).ok()
}

fn count(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is out of range is clamped, and no count is"
    )]
    {
        // A sum of such numbers must not overflow either.
        number.clamp(0.0, 1e12) as u64
    }
}
