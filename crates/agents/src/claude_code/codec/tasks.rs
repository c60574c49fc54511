//! Subagents' threads: when they open, what belongs to them, when they close.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use warren_domain::{Block, BlockStatus, ConversationId, Timestamp};

use super::{ClaudeCodec, OpenCall, complete, update};
use crate::{
    Output,
    claude_code::{
        agents::{Ending, Fate, agent_answer, end_block},
        blocks::{ToolAnswer, unnamed_agent},
        native::Line,
        scan::read,
    },
    subagent::Thread,
};

/// The thread of a subagent that this process started.
pub(super) struct AgentThread {
    thread: Thread,
    task: String,
    stage: Stage,
    /// The last thing it said: its report, if it ends with that.
    last_text: Option<String>,
}

#[derive(PartialEq, Eq)]
enum Stage {
    /// Nothing of it is recorded.
    Announced,
    /// It is open, but did not repeat its task.
    Open,
    /// Its task was repeated.
    AtWork,
    Closed,
}

/// What Claude Code says about tasks.
#[derive(Deserialize)]
struct Task {
    #[serde(default)]
    task_id: String,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    task_type: Option<String>,
    #[serde(default)]
    subagent_type: Option<String>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    is_backgrounded: Option<bool>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    usage: Option<TaskUsage>,
    #[serde(default)]
    patch: Option<Patch>,
}

#[derive(Deserialize)]
struct TaskUsage {
    #[serde(default)]
    duration_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Patch {
    #[serde(default)]
    status: Option<String>,
}

impl ClaudeCodec {
    /// A task begins. Only a subagent that a call of this process started gets a thread: others are asked again.
    pub(super) fn task_started(&mut self, raw: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        let Some(task) = read::<Task>(raw).filter(Task::is_of_agent) else { return };
        self.turn.task_started(&task.task_id);
        let is_new = |call: &String| self.starts_agents(call) && !self.agents.contains_key(call);
        let Some(call) = task.tool_use_id.filter(is_new) else { return };
        let in_background = self.calls.get(&call).is_some_and(|call| call.in_background);
        let is_background = task.is_backgrounded.unwrap_or(in_background);
        let (name, prompt) = (task.subagent_type, task.prompt);
        self.announce(&call, Some(task.task_id), name, prompt);
        if is_background {
            self.open_agent(&call, at, out);
        }
    }

    /// The state of a task changed.
    pub(super) fn task_updated(&mut self, raw: &[u8]) {
        let Some(task) = read::<Task>(raw) else { return };
        let status = task.patch.and_then(|patch| patch.status);
        let Some(status) = status.filter(|status| !matches!(status.as_str(), "pending" | "running")) else {
            return;
        };
        self.turn.task_ended(&task.task_id);
        if let Some(call) = self.tasks.get(&task.task_id) {
            self.untold.insert(call.clone(), ended_as(Some(&status)));
        }
    }

    /// Ends the background tasks whose end is told to nobody but the model, as some versions do within a turn.
    pub(super) fn end_untold_agents(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        for (call, status) in std::mem::take(&mut self.untold) {
            match self.calls.get(&call) {
                Some(open) if open.is_answered => {
                    let report = self.agents.get_mut(&call).and_then(|agent| agent.last_text.take());
                    let ending = Ending { status, output: report.map(Value::String), duration_ms: None };
                    self.end_agent(&call, &ending, at, out);
                }
                Some(_) => drop(self.untold.insert(call, status)),
                // Something else told of it.
                None => {}
            }
        }
    }

    /// A task ended. The answer of a call that waited for it says so itself.
    pub(super) fn task_notification(&mut self, raw: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        let Some(task) = read::<Task>(raw) else { return };
        self.turn.task_ended(&task.task_id);
        let Some(call) = task.tool_use_id else { return };
        if !self.calls.get(&call).is_some_and(|call| call.is_answered) {
            return;
        }
        let report = self.agents.get_mut(&call).and_then(|agent| agent.last_text.take()).or(task.summary);
        let ending = Ending {
            status: ended_as(task.status.as_deref()),
            output: report.map(Value::String),
            duration_ms: task.usage.and_then(|usage| usage.duration_ms),
        };
        self.end_agent(&call, &ending, at, out);
    }

    /// The thread a line belongs to; opens it if this is its first line.
    pub(super) fn thread_of(
        &mut self,
        line: &Line<'_>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> ConversationId {
        let Some(call) = line.parent_call() else { return ConversationId::main() };
        let (call, agent_id) = (&*call, line.agent_id().map(Cow::into_owned));
        if !self.agents.contains_key(call) && self.starts_agents(call) {
            self.announce(call, agent_id.clone(), None, None);
        }
        self.open_agent(call, at, out);
        match self.agents.get(call) {
            Some(agent) => agent.thread.id.clone(),
            None => ConversationId(agent_id.unwrap_or_else(|| unnamed_agent(call))).bounded(),
        }
    }

