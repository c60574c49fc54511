//! Requests to a session.

use tokio::sync::oneshot;
use warren_agents::Prompt;
use warren_domain::{
    ApprovalId, ApprovalResolution, BlockId, Command, Content, ErrorCode, EventBody, Fence, Rejection, RunId,
    RunInput, RunOptions, RunStatus, SessionChanges, Start, Version, WhenBusy,
};
use warren_store::{Change, CommitError, Key, RunRecord, SessionUpdate};

use super::{Errand, Imported, Next, SessionTask, Visit, active::Stop, sandbox::SandboxSlot};
use crate::{
    api::{Force, NewMessage, OnConflict, RunChange, SandboxReport, Sent, SessionError},
    recorder::RecordError,
};

/// The channel for an answer. If the caller has gone, a failed send is ignored.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, SessionError>>;

/// Requests to a session.
pub(crate) enum Request {
    Send(Box<NewMessage>, Reply<Sent>),
    Interrupt(String, Reply<Option<RunId>>),
    Update(SessionChanges, Reply<()>),
    Requeue(RunId, RunChange, Reply<()>),
    Drop(RunId, String, Reply<()>),
    Resolve(Box<ApprovalResolution>, Reply<()>),
    /// Takes back the rule that the answer to an approval granted; who says so.
    WithdrawRule(ApprovalId, String, Reply<()>),
    Import(Box<Imported>, Reply<()>),
    Leave(Leave, Reply<()>),
    StartSandbox(Reply<()>),
    Errand(Errand),
    Report(Reply<SandboxReport>),
    /// A request about the contents of its sandbox.
    Visit(Visit),
    /// Gives the running agent a message that another run's log has. Nothing is queued: only replays do that.
    Tell(Prompt, Reply<()>),
    /// Another server has taken over the lease with this fence.
    Lost(Fence),
    /// Only to have an owner: one that picks up what an earlier one left.
    PickUp(Reply<()>),
}

/// Why a session is unloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Only its sandbox ends.
    Stop(Force),
    /// Out of memory; its sandbox ends.
    Unload(Force),
    /// It takes no more messages; its sandbox ends.
    End(String),
    /// It is erased.
    Erase,
    /// The server stops.
    Drain,
}

/// What happens to queued messages after a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// They wait for a person.
    Held,
    /// The next one starts.
    GoesOn,
}

/// Why a request failed.
pub(super) enum Failure {
    /// It was refused; all is well.
    Refused(SessionError),
    /// The log cannot be written: the session stops.
    Fatal(RecordError),
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Rejected(rejection) => Failure::Refused(rejection.into()),
            other => Failure::Fatal(other),
        }
    }
}

impl Request {
    /// Answers with an error. A caller that is gone needs no answer.
    pub(crate) fn refuse(self, error: SessionError) {
        match self {
            Request::Send(_, reply) => drop(reply.send(Err(error))),
            Request::Interrupt(_, reply) => drop(reply.send(Err(error))),
            Request::Report(reply) => drop(reply.send(Err(error))),
            Request::Errand(errand) => errand.refuse(error),
            // Nobody waits for an answer.
            Request::Lost(_) => {}
            Request::Visit(visit) => visit.refuse(error),
            Request::Update(_, reply)
            | Request::Requeue(_, _, reply)
            | Request::Drop(_, _, reply)
            | Request::Resolve(_, reply)
            | Request::WithdrawRule(_, _, reply)
            | Request::Import(_, reply)
            | Request::Leave(_, reply)
            | Request::StartSandbox(reply)
            | Request::Tell(_, reply)
            | Request::PickUp(reply) => drop(reply.send(Err(error))),
        }
    }
}

impl Leave {
    /// The reason in the log.
    fn word(&self) -> &'static str {
        match self {
            Leave::Stop(_) => "stopped manually",
            Leave::Unload(_) => "unload",
            Leave::Drain => "shutdown",
            Leave::End(_) => "end",
            Leave::Erase => "erase",
        }
    }

    /// Of two reasons to go, the one with the higher number is carried out: it does what the other asks for, and more.
    fn finality(&self) -> u8 {
        match self {
            Leave::Stop(_) => 0,
            Leave::Unload(_) => 1,
            Leave::Drain => 2,
            Leave::End(_) => 3,
            Leave::Erase => 4,
        }
    }
}

