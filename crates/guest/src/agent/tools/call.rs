//! A call of a tool, as the model made it.

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, ConversationId, Timestamp};

use super::describe;
use crate::agent::{role::Role, subagent::Task};

/// A call of a tool.
#[derive(Debug)]
pub(in crate::agent) struct Call {
    pub(in crate::agent) id: String,
    pub(in crate::agent) name: String,
    pub(in crate::agent) input: Value,
    /// Why it cannot be carried out at all.
    pub(in crate::agent) problem: Option<String>,
    /// It is for a subagent.
    pub(in crate::agent) task: Option<Task>,
    at: Timestamp,
}

impl Call {
    pub(in crate::agent) fn new(id: String, name: String, input: Value, at: Timestamp) -> Self {
        Self { id, name, input, problem: None, task: None, at }
    }

    /// A call whose input came in as pieces of JSON, or else whole at its beginning.
    pub(in crate::agent) fn received(
        id: String,
        name: String,
        json: &str,
        input: Value,
        at: Timestamp,
    ) -> Self {
        let input = if json.trim().is_empty() { Ok(input) } else { serde_json::from_str(json) };
        match input {
            Ok(input) if input.is_object() => Self::new(id, name, input, at),
            Ok(Value::Null) => Self::new(id, name, json!({}), at),
            Ok(_) | Err(_) => Self {
                problem: Some(include_str!("../prompts/broken_input.md").trim().to_owned()),
                ..Self::new(id, name, json!({}), at)
            },
        }
    }

    /// Finds out whether the role can carry it out, and whether it is for a subagent.
    pub(in crate::agent) fn resolve(&mut self, role: &Role, thread: &ConversationId) {
        if self.problem.is_some() {
            return;
        }
        if role.tool(&self.name).is_none() {
            self.problem = Some(format!("there is no tool `{}`", self.name));
        } else if role.is_task(&self.name) {
            match Task::new(&self.input, &self.id, role, thread) {
                Ok(task) => self.task = Some(task),
                Err(problem) => self.problem = Some(problem),
            }
        }
    }

    /// Its name among the calls of all threads: ids of calls are unique in their thread.
    pub(in crate::agent) fn path_in(&self, thread: &ConversationId) -> String {
        if thread.is_main() { self.id.clone() } else { format!("{thread}.{}", self.id) }
    }

    /// What it does, in one line for people.
    pub(in crate::agent) fn title(&self) -> String {
        let name = describe::display_name(&self.name).unwrap_or_else(|| self.name.clone());
        // A description is the model's own word: who decides must see what would be run.
        let about = self.input["command"].as_str().and_then(describe::one_line);
        match about.or_else(|| describe::description(&self.name, &self.input)) {
            Some(about) => format!("{name}: {about}"),
            None => name,
        }
    }

    /// The block that shows it.
    pub(in crate::agent) fn block(&self, status: BlockStatus) -> Block {
        if let Some(task) = &self.task {
            return task.block(&self.id, self.at, status);
        }
        Block::ToolUse {
            id: BlockId(self.id.clone()),
            timestamp: self.at,
            tool_name: self.name.clone(),
            tool_use_id: self.id.clone(),
            input: self.input.clone(),
            status,
            display_name: describe::display_name(&self.name),
            description: describe::description(&self.name, &self.input),
        }
    }
}
