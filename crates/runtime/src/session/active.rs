//! The run that is going on, as the session sees it: what it waits for, why it stops, how it ended.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use warren_agents::{Prompt, TurnEnd};
use warren_domain::{
    BlobHash, BlockId, Content, Diagnostics, ErrorCode, EventBody, OpenBlocks, Outcome, Timestamp, Usage,
};
use warren_models::demo;
use warren_store::RunRecord;

use super::{
    agent::{Agent, AgentExit},
    approvals::Waiting,
    calls::Calls,
};
use crate::figures::Held;

/// The model that answers where there is no key.
pub(super) const DEMO: &str = demo::MODEL;

/// Timeout for an agent's last lines after its sandbox has stopped.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The message to the agent when the soft budget is spent.
const WRAP_UP: &str = "Most of the time for this task is used up. Finish what you are doing, leave the files in a good state, and say what is done and what is not.";

/// A run that is going on.
pub(super) struct ActiveRun {
    pub(super) record: RunRecord,
    /// Calls of this run, to close those that stay open.
    pub(super) blocks: OpenBlocks,
    pub(super) usage: Usage,
    /// Its model calls, also after its sandbox is gone.
    pub(super) calls: Option<Arc<Calls>>,
    /// There once the sandbox is.
    pub(super) agent: Option<Agent>,
    pub(super) exited: Option<AgentExit>,
    /// Pending requests of the agent.
    pub(super) asked: Vec<Waiting>,
    /// Messages that arrived before the agent could hear them.
    pub(super) untold: Vec<Prompt>,
    /// Why it is being stopped, if it is. The first reason wins.
    pub(super) stop: Option<Stop>,
    pub(super) outcome: Option<TurnEnd>,
    /// A model call was refused because nothing may be spent any more.
    pub(super) is_over_budget: bool,
    /// The log reached a limit: nothing more that the agent says is recorded.
    pub(super) is_log_full: bool,
    pub(super) diagnostics: Option<Diagnostics>,
    /// The agent's last lines, once they are kept.
    pub(super) last_lines: Option<BlobHash>,
    began: Instant,
    pub(super) soft_at: Option<Instant>,
    pub(super) hard_at: Option<Instant>,
    pub(super) kill_at: Option<Instant>,
    /// If the agent has not answered by then, that is noted.
    pub(super) silent_at: Option<Instant>,
    pub(super) settle_at: Option<Instant>,
    /// What calls that ended have said was taken up.
    pub(super) has_settled: bool,
    /// Its sandbox is gone; after this nothing more is expected of the agent.
    pub(super) lost_at: Option<Instant>,
    /// The agent had to be killed. What it started may live on in other process groups, so its sandbox ends too.
    pub(super) killed: bool,
    /// Its agent found the sandbox gone and got another one. A second time the run fails.
    pub(super) has_restarted: bool,
    /// The demo model answers its calls.
    pub(super) is_demo: bool,
    _counted: Held,
}

/// Why a run is stopped.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// By a person, or for a reason that is named like one.
    Interrupt { by: String, holds_queue: bool },
    /// Its time is up.
    Timeout,
    /// It used up its disk space.
    Disk(String),
    /// It failed, for example because a prerequisite is missing.
    Failed(ErrorCode, String),
}

