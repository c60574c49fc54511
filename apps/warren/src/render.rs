//! Events as a person reads them: text that only ever grows, and one line about what is going on right now.
//!
//! Pure: events in, text out. The same renderer shows a run as it happens and a session as it was.

mod files;
mod markdown;
mod paint;
mod prose;
mod quantities;
mod summary;
mod tools;

use std::collections::{HashMap, HashSet};

use warren_domain::{
    ApprovalRequest, ApprovalResolution, Block, BlockId, BlockStatus, ConversationId, Event, EventBody,
    ModelCalled, Resolution, SandboxStatus, SessionRuntimeState, SubagentStarted, SystemSubtype, Timestamp,
};

use files::Files;
pub(crate) use paint::{Paint, clean, one_line};
use prose::{Prose, Voice};
pub(crate) use quantities::{duration, size, usage_line};
use tools::Tools;

use crate::{
    answers::{self, rule_text},
    invocation::Invocation,
};

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Whoever sent the message, and need not be told it.
    Sender,
    /// Someone who reads what was said.
    Other,
}

/// How a page looks.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) reader: Reader,
    pub(crate) paint: Paint,
    /// Columns of the terminal; `None` in a pipe, which gets the text as the agent wrote it.
    pub(crate) width: Option<usize>,
    /// Makes commands in hints runnable as printed.
    pub(crate) invocation: Invocation,
    /// Whether requests are shown with the commands that answer them; not for readers who are asked in another way.
    pub(crate) shows_answers: bool,
}

/// How much of the text that is not drawn yet the status line shows.
const TICKER: usize = 60;

/// Turns events into text.
pub(crate) struct Renderer {
    look: Look,
    page: Page,
    prose: Prose,
    tools: Tools,
    files: Files,
    threads: HashMap<ConversationId, Thread>,
    /// Lines that came while a sentence was being written.
    deferred: Vec<(usize, String)>,
    /// What is going on, apart from tools.
    phase: Phase,
    started_at: Option<Timestamp>,
    /// Messages that a run took up which was active already. They end with it.
    steered: HashSet<BlockId>,
}

/// A subagent's thread.
struct Thread {
    depth: usize,
    name: String,
    started_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    Queued,
    StartingSandbox,
    Working,
    WaitingForApproval,
}

/// What stands on the page last, which decides whether an empty line comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Prose,
    Lines,
}

/// The text that was made and not taken yet.
#[derive(Default)]
struct Page {
    text: String,
    last: Option<Group>,
    is_mid_line: bool,
}

