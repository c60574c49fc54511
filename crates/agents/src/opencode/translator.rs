//! Turns sessions, messages and parts into events, in whatever order they come.
//!
//! A live stream tells of each part many times while it grows; an export tells of it once, when it is whole. Both go
//! through here, so that both give the same blocks: an export is a stream in which everything happens at once.

mod messages;
mod parts;
mod threads;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use warren_domain::{
    Block, BlockId, ContentPart, ConversationId, Draft, ErrorCode, EventBody, Timestamp, Usage,
};

use self::{
    parts::Shown,
    threads::{Closing, Task},
};
use super::{
    blocks::Context,
    native::{Failure, Session, Status, millis},
};
use crate::{Output, TurnEnd};

/// What is known of all sessions that were told of.
#[derive(Default)]
pub(super) struct Translator {
    root: Option<String>,
    threads: HashMap<String, Thread>,
    messages: HashMap<String, Told>,
    parts: HashMap<String, Shown>,
    /// Tools that are not done, by the model's name for the call.
    calls: HashMap<String, (String, Value)>,
    spent: Usage,
    /// Sessions in which steps ended that nobody asked about yet.
    stepped: BTreeSet<String>,
}

/// One session.
#[derive(Default)]
struct Thread {
    parent: Option<String>,
    /// The kind of agent that works in it.
    agent: Option<String>,
    created: Option<i64>,
    /// It was opened though no task was seen that did.
    is_found: bool,
    /// How often a task went into it.
    n_opened: usize,
    task: Option<Task>,
    closing: Option<Closing>,
    /// The assistant's message that is not whole yet.
    writing: Option<String>,
    /// Messages of people that the agent has not taken up yet.
    held: Vec<String>,
    is_busy: bool,
    is_idle: bool,
    last_text: Option<String>,
    /// Why the last message ended early.
    failure: Option<Failure>,
    /// Why the session stopped, where no message tells.
    stopped: Option<Failure>,
    /// Why it tries again, until it does.
    retrying: Option<String>,
    /// Why the last step ended.
    finish: Option<String>,
    /// Something was said in it.
    is_touched: bool,
}

/// One message.
struct Told {
    session: String,
    is_person: bool,
    context: Context,
    /// The prompt that it is.
    prompt: Option<BlockId>,
    /// What the person said, by part, until it is shown. OpenCode sorts parts by id too.
    said: BTreeMap<String, ContentPart>,
    /// What is shown of it.
    parts: Vec<String>,
    /// The block of what the person said, or of why the message ended early.
    shown_as: Option<BlockId>,
    /// When it ended with an error.
    failed_at: Option<f64>,
}

impl Translator {
    /// Names the session that is the conversation itself.
    pub(super) fn set_root(&mut self, session: &str) {
        self.root = Some(session.to_owned());
        self.thread(session);
    }

    pub(super) fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// What all steps that were told of have used.
    pub(super) fn spent(&self) -> &Usage {
        &self.spent
    }

    /// The sessions of subagents that something was said of.
    pub(super) fn children(&self) -> Vec<String> {
        let is_child = |(id, thread): &(&String, &Thread)| thread.is_touched && !self.is_root(id);
        let mut ids: Vec<String> = self.threads.iter().filter(is_child).map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids
    }

    /// Whether any step ended that nobody asked about yet.
    pub(super) fn has_stepped(&self) -> bool {
        !self.stepped.is_empty()
    }