impl SessionTask {
    pub(super) async fn on_request(&mut self, request: Request) -> Result<(), RecordError> {
        // Looking at it is no work: else whoever polls would keep it for ever.
        if !matches!(request, Request::Report(_) | Request::Lost(_) | Request::Visit(Visit::Reach(_))) {
            self.deadlines.touch();
        }
        match request {
            Request::Lost(fence) if fence == self.recorder.fence => Err(RecordError::Lost),
            // Of an earlier owner.
            Request::Lost(_) => Ok(()),
            Request::Send(message, reply) => {
                let result = self.on_send(*message).await;
                answer(reply, result)
            }
            Request::Interrupt(by, reply) => {
                let run = self.interrupt(&by, Queue::Held);
                answer(reply, Ok(run))
            }
            Request::Update(changes, reply) => {
                let result = self.on_update(changes).await;
                answer(reply, result)
            }
            Request::Requeue(run, change, reply) => {
                let result = self.on_requeue(run, change).await;
                answer(reply, result)
            }
            Request::Drop(run, by, reply) => {
                let result = self.on_drop(run, by).await;
                answer(reply, result)
            }
            Request::Resolve(resolution, reply) => {
                let result = self.on_resolve(*resolution).await;
                answer(reply, result)
            }
            Request::WithdrawRule(approval, by, reply) => {
                let result = self.on_withdraw_rule(approval, by).await;
                answer(reply, result)
            }
            Request::Import(imported, reply) => {
                let result = self.on_import(*imported).await;
                answer(reply, result)
            }
            Request::Leave(how, reply) => {
                self.on_leave(how, reply);
                Ok(())
            }
            Request::StartSandbox(reply) => self.on_start_sandbox(reply).await,
            Request::Errand(errand) => {
                self.errands.push_back(errand);
                self.run_errands().await
            }
            Request::Visit(visit) => self.on_visit(visit).await,
            Request::Report(reply) => {
                let report = self.report().await;
                answer(reply, Ok(report))
            }
            Request::Tell(prompt, reply) => {
                self.tell(prompt);
                answer(reply, Ok(()))
            }
            // Done before the first request is looked at.
            Request::PickUp(reply) => answer(reply, Ok(())),
        }
    }

    async fn on_send(&mut self, message: NewMessage) -> Result<Sent, Failure> {
        let request = message.digest();
        if let Some(known) = self.known_key(&message).await? {
            return if known.request == request {
                Ok(Sent { run: known.run_id, seq: known.seq, retries: 0 })
            } else {
                Err(Failure::Refused(SessionError::KeyMismatch))
            };
        }
        if self.leaving.as_ref().is_some_and(|(how, _)| !matches!(how, Leave::Stop(_))) {
            return Err(Failure::Refused(SessionError::Draining));
        }
        self.check_accepted(message.options.permission_mode, Some(&message.content))?;
        self.check_answerable(&message.options).await?;
        self.check_log_room().await?;
        let run = self.shared.parts.env.run_id();
        let title = self.title_from(&message.content).await?;
        let command = Command::Send {
            run,
            content: message.content.clone(),
            when_busy: message.when_busy,
            base_version: message.base_version,
            start: self.start_of_next(message.base_version).await?,
            title: title.clone(),
        };
        let input = RunInput {
            content: message.content.clone(),
            options: message.options.clone(),
            // Whoever tries again takes whatever is the latest by then.
            base_version: message.base_version.filter(|_| message.on_conflict == OnConflict::Reject),
            from: message.from,
        };
        let mut record = self.new_run(run, input);
        let mut key = message.idempotency_key.clone().map(|key| self.new_key(key, run, request));
        let events = self
            .recorder
            .carry_out(command, |events| {
                record.announce(events);
                let update = SessionUpdate {
                    name: title,
                    last_activity: Some(record.created_at),
                    ..SessionUpdate::default()
                };
                let mut changes =
                    vec![Change::PutRun(Box::new(record.clone())), Change::UpdateSession(update)];
                changes.extend(message.count.clone().map(Change::Count));
                changes.extend(key.take().map(|key| Change::PutKey(Key { seq: record.seq, ..key })));
                changes
            })
            .await?;
        let sent = Sent { run, seq: record.seq, retries: 0 };
        match events.first().map(|event| &event.body) {
            Some(EventBody::RunStarted { .. }) => self.begin(record).await?,
            _ if self.run.is_none() => self.start_next().await?,
            _ if message.when_busy == WhenBusy::Steer => {
                self.tell(Prompt { message: BlockId::of_message(run), content: message.content });
            }
            _ => {}
        }
        Ok(sent)
    }