impl ActiveRun {
    pub(super) fn new(record: RunRecord, budget: (Option<Duration>, Duration)) -> Self {
        let now = Instant::now();
        Self {
            record,
            blocks: OpenBlocks::default(),
            usage: Usage::default(),
            calls: None,
            agent: None,
            exited: None,
            asked: Vec::new(),
            untold: Vec::new(),
            stop: None,
            outcome: None,
            is_over_budget: false,
            is_log_full: false,
            diagnostics: None,
            last_lines: None,
            began: now,
            soft_at: budget.0.map(|soft| now + soft),
            hard_at: Some(now + budget.1),
            kill_at: None,
            silent_at: None,
            settle_at: None,
            has_settled: false,
            lost_at: None,
            killed: false,
            has_restarted: false,
            is_demo: false,
            _counted: Held::run(),
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let own = [self.soft_at, self.hard_at, self.kill_at, self.silent_at, self.settle_at, self.lost_at];
        let asked = self.asked.iter().map(|waiting| waiting.expires_at);
        own.into_iter().flatten().chain(asked).min()
    }

    /// The run waited for a sandbox since then, which does not count as its time.
    pub(super) fn has_waited(&mut self, since: Instant) {
        // A run that began during the wait has lost less.
        let waited = since.max(self.began).elapsed();
        for deadline in [&mut self.soft_at, &mut self.hard_at].into_iter().flatten() {
            *deadline += waited;
        }
    }

    /// Asks the agent to stop; after `kill_at` it is killed.
    pub(super) fn stop(&mut self, why: Stop, kill_at: Instant) {
        if self.stop.is_none() {
            // Whatever fills the disk may not be the agent itself.
            self.killed |= matches!(why, Stop::Disk(_));
            self.stop = Some(why);
            self.kill_at = Some(kill_at);
            (self.soft_at, self.silent_at) = (None, None);
        }
        if let Some(agent) = &mut self.agent {
            agent.interrupt();
        }
    }

    /// The run cannot go on.
    pub(super) fn fail(&mut self, code: ErrorCode, message: String) {
        self.stop.get_or_insert(Stop::Failed(code, message));
        self.kill();
        if self.agent.is_none() {
            self.exited = Some(AgentExit::default());
        }
    }

    /// It may spend no more. The agent shows it and ends; one that only tries again is ended after `kill_at`.
    pub(super) fn over_budget(&mut self, kill_at: Instant) {
        self.is_over_budget = true;
        self.kill_at.get_or_insert(kill_at);
    }

    /// Its sandbox is gone, and the agent with it.
    pub(super) fn sandbox_gone(&mut self, out_of_memory: bool, diagnostics: Diagnostics) {
        let (code, message) = if out_of_memory {
            (ErrorCode::OutOfMemory, "the sandbox ran out of memory")
        } else {
            (ErrorCode::SandboxError, "the sandbox stopped during the run")
        };
        self.stop.get_or_insert(Stop::Failed(code, message.to_owned()));
        self.diagnostics = Some(diagnostics);
        match self.agent {
            // What it said last may still be on its way, and its end comes after that.
            Some(_) => self.lost_at = Some(Instant::now() + LAST_LINES),
            None => {
                self.exited.get_or_insert_default();
            }
        }
    }

    pub(super) fn kill(&mut self) {
        if let Some(agent) = &self.agent {
            self.killed = true;
            agent.kill();
        }
    }

    /// What an agent says of its usage, with the price that was metered: agents know none. The demo model answers under
    /// the name that was asked for, so the agent cannot know its name either.
    pub(super) fn priced(&self, mut body: EventBody) -> EventBody {
        if let EventBody::MetadataUpdate { usage, cost_usd, model, .. } = &mut body {
            *cost_usd = self.usage.cost_usd;
            usage.cost_usd = self.usage.cost_usd;
            if self.is_demo {
                (*model, usage.model) = (Some(DEMO.to_owned()), Some(DEMO.to_owned()));
            }
        }
        body
    }

    /// The agent says that it is done. If it does not exit, it is killed after `kill_at`, and is done all the same.
    pub(super) fn turn_ended(&mut self, end: TurnEnd, kill_at: Instant) {
        self.outcome.get_or_insert(end);
        if let Some(agent) = &mut self.agent {
            agent.close();
            self.kill_at.get_or_insert(kill_at);
        }
    }

    /// Gives the agent a message that was sent while it works.
    pub(super) fn tell(&mut self, prompt: Prompt, at: Timestamp) {
        match &mut self.agent {
            // An agent that cannot hear it now gets it as its next run.
            Some(agent) => agent.steer(&prompt, at),
            None => self.untold.push(prompt),
        }
    }

    pub(super) fn ask_to_wrap_up(&mut self, at: Timestamp) {
        let message = BlockId(format!("wrap-up-{}", self.record.run_id));
        if let Some(agent) = &mut self.agent {
            agent.steer(&Prompt { message, content: Content::from(WRAP_UP) }, at);
        }
    }

    /// Whether nothing more will come: the agent is gone, or there never was one and the run is to stop.
    pub(super) fn is_over(&self) -> bool {
        self.exited.is_some() || (self.agent.is_none() && self.stop.is_some())
    }

    pub(super) fn diagnostics(&self) -> Diagnostics {
        let exit = self.exited.as_ref();
        let (exit_code, signal) = match exit.and_then(|exit| exit.exit) {
            Some(warren_guest_api::Exit::Code(code)) => (Some(code), None),
            Some(warren_guest_api::Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let stderr_tail = exit.map(|exit| exit.stderr_tail.clone()).filter(|tail| !tail.is_empty());
        let own = Diagnostics { exit_code, signal, stderr_tail, ..Diagnostics::default() };
        let known = self.diagnostics.clone().unwrap_or(own);
        Diagnostics { last_lines: self.last_lines.clone(), ..known }
    }

    /// How it ended, all signs taken together. Why it was stopped counts more than what the agent made of it.
    pub(super) fn outcome(&self) -> Outcome {
        let (usage, diagnostics) = (self.usage.clone(), self.diagnostics());
        let failed = |code, message, recoverable| Outcome::Failed {
            code,
            message,
            recoverable,
            usage: usage.clone(),
            diagnostics: diagnostics.clone(),
        };
        match (&self.stop, &self.outcome) {
            (Some(Stop::Timeout), _) => {
                failed(ErrorCode::Timeout, "the run exceeded its time budget".to_owned(), true)
            }
            (Some(Stop::Disk(message)), _) => failed(ErrorCode::DiskLimit, message.clone(), true),
            (Some(Stop::Failed(code, message)), _) => failed(*code, message.clone(), true),
            (None, _) if self.is_over_budget => {
                let message = "the session's budget is spent; raise it, or start a new session";
                failed(ErrorCode::BudgetExceeded, message.to_owned(), true)
            }
            (Some(Stop::Interrupt { by, holds_queue }), _) => {
                Outcome::Interrupted { by: by.clone(), holds_queue: *holds_queue, usage, diagnostics }
            }
            (None, Some(TurnEnd::Completed { summary })) => {
                Outcome::Completed { usage, summary: summary.clone() }
            }
            (None, Some(TurnEnd::Failed { code, message, recoverable })) => {
                failed(*code, message.clone(), *recoverable)
            }
            (None, Some(TurnEnd::Interrupted)) => {
                Outcome::Interrupted { by: "agent".to_owned(), holds_queue: false, usage, diagnostics }
            }
            (None, None) => {
                failed(ErrorCode::AgentError, "the agent exited without finishing".to_owned(), true)
            }
        }
    }
}
