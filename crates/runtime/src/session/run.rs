//! The run that is going on: from its first entry to its last.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use warren_agents::{Adapter, Launch, LaunchError, LaunchRequest, Prompt, TurnEnd};
use warren_domain::{
    BlockId, Command, Content, Diagnostics, Draft, ErrorCode, Event, EventBody, OpenBlocks, Outcome, RunId,
    RunOptions, RunStatus, Timestamp, Usage,
};
use warren_models::{Budget, BudgetLimits, Charge};
use warren_store::{Change, ReadError, RunRecord, SessionUpdate};

use super::{
    SessionTask,
    agent::{Agent, AgentExit},
    approvals::Waiting,
    calls::Calls,
    deadlines::NEVER,
    requests::merged,
    run_record::{EndRecord as _, version_of},
    sandbox::{Ready, SandboxSlot},
    signal::SIGNALS,
    start::{HOME, WORKSPACE, chain, endpoints, find_adapter, load_profile, session_options},
    transcripts::load_state,
};
use crate::{
    options::Program,
    recorder::{RecordError, for_each_event},
};

/// How long model calls may take to report their end after the agent is gone.
const SETTLE: Duration = Duration::from_millis(500);

/// How long an agent's last lines may take after its sandbox is gone.
const LAST_LINES: Duration = Duration::from_secs(2);

/// How many runs are read at a time.
const RUNS_AT_ONCE: u32 = 500;

/// What the agent is told when the soft budget is spent.
const WRAP_UP: &str = "Most of the time for this task is used up. Finish what you are doing, leave the files in a good state, and say what is done and what is not.";

/// A run that is going on.
pub(super) struct ActiveRun {
    pub(super) record: RunRecord,
    /// Calls of this run, to close those that stay open.
    pub(super) blocks: OpenBlocks,
    pub(super) usage: Usage,
    /// Its model calls, also after its sandbox is gone.
    calls: Option<Arc<Calls>>,
    /// There once the sandbox is.
    pub(super) agent: Option<Agent>,
    pub(super) exited: Option<AgentExit>,
    /// What the agent asked people and waits for.
    pub(super) asked: Vec<Waiting>,
    /// Messages that arrived before the agent could hear them.
    untold: Vec<Prompt>,
    /// Why it is being stopped, if it is. The first reason counts.
    stop: Option<Stop>,
    outcome: Option<TurnEnd>,
    /// A model call was refused because nothing may be spent any more.
    is_over_budget: bool,
    diagnostics: Option<Diagnostics>,
    pub(super) soft_at: Option<Instant>,
    pub(super) hard_at: Option<Instant>,
    pub(super) kill_at: Option<Instant>,
    settle_at: Option<Instant>,
    /// What calls that ended have said was taken up.
    has_settled: bool,
    /// Its sandbox is gone; after this nothing more is expected of the agent.
    pub(super) lost_at: Option<Instant>,
    /// The agent had to be killed. What it started may live on in other process groups, so its sandbox ends too.
    killed: bool,
}

/// Why a run is stopped.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// Someone wants it.
    Interrupt(String),
    /// Its time is up.
    Timeout,
    /// It used up its disk space.
    Disk(String),
    /// Something it needs is not there.
    Failed(ErrorCode, String),
}

impl ActiveRun {
    fn new(record: RunRecord, budget: (Option<Duration>, Duration)) -> Self {
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
            diagnostics: None,
            soft_at: budget.0.map(|soft| now + soft),
            hard_at: Some(now + budget.1),
            kill_at: None,
            settle_at: None,
            has_settled: false,
            lost_at: None,
            killed: false,
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let own = [self.soft_at, self.hard_at, self.kill_at, self.settle_at, self.lost_at];
        let asked = self.asked.iter().map(|waiting| waiting.expires_at);
        own.into_iter().flatten().chain(asked).min()
    }

