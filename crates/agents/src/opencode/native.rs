//! What OpenCode writes, as far as it is of use here.
//!
//! A field that is not what it should be counts as absent, so that a new release costs no more than what it changed.
//! What can be large or deep is kept as the text it is, and looked at only where it is needed.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::command;

/// One line: an event, an answer of the bridge, or a line of `opencode run --format json`.
#[derive(Deserialize)]
pub(super) struct Line<'a> {
    #[serde(default, rename = "type", deserialize_with = "lax")]
    pub(super) kind: String,
    #[serde(borrow, default)]
    pub(super) properties: Option<&'a RawValue>,
    /// What the newer interface calls the properties.
    #[serde(borrow, default)]
    pub(super) data: Option<&'a RawValue>,
    /// The event itself, in the stream of all directories.
    #[serde(borrow, default)]
    pub(super) payload: Option<&'a RawValue>,
    /// Of `run --format json`.
    #[serde(borrow, default)]
    pub(super) part: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) error: Option<Failure>,
    /// Of the bridge.
    #[serde(default, deserialize_with = "lax")]
    pub(super) id: Option<u64>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) status: i64,
    #[serde(borrow, default)]
    pub(super) body: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) messages: Option<&'a RawValue>,
}

/// What an event is about. Which fields there are depends on its type.
#[derive(Deserialize, Default)]
pub(super) struct Properties<'a> {
    #[serde(default, rename = "sessionID", deserialize_with = "lax")]
    pub(super) session: Option<String>,
    #[serde(borrow, default)]
    pub(super) info: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) part: Option<&'a RawValue>,
    #[serde(default, rename = "messageID", deserialize_with = "lax")]
    pub(super) message: String,
    #[serde(default, rename = "partID", deserialize_with = "lax")]
    pub(super) part_id: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) field: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) delta: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) status: Status,
    #[serde(default, deserialize_with = "lax")]
    pub(super) error: Option<Failure>,
}

/// What a session is doing.
#[derive(Deserialize, Default)]
pub(super) struct Status {
    #[serde(default, rename = "type", deserialize_with = "lax")]
    pub(super) kind: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) attempt: f64,
    #[serde(default, deserialize_with = "lax")]
    pub(super) message: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) next: Option<f64>,
}

/// A session.
#[derive(Deserialize, Default)]
pub(super) struct Session {
    #[serde(default, deserialize_with = "lax")]
    pub(super) id: String,
    #[serde(default, rename = "parentID", deserialize_with = "lax")]
    pub(super) parent: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) agent: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) time: Time,
}

/// A message without its parts.
#[derive(Deserialize, Default, Clone)]
pub(super) struct Message {
    #[serde(default, deserialize_with = "lax")]
    pub(super) id: String,
    #[serde(default, rename = "sessionID", deserialize_with = "lax")]
    pub(super) session: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) role: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) time: Time,
    #[serde(default, rename = "modelID", deserialize_with = "lax")]
    pub(super) model: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) agent: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) finish: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) error: Option<Failure>,
}

/// A message with its parts, as the API and exports have it.
#[derive(Deserialize)]
pub(super) struct WithParts<'a> {
    #[serde(borrow)]
    pub(super) info: &'a RawValue,
    #[serde(borrow, default)]
    pub(super) parts: Option<&'a RawValue>,
}

/// Milliseconds since 1970.
#[derive(Deserialize, Default, Clone, Copy)]
pub(super) struct Time {
    #[serde(default, deserialize_with = "lax")]
    pub(super) created: Option<f64>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) completed: Option<f64>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) start: Option<f64>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) end: Option<f64>,
}

/// An error, wherever it stands.
#[derive(Deserialize, Default, Clone, PartialEq)]
pub(super) struct Failure {
    #[serde(default, deserialize_with = "lax")]
    pub(super) name: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) message: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) data: FailureData,
}

#[derive(Deserialize, Default, Clone, PartialEq)]
pub(super) struct FailureData {
    #[serde(default, deserialize_with = "lax")]
    pub(super) message: String,
    #[serde(default, rename = "isRetryable", deserialize_with = "lax")]
    pub(super) is_retryable: bool,
}

