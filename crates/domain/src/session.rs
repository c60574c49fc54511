//! The rules a session obeys: what a command would do, and what an entry of the log means.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentType, ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, ApprovalResolution, ApprovalRule,
    Artifacts, Block, BlockId, Content, Diagnostics, Draft, ErrorCode, EventBody, FileCounts, ForkedFrom,
    FreshBlocks, Head, ProfileId, Resolution, RuleError, RunId, SessionChanges, Usage, Version, VersionCause,
    WhenBusy, apply_artifact_event, approval::circumstances, matter,
};

/// At most this many messages wait in a session.
pub const QUEUE_LIMIT: usize = 32;

/// The state of a session that the rules need, folded from its log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    /// Its current phase.
    pub phase: Phase,
    /// Messages that wait, the next one first.
    pub queue: VecDeque<QueuedRun>,
    /// Messages that the active run took up: each ends with it.
    #[serde(default)]
    pub steered: Vec<RunId>,
    /// Queued messages are held until a person sends a message or resumes the queue.
    #[serde(default)]
    pub held: bool,
    /// The latest version.
    pub version: Version,
    /// Uncommitted changes since the latest version.
    pub head: Head,
    /// Blocks that are new since the latest version.
    pub fresh: FreshBlocks,
    /// Usage since the latest version.
    pub spent: Usage,
    /// Unsettled requests to people, oldest first.
    pub approvals: Vec<OpenApproval>,
    /// Rules granted for the rest of the session, oldest first.
    pub grants: Vec<Grant>,
    /// What is worth showing of what it made.
    pub artifacts: Artifacts,
}

/// An unsettled request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenApproval {
    /// The run that asked.
    pub run: Option<RunId>,
    /// The request.
    pub request: ApprovalRequest,
    /// The answer, if it came when that run was no longer there to hear it: kept for a run that asks the same.
    pub answer: Option<ApprovalResolution>,
}

/// A rule that a person granted for the rest of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// The approval whose answer granted it.
    pub approval_id: ApprovalId,
    /// What it covers; `None` where no rule was named and in logs older than rules: the very same request.
    pub rule: Option<ApprovalRule>,
    /// The request, as [`matter`] names it.
    about: Value,
    /// Where it was asked, and with which rights.
    circumstances: Value,
}

impl Grant {
    /// Whether it allows this request.
    #[must_use]
    pub fn covers(&self, kind: ApprovalKind, detail: &Value) -> bool {
        match &self.rule {
            None => matter(kind, detail).is_some_and(|about| about == self.about),
            Some(rule) => {
                kind == ApprovalKind::Permission
                    && rule.covers(detail)
                    && circumstances(detail) == self.circumstances
            }
        }
    }
}

/// What a session is doing. A field exists only in the phase where it means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing was recorded yet.
    #[default]
    Unborn,
    /// Takes messages, has none.
    Idle,
    /// Carries one out.
    Running {
        /// Which one.
        run: RunId,
    },
    /// Takes no more messages.
    Ended,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueuedRun {
    /// The run it will be.
    pub run: RunId,
    /// The message.
    pub content: Content,
}

/// A command to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin to exist.
    Create {
        /// Its agent.
        agent_type: AgentType,
        /// Its profile.
        profile: ProfileId,
        /// A display name.
        name: Option<String>,
        /// The session it was forked from.
        forked_from: Option<ForkedFrom>,
        /// Default options of its runs.
        options: Option<Value>,
    },
    /// Change its own data.
    Update(SessionChanges),
    /// Carry out a message.
    Send {
        /// The run it becomes.
        run: RunId,
        /// The message.
        content: Content,
        /// What to do if a run is in progress.
        when_busy: WhenBusy,
        /// The version the sender believes to be the latest.
        base_version: Option<Version>,
        /// Whether it may start at once, if no run is in progress.
        start: Start,
        /// A name for the session, if it has none yet.
        title: Option<String>,
    },
    /// Begin the oldest waiting message, if nothing is going on.
    StartNext,
    /// Change a waiting message, or its place.
    Requeue {
        /// Which one.
        run: RunId,
        /// Its new text, if that changes.
        content: Option<Content>,
        /// Its new place among those that wait, from 1, if that changes. One past the end means the last.
        position: Option<u32>,
    },
    /// Drop a waiting message.
    Drop {
        /// Which one.
        run: RunId,
        /// Who requested it.
        by: String,
    },
    /// Ask a person, for the run that is going on.
    Ask(ApprovalRequest),
    /// Record what a person answered, or that nobody did.
    Resolve(ApprovalResolution),
    /// A rule is to count no more.
    WithdrawRule {
        /// The approval whose answer granted it.
        approval: ApprovalId,
        /// Who says so.
        by: String,
    },
    /// Record how the running message ended.
    Conclude {
        /// Which run.
        run: RunId,
        /// How.
        outcome: Outcome,
        /// What it did to files, if it publishes a version; else what it did is in no version yet.
        files: Option<FileCounts>,
    },
    /// Record that a waiting message cannot be carried out.
    Refuse {
        /// Which one.
        run: RunId,
        /// The error code.
        code: ErrorCode,
        /// What happened.
        message: String,
    },
    /// Publish a version while no run is going on.
    Commit {
        /// Why.
        cause: VersionCause,
        /// What happened to files since the latest one.
        files: FileCounts,
        /// The restored version.
        restored: Option<Version>,
    },
    /// Take no more messages; drop those that wait.
    End {
        /// Why.
        reason: String,
    },
}