    /// Asks the agent to stop; after `kill_at` it is killed.
    pub(super) fn stop(&mut self, why: Stop, kill_at: Instant) {
        if self.stop.is_none() {
            // Whatever fills the disk may not be the agent itself.
            self.killed |= matches!(why, Stop::Disk(_));
            self.stop = Some(why);
            self.kill_at = Some(kill_at);
            self.soft_at = None;
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
            (ErrorCode::SandboxError, "the sandbox ended during the run")
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

    /// What an agent says of its usage, with the price that was metered: agents know none.
    pub(super) fn priced(&self, mut body: EventBody) -> EventBody {
        if let EventBody::MetadataUpdate { usage, cost_usd, .. } = &mut body {
            *cost_usd = self.usage.cost_usd;
            usage.cost_usd = self.usage.cost_usd;
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
    pub(super) fn tell(&mut self, run: RunId, content: Content, at: Timestamp) {
        let prompt = Prompt { message: BlockId::of_message(run), content };
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
    fn is_over(&self) -> bool {
        self.exited.is_some() || (self.agent.is_none() && self.stop.is_some())
    }

    fn diagnostics(&self) -> Diagnostics {
        let exit = self.exited.as_ref();
        let (exit_code, signal) = match exit.and_then(|exit| exit.exit) {
            Some(warren_guest_api::Exit::Code(code)) => (Some(code), None),
            Some(warren_guest_api::Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let stderr_tail = exit.map(|exit| exit.stderr_tail.clone()).filter(|tail| !tail.is_empty());
        self.diagnostics.clone().unwrap_or(Diagnostics {
            exit_code,
            signal,
            stderr_tail,
            ..Diagnostics::default()
        })
    }

    /// How it ended, all signs taken together. Why it was stopped counts more than what the agent made of it.
    fn outcome(&self) -> Outcome {
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
                failed(ErrorCode::Timeout, "the run's time is used up".to_owned(), true)
            }
            (Some(Stop::Disk(message)), _) => failed(ErrorCode::DiskLimit, message.clone(), true),
            (Some(Stop::Failed(code, message)), _) => failed(*code, message.clone(), true),
            (None, _) if self.is_over_budget => {
                let message = "the session's budget is spent; raise it, or begin a new session";
                failed(ErrorCode::BudgetExceeded, message.to_owned(), true)
            }
            (Some(Stop::Interrupt(by)), _) => Outcome::Interrupted { by: by.clone(), usage, diagnostics },
            (None, Some(TurnEnd::Completed { summary })) => {
                Outcome::Completed { usage, summary: summary.clone() }
            }
            (None, Some(TurnEnd::Failed { code, message, recoverable })) => {
                failed(*code, message.clone(), *recoverable)
            }
            (None, Some(TurnEnd::Interrupted)) => {
                Outcome::Interrupted { by: "agent".to_owned(), usage, diagnostics }
            }
            (None, None) => {
                failed(ErrorCode::AgentError, "the agent ended without finishing".to_owned(), true)
            }
        }
    }
}

/// What an agent can go on from.
struct Past {
    state: Option<serde_json::Value>,
    is_resumable: bool,
}

/// What an agent's program brings along is found before what the machine has.
fn put_before_path(launch: &mut Launch, program: Option<&str>, ready: &Ready) {
    let own = ready.programs.iter().find(|own| Some(own.name.as_str()) == program);
    let Some(own) = own.filter(|own| !own.path.is_empty()) else { return };
    let rest = launch.env.get("PATH").or_else(|| ready.sandbox.env.get("PATH")).cloned();
    let all: Vec<String> = own.path.iter().cloned().chain(rest).collect();
    launch.env.insert("PATH".to_owned(), all.join(":"));
}

/// Why an agent does not start, with what to do about it.
fn not_launched(error: &LaunchError) -> (ErrorCode, String) {
    let code = match error {
        LaunchError::NotInstalled { .. } | LaunchError::NoCommand { .. } => ErrorCode::AgentUnknown,
        LaunchError::NoEndpoint { .. } => ErrorCode::AgentError,
    };
    match error.hint() {
        Some(hint) => (code, format!("{error}; hint: {hint}")),
        None => (code, error.to_string()),
    }
}

impl SessionTask {
    /// Begins a run that is recorded as started.
    pub(super) async fn begin(&mut self, record: RunRecord) -> Result<(), RecordError> {
        let options = merged(&self.session_options().await, &record.input.options);
        let budget = self.budget(&options);
        self.run = Some(ActiveRun::new(record, budget));
        if self.is_leaving() {
            self.interrupt("shutdown");
            return Ok(());
        }
        match &self.sandbox {
            SandboxSlot::Ready(_) => self.launch_agent().await,
            SandboxSlot::Starting(_) => Ok(()),
            SandboxSlot::None => self.start_sandbox(0).await,
        }
    }

    fn budget(&self, options: &RunOptions) -> (Option<Duration>, Duration) {
        let ours = &self.shared.options;
        match options.time_budget {
            Some(budget) => {
                // No clock counts to the largest number a caller can write.
                let seconds = |seconds| Duration::from_secs(seconds).min(NEVER);
                let hard = seconds(budget.hard_seconds);
                (budget.soft_seconds.map(seconds).or(Some(hard.mul_f64(ours.soft_share))), hard)
            }
            None => (Some(ours.run_budget.mul_f64(ours.soft_share)), ours.run_budget),
        }
    }

    async fn session_options(&self) -> RunOptions {
        session_options(&self.identity, &self.shared).await
    }

    /// Begins the oldest waiting message, if nothing is going on.
    pub(super) async fn start_next(&mut self) -> Result<(), RecordError> {
        let next = self.recorder.state.queue.front().map(|waiting| waiting.run);
        let Some(run) = next.filter(|_| self.run.is_none() && !self.is_leaving()) else { return Ok(()) };
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        let Some(mut record) = found.map_err(RecordError::Read)? else { return Ok(()) };
        let mut drafts = self.recorder.state.decide(Command::StartNext)?;
        for draft in &mut drafts {
            if let EventBody::RunStarted { input, .. } = &mut draft.body {
                // Whole: the entry that queued it may carry only the first part of a long message.
                input.clone_from(&record.input.content);
            }
        }
        let events = self
            .recorder
            .record(drafts, |events| {
                let Some(event) = events.first() else { return Vec::new() };
                record.status = RunStatus::Running;
                record.started_at = Some(event.timestamp);
                if let EventBody::RunStarted { base_version, .. } = &event.body {
                    record.base_version = Some(*base_version);
                }
                vec![Change::PutRun(Box::new(record.clone()))]
            })
            .await?;
        if events.is_empty() { Ok(()) } else { self.begin(record).await }
    }

    /// Starts the agent of the waiting run, now that the sandbox is ready.
    pub(super) async fn launch_agent(&mut self) -> Result<(), RecordError> {
        let Some(run) = self.run.as_ref().filter(|run| run.agent.is_none() && run.stop.is_none()) else {
            return Ok(());
        };
        let record = run.record.clone();
        let started = self.start_agent(&record).await;
        let now = self.shared.parts.env.now();
        let Some(run) = &mut self.run else { return Ok(()) };
        match started {
            Ok(mut agent) => {
                let message = BlockId::of_message(record.run_id);
                agent.begin(&Prompt { message, content: record.input.content }, now);
                run.untold.drain(..).for_each(|prompt| agent.steer(&prompt, now));
                run.agent = Some(agent);
            }
            Err((code, message)) => run.fail(code, message),
        }
        run.calls = self.sandbox.ready().map(|ready| ready.calls.clone());
        Ok(())
    }

    async fn start_agent(&self, record: &RunRecord) -> Result<Agent, (ErrorCode, String)> {
        let agent_error = |message: String| (ErrorCode::AgentError, message);
        let ready = self.sandbox.ready().ok_or_else(|| agent_error("the sandbox is gone".to_owned()))?;
        let adapter =
            find_adapter(&self.identity).map_err(|failure| (failure.code, failure.full_message()))?;
        let profile = load_profile(&self.identity, &self.shared)
            .await
            .map_err(|failure| (failure.code, failure.full_message()))?;
        let options = merged(&self.session_options().await, &record.input.options);
        let past = self.past(adapter).await.map_err(|error| agent_error(chain(&error)))?;
        let endpoints = endpoints();
        let named = |program: &Program| (program.name.clone(), program.argv.clone());
        let programs = ready.programs.iter().map(named).collect();
        let request = LaunchRequest {
            session: self.identity.session,
            workspace: WORKSPACE,
            home: HOME,
            resume: past.is_resumable,
            state: past.state.as_ref(),
            permission_mode: options.permission_mode.unwrap_or_default(),
            programs: &programs,
            model: options.model.as_deref(),
            profile: &profile,
            endpoints: &endpoints,
        };
        let mut launch = adapter.launch(&request).map_err(|error| not_launched(&error))?;
        put_before_path(&mut launch, adapter.program(), ready);
        let budget = self.money(&options).await.map_err(|error| agent_error(chain(&error)))?;
        ready.calls.limit_to(budget);
        // Calls are admitted before the agent can make one.
        ready.belong_to(Some(record.run_id));
        let (codec, sandbox) = (adapter.codec(&request), &ready.sandbox);
        Agent::start(record.run_id, sandbox, launch, codec, self.sender.clone(), &self.shared.parts.tasks)
            .await
            .map_err(|error| agent_error(format!("the agent could not be started: {}", chain(&error))))
    }

    /// What the session may still spend, if that is limited.
    async fn money(&self, options: &RunOptions) -> Result<Option<Budget>, ReadError> {
        let Some(limits) = options.budget else { return Ok(None) };
        let mut spent = Charge::default();
        let mut before = None;
        loop {
            let page = self.shared.parts.store.runs.runs(self.identity.session, before, RUNS_AT_ONCE).await?;
            for run in &page.items {
                spent.cost_usd += run.usage.cost_usd;
                spent.tokens += run.usage.total_tokens;
            }
            before = page.items.last().map(|run| run.run_id);
            if !page.more {
                let limits = BudgetLimits { cost_usd: limits.cost_usd, tokens: limits.tokens };
                return Ok(Some(Budget::new(limits, spent)));
            }
        }
    }

    /// What an agent can go on from.
    async fn past(&self, adapter: &dyn Adapter) -> Result<Past, ReadError> {
        let (session, transcripts) = (self.identity.session, &self.shared.parts.store.transcripts);
        let state = load_state(session, transcripts.as_ref()).await?;
        let main = transcripts.transcript(session, "").await?.unwrap_or_default();
        let is_resumable = state.is_some() || adapter.transcripts(session).is_resumable(&main);
        Ok(Past { state, is_resumable })
    }

    /// Ends the run in the log, once nothing more can come from its agent.
    pub(super) async fn conclude_if_over(&mut self) -> Result<(), RecordError> {
        if !self.run.as_ref().is_some_and(ActiveRun::is_over) || self.is_settling() {
            return Ok(());
        }
        let said_it_was_done = self.run.as_ref().is_some_and(|run| run.outcome.is_some());
        self.on_end_of_output().await?;
        if let Some(ready) = self.sandbox.ready() {
            ready.belong_to(None);
            ready.transcripts.flush().await;
        }
        self.rescan().await?;
        self.note_out_of_memory().await;
        let Some(run) = self.run.take() else { return Ok(()) };
        // What an agent started may live on in process groups of its own when it had no time to end it.
        let may_leave_something = run.killed || (run.agent.is_some() && !said_it_was_done);
        self.conclude(run).await?;
        if may_leave_something {
            self.stop_sandbox("the agent ended before it was done").await?;
        }
        self.deadlines.touch();
        self.start_next().await
    }

    /// Waits a little for the last model calls to say what they cost, then for what they said to be recorded.
    fn is_settling(&mut self) -> bool {
        let Some(run) = &mut self.run else { return false };
        let is_open = run.calls.as_ref().is_some_and(|calls| calls.open() > 0);
        if is_open && Instant::now() < *run.settle_at.get_or_insert_with(|| Instant::now() + SETTLE) {
            return true;
        }
        // A call that ended has sent its report already. Once: a watcher that is never quiet must not put the end off.
        if !std::mem::replace(&mut run.has_settled, true) {
            let waiting = std::iter::from_fn(|| self.signals.try_recv().ok());
            self.held.extend(waiting.take(SIGNALS));
        }
        !self.held.is_empty()
    }

    /// An agent that was killed may have been killed for its memory.
    async fn note_out_of_memory(&mut self) {
        let Some(ready) = self.sandbox.ready() else { return };
        let stats = ready.sandbox.stats().await.ok();
        let killed = stats.is_some_and(|stats| stats.oom_kills > 0);
        let Some(run) = self.run.as_mut().filter(|run| killed && run.stop.is_none()) else { return };
        if run.diagnostics().signal == Some(9) {
            run.diagnostics = Some(Diagnostics { out_of_memory: true, ..run.diagnostics() });
            run.stop =
                Some(Stop::Failed(ErrorCode::OutOfMemory, "the agent was killed: out of memory".to_owned()));
        }
    }

    async fn conclude(&mut self, run: ActiveRun) -> Result<(), RecordError> {
        let run_id = run.record.run_id;
        let drafts = run.blocks.cut_short(run_id);
        self.finish(drafts, run.outcome(), run.record).await
    }

    /// A run whose owner is gone: nobody can carry it on.
    pub(super) async fn fail_cut_run(&mut self, run: RunId) -> Result<(), RecordError> {
        let (mut blocks, mut usage) = (OpenBlocks::default(), Usage::default());
        let log = self.shared.parts.store.log.clone();
        for_each_event(log.as_ref(), self.identity.session, |event: Event| {
            if event.run_id == Some(run) {
                blocks.apply(&event.conversation_id, &event.body);
                if let EventBody::ModelCalled(called) = &event.body {
                    usage.add(&called.usage);
                }
            }
        })
        .await?;
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        let Some(record) = found.map_err(RecordError::Read)? else { return Ok(()) };
        let outcome = Outcome::Failed {
            code: ErrorCode::ServerRestarted,
            message: "the server stopped during the run".to_owned(),
            recoverable: true,
            usage,
            diagnostics: Diagnostics::default(),
        };
        self.finish(blocks.cut_short(run), outcome, record).await
    }

    /// Records the end of a run, its record and its version in one commit.
    async fn finish(
        &mut self,
        mut drafts: Vec<Draft>,
        outcome: Outcome,
        mut record: RunRecord,
    ) -> Result<(), RecordError> {
        let run = record.run_id;
        let ending = self.recorder.state.decide(Command::Conclude { run, outcome })?;
        let settled = self.resolved_records(&ending).await?;
        drafts.extend(ending);
        let base = self.recorder.state.version;
        let (session, store) = (self.identity.session, &self.shared.parts.store);
        let transcripts = store.transcripts.transcripts(session).await.map_err(RecordError::Read)?;
        self.recorder
            .record(drafts, |events| {
                let Some(last) = events.last() else { return Vec::new() };
                record.end(last);
                let published = record.version.map(|version| {
                    let cause = if record.status == RunStatus::Completed { "run" } else { "interrupt" };
                    Change::PutVersion(Box::new(version_of(&record, version, base, cause, last, transcripts)))
                });
                let activity =
                    SessionUpdate { last_activity: Some(last.timestamp), ..SessionUpdate::default() };
                [Change::PutRun(Box::new(record)), Change::UpdateSession(activity)]
                    .into_iter()
                    .chain(settled)
                    .chain(published)
                    .collect()
            })
            .await?;
        self.shared.parts.live.runtime_changed(session);
        Ok(())
    }
}
