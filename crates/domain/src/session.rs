//! The rules a session obeys: what a command would do, and what an entry of the log means.

use std::collections::VecDeque;

use crate::{
    AgentType, ApprovalId, ApprovalRequest, ApprovalResolution, Artifacts, Block, BlockId, Content,
    Diagnostics, Draft, ErrorCode, EventBody, ForkedFrom, ProfileId, RunId, SessionChanges, Usage, Version,
    WhenBusy, apply_artifact_event,
};

/// At most this many messages wait in a session.
pub const QUEUE_LIMIT: usize = 32;

/// What a session's log says about it, as far as the rules need to know.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// What it is doing.
    pub phase: Phase,
    /// Messages that wait, oldest first.
    pub queue: VecDeque<QueuedRun>,
    /// The latest version.
    pub version: Version,
    /// What people were asked and what nobody acted on yet, oldest first.
    pub approvals: Vec<OpenApproval>,
    /// What is worth showing of what it made.
    pub artifacts: Artifacts,
}

/// Something that was asked and not settled.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenApproval {
    /// The run that asked.
    pub run: Option<RunId>,
    /// What it asked.
    pub request: ApprovalRequest,
    /// The answer, if it came when that run was no longer there to hear it: kept for a run that asks the same.
    pub answer: Option<ApprovalResolution>,
}

/// What a session is doing. A field exists only in the phase where it means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedRun {
    /// The run it will be.
    pub run: RunId,
    /// The message.
    pub content: Content,
}

/// What someone wants of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin to exist.
    Create {
        /// The agent it talks to.
        agent_type: AgentType,
        /// What the agent is given.
        profile: ProfileId,
        /// A name for people.
        name: Option<String>,
        /// The session it was forked from.
        forked_from: Option<ForkedFrom>,
    },
    /// Change its own data.
    Update(SessionChanges),
    /// Carry out a message.
    Send {
        /// The run it becomes.
        run: RunId,
        /// The message.
        content: Content,
        /// What to do if a run is going on.
        when_busy: WhenBusy,
        /// The version the sender believes to be the latest.
        base_version: Option<Version>,
    },
    /// Begin the oldest waiting message, if nothing is going on.
    StartNext,
    /// Replace the text of a waiting message.
    Reword {
        /// Which one.
        run: RunId,
        /// Its new text.
        content: Content,
    },
    /// Drop a waiting message.
    Drop {
        /// Which one.
        run: RunId,
        /// Who wants it.
        by: String,
    },
    /// Ask a person, for the run that is going on.
    Ask(ApprovalRequest),
    /// Record what a person answered, or that nobody did.
    Resolve(ApprovalResolution),
    /// Record how the running message ended.
    Conclude {
        /// Which run.
        run: RunId,
        /// How.
        outcome: Outcome,
    },
    /// Take no more messages; drop those that wait.
    End {
        /// Why.
        reason: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well.
    Completed {
        /// What was spent.
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
        /// Whether the next message may go on.
        recoverable: bool,
        /// What was spent.
        usage: Usage,
        /// What is known.
        diagnostics: Diagnostics,
    },
    /// Stopped by someone.
    Interrupted {
        /// Who.
        by: String,
        /// What was spent.
        usage: Usage,
        /// What is known.
        diagnostics: Diagnostics,
    },
}