/// When a message is carried out that nothing is before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once.
    AtOnce,
    /// With the next [`Command::StartNext`]: something has to be looked at first.
    Later,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well.
    Completed {
        /// The usage.
        usage: Usage,
        /// The last thing the agent said.
        summary: Option<String>,
    },
    /// With an error.
    Failed {
        /// What kind.
        code: ErrorCode,
        /// What happened.
        message: String,
        /// Whether the next message can continue.
        recoverable: bool,
        /// The usage.
        usage: Usage,
        /// Diagnostics.
        diagnostics: Diagnostics,
    },
    /// Stopped by someone.
    Interrupted {
        /// Who.
        by: String,
        /// A person stopped it: queued messages are held.
        holds_queue: bool,
        /// The usage.
        usage: Usage,
        /// Diagnostics.
        diagnostics: Diagnostics,
    },
}

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It exists already, or not yet.
    #[error("the session {0}")]
    WrongPhase(&'static str),
    /// It has ended.
    #[error("the session has ended")]
    Ended,
    /// A run is going on and the caller does not want to wait.
    #[error("a run is in progress")]
    Busy,
    /// Too many messages wait.
    #[error("{QUEUE_LIMIT} messages are waiting already")]
    QueueFull,
    /// There is nothing in the message.
    #[error("the message is empty")]
    EmptyMessage,
    /// The run is not one that waits, or not the one that is going on.
    #[error("run `{0}` is not waiting")]
    NotQueued(RunId),
    /// The run that ended is not the one that is going on.
    #[error("run `{0}` is not in progress")]
    NotRunning(RunId),
    /// The approval is no longer pending.
    #[error("approval `{0}` is not pending")]
    NotPending(ApprovalId),
    /// The answer is not one of those that were offered.
    #[error("approval `{0}` cannot be answered like that")]
    NotOffered(ApprovalId),
    /// The rule is not one that this answer can grant.
    #[error("approval `{0}` cannot grant this rule: {1}")]
    Rule(ApprovalId, RuleError),
    /// No rule of this approval is in force.
    #[error("approval `{0}` has no rule in force")]
    NoRule(ApprovalId),
    /// The sender's base version is not the latest.
    #[error("version {wanted} is not the latest: the session is at version {latest}")]
    VersionConflict {
        /// The sender's.
        wanted: Version,
        /// The latest.
        latest: Version,
    },
}

impl Rejection {
    /// The code a client sees.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Rejection::WrongPhase(_) | Rejection::NotQueued(_) | Rejection::NotRunning(_) => {
                ErrorCode::Conflict
            }
            Rejection::NotPending(_) => ErrorCode::ApprovalNotPending,
            Rejection::NotOffered(_) | Rejection::Rule(..) => ErrorCode::BadRequest,
            Rejection::NoRule(_) => ErrorCode::NotFound,
            Rejection::Ended => ErrorCode::SessionEnded,
            Rejection::Busy => ErrorCode::RunInProgress,
            Rejection::QueueFull => ErrorCode::QueueFull,
            Rejection::EmptyMessage => ErrorCode::BadRequest,
            Rejection::VersionConflict { .. } => ErrorCode::VersionConflict,
        }
    }
}