    /// A name for a session that has none, from its first message.
    async fn title_from(&self, content: &Content) -> Result<Option<String>, RecordError> {
        let record = self.shared.parts.store.sessions.session(self.identity.session).await;
        let is_named = record.map_err(RecordError::Read)?.is_none_or(|record| record.name.is_some());
        Ok(if is_named { None } else { content.title() })
    }

    /// A run begins from what is known; where that has to be looked at first, its message waits for it.
    async fn start_of_next(&self, base: Option<Version>) -> Result<Start, RecordError> {
        let is_known = !self.awaits_template(base) && self.has_looked().await.map_err(RecordError::Read)?;
        Ok(if is_known { Start::AtOnce } else { Start::Later })
    }

    async fn known_key(&self, message: &NewMessage) -> Result<Option<Key>, Failure> {
        let Some(key) = &message.idempotency_key else { return Ok(None) };
        let now = self.shared.parts.env.now();
        let found = self.shared.parts.store.runs.key(self.identity.session, key, now).await;
        found.map_err(|error| Failure::Refused(SessionError::internal("look up the idempotency key", error)))
    }

    fn new_key(&self, key: String, run_id: RunId, request: warren_domain::BlobHash) -> Key {
        let kept = i64::try_from(self.shared.options.keys.as_millis()).unwrap_or(i64::MAX);
        let expires_at = self.shared.parts.env.now().plus_millis(kept);
        Key { key, request, run_id, seq: self.recorder.head, expires_at }
    }

    fn new_run(&self, run_id: RunId, input: RunInput) -> RunRecord {
        RunRecord {
            run_id,
            session_id: self.identity.session,
            status: RunStatus::Queued,
            input,
            created_at: self.shared.parts.env.now(),
            started_at: None,
            ended_at: None,
            base_version: None,
            version: None,
            seq: self.recorder.head.next(),
            usage: warren_domain::Usage::default(),
            error: None,
        }
    }

    async fn on_update(&mut self, changes: SessionChanges) -> Result<(), Failure> {
        let options = changes.options.clone().and_then(|it| serde_json::from_value::<RunOptions>(it).ok());
        self.check_accepted(options.as_ref().and_then(|options| options.permission_mode), None)?;
        if let Some(options) = options {
            self.check_new_options(&options).await?;
        }
        let now = self.shared.parts.env.now();
        let update = SessionUpdate {
            name: changes.name.clone(),
            metadata: changes.metadata.clone(),
            options: changes.options.clone(),
            last_activity: Some(now),
        };
        self.recorder.carry_out(Command::Update(changes), |_| vec![Change::UpdateSession(update)]).await?;
        self.shared.parts.live.runtime_changed(self.identity.session);
        // Messages that were held may go on now.
        Ok(self.start_next().await?)
    }

    async fn on_requeue(&mut self, run: RunId, change: RunChange) -> Result<(), Failure> {
        let RunChange { content, position } = change;
        let mut record = self.queued_record(run).await?;
        self.check_accepted(record.input.options.permission_mode, content.as_ref())?;
        if let Some(content) = &content {
            record.input.content = content.clone();
        }
        let changes = vec![Change::PutRun(Box::new(record))];
        self.recorder.carry_out(Command::Requeue { run, content, position }, |_| changes).await?;
        Ok(())
    }

