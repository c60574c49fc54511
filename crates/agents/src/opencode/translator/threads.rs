//! Threads of subagents: each is a session of its own, which a call of the tool `task` opens and closes.

use serde_json::Value;
use warren_domain::{Block, BlockId, BlockStatus, EventBody, SubagentStarted, SystemSubtype, Timestamp};

use super::{Translator, tools::Now};
use crate::{
    Output,
    opencode::{
        blocks,
        native::{Progress, millis},
    },
};

/// What a thread works for.
#[derive(Clone, Default)]
pub(super) struct Task {
    /// The call's part.
    part: String,
    call: Option<String>,
    name: Option<String>,
    prompt: String,
    /// How many there were in this thread, with this one.
    number: usize,
    at: Timestamp,
}

/// How a thread will be closed, as soon as its last message is whole.
pub(super) struct Closing {
    status: BlockStatus,
    at: Timestamp,
    report: Option<String>,
}

impl Translator {
    /// Opens and closes the thread of a task.
    pub(super) fn follow_task(&mut self, now: &Now<'_>, out: &mut Vec<Output>) {
        let Some(child) = &now.child else { return };
        let is_open = self.thread(child).task.as_ref().is_some_and(|task| task.part == now.part.id);
        if !is_open {
            self.open(now, child, out);
        }
        let status = match now.state.progress() {
            Progress::Completed => BlockStatus::Success,
            Progress::Failed => BlockStatus::Error,
            Progress::Pending | Progress::Running => return,
        };
        let at = now.state.time.end.map_or_else(|| now.context.born(&now.part.id), millis);
        let closing = Closing { status, at: Timestamp::from_millis(at), report: blocks::report(&now.state) };
        self.thread(child).closing = Some(closing);
        self.close_if_due(child, out);
    }

    /// Opens a thread of which no task was seen.
    pub(super) fn open_if_found(&mut self, session: &str, out: &mut Vec<Output>) {
        if self.is_root(session) {
            return;
        }
        let thread = self.thread(session);
        if thread.n_opened > 0 || thread.is_found || thread.parent.is_none() {
            return;
        }
        thread.is_found = true;
        let at = Timestamp::from_millis(thread.created.unwrap_or_default());
        let task = Task { name: thread.agent.clone(), at, ..Task::default() };
        self.begin(session, &task, out);
    }

    /// Closes a thread whose task is over and whose last message is whole.
    pub(super) fn close_if_due(&mut self, session: &str, out: &mut Vec<Output>) {
        let thread = self.thread(session);
        if thread.writing.is_some() {
            return;
        }
        let (Some(closing), Some(task)) = (thread.closing.take(), thread.task.clone()) else { return };
        self.show_held(session, out);
        let word = if closing.status == BlockStatus::Success { "completed" } else { "failed" };
        let block = said(session, "end", SystemSubtype::SessionEnd, &task, word, closing.at);
        self.emit(session, EventBody::BlockComplete { block }, out);
        let completed = EventBody::SubagentCompleted {
            subagent_id: session.to_owned(),
            status: closing.status,
            output: closing.report.map(Value::String),
            usage: None,
        };
        self.emit(session, completed, out);
    }

    fn open(&mut self, now: &Now<'_>, child: &str, out: &mut Vec<Output>) {
        let input = now.state.task();
        let thread = self.thread(child);
        thread.is_touched = true;
        thread.n_opened += 1;
        if thread.parent.is_none() {
            thread.parent = Some(now.part.session.clone());
        }
        let task = Task {
            part: now.part.id.clone(),
            call: Some(blocks::call_id(now.part)),
            name: input.subagent.or_else(|| thread.agent.clone()),
            prompt: input.prompt,
            number: thread.n_opened,
            at: Timestamp::from_millis(now.context.born(&now.part.id)),
        };
        thread.task = Some(task.clone());
        self.begin(child, &task, out);
    }

    fn begin(&mut self, session: &str, task: &Task, out: &mut Vec<Output>) {
        let parent = self.thread(session).parent.clone().unwrap_or_default();
        let start = SubagentStarted {
            subagent_id: session.to_owned(),
            name: task.name.clone(),
            input: Value::String(task.prompt.clone()),
            tool_use_id: task.call.clone(),
            parent: self.conversation(&parent),
        };
        self.emit(session, EventBody::SubagentStarted(start), out);
        let block = said(session, "start", SystemSubtype::SessionStart, task, "started", task.at);
        self.emit(session, EventBody::BlockComplete { block }, out);
    }
}

/// What is said where a thread opens or closes. A thread may be opened again, for another task.
fn said(
    session: &str,
    place: &str,
    subtype: SystemSubtype,
    task: &Task,
    word: &str,
    timestamp: Timestamp,
) -> Block {
    let again = if task.number > 1 { format!("-{}", task.number) } else { String::new() };
    let name = task.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    Block::System {
        id: BlockId(format!("{session}-{place}{again}")),
        timestamp,
        subtype,
        message: format!("Subagent{name} {word}"),
        metadata: None,
    }
}