/// Why a command is not carried out.
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
    /// Nobody waits for an answer to it.
    #[error("approval `{0}` is not pending")]
    NotPending(ApprovalId),
    /// The answer is not one of those that were offered.
    #[error("approval `{0}` cannot be answered like that")]
    NotOffered(ApprovalId),
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
            Rejection::NotOffered(_) => ErrorCode::BadRequest,
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
            Command::Create { agent_type, profile, name, forked_from } => match self.phase {
                Phase::Unborn => Ok(vec![Draft::of_session(EventBody::SessionCreated {
                    agent_type,
                    profile,
                    name,
                    forked_from,
                })]),
                _ => Err(Rejection::WrongPhase("exists already")),
            },
            Command::Update(changes) => {
                self.alive()?;
                Ok(vec![Draft::of_session(EventBody::SessionUpdated { changes })])
            }
            Command::Send { run, content, when_busy, base_version } => {
                self.decide_send(run, content, when_busy, base_version)
            }
            Command::StartNext => Ok(self.decide_next()),
            Command::Reword { run, content } => self.decide_reword(run, content),
            Command::Drop { run, by } => {
                self.queued(run)?;
                Ok(vec![dropped(run, by)])
            }
            Command::Ask(request) => match self.phase {
                Phase::Running { run } => Ok(vec![Draft::of_run(run, EventBody::ApprovalRequested(request))]),
                _ => Err(Rejection::WrongPhase("has no run that could ask")),
            },
            Command::Resolve(resolution) => self.decide_resolve(resolution),
            Command::Conclude { run, outcome } => match self.phase {
                Phase::Running { run: running } if running == run => Ok(self.decide_conclude(run, outcome)),
                _ => Err(Rejection::NotRunning(run)),
            },
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
            EventBody::RunQueued { content, .. } => {
                if let Some(run) = run {
                    self.enqueue(run, content.clone());
                }
            }
            EventBody::RunStarted { .. } => {
                if let Some(run) = run {
                    self.queue.retain(|queued| queued.run != run);
                    self.phase = Phase::Running { run };
                }
            }
            EventBody::RunCompleted { version, .. } | EventBody::RunInterrupted { version, .. } => {
                self.version = version.unwrap_or(self.version);
                self.end_run(run);
            }
            EventBody::RunFailed { .. } => self.end_run(run),
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => self.take_up(block),
            EventBody::ApprovalRequested(request) => {
                self.approvals.push(OpenApproval { run, request: request.clone(), answer: None });
            }
            EventBody::ApprovalResolved(resolution) => self.settle(resolution),
            EventBody::ArtifactCreated { .. }
            | EventBody::ArtifactUpdated { .. }
            | EventBody::ArtifactDeleted { .. } => apply_artifact_event(&mut self.artifacts, body),
            // Named, not `_`: a new event must make the compiler bring us back here.
            EventBody::SessionUpdated { .. }
            | EventBody::SessionStatus { .. }
            | EventBody::TextDelta { .. }
            | EventBody::BlockUpdate { .. }
            | EventBody::BlockDiscarded { .. }
            | EventBody::MetadataUpdate { .. }
            | EventBody::ModelCalled(_)
            | EventBody::Retrying { .. }
            | EventBody::EgressDecided { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::SubagentStarted(_)
            | EventBody::SubagentCompleted { .. }
            | EventBody::FileChanged { .. }
            | EventBody::PortOpened { .. }
            | EventBody::PortClosed { .. }
            | EventBody::Unrecognized { .. } => {}
        }
        self
    }

    /// The run that is going on.
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
    ) -> Result<Vec<Draft>, Rejection> {
        self.alive()?;
        if content.is_blank() {
            return Err(Rejection::EmptyMessage);
        }
        if let Some(wanted) = base_version.filter(|wanted| *wanted != self.version) {
            return Err(Rejection::VersionConflict { wanted, latest: self.version });
        }
        if self.running().is_none() && self.queue.is_empty() {
            return Ok(vec![self.started(run, content)]);
        }
        match when_busy {
            WhenBusy::Reject => Err(Rejection::Busy),
            WhenBusy::Queue | WhenBusy::Steer if self.queue.len() >= QUEUE_LIMIT => Err(Rejection::QueueFull),
            WhenBusy::Queue | WhenBusy::Steer => {
                let position = u32::try_from(self.queue.len() + 1).unwrap_or(u32::MAX);
                Ok(vec![Draft::of_run(run, EventBody::RunQueued { content, position })])
            }
        }
    }

    fn decide_next(&self) -> Vec<Draft> {
        match (self.phase, self.queue.front()) {
            (Phase::Idle, Some(next)) => vec![self.started(next.run, next.content.clone())],
            _ => Vec::new(),
        }
    }

    fn decide_reword(&self, run: RunId, content: Content) -> Result<Vec<Draft>, Rejection> {
        let index = self.queued(run)?;
        if content.is_blank() {
            return Err(Rejection::EmptyMessage);
        }
        let position = u32::try_from(index + 1).unwrap_or(u32::MAX);
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

    fn decide_resolve(&self, resolution: ApprovalResolution) -> Result<Vec<Draft>, Rejection> {
        let id = resolution.approval_id;
        let open = self.approvals.iter().find(|open| open.request.approval_id == id);
        let open = open.ok_or(Rejection::NotPending(id))?;
        if let Some(answer) = &open.answer {
            // The same answer again is no second answer.
            let is_same = answer.decision == resolution.decision;
            return if is_same { Ok(Vec::new()) } else { Err(Rejection::NotPending(id)) };
        }
        match resolution.decision.decision() {
            Some(decision) if !open.request.options.contains(&decision) => Err(Rejection::NotOffered(id)),
            _ => Ok(vec![Draft { run_id: open.run, ..resolved(resolution) }]),
        }
    }

    /// The end of a run, and of what it and earlier runs asked. Only a run that was cut leaves its questions open: what
    /// asked is gone, but the run that goes on from there may ask the same.
    fn decide_conclude(&self, run: RunId, outcome: Outcome) -> Vec<Draft> {
        let is_cut = matches!(&outcome, Outcome::Failed { code: ErrorCode::ServerRestarted, .. });
        let over = self.approvals.iter().filter(|open| open.answer.is_none());
        let over = over.filter(|open| !(is_cut && open.run == Some(run)));
        let expired = over.map(|open| Draft {
            run_id: open.run,
            ..resolved(ApprovalResolution::expired(open.request.approval_id, "run"))
        });
        expired.chain([self.conclusion(run, outcome)]).collect()
    }

    fn started(&self, run: RunId, input: Content) -> Draft {
        Draft::of_run(
            run,
            EventBody::RunStarted { input, base_version: self.version, grant: None, toggles: None },
        )
    }

    fn conclusion(&self, run: RunId, outcome: Outcome) -> Draft {
        let next = Some(self.version.next());
        let body = match outcome {
            Outcome::Completed { usage, summary } => {
                EventBody::RunCompleted { version: next, cost_usd: usage.cost_usd, usage, summary }
            }
            Outcome::Failed { code, message, recoverable, usage, diagnostics } => EventBody::RunFailed {
                code,
                message,
                recoverable,
                cost_usd: usage.cost_usd,
                usage,
                diagnostics,
            },
            Outcome::Interrupted { by, usage, diagnostics } => {
                EventBody::RunInterrupted { version: next, cost_usd: usage.cost_usd, usage, by, diagnostics }
            }
        };
        Draft::of_run(run, body)
    }

    fn queued(&self, run: RunId) -> Result<usize, Rejection> {
        self.queue.iter().position(|queued| queued.run == run).ok_or(Rejection::NotQueued(run))
    }

    fn enqueue(&mut self, run: RunId, content: Content) {
        match self.queue.iter_mut().find(|queued| queued.run == run) {
            Some(queued) => queued.content = content,
            None => self.queue.push_back(QueuedRun { run, content }),
        }
    }

    /// A waiting message that shows up as a block was taken up by the run that is going on.
    fn take_up(&mut self, block: &Block) {
        if let Block::UserMessage { id, .. } = block {
            self.queue.retain(|queued| BlockId::of_message(queued.run) != *id);
        }
    }

    /// An answer that the asking run can hear is settled; one that comes later is kept.
    fn settle(&mut self, resolution: &ApprovalResolution) {
        let running = self.running();
        self.approvals.retain_mut(|open| {
            if open.request.approval_id != resolution.approval_id {
                return true;
            }
            open.answer = Some(resolution.clone());
            resolution.decision.decision().is_some() && open.run != running
        });
    }

    fn end_run(&mut self, run: Option<RunId>) {
        if self.running() == run && run.is_some() {
            self.phase = Phase::Idle;
            // Answers that were kept for a run that asks the same were kept for this one.
            self.approvals.retain(|open| open.answer.is_none());
        }
        self.queue.retain(|queued| Some(queued.run) != run);
    }
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
