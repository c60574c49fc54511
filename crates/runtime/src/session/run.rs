//! Carries out a run: from its first entry to its last.

use std::{ops::ControlFlow, time::Duration};

use tokio::time::Instant;
use warren_agents::{Adapter, Launch, LaunchError, LaunchRequest, Prompt};
use warren_domain::{
    AgentProfile, BlobHash, Block, BlockId, Command, Diagnostics, Draft, ErrorCode, Event, EventBody, Head,
    OpenBlocks, Outcome, Rejection, RunId, RunOptions, RunStatus, Seq, SystemSubtype, Timestamp, Usage,
    Version,
};
use warren_models::{Budget, BudgetLimits, Charge};
use warren_store::{Change, ReadError, RunRecord, SessionUpdate};

use super::{
    SessionTask,
    accepted::check_model,
    active::{ActiveRun, Stop},
    agent::Agent,
    deadlines::NEVER,
    log_limit::{description, hint},
    requests::{Queue, merged},
    run_record::EndRecord as _,
    sandbox::{Ready, SandboxSlot},
    signal::SIGNALS,
    start::{HOME, WORKSPACE, chain, endpoints, find_adapter, load_profile, session_options},
    transcripts::load_state,
    versions::{Files, Prepared},
};
use crate::{
    api::SessionError,
    options::Program,
    providers::formats,
    recorder::{RecordError, for_each_event_after},
    spaces,
};

/// Timeout for model calls to report their end after the agent has exited.
const SETTLE: Duration = Duration::from_millis(500);

/// Page size when reading runs.
const RUNS_AT_ONCE: u32 = 500;

/// The state that an agent resumes from.
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

/// A refusal and its hint as one text, for the log.
fn with_hint(error: &SessionError) -> String {
    match error {
        SessionError::Invalid { message, hint: Some(hint), .. } => format!("{message}; hint: {hint}"),
        error => error.to_string(),
    }
}

/// Says which parts of its profile the agent has no place for.
fn ignored_note(
    adapter: &dyn Adapter,
    profile: &AgentProfile,
    run: RunId,
    timestamp: Timestamp,
) -> Option<Draft> {
    let ignored = warren_agents::ignored(adapter, profile);
    let block = Block::System {
        id: BlockId::from("ignored-parts-of-profile"),
        timestamp,
        subtype: SystemSubtype::Status,
        message: format!(
            "The agent `{}` does not support these parts of its profile and ignores them: {}.",
            adapter.agent_type(),
            ignored.join("; ")
        ),
        metadata: None,
    };
    (!ignored.is_empty()).then(|| Draft::of_run(run, EventBody::BlockComplete { block }))
}

/// Why an agent does not start, with what to do about it.
fn not_launched(error: &LaunchError) -> (ErrorCode, String) {
    let code = match error {
        LaunchError::NotInstalled { .. } | LaunchError::NoCommand { .. } => ErrorCode::AgentUnknown,
        LaunchError::NoEndpoint { .. } => ErrorCode::AgentError,
        LaunchError::CannotAsk { .. } | LaunchError::NoImages { .. } | LaunchError::NoEffect { .. } => {
            ErrorCode::BadRequest
        }
    };
    match error.hint() {
        Some(hint) => (code, format!("{error}; hint: {hint}")),
        None => (code, error.to_string()),
    }
}