/// A part of a message. Which fields there are depends on its type.
#[derive(Deserialize, Clone)]
pub(super) struct Part<'a> {
    #[serde(default, deserialize_with = "lax")]
    pub(super) id: String,
    #[serde(default, rename = "sessionID", deserialize_with = "lax")]
    pub(super) session: String,
    #[serde(default, rename = "messageID", deserialize_with = "lax")]
    pub(super) message: String,
    #[serde(default, rename = "type", deserialize_with = "lax")]
    pub(super) kind: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) text: String,
    /// OpenCode wrote it, not the person.
    #[serde(default, deserialize_with = "lax")]
    pub(super) synthetic: bool,
    #[serde(default, deserialize_with = "lax")]
    pub(super) ignored: bool,
    #[serde(default, deserialize_with = "lax")]
    pub(super) time: Option<Time>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) tool: String,
    #[serde(default, rename = "callID", deserialize_with = "lax")]
    pub(super) call: String,
    #[serde(borrow, default)]
    pub(super) state: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) tokens: Option<Tokens>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) cost: f64,
    /// Of a file.
    #[serde(default, deserialize_with = "lax")]
    pub(super) mime: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) url: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) filename: Option<String>,
    /// Of a task that a command gives to a subagent.
    #[serde(default, deserialize_with = "lax")]
    pub(super) prompt: String,
    /// Of a compaction.
    #[serde(default, deserialize_with = "lax")]
    pub(super) auto: Option<bool>,
    /// Why a step ended.
    #[serde(default, deserialize_with = "lax")]
    pub(super) reason: Option<String>,
    /// Take the tool as being no further than this.
    #[serde(skip)]
    pub(super) no_further: Option<Progress>,
}

/// How far a tool is.
#[derive(Deserialize, Clone, Copy, Default)]
pub(super) struct State<'a> {
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attachments: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) time: Time,
    #[serde(skip)]
    no_further: Option<Progress>,
}

/// What a tool says about itself, as far as it is of use here.
#[derive(Deserialize, Default)]
pub(super) struct Metadata {
    /// The output so far.
    #[serde(default, deserialize_with = "lax")]
    pub(super) output: Option<String>,
    /// The session of a task.
    #[serde(default, rename = "sessionId", alias = "sessionID", deserialize_with = "lax")]
    pub(super) session: Option<String>,
    /// The exit code of a command; null if it was stopped.
    #[serde(default, deserialize_with = "even_null")]
    exit: Option<Value>,
}

impl Metadata {
    pub(super) fn exit_code(&self) -> Option<i64> {
        self.exit.as_ref()?.as_i64()
    }
}

/// What the model is told about a task.
#[derive(Deserialize, Default)]
pub(super) struct TaskInput {
    #[serde(default, deserialize_with = "lax")]
    pub(super) prompt: String,
    #[serde(default, rename = "subagent_type", deserialize_with = "lax")]
    pub(super) subagent: Option<String>,
}

#[derive(Deserialize, Default, Clone)]
pub(super) struct Tokens {
    #[serde(default, deserialize_with = "lax")]
    pub(super) input: f64,
    #[serde(default, deserialize_with = "lax")]
    pub(super) output: f64,
    #[serde(default, deserialize_with = "lax")]
    pub(super) reasoning: f64,
    #[serde(default, deserialize_with = "lax")]
    pub(super) cache: Cache,
}

#[derive(Deserialize, Default, Clone)]
pub(super) struct Cache {
    #[serde(default, deserialize_with = "lax")]
    pub(super) read: f64,
    #[serde(default, deserialize_with = "lax")]
    pub(super) write: f64,
}

/// What OpenCode asks a person.
#[derive(Deserialize)]
pub(super) struct Asked<'a> {
    #[serde(default, deserialize_with = "lax")]
    pub(super) id: String,
    /// The kind of permission; `action` and `type` in other versions.
    #[serde(default, alias = "action", alias = "type", deserialize_with = "lax")]
    pub(super) permission: String,
    #[serde(default, alias = "resources", alias = "pattern", deserialize_with = "lax")]
    pub(super) patterns: OneOrMany,
    #[serde(borrow, default)]
    pub(super) metadata: Option<&'a RawValue>,
    #[serde(default, alias = "source", deserialize_with = "lax")]
    pub(super) tool: AskedTool,
    #[serde(default, rename = "callID", deserialize_with = "lax")]
    pub(super) call: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) questions: Vec<Question>,
    /// Of an answer: what was asked.
    #[serde(default, rename = "requestID", alias = "permissionID", deserialize_with = "lax")]
    pub(super) request: Option<String>,
}