    /// The sessions in which steps ended since this was asked for.
    pub(super) fn take_stepped(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.stepped)
    }

    /// The session with all beneath it that works has come to rest.
    pub(super) fn is_at_rest(&self) -> bool {
        self.root_thread().is_some_and(|root| root.is_idle && root.writing.is_none())
    }

    /// The root has said that it is idle.
    pub(super) fn is_idle(&self) -> bool {
        self.root_thread().is_some_and(|root| root.is_idle)
    }

    /// The root works.
    pub(super) fn is_busy(&self) -> bool {
        self.root_thread().is_some_and(|root| root.is_busy)
    }

    /// The root stopped before it began to work.
    pub(super) fn is_refused(&self) -> bool {
        self.root_thread().is_some_and(|root| root.stopped.is_some() && !root.is_busy)
    }

    /// Whether this prompt has its block.
    pub(super) fn has_shown(&self, prompt: &BlockId) -> bool {
        self.messages.values().any(|told| told.shown_as.as_ref() == Some(prompt))
    }

    /// When the first message was made that was told of, in milliseconds.
    pub(super) fn began(&self) -> Option<i64> {
        self.messages.values().map(|told| told.context.created).min()
    }

    /// The tool and the input of a call that is not done.
    pub(super) fn call(&self, id: &str) -> Option<(String, Value)> {
        self.calls.get(id).cloned()
    }

    /// A session exists, or something about it changed.
    pub(super) fn session(&mut self, info: Session) {
        if info.id.is_empty() {
            return;
        }
        if self.root.is_none() && info.parent.is_none() {
            self.root = Some(info.id.clone());
        }
        let thread = self.threads.entry(info.id).or_default();
        thread.parent = info.parent.or(thread.parent.take());
        thread.agent = info.agent.or(thread.agent.take());
        thread.created = info.time.created.map(millis).or(thread.created);
    }

    /// A session works, waits before it tries again, or rests.
    pub(super) fn status(&mut self, session: &str, status: &Status, out: &mut Vec<Output>) {
        match status.kind.as_str() {
            "idle" => {}
            "retry" => {
                let thread = self.thread(session);
                (thread.is_idle, thread.is_busy) = (false, true);
                thread.retrying = Some(status.message.clone());
                let body = EventBody::Retrying {
                    attempt: u32::try_from(millis(status.attempt)).unwrap_or_default(),
                    reason: status.message.clone(),
                    next_at: status.next.map(|next| Timestamp::from_millis(millis(next))),
                };
                self.emit(session, body, out);
            }
            _ => {
                let thread = self.thread(session);
                (thread.is_idle, thread.is_busy) = (false, true);
                thread.stopped = None;
            }
        }
        self.show_held(session, out);
    }

    /// A session has nothing to do.
    pub(super) fn idle(&mut self, session: &str, out: &mut Vec<Output>) {
        let thread = self.thread(session);
        (thread.is_idle, thread.is_busy) = (true, false);
        self.show_held(session, out);
    }

    /// A session stopped; its last message may tell the same later.
    pub(super) fn stopped(&mut self, session: Option<&str>, failure: Failure) {
        let Some(session) = session.map(str::to_owned).or_else(|| self.root.clone()) else { return };
        self.thread(&session).stopped = Some(failure);
    }

    /// A session's memory was made shorter.
    pub(super) fn compacted(&mut self, session: &str, out: &mut Vec<Output>) {
        let summary = self.thread(session).last_text.clone();
        self.emit(session, EventBody::ContextCompacted { summary, before: None, after: None }, out);
    }

    /// Nothing more will be told: what waited for something waits no longer.
    pub(super) fn settle(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let mut ids: Vec<String> = self.threads.keys().cloned().collect();
        ids.sort();
        for id in ids {
            self.thread(&id).writing = None;
            self.show_held(&id, out);
            self.close_if_due(&id, out);
        }
        self.tell_why_stopped(at, out);
    }

    /// How the turn ended, if it is up to what was told.
    pub(super) fn outcome(&self) -> Option<TurnEnd> {
        let root = self.root_thread()?;
        if let Some(failure) = root.failure.as_ref().or(root.stopped.as_ref()) {
            return Some(if failure.is_abort() { TurnEnd::Interrupted } else { failed(failure) });
        }
        if let Some(reason) = root.retrying.as_ref().filter(|_| !root.is_idle) {
            let (code, message) = (ErrorCode::LlmError, reason.clone());
            return Some(TurnEnd::Failed { code, message, recoverable: true });
        }
        // `opencode run` says nothing when it is done; but a step that calls no tools is the last.
        let is_last_step =
            root.writing.is_none() && root.finish.as_deref().is_some_and(|it| it != "tool-calls");
        (root.is_idle || is_last_step).then(|| TurnEnd::Completed { summary: root.last_text.clone() })
    }

    /// An error that belongs to no message is shown at the end.
    fn tell_why_stopped(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(root) = self.root.clone() else { return };
        let thread = self.thread(&root);
        let Some(failure) = thread.stopped.clone().filter(|it| thread.failure.is_none() && !it.is_abort())
        else {
            return;
        };
        let block = Block::Error {
            id: BlockId(format!("{root}-error")),
            timestamp: at,
            message: failure.text().to_owned(),
            code: (!failure.name.is_empty()).then(|| failure.name.clone()),
        };
        self.emit(&root, EventBody::BlockComplete { block }, out);
    }

    fn root_thread(&self) -> Option<&Thread> {
        self.threads.get(self.root.as_ref()?)
    }

    fn is_root(&self, session: &str) -> bool {
        self.root.as_deref() == Some(session)
    }

    /// The thread of a session; the first that is told of is the conversation itself, unless somebody's child.
    fn thread(&mut self, session: &str) -> &mut Thread {
        let is_child = self.threads.get(session).is_some_and(|thread| thread.parent.is_some());
        if self.root.is_none() && !is_child {
            self.root = Some(session.to_owned());
        }
        if !self.threads.contains_key(session) {
            self.threads.insert(session.to_owned(), Thread::default());
        }
        // It is there: put there above.
        self.threads.entry(session.to_owned()).or_default()
    }

    fn conversation(&self, session: &str) -> ConversationId {
        if self.is_root(session) { ConversationId::main() } else { ConversationId(session.to_owned()) }
    }

    fn emit(&mut self, session: &str, body: EventBody, out: &mut Vec<Output>) {
        self.open_if_found(session, out);
        out.push(Output::Event(Draft::of_session(body).within(self.conversation(session))));
    }
}

/// A failure of the model's provider, or of OpenCode itself.
fn failed(failure: &Failure) -> TurnEnd {
    let of_agent = matches!(failure.name.as_str(), "" | "UnknownError" | "StructuredOutputError");
    TurnEnd::Failed {
        code: if of_agent { ErrorCode::AgentError } else { ErrorCode::LlmError },
        message: failure.text().to_owned(),
        recoverable: failure.name != "ProviderAuthError",
    }
}