impl Session {
    /// Says what a command would record. Reads only.
    ///
    /// # Errors
    /// When the rules forbid the command now.
    pub fn decide(&self, command: Command) -> Result<Vec<Draft>, Rejection> {
        match command {
            Command::Create { agent_type, profile, name, forked_from, options } => match self.phase {
                Phase::Unborn => Ok(vec![Draft::of_session(EventBody::SessionCreated {
                    agent_type,
                    profile,
                    name,
                    forked_from,
                    options,
                })]),
                _ => Err(Rejection::WrongPhase("exists already")),
            },
            Command::Update(changes) => {
                self.alive()?;
                Ok(vec![updated(changes)])
            }
            Command::Send { run, content, when_busy, base_version, start, title } => {
                let sent = self.decide_send(run, content, when_busy, base_version, start)?;
                let named = title
                    .map(|name| updated(SessionChanges { name: Some(name), ..SessionChanges::default() }));
                Ok([sent].into_iter().chain(named).collect())
            }
            Command::StartNext => Ok(self.decide_next()),
            Command::Requeue { run, content, position } => self.decide_requeue(run, content, position),
            Command::Drop { run, by } => {
                self.queued(run)?;
                Ok(vec![dropped(run, by)])
            }
            Command::Ask(request) => match self.phase {
                Phase::Running { run } => Ok(vec![Draft::of_run(run, EventBody::ApprovalRequested(request))]),
                _ => Err(Rejection::WrongPhase("has no run that could ask")),
            },
            Command::Resolve(resolution) => self.decide_resolve(resolution),
            Command::WithdrawRule { approval, by } => {
                let grant = self.grants.iter().find(|grant| grant.approval_id == approval);
                grant.ok_or(Rejection::NoRule(approval))?;
                let body = EventBody::ApprovalRuleWithdrawn { approval_id: approval, by };
                Ok(vec![Draft::of_session(body)])
            }
            Command::Conclude { run, outcome, files } => match self.phase {
                Phase::Running { run: running } if running == run => {
                    Ok(self.decide_conclude(run, outcome, files))
                }
                _ => Err(Rejection::NotRunning(run)),
            },
            Command::Refuse { run, code, message } => {
                self.queued(run)?;
                Ok(vec![refused(run, code, message)])
            }
            Command::Commit { cause, files, restored } => self.decide_commit(cause, files, restored),
            Command::End { reason } => self.decide_end(reason),
        }
    }

    /// Folds one recorded entry. Total: what the log accepted always applies.
    #[must_use]
    pub fn apply(mut self, run: Option<RunId>, body: &EventBody) -> Session {
        match body {
            EventBody::SessionCreated { .. } => self.phase = Phase::Idle,
            EventBody::SessionEnded { .. } => {
                self.phase = Phase::Ended;
                self.queue.clear();
            }
            EventBody::RunQueued { content, position } => {
                if let Some(run) = run {
                    self.enqueue(run, content.clone(), *position);
                }
            }
            EventBody::SessionUpdated { changes } => self.held = changes.queue_held.unwrap_or(self.held),
            EventBody::RunStarted { .. } => {
                if let Some(run) = run {
                    self.queue.retain(|queued| queued.run != run);
                    self.phase = Phase::Running { run };
                    self.steered.clear();
                    self.held = false;
                    // Every run starts from exactly a version.
                    self.head = Head::Clean;
                }
            }
            EventBody::RunCompleted { version, usage, .. }
            | EventBody::RunInterrupted { version, usage, .. } => self.end_run(run, *version, usage),
            EventBody::RunFailed { usage, .. } => self.end_run(run, None, usage),
            EventBody::VersionCommitted { version, .. } => self.at_version(*version),
            EventBody::FileChanged { .. } => {
                if self.running().is_none() && self.head == Head::Clean {
                    self.head = Head::Touched;
                }
            }
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.fresh.apply(body);
                self.take_up(block);
            }
            EventBody::BlockDiscarded { .. } => self.fresh.apply(body),
            EventBody::ApprovalRequested(request) => self.ask(run, request.clone()),
            EventBody::ApprovalResolved(resolution) => self.settle(resolution),
            EventBody::ApprovalRuleWithdrawn { approval_id, .. } => self.withdraw_rule(approval_id),
            EventBody::ArtifactCreated { .. }
            | EventBody::ArtifactUpdated { .. }
            | EventBody::ArtifactDeleted { .. } => apply_artifact_event(&mut self.artifacts, body),
            // Named, not `_`: a new event must make the compiler bring us back here.
            EventBody::SessionStatus { .. }
            | EventBody::TextDelta { .. }
            | EventBody::BlockUpdate { .. }
            | EventBody::MetadataUpdate { .. }
            | EventBody::ModelCallStarted(_)
            | EventBody::ModelCalled(_)
            | EventBody::Retrying { .. }
            | EventBody::EgressDecided { .. }
            | EventBody::LimitReached { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::SubagentStarted(_)
            | EventBody::SubagentCompleted { .. }
            | EventBody::PortOpened { .. }
            | EventBody::PortClosed { .. }
            | EventBody::LogCompacted { .. }
            | EventBody::Unrecognized { .. } => {}
        }
        self
    }

