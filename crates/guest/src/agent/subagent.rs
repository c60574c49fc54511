//! Subagents: a call whose answer is the report of a thread of its own.

use std::{io, time::Instant};

use serde::Deserialize;
use serde_json::Value;
use warren_domain::{
    Block, BlockId, BlockStatus, Content, ConversationId, EventBody, Subagent, SubagentStarted,
    SystemSubtype, Timestamp,
};

use super::{
    block,
    clock::{elapsed_ms, now},
    converse::End,
    role::Role,
    session::Agent,
    thread::Thread,
    tools::{Call, Output, shortened},
    transcript::Native,
};

/// A task for a subagent.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// The thread it is carried out in.
    pub(super) thread: ConversationId,
    subagent: Subagent,
    prompt: String,
}

/// What the model gives.
#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    agent: Option<String>,
    prompt: String,
}

/// What came of a task.
struct Report {
    status: BlockStatus,
    text: String,
}

impl Task {
    /// The task of a call, or why there is none.
    pub(super) fn new(
        input: &Value,
        call: &str,
        role: &Role,
        caller: &ConversationId,
    ) -> Result<Self, String> {
        let input: Input = Input::deserialize(input)
            .map_err(|error| format!("the input is not what this tool takes: {error}"))?;
        let name = input.agent.as_deref().unwrap_or("general");
        let subagent = role.subagents.iter().find(|subagent| subagent.name == name).ok_or_else(|| {
            let names: Vec<&str> = role.subagents.iter().map(|subagent| subagent.name.as_str()).collect();
            format!("there is no subagent `{name}`; there are: {}", names.join(", "))
        })?;
        // Ids of calls are unique in their thread, so the path of calls is unique in the session.
        let thread = if caller.is_main() { format!("agent-{call}") } else { format!("{caller}.{call}") };
        Ok(Self { thread: ConversationId(thread), subagent: subagent.clone(), prompt: input.prompt })
    }

    /// The block that stands for the thread in its caller's.
    pub(super) fn block(&self, call: &str, at: Timestamp, status: BlockStatus) -> Block {
        Block::Subagent {
            id: BlockId(call.to_owned()),
            timestamp: at,
            subagent_id: self.thread.0.clone(),
            name: Some(self.subagent.name.clone()),
            input: Value::String(self.prompt.clone()),
            status,
            output: None,
            duration_ms: None,
            tool_use_id: Some(call.to_owned()),
        }
    }
}

impl Agent {
    /// Carries out a task in a thread of its own, and puts its report into the caller's.
    pub(super) async fn run_task(&self, caller: &Thread, role: &Role, call: &Call, task: &Task) {
        let started = Instant::now();
        caller.record(block::status_update(&BlockId(call.id.clone()), BlockStatus::Running));
        let report = match self.open_subagent(caller, call, task) {
            Ok(thread) => self.work(&thread, role, task).await,
            Err(error) => Report::failed(format!("failed to begin the subagent's transcript: {error}")),
        };
        let block = with_report(call.block(report.status), report.text, Some(elapsed_ms(started)));
        caller.record(EventBody::BlockComplete { block });
    }

    fn open_subagent(&self, caller: &Thread, call: &Call, task: &Task) -> io::Result<Thread> {
        let (thread, _) = self.open_thread(&task.thread)?;
        let opened = Native { opened: Some(self.next_opened()), ..Native::default() };
        let name = &task.subagent.name;
        let start = SubagentStarted {
            subagent_id: task.thread.0.clone(),
            name: Some(name.clone()),
            input: Value::String(task.prompt.clone()),
            tool_use_id: Some(call.id.clone()),
            parent: caller.id().clone(),
        };
        thread.record_with(EventBody::SubagentStarted(start), Some(opened));
        let id = format!("{}-start", task.thread);
        let block = block::system(id, SystemSubtype::SessionStart, format!("Subagent {name} started"));
        thread.record(EventBody::BlockComplete { block });
        let block = Block::UserMessage {
            id: BlockId(format!("{}-task", task.thread)),
            timestamp: now(),
            content: Content::Text(task.prompt.clone()),
        };
        thread.record(EventBody::BlockComplete { block });
        Ok(thread)
    }

    async fn work(&self, thread: &Thread, role: &Role, task: &Task) -> Report {
        let role = role.subagent(&self.profile, &task.subagent);
        // A subagent may call subagents: a future that holds itself must be on the heap.
        let end = Box::pin(self.converse(thread, &role)).await;
        let (word, report) = match end {
            End::Completed { summary } => ("completed", Report::done(summary)),
            End::Failed { message, .. } => ("failed", Report::failed(message)),
            End::Interrupted => ("interrupted", Report::failed(Output::INTERRUPTED.to_owned())),
        };
        close_thread(thread, &task.subagent.name, word, &report);
        report
    }
}

impl Report {
    fn done(summary: Option<String>) -> Self {
        let text = summary.unwrap_or_else(|| "(the subagent ended without a report)".to_owned());
        Self { status: BlockStatus::Success, text: shortened(text) }
    }

    fn failed(text: String) -> Self {
        Self { status: BlockStatus::Error, text }
    }
}

/// Ends a thread that was cut with the process that worked in it.
pub(super) fn close_cut_thread(thread: &Thread, name: &str, reason: &str) {
    close_thread(thread, name, "stopped", &Report::failed(reason.to_owned()));
}

/// The caller's block of a subagent, with its report.
pub(super) fn with_report(mut block: Block, report: String, took_ms: Option<u64>) -> Block {
    if let Block::Subagent { output, duration_ms, .. } = &mut block {
        *output = Some(Value::String(report));
        *duration_ms = took_ms;
    }
    block
}

fn close_thread(thread: &Thread, name: &str, word: &str, report: &Report) {
    let id = format!("{}-end", thread.id());
    let block = block::system(id, SystemSubtype::SessionEnd, format!("Subagent {name} {word}"));
    thread.record(EventBody::BlockComplete { block });
    thread.record(EventBody::SubagentCompleted {
        subagent_id: thread.id().0.clone(),
        status: report.status,
        output: Some(Value::String(report.text.clone())),
        usage: Some(thread.usage()),
    });
}
