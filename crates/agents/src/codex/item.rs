//! What Codex tells about, in one form for all places where it tells it: the app server's notifications, `exec --json`
//! and the rollout file. Names, inputs and outputs of tools are those that all three can give.

use serde_json::{Value, json};
use warren_domain::{BlockStatus, Content, Timestamp};

use crate::{command::with_exit_code, fields};

/// One thing Codex tells about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Codex's own name for it: the API's id of a message, the id of a call.
    pub(super) id: String,
    /// When it began, where Codex says so.
    pub(super) started: Option<Timestamp>,
    /// When it ended, where Codex says so.
    pub(super) completed: Option<Timestamp>,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// Somebody said something to the agent; `client_id` is the name its client gave it.
    User { client_id: Option<String>, content: Content },
    /// The agent said something.
    Text(String),
    /// It thought something, as far as it says what.
    Thinking(String),
    /// It used a tool.
    Tool(Tool),
    /// It began a subagent.
    Spawn(Spawn),
    /// It replaced what it remembers by something shorter.
    Compaction,
    /// It says something about itself.
    Notice(String),
    /// Nothing to show.
    Nothing,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) input: Value,
    /// What of the input every source carries, as text.
    pub(super) key: String,
    /// How it ended, if it did.
    pub(super) end: Option<End>,
    /// What it tells about subagents.
    pub(super) agents: Vec<AgentState>,
    /// It is the plan, of which there is one in a turn, whatever the calls that write it.
    pub(super) is_plan: bool,
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct End {
    pub(super) status: BlockStatus,
    /// What it gave; some tools give nothing.
    pub(super) output: Option<Value>,
    pub(super) duration_ms: Option<u64>,
}

/// The beginning of a subagent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spawn {
    pub(super) prompt: String,
    /// The threads it made; none as long as it is under way, or if it failed.
    pub(super) threads: Vec<String>,
    pub(super) failed: bool,
}

/// How a subagent is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentState {
    pub(super) thread: String,
    pub(super) status: String,
    pub(super) message: Option<String>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) moved_to: Option<String>,
    pub(super) diff: Option<String>,
}

/// Said of whatever a person did not allow.
pub(super) const REJECTED: &str = "rejected by user";

impl Tool {
    pub(super) fn new(name: impl Into<String>, input: Value, end: Option<End>) -> Self {
        let name = name.into();
        let key = format!("{name}\0{input}");
        Self { name, input, key, end, agents: Vec::new(), is_plan: false }
    }

    /// A command, however it was wrapped for the shell.
    pub(super) fn shell(command: &str, end: Option<End>) -> Self {
        Self::new("shell", json!({"command": command}), end)
    }

    /// A change of files. What it gives is the list of what changed: only one source has the patcher's own words.
    pub(super) fn patch(mut changes: Vec<Change>, status: &str) -> Self {
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let listed = changes.iter().map(Change::listed).collect::<Vec<_>>().join("\n");
        let output = match status {
            "completed" => listed.as_str(),
            "declined" => REJECTED,
            _ => "failed",
        };
        let end =
            status_of(status).map(|status| End { status, output: Some(json!(output)), duration_ms: None });
        let input = json!({"changes": changes.iter().map(Change::input).collect::<Vec<_>>()});
        Self { key: format!("apply_patch\0{listed}"), ..Self::new("apply_patch", input, end) }
    }

    /// A tool of an MCP server.
    pub(super) fn mcp(server: &str, tool: &str, arguments: Value, end: Option<End>) -> Self {
        Self::new(format!("mcp__{server}__{tool}"), arguments, end)
    }
}

impl Change {
    fn listed(&self) -> String {
        let letter = match self.kind.as_str() {
            "add" => 'A',
            "delete" => 'D',
            _ => 'M',
        };
        format!("{letter} {}", self.path)
    }

    fn input(&self) -> Value {
        let mut input = json!({"path": self.path, "kind": self.kind});
        if let Some(diff) = &self.diff {
            input["diff"] = json!(diff);
        }
        if let Some(moved_to) = &self.moved_to {
            input["movedTo"] = json!(moved_to);
        }
        input
    }
}