    /// The active run.
    #[must_use]
    pub fn running(&self) -> Option<RunId> {
        match self.phase {
            Phase::Running { run } => Some(run),
            Phase::Unborn | Phase::Idle | Phase::Ended => None,
        }
    }

    fn alive(&self) -> Result<(), Rejection> {
        match self.phase {
            Phase::Unborn => Err(Rejection::WrongPhase("does not exist yet")),
            Phase::Ended => Err(Rejection::Ended),
            Phase::Idle | Phase::Running { .. } => Ok(()),
        }
    }

    fn decide_send(
        &self,
        run: RunId,
        content: Content,
        when_busy: WhenBusy,
        base_version: Option<Version>,
        start: Start,
    ) -> Result<Draft, Rejection> {
        self.alive()?;
        if content.is_blank() {
            return Err(Rejection::EmptyMessage);
        }
        if let Some(wanted) = base_version.filter(|wanted| *wanted != self.version) {
            return Err(Rejection::VersionConflict { wanted, latest: self.version });
        }
        // Held messages wait for a person, and this is what the person wants next.
        let is_first = self.running().is_none() && self.held;
        let is_busy = self.running().is_some() || !(self.queue.is_empty() || is_first);
        if !is_busy && self.head == Head::Clean && start == Start::AtOnce {
            return Ok(self.started(run, content));
        }
        match when_busy {
            WhenBusy::Reject if is_busy => Err(Rejection::Busy),
            _ if self.queue.len() >= QUEUE_LIMIT => Err(Rejection::QueueFull),
            // One that only waits for what is in no version yet waits for nobody.
            WhenBusy::Queue | WhenBusy::Steer | WhenBusy::Reject => {
                let last = u32::try_from(self.queue.len() + 1).unwrap_or(u32::MAX);
                let position = if is_first { 1 } else { last };
                Ok(Draft::of_run(run, EventBody::RunQueued { content, position }))
            }
        }
    }

    fn decide_next(&self) -> Vec<Draft> {
        match (self.phase, self.queue.front()) {
            (Phase::Idle, Some(next)) if !self.held => vec![self.started(next.run, next.content.clone())],
            _ => Vec::new(),
        }
    }

    fn decide_requeue(
        &self,
        run: RunId,
        content: Option<Content>,
        position: Option<u32>,
    ) -> Result<Vec<Draft>, Rejection> {
        let index = self.queued(run)?;
        if content.as_ref().is_some_and(Content::is_blank) {
            return Err(Rejection::EmptyMessage);
        }
        let place = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
        let position = position.map_or(place(index), |wanted| wanted.clamp(1, place(self.queue.len() - 1)));
        if content.is_none() && position == place(index) {
            return Ok(Vec::new());
        }
        let content = content.unwrap_or_else(|| self.queue[index].content.clone());
        Ok(vec![Draft::of_run(run, EventBody::RunQueued { content, position })])
    }

    fn decide_end(&self, reason: String) -> Result<Vec<Draft>, Rejection> {
        self.alive()?;
        if self.running().is_some() {
            return Err(Rejection::Busy);
        }
        let mut drafts: Vec<Draft> = self.queue.iter().map(|q| dropped(q.run, "end".to_owned())).collect();
        drafts.push(Draft::of_session(EventBody::SessionEnded { reason }));
        Ok(drafts)
    }

