//! Subagents: their chats are files of their own, and nothing of them is printed.
//!
//! A thread opens when its call is known: by the task it was given as soon as both are there, or by the name that the
//! finished call gives it.

use std::collections::HashSet;

use serde_json::{Value, json};
use warren_domain::{BlockId, BlockStatus, ConversationId, Draft, EventBody, Timestamp};

use super::{GeminiCodec, Output, update};
use crate::{
    gemini_cli::{
        blocks::{self, Call, is_agent_tool},
        chat::{Chat, Heard},
        native::{FileLine, ToolCall, time},
        record::{Role, prompt_text},
        text,
    },
    subagent,
};

/// The threads of one process, in the order in which their files appeared.
#[derive(Default)]
pub(super) struct Threads(Vec<Thread>);

struct Thread {
    id: String,
    chat: Chat,
    /// Records that are not shown yet, or were written again since.
    waiting: Vec<usize>,
    /// Blocks that are whole.
    shown: HashSet<BlockId>,
    opened: Option<subagent::Thread>,
    is_closed: bool,
}

impl GeminiCodec {
    pub(super) fn on_thread(&mut self, id: String, line: &FileLine, at: Timestamp, out: &mut Vec<Output>) {
        let thread = self.threads.find(id);
        if line.restart {
            thread.chat.restart();
        }
        match thread.chat.read(&line.line) {
            Heard::Nothing => return self.unrecognized(line.line.as_bytes(), out),
            Heard::Quiet => return,
            Heard::Record(index) | Heard::Compacted(index) => thread.waiting.push(index),
        }
        if thread.opened.is_some() {
            thread.show(at, out);
        } else {
            self.link_threads(at, out);
        }
    }

    /// Opens the threads whose task is that of a call nobody carries out yet.
    pub(super) fn link_threads(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        for thread in self.threads.0.iter_mut().filter(|thread| thread.opened.is_none()) {
            let Some(task) = thread.task() else { continue };
            let fingerprint = text::fingerprint(&task);
            let is_free = |call: &&mut Call| {
                call.agent.is_none()
                    && is_agent_tool(&call.name)
                    && text::fingerprint(&call.task()) == fingerprint
            };
            let calls = self.calls.values_mut().map(|tracked| &mut tracked.call).filter(is_free);
            // Two calls with the same task are taken up in the order in which they were made.
            let Some(call) = calls.min_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id))) else { continue };
            call.agent = Some(thread.id.clone());
            let subagent = json!({ "subagentId": thread.id, "status": BlockStatus::Running });
            out.push(update(&call.id, subagent));
            thread.open(Some(call), at, out);
        }
    }

    /// A call has been answered: its thread, if it has one, is over.
    pub(super) fn link_answered(&mut self, answered: &ToolCall, at: Timestamp, out: &mut Vec<Output>) {
        let Some(id) = &answered.agent_id else { return };
        let thread = self.threads.find(id.clone());
        thread.open(Some(&Call::of(answered, at)), at, out);
        let report = blocks::output(answered);
        let ended = time(answered.timestamp.as_deref(), at);
        thread.close(blocks::status(answered), Some(report), ended, out);
    }

    /// Ends the threads whose call was never answered.
    pub(super) fn close_threads(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        for thread in &mut self.threads.0 {
            thread.open(None, at, out);
            thread.close(BlockStatus::Error, None, at, out);
        }
    }
}

impl Threads {
    fn find(&mut self, id: String) -> &mut Thread {
        let place = self.0.iter().position(|thread| thread.id == id).unwrap_or_else(|| {
            self.0.push(Thread {
                id,
                chat: Chat::new(),
                waiting: Vec::new(),
                shown: HashSet::new(),
                opened: None,
                is_closed: false,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

impl Thread {
    /// What it was told to do.
    fn task(&self) -> Option<String> {
        let mut records = self.waiting.iter().map(|index| self.chat.entry(*index));
        records.find(|entry| entry.role == Role::Prompt).map(|entry| prompt_text(&entry.record))
    }

    fn open(&mut self, call: Option<&Call>, at: Timestamp, out: &mut Vec<Output>) {
        if self.opened.is_some() {
            return;
        }
        let mut records = self.waiting.iter().map(|index| self.chat.entry(*index));
        let task = records.find(|entry| entry.role == Role::Prompt);
        let began = time(task.and_then(|task| task.record.timestamp.as_deref()), at);
        let opened =
            subagent::Thread { id: ConversationId(self.id.clone()), name: call.and_then(Call::agent_name) };
        let (task, by) = (self.task().unwrap_or_default(), call.map(|call| call.id.clone()));
        out.extend(opened.opened(&task, by, ConversationId::main(), began).map(Output::Event));
        self.opened = Some(opened);
        self.show(at, out);
    }

    /// Shows what has come since the last time. The task shows as the thread's beginning.
    fn show(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        for index in std::mem::take(&mut self.waiting) {
            let entry = self.chat.entry(index);
            if entry.role == Role::Prompt {
                continue;
            }
            for block in blocks::of_entry(&self.chat, entry, at) {
                // A call that is not answered yet comes again.
                let is_whole = block.cut_short().is_none();
                if !self.shown.contains(block.id()) {
                    if is_whole {
                        self.shown.insert(block.id().clone());
                    }
                    let body = EventBody::BlockComplete { block };
                    let thread = ConversationId(self.id.clone());
                    out.push(Output::Event(Draft::of_session(body).within(thread)));
                }
            }
        }
    }

    fn close(&mut self, status: BlockStatus, report: Option<String>, at: Timestamp, out: &mut Vec<Output>) {
        if let Some(opened) = &self.opened
            && !std::mem::replace(&mut self.is_closed, true)
        {
            let closed = opened.closed(status, report.map(Value::String), Some(self.chat.usage()), at);
            out.extend(closed.map(Output::Event));
        }
    }
}