impl End {
    /// The end of a command. Commands that a person did not allow have no output of their own.
    pub(super) fn of_command(
        status: &str,
        output: &str,
        exit_code: Option<i64>,
        duration_ms: Option<u64>,
    ) -> Option<Self> {
        let output = match status {
            "declined" => REJECTED.to_owned(),
            _ => with_exit_code(output.to_owned(), exit_code),
        };
        let status = status_of(status)?;
        let has_failed = exit_code.is_some_and(|code| code != 0);
        let status = if has_failed { BlockStatus::Error } else { status };
        Some(Self { status, output: Some(json!(output)), duration_ms })
    }

    /// An end that gave nothing but its success.
    pub(super) fn silent(status: BlockStatus) -> Self {
        Self { status, output: None, duration_ms: None }
    }
}

/// How a call with this status ended; `None` if it has not.
pub(super) fn status_of(status: &str) -> Option<BlockStatus> {
    match status {
        "inProgress" | "in_progress" | "pending" | "running" => None,
        "completed" | "success" => Some(BlockStatus::Success),
        _ => Some(BlockStatus::Error),
    }
}

/// What an MCP tool gave, as text if it is only text.
pub(super) fn mcp_output(result: &Value) -> Value {
    let content = fields::list(result, "content");
    let texts: Option<Vec<&str>> = content.iter().map(|part| fields::text(part, "text")).collect();
    match texts {
        Some(texts) if !texts.is_empty() => Value::String(texts.join("\n")),
        _ if content.is_empty() => {
            let structured =
                ["structuredContent", "structured_content"].iter().find_map(|key| result.get(*key));
            structured.cloned().unwrap_or(json!(""))
        }
        _ => Value::Array(content.to_vec()),
    }
}

/// How subagents are, in one form: `{"<thread>": {"status", "message"?}}` or `{"<thread>": "status"}` or
/// `{"<thread>": {"<status>": "message"}}`.
pub(super) fn agent_states(states: Option<&Value>) -> Vec<AgentState> {
    let states = states.and_then(Value::as_object).into_iter().flatten();
    states
        .map(|(thread, state)| {
            let (status, message) = match state {
                Value::String(status) => (status.clone(), None),
                Value::Object(fields) => match fields.get("status").and_then(Value::as_str) {
                    Some(status) => (status.to_owned(), fields::text(state, "message")),
                    None => fields.iter().next().map_or_else(Default::default, |(status, message)| {
                        (status.clone(), message.as_str())
                    }),
                },
                _ => Default::default(),
            };
            AgentState { thread: thread.clone(), status: snake(&status), message: message.map(str::to_owned) }
        })
        .collect()
}

/// A call that is about other subagents than new ones.
pub(super) fn collab(
    tool: &str,
    threads: &[String],
    prompt: Option<&str>,
    status: &str,
    agents: Vec<AgentState>,
) -> Tool {
    let mut input = json!({"threads": threads});
    if let Some(prompt) = prompt {
        input["prompt"] = json!(prompt);
    }
    let end = status_of(status).map(|status| {
        let states = agents.iter().map(|agent| {
            let mut state = json!({"status": agent.status});
            if let Some(message) = &agent.message {
                state["message"] = json!(message);
            }
            (agent.thread.clone(), state)
        });
        End { status, output: Some(Value::Object(states.collect())), duration_ms: None }
    });
    Tool { agents, ..Tool::new(snake(tool), input, end) }
}

/// A thing nobody here knows, kept as a tool call with all its fields.
pub(super) fn unknown(kind: &str, item: &Value) -> Tool {
    const OWN: [&str; 7] =
        ["type", "id", "status", "startedAtMs", "completedAtMs", "started_at_ms", "completed_at_ms"];
    let fields = item.as_object().into_iter().flatten();
    let input = fields
        .filter(|(key, value)| !OWN.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (snake(key), value.clone()))
        .collect();
    let status = fields::text(item, "status").map_or(Some(BlockStatus::Success), status_of);
    Tool::new(snake(kind), Value::Object(input), status.map(End::silent))
}

/// `camelCase` and `PascalCase` as `snake_case`.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for (place, c) in name.char_indices() {
        if c.is_uppercase() && place > 0 && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}