    fn decide_resolve(&self, mut resolution: ApprovalResolution) -> Result<Vec<Draft>, Rejection> {
        let id = resolution.approval_id;
        let open = self.approvals.iter().find(|open| open.request.approval_id == id);
        let open = open.ok_or(Rejection::NotPending(id))?;
        if let Some(answer) = &open.answer {
            // The same answer again is no second answer.
            let is_same = answer.decision == resolution.decision;
            return if is_same { Ok(Vec::new()) } else { Err(Rejection::NotPending(id)) };
        }
        match resolution.decision.decision() {
            Some(decision) if !open.request.options.contains(&decision) => {
                return Err(Rejection::NotOffered(id));
            }
            Some(ApprovalDecision::AllowAlways) => {
                let detail = &open.request.detail;
                match &resolution.rule {
                    Some(rule) => rule.check(detail).map_err(|error| Rejection::Rule(id, error))?,
                    // Whoever names no rule allows the very same and no more.
                    None => resolution.rule = ApprovalRule::same(detail),
                }
            }
            _ => {}
        }
        Ok(vec![Draft { run_id: open.run, ..resolved(resolution) }])
    }

    /// The end of a run, and of what it and earlier runs asked. Only a run that was cut leaves its questions open: what
    /// asked is gone, but the run that goes on from there may ask the same.
    fn decide_conclude(&self, run: RunId, outcome: Outcome, files: Option<FileCounts>) -> Vec<Draft> {
        let is_cut = matches!(&outcome, Outcome::Failed { code: ErrorCode::ServerRestarted, .. });
        let over = self.approvals.iter().filter(|open| open.answer.is_none());
        let over = over.filter(|open| !(is_cut && open.run == Some(run)));
        let expired = over.map(|open| Draft {
            run_id: open.run,
            ..resolved(ApprovalResolution::expired(open.request.approval_id, "run"))
        });
        let cause = match &outcome {
            Outcome::Completed { .. } => Some(VersionCause::Run),
            Outcome::Interrupted { .. } => Some(VersionCause::Interrupt),
            Outcome::Failed { .. } => None,
        };
        // Before the run's last entry: whoever follows the run sees it.
        let published = cause.zip(files).map(|(cause, files)| Draft {
            run_id: Some(run),
            ..Draft::of_session(self.published(cause, files, None))
        });
        let version = published.is_some().then(|| self.version.next());
        let holds =
            matches!(outcome, Outcome::Interrupted { holds_queue: true, .. }) && !self.queue.is_empty();
        let held =
            holds.then(|| updated(SessionChanges { queue_held: Some(true), ..SessionChanges::default() }));
        // Whoever waits for a message that this run took up waits for the same end. What was spent is the run's own.
        let steered = self.steered.iter().map(|steered| conclusion(*steered, outcome.unpaid(), version));
        let steered: Vec<Draft> = steered.collect();
        let end = conclusion(run, outcome, version);
        expired.chain(published).chain(held).chain(steered).chain([end]).collect()
    }

    fn decide_commit(
        &self,
        cause: VersionCause,
        files: FileCounts,
        restored: Option<Version>,
    ) -> Result<Vec<Draft>, Rejection> {
        match self.phase {
            Phase::Unborn => Err(Rejection::WrongPhase("does not exist yet")),
            Phase::Running { .. } => Err(Rejection::Busy),
            Phase::Idle | Phase::Ended => Ok(vec![Draft::of_session(self.published(cause, files, restored))]),
        }
    }

    fn published(&self, cause: VersionCause, files: FileCounts, restored: Option<Version>) -> EventBody {
        EventBody::VersionCommitted {
            version: self.version.next(),
            base: self.version,
            cause,
            files,
            blocks: self.fresh.count(),
            label: None,
            restored,
        }
    }

    fn started(&self, run: RunId, input: Content) -> Draft {
        Draft::of_run(
            run,
            EventBody::RunStarted { input, base_version: self.version, grant: None, toggles: None },
        )
    }

    fn queued(&self, run: RunId) -> Result<usize, Rejection> {
        self.queue.iter().position(|queued| queued.run == run).ok_or(Rejection::NotQueued(run))
    }

    /// Puts a message where its entry says. A new message in a session that does nothing releases those that are held.
    fn enqueue(&mut self, run: RunId, content: Content, position: u32) {
        match self.queued(run) {
            Ok(index) => drop(self.queue.remove(index)),
            Err(_) => self.held &= self.running().is_some(),
        }
        let place = usize::try_from(position).unwrap_or(usize::MAX).saturating_sub(1);
        self.queue.insert(place.min(self.queue.len()), QueuedRun { run, content });
    }

