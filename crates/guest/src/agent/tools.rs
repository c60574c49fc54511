//! What the agent can do. A tool that fails says so to the model; it never ends the turn.

mod bash;
mod call;
mod capture;
mod describe;
mod edit;
mod files;
mod glob;
mod grep;
mod look;
mod read;
mod todo;
mod walk;
mod write;

pub(super) use call::Call;
pub(super) use capture::shortened;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use warren_domain::Subagent;

use super::{control::Control, shells::Shells};

/// One tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Bash,
    Read,
    Write,
    Edit,
    Glob,
    Grep,
    Todo,
    Task,
    Question,
    WebSearch,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) is_error: bool,
    /// Pictures and documents for the model, as content of a message.
    pub(super) media: Vec<Value>,
}

/// Where and for whom a tool works.
pub(super) struct Context<'a> {
    pub(super) cwd: &'a Path,
    pub(super) control: &'a Control,
    /// Runs commands.
    pub(super) shells: &'a Shells,
    /// Shows output while it grows.
    pub(super) live: &'a dyn Fn(&str),
}

/// A tool that reads or writes files and is done at once.
type FileTool = fn(&Path, Value) -> Output;

impl Tool {
    pub(super) const ALL: &'static [Tool] = &[
        Tool::Bash,
        Tool::Read,
        Tool::Write,
        Tool::Edit,
        Tool::Glob,
        Tool::Grep,
        Tool::Todo,
        Tool::Task,
        Tool::Question,
        Tool::WebSearch,
    ];

    /// Its name as the model knows it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Bash => "bash",
            Tool::Read => "read",
            Tool::Write => "write",
            Tool::Edit => "edit",
            Tool::Glob => "glob",
            Tool::Grep => "grep",
            Tool::Todo => "todo",
            Tool::Task => "task",
            Tool::Question => "question",
            Tool::WebSearch => "web_search",
        }
    }

    /// Whether a profile means this tool. Other agents' names for the same thing count.
    pub(super) fn is_called(self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        name == self.name()
            || match self {
                Tool::Todo => name == "todowrite",
                Tool::Task => name == "agent",
                Tool::Edit => name == "multiedit",
                Tool::Question => name == "askuserquestion",
                Tool::WebSearch => name == "websearch",
                _ => false,
            }
    }

    /// Whether it may run beside others: it changes nothing, or what it changes is its own affair.
    pub(super) fn runs_beside_others(self) -> bool {
        matches!(self, Tool::Read | Tool::Glob | Tool::Grep | Tool::Task | Tool::WebSearch)
    }

    /// Whether it changes something, or may: what a person is asked about.
    pub(super) fn changes_things(self) -> bool {
        match self {
            Tool::Bash | Tool::Write | Tool::Edit => true,
            // What a subagent does in its task is asked for call by call.
            Tool::Read
            | Tool::Glob
            | Tool::Grep
            | Tool::Todo
            | Tool::Task
            | Tool::Question
            | Tool::WebSearch => false,
        }
    }

    /// Whether its output is shown while it grows.
    pub(super) fn is_live(self) -> bool {
        self == Tool::Bash
    }

    /// The tool as the model is told it.
    pub(super) fn schema(self, subagents: &[Subagent]) -> Value {
        let text = match self {
            Tool::Bash => include_str!("tools/schemas/bash.json"),
            Tool::Read => include_str!("tools/schemas/read.json"),
            Tool::Write => include_str!("tools/schemas/write.json"),
            Tool::Edit => include_str!("tools/schemas/edit.json"),
            Tool::Glob => include_str!("tools/schemas/glob.json"),
            Tool::Grep => include_str!("tools/schemas/grep.json"),
            Tool::Todo => include_str!("tools/schemas/todo.json"),
            Tool::Task => include_str!("tools/schemas/task.json"),
            Tool::Question => include_str!("tools/schemas/question.json"),
            Tool::WebSearch => include_str!("tools/schemas/web_search.json"),
        };
        let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
        if self == Tool::Task {
            let agents = subagents.iter().map(|agent| format!("\n- {}: {}", agent.name, agent.description));
            let description = schema["description"].as_str().unwrap_or_default();
            schema["description"] = Value::String(format!("{description}{}", agents.collect::<String>()));
        }
        schema
    }

    /// Runs a call. Tasks, questions and searches are the session's affair.
    pub(super) async fn run(self, input: Value, context: &Context<'_>) -> Output {
        match self {
            Tool::Bash => bash::run(input, context).await,
            Tool::Read => interruptible(read::run, input, context).await,
            Tool::Glob => interruptible(|cwd, input| glob::run(cwd, input).into(), input, context).await,
            Tool::Grep => interruptible(|cwd, input| grep::run(cwd, input).into(), input, context).await,
            // A file must not be left half written, and none takes long.
            Tool::Write => {
                blocking(|cwd, input| write::run(cwd, input).into(), input, context.cwd.to_owned()).await
            }
            Tool::Edit => {
                blocking(|cwd, input| edit::run(cwd, input).into(), input, context.cwd.to_owned()).await
            }
            Tool::Todo => Output::from(todo::run(input)),
            Tool::Task => Output::failed("a task cannot be run as a plain tool"),
            Tool::Question => Output::failed("a question cannot be run as a plain tool"),
            Tool::WebSearch => Output::failed("a search cannot be run as a plain tool"),
        }
    }
}

impl Output {
    /// What stands for the answer of a call that was stopped.
    pub(super) const INTERRUPTED: &'static str = "[interrupted]";

    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, media: Vec::new() }
    }
}

impl From<Result<String, String>> for Output {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self { text, is_error: false, media: Vec::new() },
            Err(text) => Self::failed(text),
        }
    }
}

async fn interruptible(tool: FileTool, input: Value, context: &Context<'_>) -> Output {
    tokio::select! {
        biased;
        () = context.control.interrupted() => Output::failed(Output::INTERRUPTED),
        output = blocking(tool, input, context.cwd.to_owned()) => output,
    }
}

async fn blocking(tool: FileTool, input: Value, cwd: PathBuf) -> Output {
    let done = tokio::task::spawn_blocking(move || tool(&cwd, input)).await;
    done.unwrap_or_else(|error| Output::failed(format!("the tool broke: {error}")))
}

/// The input of a tool, or what is wrong with it in words the model can act on.
fn input<T: DeserializeOwned>(input: Value) -> Result<T, String> {
    serde_json::from_value(input).map_err(|error| format!("the input is not what this tool takes: {error}"))
}

#[cfg(test)]
mod tests;