impl SessionTask {
    /// Begins a run that is recorded as started.
    pub(super) async fn begin(&mut self, record: RunRecord) -> Result<(), RecordError> {
        let own = self.session_options().await.map_err(RecordError::Read)?;
        let options = merged(&own, &record.input.options);
        let budget = self.budget(&options);
        self.run = Some(ActiveRun::new(record, budget));
        self.recorder.size.begin_run();
        if self.is_leaving() {
            self.interrupt("shutdown", Queue::GoesOn);
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

    pub(super) async fn session_options(&self) -> Result<RunOptions, ReadError> {
        session_options(&self.identity, &self.shared).await
    }

    /// Begins the oldest waiting message, if nothing is going on.
    pub(super) async fn start_next(&mut self) -> Result<(), RecordError> {
        let next = self.recorder.state.queue.front().map(|waiting| waiting.run);
        let is_free = self.run.is_none() && !self.recorder.state.held && !self.is_leaving();
        let Some(run) = next.filter(|_| is_free) else { return Ok(()) };
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        let Some(mut record) = found.map_err(RecordError::Read)? else { return Ok(()) };
        if let Some(wanted) = self.stale_base(&record) {
            let latest = self.recorder.state.version;
            let message = Rejection::VersionConflict { wanted, latest }.to_string();
            self.refuse(run, ErrorCode::VersionConflict, message).await?;
            return Box::pin(self.start_next()).await;
        }
        if let Some(limit) = self.full_log().await? {
            let message = format!("{}; hint: {}", description(limit), hint(limit));
            self.refuse(run, ErrorCode::StorageLimit, message).await?;
            return Box::pin(self.start_next()).await;
        }
        self.stop_unlinked_sandbox().await?;
        if !self.settle_head(&record).await? {
            return Ok(());
        }
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

    /// The version the sender wanted to go on from, if it is not the latest any more.
    fn stale_base(&self, record: &RunRecord) -> Option<Version> {
        record.input.base_version.filter(|wanted| *wanted != self.recorder.state.version)
    }

    /// Starts the agent of the waiting run, now that the sandbox is ready.
    pub(super) async fn launch_agent(&mut self) -> Result<(), RecordError> {
        let Some(run) = self.run.as_ref().filter(|run| run.agent.is_none() && run.stop.is_none()) else {
            return Ok(());
        };
        let record = run.record.clone();
        let has_restarted = run.has_restarted;
        let started = self.start_agent(&record).await;
        // The agent has done nothing yet, so another sandbox does as well.
        if started.is_err() && !has_restarted && self.stop_sandbox_that_is_gone().await? {
            if let Some(run) = &mut self.run {
                run.has_restarted = true;
            }
            return self.start_sandbox(0).await;
        }
        if let Ok((_, Some(note))) = &started {
            self.recorder.record(vec![note.clone()], |_| Vec::new()).await?;
        }
        let now = self.shared.parts.env.now();
        let Some(run) = &mut self.run else { return Ok(()) };
        match started {
            Ok((mut agent, _)) => {
                let message = BlockId::of_message(record.run_id);
                agent.begin(&Prompt { message, content: record.input.content }, now);
                run.untold.drain(..).for_each(|prompt| agent.steer(&prompt, now));
                run.agent = Some(agent);
                run.silent_at = Some(Instant::now() + self.shared.options.silence);
            }
            Err((code, message)) => run.fail(code, message),
        }
        run.calls = self.sandbox.ready().map(|ready| ready.calls.clone());
        Ok(())
    }

    /// Starts the process. With it comes what a person should know of it, if it is the session's first.
    async fn start_agent(&self, record: &RunRecord) -> Result<(Agent, Option<Draft>), (ErrorCode, String)> {
        let agent_error = |message: String| (ErrorCode::AgentError, message);
        let ready = self.sandbox.ready().ok_or_else(|| agent_error("the sandbox has stopped".to_owned()))?;
        let adapter = find_adapter(&self.identity, &ready.programs)
            .map_err(|failure| (failure.code, failure.full_message()))?;
        let profile = load_profile(&self.identity, &self.shared, &ready.programs)
            .await
            .map_err(|failure| (failure.code, failure.full_message()))?;
        let own = self.session_options().await.map_err(|error| agent_error(chain(&error)))?;
        let options = merged(&own, &record.input.options);
        let chosen = options.model.as_deref().or(profile.model.as_deref());
        // Again: the key may be gone since the message was accepted.
        let checked = check_model(&self.shared, &self.identity.agent_type, chosen).await;
        checked.map_err(|error| (ErrorCode::BadRequest, with_hint(&error)))?;
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
            effort: options.effort,
            context_window: warren_models::context_window,
            profile: &profile,
            endpoints: &endpoints,
        };
        let accepted = adapter.accepts(request.permission_mode, Some(&record.input.content));
        let launch = accepted.and_then(|()| adapter.launch(&request));
        let mut launch = launch.map_err(|error| not_launched(&error))?;
        put_before_path(&mut launch, adapter.program(), ready);
        let budget = self.money(&options).await.map_err(|error| agent_error(chain(&error)))?;
        ready.calls.limit_to(record.run_id, budget);
        let of_subagents = profile.subagents.iter().filter_map(|subagent| subagent.model.as_ref());
        let named = options.model.iter().chain(&profile.model).chain(of_subagents);
        ready.calls.told_to_use(named.cloned().collect());
        let formats = chosen.map(|model| (model.to_owned(), formats(adapter, model)));
        ready.calls.answered_only_by(formats);
        ready.calls.grant_provider_tools(profile.provider_tools);
        // Calls are admitted before the agent can make one.
        ready.belong_to(Some(record.run_id));
        let (codec, sandbox) = (adapter.codec(&request), &ready.sandbox);
        let (sender, tasks) = (self.sender.clone(), &self.shared.parts.tasks);
        let agent = Agent::start(record.run_id, sandbox, launch, codec, sender, tasks).await;
        let agent = agent
            .map_err(|error| agent_error(format!("the agent could not be started: {}", chain(&error))))?;
        let is_first = !past.is_resumable;
        let note =
            is_first.then(|| ignored_note(adapter, &profile, record.run_id, self.shared.parts.env.now()));
        Ok((agent, note.flatten()))
    }

    /// The remaining budget of the session, if it has one.
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

    /// The transcripts an agent can resume from.
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
        self.look_at_outputs().await?;
        self.keep_manifest().await?;
        self.note_out_of_memory().await;
        let Some(run) = self.run.take() else { return Ok(()) };
        // What an agent started may live on in process groups of its own when it had no time to end it.
        let may_leave_something = run.killed || (run.agent.is_some() && !said_it_was_done);
        self.conclude(run).await?;
        if may_leave_something {
            self.end_unfinished("the agent exited before it finished").await?;
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

    async fn conclude(&mut self, mut run: ActiveRun) -> Result<(), RecordError> {
        let run_id = run.record.run_id;
        if !matches!(run.outcome(), Outcome::Completed { .. }) {
            run.last_lines = self.keep_last_lines(&run).await;
        }
        let drafts = run.blocks.cut_short(run_id);
        // Without an agent nothing can have changed.
        let files = if run.agent.is_some() { Files::Now } else { Files::AsBefore };
        self.finish(drafts, run.outcome(), run.record, files).await
    }

    /// Keeps what the agent said last. A run ends all the same when that cannot be kept.
    async fn keep_last_lines(&self, run: &ActiveRun) -> Option<BlobHash> {
        let lines = run.agent.as_ref()?.last_lines()?;
        let space = spaces::of_log(&self.identity.partition, self.identity.session);
        match self.shared.parts.store.blobs.put_blob(&space, lines).await {
            Ok(hash) => Some(hash),
            Err(error) => {
                let session = self.identity.session;
                tracing::error!(%session, error = &error as &dyn std::error::Error, "an agent's last lines were not kept");
                None
            }
        }
    }

    /// A run whose owner is gone: nobody can carry it on.
    pub(super) async fn fail_cut_run(&mut self, run: RunId) -> Result<(), RecordError> {
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        let Some(record) = found.map_err(RecordError::Read)? else { return Ok(()) };
        let (mut blocks, mut usage) = (OpenBlocks::default(), Usage::default());
        let log = self.shared.parts.store.log.clone();
        // What is before the entry that announced it is not the run's.
        let before = Seq(record.seq.0.saturating_sub(1));
        for_each_event_after(log.as_ref(), self.identity.session, before, |event: Event| {
            if event.run_id == Some(run) {
                blocks.apply(&event.conversation_id, &event.body);
                if let EventBody::ModelCalled(called) = &event.body {
                    usage.add(&called.usage);
                }
            }
            ControlFlow::Continue(())
        })
        .await?;
        let outcome = Outcome::Failed {
            code: ErrorCode::ServerRestarted,
            message: "the server stopped during the run".to_owned(),
            recoverable: true,
            usage,
            diagnostics: Diagnostics::default(),
        };
        self.finish(blocks.cut_short(run), outcome, record, Files::Now).await
    }

    /// Records the end of a run, its record and its version in one commit.
    async fn finish(
        &mut self,
        mut drafts: Vec<Draft>,
        outcome: Outcome,
        mut record: RunRecord,
        files: Files,
    ) -> Result<(), RecordError> {
        let run = record.run_id;
        let (outcome, mut prepared) = self.version_for(outcome, files).await;
        let files = prepared.as_ref().map(|prepared| prepared.files);
        let ending = self.recorder.state.decide(Command::Conclude { run, outcome, files })?;
        let settled = self.resolved_records(&ending).await?;
        drafts.extend(ending);
        if prepared.is_none() {
            // Whoever sees the run's end must not be told that all of it is in a version.
            self.show_dirty();
        }
        self.recorder
            .record(drafts, |events| {
                let Some(last) = events.last() else { return Vec::new() };
                record.end(last);
                let spent = record.usage.clone();
                let published =
                    prepared.as_mut().and_then(|prepared| prepared.spending(&spent).change(events));
                let activity =
                    SessionUpdate { last_activity: Some(last.timestamp), ..SessionUpdate::default() };
                [Change::PutRun(Box::new(record)), Change::UpdateSession(activity)]
                    .into_iter()
                    .chain(settled)
                    .chain(published)
                    .collect()
            })
            .await?;
        self.show_status();
        if self.recorder.state.head == Head::Clean {
            self.at_version().await;
        }
        self.shared.parts.live.runtime_changed(self.identity.session);
        Ok(())
    }

    /// What a run that ends so publishes. Without a version it was not carried out, whatever the agent says.
    async fn version_for(&self, outcome: Outcome, files: Files) -> (Outcome, Option<Prepared>) {
        if matches!(outcome, Outcome::Failed { .. }) {
            return (outcome, None);
        }
        let error = match self.prepare_version(files).await {
            Ok(prepared) => return (outcome, Some(prepared)),
            Err(error) => error,
        };
        let session = self.identity.session;
        tracing::error!(%session, error = &error as &dyn std::error::Error, "a run ends without its version");
        let outcome = match outcome {
            Outcome::Completed { usage, .. } => Outcome::Failed {
                code: ErrorCode::SandboxError,
                message: format!("the changes of the run could not be committed: {}", chain(&error)),
                recoverable: true,
                usage,
                diagnostics: Diagnostics::default(),
            },
            other => other,
        };
        (outcome, None)
    }
}