    async fn on_drop(&mut self, run: RunId, by: String) -> Result<(), Failure> {
        let mut record = self.queued_record(run).await?;
        record.status = RunStatus::Interrupted;
        record.ended_at = Some(self.shared.parts.env.now());
        let changes = vec![Change::PutRun(Box::new(record))];
        self.recorder.carry_out(Command::Drop { run, by }, |_| changes).await?;
        Ok(())
    }

    async fn queued_record(&self, run: RunId) -> Result<RunRecord, Failure> {
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        let found = found.map_err(|error| Failure::Refused(SessionError::internal("read the run", error)))?;
        match found {
            Some(record) if record.status == RunStatus::Queued => Ok(record),
            Some(_) => Err(Failure::Refused(Rejection::NotQueued(run).into())),
            None => Err(Failure::Refused(SessionError::not_found("run", run))),
        }
    }

    /// Gives a message to the running agent. One that waits and is not taken up runs afterwards.
    fn tell(&mut self, prompt: Prompt) {
        let now = self.shared.parts.env.now();
        if let Some(active) = &mut self.run {
            active.tell(prompt, now);
        }
    }

    /// Stops the run that is going on, if there is one.
    pub(super) fn interrupt(&mut self, by: &str, queue: Queue) -> Option<RunId> {
        let patience = self.shared.options.stop_patience;
        let run = self.run.as_mut()?;
        let stop = Stop::Interrupt { by: by.to_owned(), holds_queue: queue == Queue::Held };
        run.stop(stop, tokio::time::Instant::now() + patience);
        Some(run.record.run_id)
    }

    fn on_leave(&mut self, how: Leave, reply: Reply<()>) {
        let yields = matches!(how, Leave::Unload(Force::No) | Leave::Stop(Force::No));
        if yields && self.run.is_some() {
            let hint = "wait for the run to end, interrupt it, or send `{\"force\": true}`";
            drop(reply.send(Err(busy(hint))));
            return;
        }
        let queue = if matches!(how, Leave::Stop(_)) { Queue::Held } else { Queue::GoesOn };
        self.interrupt(how.word(), queue);
        if let (Leave::Stop(_), Some(run)) = (&how, &mut self.run) {
            run.kill();
        }
        match &mut self.leaving {
            Some((planned, replies)) => {
                replies.push(reply);
                if how.finality() > planned.finality() {
                    *planned = how;
                }
            }
            None => self.leaving = Some((how, vec![reply])),
        }
    }

    /// Goes, now that no run is in the way.
    pub(super) async fn leave(&mut self) -> Result<Next, RecordError> {
        let Some((how, replies)) = self.leaving.take() else { return Ok(Next::Continue) };
        if how != Leave::Erase
            && let Err(error) = self.keep_before_end().await?
            // A server that stops takes its sandboxes with it; what is in no version stays where it is.
            && how != Leave::Drain
        {
            replies.into_iter().for_each(|reply| drop(reply.send(Err(error.again()))));
            self.start_next().await?;
            return Ok(Next::Continue);
        }
        self.stop_sandbox(how.word()).await?;
        let mut outcome = Ok(());
        let next = match how {
            Leave::Stop(_) => {
                self.start_next().await?;
                self.show_status();
                Next::Continue
            }
            Leave::End(reason) => {
                self.end(reason).await?;
                self.show_status();
                Next::Continue
            }
            Leave::Erase => {
                // While nobody else can own it: a message that comes now must not bring it back.
                let erased = self.shared.parts.live.erase(self.identity.session, self.identity.fence).await;
                erased.map_err(RecordError::Write)?;
                Next::Gone
            }
            Leave::Unload(_) | Leave::Drain => {
                outcome = self.release().await;
                Next::Gone
            }
        };
        for reply in replies {
            drop(reply.send(outcome.as_ref().copied().map_err(SessionError::again)));
        }
        Ok(next)
    }