#[derive(Deserialize, Default)]
pub(super) struct AskedTool {
    #[serde(default, rename = "callID", deserialize_with = "lax")]
    pub(super) call: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize, Default)]
pub(super) struct Question {
    #[serde(default, deserialize_with = "lax")]
    pub(super) question: String,
    #[serde(default, deserialize_with = "lax")]
    pub(super) header: Option<String>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) options: Vec<Value>,
    #[serde(default, deserialize_with = "lax")]
    pub(super) multiple: bool,
}

/// How far a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    Pending,
    Running,
    Completed,
    Failed,
}

impl Message {
    /// The message as it was when it began.
    pub(super) fn begun(&self) -> Self {
        let time = Time { completed: None, ..self.time };
        Self { time, finish: None, error: None, ..self.clone() }
    }
}

impl<'a> Part<'a> {
    /// How far the tool is.
    pub(super) fn state(&self) -> State<'a> {
        let state: State<'a> = read_borrowed(self.state).unwrap_or_default();
        State { no_further: self.no_further, ..state }
    }
}

impl State<'_> {
    pub(super) fn progress(&self) -> Progress {
        let progress = match self.status.map_or("", RawValue::get) {
            r#""pending""# => Progress::Pending,
            r#""completed""# if self.has_failed_command() => Progress::Failed,
            r#""completed""# => Progress::Completed,
            r#""error""# => Progress::Failed,
            // Whatever else it does, it is not done.
            _ => Progress::Running,
        };
        self.no_further.map_or(progress, |limit| limit.min(progress))
    }

    /// OpenCode calls a command completed however it ended.
    fn has_failed_command(&self) -> bool {
        let metadata = self.metadata();
        match metadata.exit {
            Some(Value::Null) => true,
            Some(code) => code.as_i64().is_some_and(|code| code != 0),
            // Only commands tell their output so far.
            None if metadata.output.is_some() => {
                self.output().is_some_and(|output| command::was_stopped(&output))
            }
            None => false,
        }
    }

    pub(super) fn input(&self) -> Value {
        self.input.map_or_else(|| Value::Object(serde_json::Map::new()), value)
    }

    pub(super) fn task(&self) -> TaskInput {
        read(self.input)
    }

    pub(super) fn output(&self) -> Option<String> {
        self.output.map(text)
    }

    pub(super) fn error(&self) -> Option<String> {
        self.error.map(text)
    }

    pub(super) fn title(&self) -> Option<String> {
        self.title.map(text).filter(|title| !title.is_empty())
    }

    pub(super) fn metadata(&self) -> Metadata {
        read(self.metadata)
    }

    pub(super) fn attachments(&self) -> Vec<&RawValue> {
        read_borrowed(self.attachments).unwrap_or_default()
    }
}

impl Failure {
    pub(super) fn text(&self) -> &str {
        let texts = [&self.data.message, &self.message, &self.name];
        texts.into_iter().map(String::as_str).find(|text| !text.is_empty()).unwrap_or("unknown error")
    }

    pub(super) fn is_abort(&self) -> bool {
        self.name == "MessageAbortedError"
    }
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            OneOrMany::None => Vec::new(),
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// Reads what is there, or takes it as absent.
pub(super) fn read<T: DeserializeOwned + Default>(raw: Option<&RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// The same for what borrows from it.
pub(super) fn read_borrowed<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Any JSON; what is nested too deeply to be held is kept as its text.
pub(super) fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Value::String(raw.get().to_owned()))
}

/// A string, or the text of whatever stands in its place.
fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| match raw.get() {
        "null" => String::new(),
        other => other.to_owned(),
    })
}

/// Milliseconds as a whole number.
pub(super) fn millis(number: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is out of range is clamped, which a time may be"
    )]
    {
        number as i64
    }
}

/// A field that is there even if it is null.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(Some(value(raw)))
}

/// A field that counts as absent if it is not what it should be.
fn lax<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}