impl Renderer {
    /// A renderer at the beginning of its page.
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            page: Page::default(),
            prose: Prose::default(),
            tools: Tools::default(),
            files: Files::default(),
            threads: HashMap::new(),
            deferred: Vec::new(),
            phase: Phase::Resting,
            started_at: None,
            steered: HashSet::new(),
        }
    }

    /// Takes the next event and gives the text it adds to the page.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        let depth = self.depth(&event.conversation_id);
        match &event.body {
            EventBody::SessionStatus { runtime } => self.sandbox(runtime),
            EventBody::RunQueued { position, .. } => self.queued(*position),
            EventBody::RunStarted { .. } => self.started(event.timestamp),
            EventBody::BlockStart { block } => self.block_start(block, depth),
            EventBody::TextDelta { block_id, delta } => {
                self.prose.delta(block_id, delta, &mut self.page, &self.look)
            }
            EventBody::BlockUpdate { block_id, updates } => self.tools.updated(block_id, updates),
            EventBody::BlockComplete { block } => self.completed(event, block, depth),
            EventBody::BlockDiscarded { block_id, .. } => {
                self.prose.discard(block_id, &mut self.page, &self.look)
            }
            EventBody::SubagentStarted(started) => self.subagent_started(event, started),
            EventBody::SubagentCompleted { status, .. } => self.subagent_completed(event, *status),
            EventBody::ModelCalled(called) => self.model_called(called, depth),
            EventBody::Retrying { attempt, reason, .. } => {
                self.aside(depth, &format!("retrying (attempt {attempt}): {}", clean(reason)));
            }
            EventBody::ApprovalRequested(request) => self.asked(request, depth),
            EventBody::ApprovalResolved(resolution) => self.answered(resolution, depth),
            EventBody::ApprovalRuleWithdrawn { approval_id, by } => {
                self.aside(depth, &format!("{} withdrew the rule of approval {approval_id}", clean(by)));
            }
            EventBody::EgressDecided { host, port, allowed: false, .. } => {
                self.aside(depth, &format!("refused a connection to {}:{port}", clean(host)));
            }
            EventBody::LimitReached { limit, scope, used, allowed, .. } => {
                self.aside(depth, &limit_reached(limit, scope, *used, *allowed));
            }
            EventBody::ContextCompacted { .. } => self.aside(depth, "the conversation was compacted"),
            EventBody::FileChanged { path, change, size_bytes, .. } => {
                self.files.note(path, *change, *size_bytes)
            }
            EventBody::RunCompleted { .. }
            | EventBody::RunFailed { .. }
            | EventBody::RunInterrupted { .. } => self.ended(event),
            EventBody::SessionEnded { reason } => self.aside(0, &format!("session ended: {}", clean(reason))),
            EventBody::ArtifactCreated { artifact } => {
                self.aside(depth, &format!("made {} ({})", clean(&artifact.name), clean(&artifact.path)));
            }
            EventBody::PortOpened { port, preview_url } => {
                let at = preview_url.as_deref().map(|url| format!(": {}", clean(url))).unwrap_or_default();
                self.aside(depth, &format!("a program listens on port {port}{at}"));
            }
            EventBody::ArtifactUpdated { .. }
            | EventBody::ArtifactDeleted { .. }
            | EventBody::PortClosed { .. }
            | EventBody::SessionCreated { .. }
            | EventBody::SessionUpdated { .. }
            | EventBody::MetadataUpdate { .. }
            | EventBody::ModelCallStarted(_)
            | EventBody::EgressDecided { .. }
            | EventBody::VersionCommitted { .. }
            | EventBody::LogCompacted { .. }
            | EventBody::Unrecognized { .. } => {}
        }
        self.write_deferred();
        std::mem::take(&mut self.page.text)
    }

    /// Lines that waited for the end of a sentence.
    fn write_deferred(&mut self) {
        if self.prose.is_live() {
            return;
        }
        for (depth, line) in std::mem::take(&mut self.deferred) {
            self.page.line(depth, &line);
        }
    }

    /// A line beside the conversation.
    fn aside(&mut self, depth: usize, text: &str) {
        self.line(depth, &self.look.paint.dim(text));
    }

    /// What is going on right now, in a few words; `None` when text is just coming, or nothing is going on.
    pub(crate) fn status(&self) -> Option<String> {
        if self.page.is_mid_line {
            return None;
        }
        if let Some(tail) = self.prose.tail() {
            let skipped = tail.chars().count().saturating_sub(TICKER);
            return Some(one_line(&tail.chars().skip(skipped).collect::<String>()));
        }
        match self.phase {
            Phase::Resting => None,
            Phase::Queued => Some("Waiting for an earlier run…".to_owned()),
            Phase::StartingSandbox => Some("Starting sandbox…".to_owned()),
            Phase::WaitingForApproval => Some("Waiting for an answer…".to_owned()),
            Phase::Working => Some(self.tools.status().unwrap_or_else(|| "Working…".to_owned())),
        }
    }

    fn depth(&self, conversation: &ConversationId) -> usize {
        self.threads.get(conversation).map_or(0, |thread| thread.depth)
    }

    /// A line of its own, after the sentence that is being written.
    fn line(&mut self, depth: usize, text: &str) {
        if self.prose.is_live() {
            self.deferred.push((depth, text.to_owned()));
        } else {
            self.page.line(depth, text);
        }
    }

    fn sandbox(&mut self, runtime: &SessionRuntimeState) {
        let status = runtime.sandbox.as_ref().map(|sandbox| sandbox.status);
        match (status, self.phase) {
            (Some(SandboxStatus::Starting), _) => self.phase = Phase::StartingSandbox,
            (_, Phase::StartingSandbox) => self.phase = Phase::Working,
            _ => {}
        }
    }

    fn queued(&mut self, position: u32) {
        if position > 0 && self.phase == Phase::Resting {
            self.phase = Phase::Queued;
        }
    }

    fn completed(&mut self, event: &Event, block: &Block, depth: usize) {
        if let (Block::UserMessage { id, .. }, Some(run)) = (block, event.run_id)
            && *id != BlockId::of_message(run)
        {
            self.steered.insert(id.clone());
        }
        self.block_complete(block, depth);
    }

    fn is_steered(&self, event: &Event) -> bool {
        event.run_id.is_some_and(|run| self.steered.contains(&BlockId::of_message(run)))
    }

    fn started(&mut self, at: Timestamp) {
        self.started_at = Some(at);
        self.files = Files::default();
        if self.phase != Phase::StartingSandbox {
            self.phase = Phase::Working;
        }
    }

    fn block_start(&mut self, block: &Block, depth: usize) {
        match block {
            Block::AssistantText { id, content, .. } => {
                self.prose.start(id, Voice::Text, content, depth, &mut self.page, &self.look);
            }
            Block::Thinking { id, content, .. } => {
                self.prose.start(id, Voice::Thinking, content, depth, &mut self.page, &self.look);
            }
            Block::ToolUse { .. } => {
                self.page.end_line();
                self.tools.called(block, depth);
            }
            Block::UserMessage { .. }
            | Block::ToolResult { .. }
            | Block::System { .. }
            | Block::Subagent { .. }
            | Block::Error { .. } => {}
        }
    }

    fn block_complete(&mut self, block: &Block, depth: usize) {
        match block {
            Block::AssistantText { id, content, .. } => {
                self.prose.complete(id, Voice::Text, content, depth, &mut self.page, &self.look);
            }
            Block::Thinking { id, content, .. } => {
                self.prose.complete(id, Voice::Thinking, content, depth, &mut self.page, &self.look);
            }
            Block::ToolUse { .. } => {
                self.page.end_line();
                self.tools.called(block, depth);
            }
            Block::ToolResult { .. } => {
                if let Some((depth, line)) = self.tools.answered(block, self.look.paint) {
                    self.line(depth, &line);
                }
            }
            Block::UserMessage { content, .. } if self.look.reader == Reader::Other && depth == 0 => {
                self.prose.whole(Voice::User, &content.to_text(), depth, &mut self.page, &self.look);
            }
            Block::System { subtype, message, .. } => self.system(*subtype, message, depth),
            Block::Error { message, .. } => {
                let line = format!("{} {}", self.look.paint.red("✗"), clean(message));
                self.line(depth, &line);
            }
            Block::UserMessage { .. } | Block::Subagent { .. } => {}
        }
    }

    fn system(&mut self, subtype: SystemSubtype, message: &str, depth: usize) {
        match subtype {
            SystemSubtype::Error => {
                self.line(depth, &format!("{} {}", self.look.paint.red("✗"), clean(message)))
            }
            SystemSubtype::Status | SystemSubtype::HookResponse | SystemSubtype::AuthStatus => {
                self.line(depth, &self.look.paint.dim(&clean(message)));
            }
            // A subagent's thread says so by its own line.
            SystemSubtype::SessionStart | SystemSubtype::SessionEnd => {}
        }
    }

    fn subagent_started(&mut self, event: &Event, started: &SubagentStarted) {
        let depth = self.depth(&started.parent) + 1;
        if let Some(call) = &started.tool_use_id {
            self.tools.forget(call);
        }
        let name = clean(started.name.as_deref().unwrap_or("subagent"));
        let task = tools::brief(&started.input);
        let line = format!(
            "{} {}  {}",
            self.look.paint.cyan("▸"),
            self.look.paint.bold(&name),
            self.look.paint.dim(&task)
        );
        self.line(depth - 1, line.trim_end());
        let thread = Thread { depth, name, started_at: event.timestamp };
        self.threads.insert(event.conversation_id.clone(), thread);
    }

    fn subagent_completed(&mut self, event: &Event, status: BlockStatus) {
        let Some(thread) = self.threads.remove(&event.conversation_id) else { return };
        let took = duration(event.timestamp.as_millis() - thread.started_at.as_millis());
        let mark = if status == BlockStatus::Success {
            self.look.paint.green("✓")
        } else {
            self.look.paint.red("✗")
        };
        let line = format!("{mark} {}  {}", self.look.paint.bold(&thread.name), self.look.paint.dim(&took));
        self.line(thread.depth.saturating_sub(1), &line);
    }

    fn asked(&mut self, request: &ApprovalRequest, depth: usize) {
        // It cannot wait for the end of a sentence: somebody has to answer.
        let title = self.look.paint.bold(&clean(&request.title));
        self.page.line(depth, &format!("{} {title}", self.look.paint.cyan("?")));
        if self.look.shows_answers {
            for command in answers::commands(request, &self.look.invocation) {
                self.page.line(depth + 1, &self.look.paint.dim(&command));
            }
        }
        self.phase = Phase::WaitingForApproval;
    }

    fn answered(&mut self, resolution: &ApprovalResolution, depth: usize) {
        let by = clean(&resolution.by);
        let line = match resolution.decision {
            Resolution::Allow => format!("{} allowed by {by}", self.look.paint.green("✓")),
            Resolution::AllowAlways => {
                let rule = resolution.rule.as_ref().map(rule_text);
                let rule = rule.map(|rule| format!(": {rule}")).unwrap_or_default();
                format!("{} allowed by {by}, for the rest of the session{rule}", self.look.paint.green("✓"))
            }
            Resolution::Deny => format!("{} denied by {by}", self.look.paint.red("✗")),
            Resolution::Expired => self.look.paint.dim("nobody answered"),
        };
        self.line(depth, &line);
        if self.phase == Phase::WaitingForApproval {
            self.phase = Phase::Working;
        }
    }

    fn model_called(&mut self, called: &ModelCalled, depth: usize) {
        if called.is_ended_unseen() {
            self.aside(depth, "the server stopped during a model call, which is charged at its maximum cost");
        }
        if called.status >= 400 && called.status != 499 {
            let line =
                format!("the model's provider answered {} (attempt {})", called.status, called.attempt);
            self.line(depth, &self.look.paint.dim(&line));
        }
    }

    fn ended(&mut self, event: &Event) {
        // What is to be said of the end of a steered message is said of the run that took it up.
        if self.is_steered(event) {
            return;
        }
        self.prose.end(&mut self.page, &self.look);
        self.write_deferred();
        self.page.end_line();
        for (depth, line) in self.tools.unanswered(self.look.paint) {
            self.line(depth, &line);
        }
        for line in summary::lines(event, self.started_at, &std::mem::take(&mut self.files), &self.look) {
            self.page.paragraph(&line);
        }
        self.phase = Phase::Resting;
        self.threads.clear();
    }
}

impl Page {
    /// Ends the line that is being written.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_mid_line) {
            self.text.push('\n');
        }
    }

    /// Makes room for something of `group`: paragraphs stand apart, lines stand together.
    fn open(&mut self, group: Group) {
        self.end_line();
        if self.last.is_some_and(|last| last == Group::Prose || last != group) {
            self.text.push('\n');
        }
        self.last = Some(group);
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.open(Group::Lines);
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.open(Group::Prose);
        self.text.push_str(text);
        self.text.push('\n');
    }
}

fn limit_reached(limit: &str, scope: &str, used: u64, allowed: u64) -> String {
    format!("the {} reached the limit `{}`: {used} of {allowed}", clean(scope), clean(limit))
}

#[cfg(test)]
mod tests;