    /// A waiting message that shows up as a block was taken up by the run that is going on.
    fn take_up(&mut self, block: &Block) {
        if let Block::UserMessage { id, .. } = block {
            let index = self.queue.iter().position(|queued| BlockId::of_message(queued.run) == *id);
            let taken = index.and_then(|index| self.queue.remove(index));
            self.steered.extend(taken.map(|queued| queued.run));
        }
    }

    fn ask(&mut self, run: Option<RunId>, request: ApprovalRequest) {
        self.approvals.push(OpenApproval { run, request, answer: None });
    }

    fn withdraw_rule(&mut self, granted_by: &ApprovalId) {
        self.grants.retain(|grant| grant.approval_id != *granted_by);
    }

    /// An answer that the asking run can hear is settled; one that comes later is kept.
    fn settle(&mut self, resolution: &ApprovalResolution) {
        let running = self.running();
        let grants = &mut self.grants;
        self.approvals.retain_mut(|open| {
            if open.request.approval_id != resolution.approval_id {
                return true;
            }
            let OpenApproval { request, .. } = &*open;
            if resolution.decision == Resolution::AllowAlways
                && let Some(about) = matter(request.kind, &request.detail)
            {
                let circumstances = circumstances(&request.detail);
                let (approval_id, rule) = (resolution.approval_id, resolution.rule.clone());
                grants.push(Grant { approval_id, rule, about, circumstances });
            }
            open.answer = Some(resolution.clone());
            resolution.decision.decision().is_some() && open.run != running
        });
    }

    fn at_version(&mut self, version: Version) {
        self.version = version;
        self.head = Head::Clean;
        self.fresh = FreshBlocks::default();
        self.spent = Usage::default();
    }

    fn end_run(&mut self, run: Option<RunId>, version: Option<Version>, usage: &Usage) {
        if self.running() == run && run.is_some() {
            self.phase = Phase::Idle;
            self.steered.clear();
            self.head = Head::Cut;
            self.spent.add(usage);
            if let Some(version) = version {
                self.at_version(version);
            }
            // Answers that were kept for a run that asks the same were kept for this one.
            self.approvals.retain(|open| open.answer.is_none());
        }
        self.queue.retain(|queued| Some(queued.run) != run);
    }
}

impl Outcome {
    /// The same outcome without what it cost.
    fn unpaid(&self) -> Self {
        let mut outcome = self.clone();
        let (Outcome::Completed { usage, .. }
        | Outcome::Failed { usage, .. }
        | Outcome::Interrupted { usage, .. }) = &mut outcome;
        *usage = Usage::default();
        outcome
    }
}

fn conclusion(run: RunId, outcome: Outcome, version: Option<Version>) -> Draft {
    let body = match outcome {
        Outcome::Completed { usage, summary } => {
            EventBody::RunCompleted { version, cost_usd: usage.cost_usd, usage, summary }
        }
        Outcome::Failed { code, message, recoverable, usage, diagnostics } => {
            EventBody::RunFailed { code, message, recoverable, cost_usd: usage.cost_usd, usage, diagnostics }
        }
        Outcome::Interrupted { by, usage, diagnostics, holds_queue: _ } => {
            EventBody::RunInterrupted { version, cost_usd: usage.cost_usd, usage, by, diagnostics }
        }
    };
    Draft::of_run(run, body)
}

fn updated(changes: SessionChanges) -> Draft {
    Draft::of_session(EventBody::SessionUpdated { changes })
}

fn refused(run: RunId, code: ErrorCode, message: String) -> Draft {
    let body = EventBody::RunFailed {
        code,
        message,
        recoverable: true,
        usage: Usage::default(),
        cost_usd: 0.0,
        diagnostics: Diagnostics::default(),
    };
    Draft::of_run(run, body)
}

fn resolved(resolution: ApprovalResolution) -> Draft {
    Draft::of_session(EventBody::ApprovalResolved(resolution))
}

fn dropped(run: RunId, by: String) -> Draft {
    let body = EventBody::RunInterrupted {
        version: None,
        usage: Usage::default(),
        cost_usd: 0.0,
        by,
        diagnostics: Diagnostics::default(),
    };
    Draft::of_run(run, body)
}

#[cfg(test)]
mod tests;