    /// Takes no more messages, and drops those that wait. Ending twice is not a mistake.
    async fn end(&mut self, reason: String) -> Result<(), RecordError> {
        let mut dropped = Vec::new();
        for waiting in &self.recorder.state.queue {
            dropped.extend(self.never_started(waiting.run, RunStatus::Interrupted).await?);
        }
        match self.recorder.carry_out(Command::End { reason }, |_| dropped).await {
            Ok(_) | Err(RecordError::Rejected(Rejection::Ended)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives the lease back. The caller must know if that fails: this server renews all leases under its name.
    async fn release(&self) -> Result<(), SessionError> {
        let (session, fence) = (self.identity.session, self.recorder.fence);
        let node = &self.shared.options.node;
        let released = self.shared.parts.store.leases.release(session, node, fence).await;
        released.map_err(|error| {
            tracing::warn!(%session, error = &error as &dyn std::error::Error, "failed to give a lease back");
            SessionError::internal("give the lease back", error)
        })
    }

    async fn on_start_sandbox(&mut self, reply: Reply<()>) -> Result<(), RecordError> {
        if matches!(self.sandbox, SandboxSlot::None) {
            self.start_sandbox(0).await?;
        }
        match &mut self.sandbox {
            SandboxSlot::Starting(starting) => starting.waiting.push(reply),
            SandboxSlot::Ready(_) => drop(reply.send(Ok(()))),
            SandboxSlot::None => drop(reply.send(Err(SessionError::Invalid {
                code: ErrorCode::SandboxError,
                message: "the sandbox could not be started".to_owned(),
                hint: Some("see `warren doctor`".to_owned()),
            }))),
        }
        Ok(())
    }
}

/// Defaults of the session under what the message says.
pub(super) fn merged(session: &RunOptions, message: &RunOptions) -> RunOptions {
    RunOptions {
        model: message.model.clone().or_else(|| session.model.clone()),
        time_budget: message.time_budget.or(session.time_budget),
        permission_mode: message.permission_mode.or(session.permission_mode),
        effort: message.effort.or(session.effort),
        // The session's own: a message cannot give itself more.
        budget: session.budget,
    }
}

/// A run is in the way of something that is no message, and so cannot be queued behind it.
pub(crate) fn busy(hint: &str) -> SessionError {
    let (code, message) = (Rejection::Busy.code(), Rejection::Busy.to_string());
    SessionError::Invalid { code, message, hint: Some(hint.to_owned()) }
}

pub(super) fn answer<T>(reply: Reply<T>, result: Result<T, Failure>) -> Result<(), RecordError> {
    match result {
        Ok(value) => {
            drop(reply.send(Ok(value)));
            Ok(())
        }
        Err(Failure::Refused(error)) => {
            drop(reply.send(Err(error)));
            Ok(())
        }
        // Two messages with one new key raced; the other won. Nothing of this one happened.
        Err(Failure::Fatal(RecordError::Commit(CommitError::KeyTaken(_)))) => {
            drop(reply.send(Err(SessionError::KeyMismatch)));
            Ok(())
        }
        // Nothing of it happened.
        Err(Failure::Fatal(RecordError::Commit(CommitError::LimitReached { most }))) => {
            drop(reply.send(Err(SessionError::Invalid {
                code: ErrorCode::MessageLimit,
                message: format!("the plan's limit of {most} messages is reached"),
                hint: Some("`GET /api/build/limit` says when the count restarts".to_owned()),
            })));
            Ok(())
        }
        // Whoever asked finds out who has it now.
        Err(Failure::Fatal(error)) if error.is_not_ours() => {
            drop(reply);
            Err(error)
        }
        Err(Failure::Fatal(error)) => {
            drop(reply.send(Err(SessionError::Internal {
                doing: "write to the session's log",
                source: error.to_string().into(),
            })));
            Err(error)
        }
    }
}

/// Fills a new run's record from the entry that announces it.
trait Announce {
    fn announce(&mut self, events: &[warren_domain::Event]);
}

impl Announce for RunRecord {
    fn announce(&mut self, events: &[warren_domain::Event]) {
        let Some(event) = events.first() else { return };
        self.seq = event.seq;
        self.created_at = event.timestamp;
        if let EventBody::RunStarted { base_version, .. } = &event.body {
            self.status = RunStatus::Running;
            self.started_at = Some(event.timestamp);
            self.base_version = Some(*base_version);
        }
    }
}