    /// What is said to a subagent: first of all its task, which is in its thread already.
    pub(super) fn heard_by_agent(
        &mut self,
        line: &Line<'_>,
        thread: ConversationId,
        block: Block,
        out: &mut Vec<Output>,
    ) {
        let agent = line.parent_call().as_deref().and_then(|call| self.agents.get_mut(call));
        match agent {
            Some(agent) if agent.stage == Stage::Open => agent.stage = Stage::AtWork,
            _ => out.push(complete(thread, block)),
        }
    }

    /// Remembers what a subagent said last.
    pub(super) fn note_report(&mut self, line: &Line<'_>, text: &str) {
        if let Some(agent) = line.parent_call().as_deref().and_then(|call| self.agents.get_mut(call)) {
            agent.last_text = Some(text.to_owned());
        }
    }

    /// The answer to the call that started a subagent.
    pub(super) fn agent_answered(
        &mut self,
        answer: ToolAnswer,
        beside: Option<&[u8]>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let call = answer.call.clone();
        match agent_answer(answer, beside).fate {
            Fate::Working => {
                self.open_agent(&call, at, out);
                if let Some(open) = self.calls.get_mut(&call) {
                    open.is_answered = true;
                }
            }
            Fate::Cut => {}
            Fate::Ended(ending) => self.end_agent(&call, &ending, at, out),
        }
    }

    /// Closes the thread that another tool than the one for subagents opened.
    pub(super) fn close_agent(&mut self, answer: &ToolAnswer, at: Timestamp, out: &mut Vec<Output>) {
        self.close_thread(&answer.call, answer.status(), Some(answer.output.clone()), at, out);
    }

    fn end_agent(&mut self, call: &str, ending: &Ending, at: Timestamp, out: &mut Vec<Output>) {
        self.close_thread(call, ending.status, ending.output.clone(), at, out);
        if let Some(OpenCall { thread, mut block, .. }) = self.calls.remove(call) {
            end_block(&mut block, ending);
            out.push(complete(thread, block));
        }
    }

    fn close_thread(
        &mut self,
        call: &str,
        status: BlockStatus,
        output: Option<Value>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        self.open_agent(call, at, out);
        let Some(agent) = self.agents.get_mut(call) else { return };
        if matches!(agent.stage, Stage::Open | Stage::AtWork) {
            agent.stage = Stage::Closed;
            out.extend(agent.thread.closed(status, output, None, at).map(Output::Event));
        }
    }

    /// Notes a thread that will open with its first line.
    fn announce(&mut self, call: &str, agent_id: Option<String>, name: Option<String>, task: Option<String>) {
        let Some(open) = self.calls.get_mut(call) else { return };
        let id = agent_id.unwrap_or_else(|| unnamed_agent(call));
        let (mut own_name, mut own_task) = (None, String::new());
        if let Block::Subagent { subagent_id, name, input, .. } = &mut open.block {
            subagent_id.clone_from(&id);
            own_name.clone_from(name);
            input.as_str().unwrap_or_default().clone_into(&mut own_task);
        }
        let name = own_name.or(name).unwrap_or_else(|| "general-purpose".to_owned());
        let thread = Thread { id: ConversationId(id).bounded(), name: Some(name) };
        let task = task.unwrap_or(own_task);
        self.tasks.insert(thread.id.0.clone(), call.to_owned());
        let agent = AgentThread { thread, task, stage: Stage::Announced, last_text: None };
        self.agents.insert(call.to_owned(), agent);
    }

    /// Opens an announced thread.
    fn open_agent(&mut self, call: &str, at: Timestamp, out: &mut Vec<Output>) {
        let (Some(agent), Some(open)) = (self.agents.get_mut(call), self.calls.get(call)) else { return };
        if agent.stage != Stage::Announced {
            return;
        }
        agent.stage = Stage::Open;
        if let Block::Subagent { id, subagent_id, .. } = &open.block {
            let name = [("subagentId", Value::String(subagent_id.clone()))];
            out.push(update(open.thread.clone(), id.clone(), name));
        }
        let drafts = agent.thread.opened(&agent.task, Some(call.to_owned()), open.thread.clone(), at);
        out.extend(drafts.map(Output::Event));
    }

    /// Whether this call of this process starts subagents of its own. A message to one that is there does not.
    fn starts_agents(&self, call: &str) -> bool {
        let block = self.calls.get(call).map(|call| &call.block);
        match block {
            Some(Block::ToolUse { tool_name, .. }) => tool_name != "SendMessage",
            Some(_) => true,
            None => false,
        }
    }
}

/// How a task ended, by what Claude Code calls it.
fn ended_as(status: Option<&str>) -> BlockStatus {
    if status == Some("completed") { BlockStatus::Success } else { BlockStatus::Error }
}

impl Task {
    fn is_of_agent(&self) -> bool {
        self.task_type.as_deref().is_none_or(|kind| kind == "local_agent")
    }
}
