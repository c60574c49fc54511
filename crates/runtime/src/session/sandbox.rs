//! The session's sandbox: made when it is needed, watched, restarted, ended.

use std::{collections::VecDeque, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use warren_domain::{
    Diagnostics, Draft, ErrorCode, EventBody, Head, SandboxState, SandboxStatus, SessionRuntimeState,
    Timestamp,
};
use warren_env::{TaskKind, Tasks};
use warren_sandbox::{FilesAt, LimitHit, Sandbox, SandboxId};

use super::{
    Reply, SessionTask,
    active::Stop,
    outside::Outside,
    rebuild::{Workspace, make_lasting},
    signal::{Healthy, Signal},
    start::{Queued, StartFailure, Started, start},
    transcripts::TranscriptKeeper,
};
use crate::{
    admission::{Admitted, Position},
    api::{SandboxReport, SessionError},
    figures::Held,
    options::{Directories, Program},
    recorder::RecordError,
    session::calls::Calls,
    workspaces::Inside,
};

/// Maximum number of sandbox events in a session's report.
const HISTORY: usize = 50;

/// Timeout for the start of a sandbox that is to be stopped. The backend and the guest give up long before.
const START: Duration = Duration::from_secs(120);

/// Timeout for the exit report of a sandbox whose link has closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for a sandbox to answer after a call to it failed.
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// State of the sandbox.
pub(super) enum SandboxSlot {
    None,
    Starting(Starting),
    Ready(Box<Ready>),
}

/// A sandbox that is being made.
pub(super) struct Starting {
    id: SandboxId,
    restart_count: u32,
    since: Timestamp,
    /// Its position in the queue for a sandbox, and since when.
    queued: Option<(Position, Instant)>,
    call_off: CancellationToken,
    /// Told when it is ready, or cannot be made.
    pub(super) waiting: Vec<Reply<()>>,
}

/// A sandbox that answers.
pub(super) struct Ready {
    pub(super) sandbox: Sandbox,
    pub(super) calls: std::sync::Arc<Calls>,
    pub(super) outside: std::sync::Arc<Outside>,
    pub(super) transcripts: TranscriptKeeper,
    pub(super) programs: Vec<Program>,
    restart_count: u32,
    last_health_check: Timestamp,
    /// Why it keeps running although it is idle.
    problem: Option<String>,
    /// Its watchers and its forwarded connections; cancelled with it.
    tasks: Tasks,
    _until_dropped: DropGuard,
    _inside: Inside,
    admitted: Admitted,
    _counted: Held,
}

/// When sandboxes were restarted, and what happened to them.
#[derive(Default)]
pub(super) struct History {
    restarts: VecDeque<Instant>,
    events: VecDeque<serde_json::Value>,
}

impl Starting {
    fn message(&self) -> String {
        match self.queued {
            Some((Position { place, of }, _)) => {
                format!("Waiting for a free sandbox: position {place} of {of}")
            }
            None => "Starting sandbox…".to_owned(),
        }
    }
}

impl SandboxSlot {
    /// Waits until the sandbox is asked to give way to others. Never, if there is none. Cancel-safe.
    pub(super) async fn asked_to_give_way(&self) {
        match self {
            SandboxSlot::Ready(ready) => ready.admitted.asked_to_give_way().await,
            SandboxSlot::None | SandboxSlot::Starting(_) => std::future::pending().await,
        }
    }

    /// It waits for others to end.
    pub(super) fn is_queued(&self) -> bool {
        matches!(self, SandboxSlot::Starting(starting) if starting.queued.is_some())
    }

    /// The status for clients.
    pub(super) fn state(&self) -> Option<SandboxState> {
        match self {
            SandboxSlot::None => None,
            SandboxSlot::Starting(starting) => Some(SandboxState {
                sandbox_id: warren_domain::SandboxId(starting.id.0.clone()),
                status: SandboxStatus::Starting,
                restart_count: starting.restart_count,
                last_health_check: starting.since.as_millis(),
                status_message: Some(starting.message()),
                isolation: None,
            }),
            SandboxSlot::Ready(ready) => Some(SandboxState {
                sandbox_id: warren_domain::SandboxId(ready.sandbox.id.0.clone()),
                status: SandboxStatus::Ready,
                restart_count: ready.restart_count,
                last_health_check: ready.last_health_check.as_millis(),
                status_message: ready.problem.clone(),
                isolation: serde_json::to_value(&ready.sandbox.isolation).ok(),
            }),
        }
    }

    /// The sandbox, if it answers.
    pub(super) fn ready(&self) -> Option<&Ready> {
        match self {
            SandboxSlot::Ready(ready) => Some(ready),
            SandboxSlot::None | SandboxSlot::Starting(_) => None,
        }
    }

    fn is(&self, id: &SandboxId) -> bool {
        match self {
            SandboxSlot::None => false,
            SandboxSlot::Starting(starting) => starting.id == *id,
            SandboxSlot::Ready(ready) => ready.sandbox.id == *id,
        }
    }
}

impl Ready {
    /// From now on model calls and connections belong to `run`; with `None` they are refused.
    pub(super) fn belong_to(&self, run: Option<warren_domain::RunId>) {
        self.calls.belong_to(run);
        self.outside.belong_to(run);
    }

    /// Has something done as long as the sandbox is there.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(TaskKind::Sandbox, work);
    }

    /// Asks for a sign of life; the answer comes as a signal.
    pub(super) fn check_health(&self, sender: mpsc::Sender<Signal>, patience: Duration, tasks: &Tasks) {
        let (id, guest) = (self.sandbox.id.clone(), self.sandbox.guest.clone());
        tasks.spawn(TaskKind::Sandbox, async move {
            let answered = tokio::time::timeout(patience, guest.ping()).await;
            let healthy = if matches!(answered, Ok(Ok(()))) { Healthy::Yes } else { Healthy::No };
            // The session may be gone by now; then nobody wants to know.
            let _ = sender.send(Signal::Health(id, healthy)).await;
        });
    }
}

impl SessionTask {
    /// Begins to make a sandbox. The outcome comes as [`Signal::Started`].
    pub(super) async fn start_sandbox(&mut self, restart_count: u32) -> Result<(), RecordError> {
        let env = &self.shared.parts.env;
        let id = SandboxId(format!("sbx-{}", env.uuid().simple()));
        let queued = Queued { ticket: self.shared.admission.join(), call_off: CancellationToken::new() };
        let starting = Starting {
            id: id.clone(),
            restart_count,
            since: env.now(),
            queued: None,
            call_off: queued.call_off.clone(),
            waiting: Vec::new(),
        };
        self.sandbox = SandboxSlot::Starting(starting);
        self.record_status(None).await?;
        let head = self.recorder.state.head;
        let start = start(id, queued, self.identity.clone(), self.shared.clone(), self.sender.clone(), head);
        let sender = self.sender.clone();
        self.shared.parts.tasks.spawn_to_end(TaskKind::Sandbox, async move {
            let result = start.await;
            // If the session is gone, the sandbox in the signal is dropped with it, which ends it.
            let _ = sender.send(Signal::Started(Box::new(result))).await;
        });
        Ok(())
    }

    /// The sandbox must wait. A run that waits for it does not use up its time.
    pub(super) async fn on_queued(&mut self, id: &SandboxId, position: Position) -> Result<(), RecordError> {
        let SandboxSlot::Starting(starting) = &mut self.sandbox else { return Ok(()) };
        if starting.id != *id {
            return Ok(());
        }
        let since = starting.queued.map_or_else(Instant::now, |(_, since)| since);
        starting.queued = Some((position, since));
        self.record_status(None).await
    }

    /// It is the sandbox's turn.
    pub(super) async fn on_admitted(&mut self, id: &SandboxId) -> Result<(), RecordError> {
        let SandboxSlot::Starting(starting) = &mut self.sandbox else { return Ok(()) };
        if starting.id != *id {
            return Ok(());
        }
        if let (Some((_, since)), Some(run)) = (starting.queued.take(), &mut self.run) {
            run.has_waited(since);
        }
        self.record_status(None).await
    }

    /// Ends the wait for a sandbox that nobody needs any more, and says when the sandbox is idle.
    pub(super) fn settle_place(&mut self) {
        let is_needed = self.run.is_some()
            || self.leaving.is_some()
            || !self.errands.is_empty()
            || !self.recorder.state.queue.is_empty();
        match &self.sandbox {
            SandboxSlot::Starting(starting)
                if starting.queued.is_some() && starting.waiting.is_empty() && !is_needed =>
            {
                starting.call_off.cancel();
            }
            SandboxSlot::Ready(ready) if is_needed => {
                ready.admitted.busy();
                self.deadlines.take_your_time();
            }
            SandboxSlot::Ready(ready) => ready.admitted.idle(),
            SandboxSlot::None | SandboxSlot::Starting(_) => {}
        }
    }

    pub(super) async fn on_started(
        &mut self,
        result: Result<Started, StartFailure>,
    ) -> Result<(), RecordError> {
        let SandboxSlot::Starting(starting) = &mut self.sandbox else { return Ok(()) };
        let waiting = std::mem::take(&mut starting.waiting);
        let restart_count = starting.restart_count;
        match result {
            Ok(started) => {
                self.sandbox = SandboxSlot::Ready(Box::new(Ready {
                    sandbox: started.sandbox,
                    calls: started.calls,
                    outside: started.outside,
                    transcripts: started.transcripts,
                    programs: started.programs,
                    restart_count,
                    last_health_check: self.shared.parts.env.now(),
                    problem: None,
                    tasks: started.tasks,
                    _until_dropped: started.until_dropped,
                    _inside: started.inside,
                    admitted: started.admitted,
                    _counted: Held::sandbox(),
                }));
                self.record_status(None).await?;
                self.deadlines.touch();
                self.on_given(started.given).await?;
                if started.workspace == Workspace::Known {
                    self.look_at_what_was_brought().await?;
                }
                self.look_at_others_work().await?;
                self.outputs_changed();
                waiting.into_iter().for_each(|reply| drop(reply.send(Ok(()))));
                self.launch_agent().await?;
                self.run_errands().await?;
                self.start_next().await
            }
            // A message came after it was called off.
            Err(_) if starting.call_off.is_cancelled() && (self.run.is_some() || !waiting.is_empty()) => {
                self.start_sandbox(restart_count).await?;
                if let SandboxSlot::Starting(starting) = &mut self.sandbox {
                    starting.waiting = waiting;
                }
                Ok(())
            }
            Err(failure) => {
                self.record_terminated(&failure.message).await?;
                waiting.into_iter().for_each(|reply| drop(reply.send(Err(failure.to_error()))));
                self.without_sandbox(failure.code, failure.full_message()).await
            }
        }
    }

    /// There is no sandbox for the run that waits for one.
    async fn without_sandbox(&mut self, code: ErrorCode, message: String) -> Result<(), RecordError> {
        self.refuse_errands(code, &message);
        if let Some(run) = &mut self.run {
            run.fail(code, message);
            return Ok(());
        }
        // One that was to start from what an earlier one left, which cannot be looked at now.
        if let Some(run) = self.recorder.state.queue.front().map(|waiting| waiting.run) {
            self.refuse(run, code, message).await?;
        }
        self.start_next().await
    }

    /// Ends the sandbox, if there is one, and says why.
    pub(super) async fn stop_sandbox(&mut self, why: &str) -> Result<(), RecordError> {
        match std::mem::replace(&mut self.sandbox, SandboxSlot::None) {
            SandboxSlot::None => Ok(()),
            SandboxSlot::Starting(starting) => {
                let error = || SessionError::Invalid {
                    code: ErrorCode::SandboxError,
                    message: format!("the sandbox was stopped while it started: {why}"),
                    hint: None,
                };
                starting.call_off.cancel();
                starting.waiting.into_iter().for_each(|reply| drop(reply.send(Err(error()))));
                self.errands.drain(..).for_each(|errand| errand.refuse(error()));
                self.end_what_starts().await;
                self.write_terminated(&starting.id, starting.restart_count, why).await
            }
            SandboxSlot::Ready(ready) => {
                self.dismantle(&ready).await;
                self.ports_gone().await?;
                self.write_terminated(&ready.sandbox.id, ready.restart_count, why).await?;
                drop(ready);
                self.let_files_last();
                Ok(())
            }
        }
    }

    /// Has the files of a session that sleeps brought to the disk. Nobody waits for it.
    fn let_files_last(&self) {
        let state = &self.recorder.state;
        let is_settled = state.head == Head::Clean && state.running().is_none();
        let stays = self.files_at() == FilesAt::Host && self.shared.directories == Directories::Stay;
        if !is_settled || !stays {
            return;
        }
        let lasting = make_lasting(self.identity.clone(), self.shared.clone(), state.version);
        self.shared.parts.tasks.spawn_to_end(TaskKind::Housekeeping, lasting);
    }

    /// A start cannot be called off: waits for it and ends what it made. Nothing touches the session's directories then.
    async fn end_what_starts(&mut self) {
        let mut passed = VecDeque::new();
        let started = tokio::time::timeout(START, async {
            loop {
                let signal = match self.held.pop_front() {
                    Some(signal) => signal,
                    None => self.signals.recv().await?,
                };
                match signal {
                    Signal::Started(result) => return result.ok(),
                    other => passed.push_back(other),
                }
            }
        });
        // Too late, or it failed: then there is nothing to end, or dropping it will.
        let started = started.await.ok().flatten();
        passed.append(&mut self.held);
        self.held = passed;
        if let Some(started) = started {
            self.terminate(&started.sandbox).await;
        }
    }

    /// Ends the sandbox without recording anything: the log cannot be written any more. What the agent remembers is saved
    /// only if the session is still ours.
    pub(super) async fn abandon(&mut self, why: &RecordError) {
        if let SandboxSlot::Ready(ready) = std::mem::replace(&mut self.sandbox, SandboxSlot::None) {
            if why.is_not_ours() {
                self.take_down(&ready).await;
            } else {
                self.dismantle(&ready).await;
            }
        }
    }

    async fn dismantle(&self, ready: &Ready) {
        ready.transcripts.flush().await;
        self.take_down(ready).await;
    }

    async fn take_down(&self, ready: &Ready) {
        ready.tasks.cancel();
        self.terminate(&ready.sandbox).await;
    }

    async fn terminate(&self, sandbox: &Sandbox) {
        if let Err(error) = sandbox.terminate().await {
            let session = self.identity.session;
            tracing::error!(%session, error = &error as &dyn std::error::Error, "a sandbox could not be ended");
        }
    }

    pub(super) async fn on_sandbox_gone(
        &mut self,
        id: &SandboxId,
        exit: &warren_sandbox::Exit,
    ) -> Result<(), RecordError> {
        if !self.sandbox.is(id) {
            return Ok(());
        }
        let why = why_ended(exit);
        if let Some(run) = &mut self.run {
            let diagnostics = Diagnostics {
                exit_code: exit.code,
                signal: exit.signal,
                out_of_memory: exit.oom,
                stderr_tail: (!exit.complaint.is_empty()).then(|| exit.complaint.clone()),
                last_lines: None,
            };
            run.sandbox_gone(exit.oom, diagnostics);
        }
        self.stop_sandbox(why).await
    }

    /// Stops a sandbox whose link has closed. Says whether there was one.
    ///
    /// The backend reports its end too, but another process tells the backend: on a busy machine that comes after the next
    /// messages, which would all fail on the closed link.
    pub(super) async fn stop_unlinked_sandbox(&mut self) -> Result<bool, RecordError> {
        let unlinked = self.sandbox.ready().filter(|ready| ready.sandbox.guest.is_closed());
        let Some(sandbox) = unlinked.map(|ready| ready.sandbox.clone()) else { return Ok(false) };
        let why = match tokio::time::timeout(EXIT_TIMEOUT, sandbox.exited()).await {
            Ok(exit) => why_ended(&exit),
            // Without its link it is of no use, whether it has ended or not.
            Err(_) => "its link closed",
        };
        self.stop_sandbox(why).await?;
        Ok(true)
    }

    /// Stops the sandbox if a call to it failed because it is gone. Says whether it was.
    pub(super) async fn stop_sandbox_that_is_gone(&mut self) -> Result<bool, RecordError> {
        if let Some(ready) = self.sandbox.ready() {
            // A stream may fail just before its link has closed.
            let guest = ready.sandbox.guest.clone();
            let closed = async {
                if guest.ping().await.is_err() {
                    guest.closed().await;
                }
            };
            // One that neither answers nor ends is for the health check.
            let _ = tokio::time::timeout(PING_TIMEOUT, closed).await;
        }
        self.stop_unlinked_sandbox().await
    }

    pub(super) async fn on_health(&mut self, id: &SandboxId, healthy: Healthy) -> Result<(), RecordError> {
        let SandboxSlot::Ready(ready) = &mut self.sandbox else { return Ok(()) };
        if ready.sandbox.id != *id {
            return Ok(());
        }
        if healthy == Healthy::Yes {
            ready.last_health_check = self.shared.parts.env.now();
            return Ok(());
        }
        let restart_count = ready.restart_count;
        // It does not answer, so nobody waits for what could be saved from it.
        ready.tasks.cancel();
        self.record_status(Some(SandboxStatus::Unhealthy)).await?;
        if let Some(run) = &mut self.run {
            run.sandbox_gone(false, Diagnostics::default());
        }
        self.stop_sandbox("unhealthy: it did not respond").await?;
        if self.may_restart() {
            self.start_sandbox(restart_count + 1).await?;
        }
        Ok(())
    }

    fn may_restart(&mut self) -> bool {
        let now = Instant::now();
        let restarts = &mut self.history.restarts;
        restarts.retain(|at| now.duration_since(*at) < Duration::from_secs(3600));
        if restarts.len() >= self.shared.options.restarts_per_hour as usize {
            return false;
        }
        restarts.push_back(now);
        true
    }

    pub(super) async fn on_limit_hit(&mut self, id: &SandboxId, hit: LimitHit) -> Result<(), RecordError> {
        if !self.sandbox.is(id) {
            return Ok(());
        }
        let message = match hit {
            LimitHit::Disk { used_bytes, limit_bytes } => {
                format!("the sandbox uses {used_bytes} bytes of disk; the limit is {limit_bytes}")
            }
            LimitHit::HostDisk { free_bytes, floor_bytes } => {
                format!("the host has {free_bytes} bytes of free disk space and must keep {floor_bytes}")
            }
            LimitHit::Inodes { used_inodes, limit_inodes } => {
                format!("the sandbox has {used_inodes} files and directories; the limit is {limit_inodes}")
            }
            LimitHit::HostInodes { free_inodes, floor_inodes } => {
                format!("the host's file system has {free_inodes} free inodes and must keep {floor_inodes}")
            }
            LimitHit::TreeTooDeep => "directories are nested too deeply to be measured".to_owned(),
        };
        match &mut self.run {
            Some(run) => {
                run.stop(Stop::Disk(message), Instant::now());
                Ok(())
            }
            // What an earlier run left running took it, and this is told only once.
            None => self.end_greedy(message).await,
        }
    }

    /// Ends a sandbox that takes too much while no run is going on. What it left is committed first; where that fails it ends
    /// all the same, because it would take more: its directories stay as they are, and the next sandbox begins with them.
    /// Where they would go with it, it does not end.
    pub(super) async fn end_greedy(&mut self, message: String) -> Result<(), RecordError> {
        let why = match (self.keep_before_end().await?, self.files_at()) {
            (Ok(()), _) => message,
            (Err(error), FilesAt::Host) => {
                format!("{message}; its files are uncommitted and stay where they are: {error}")
            }
            (Err(error), FilesAt::Guest) => return self.go_on_for_now(format!("{message}; {error}")).await,
        };
        self.stop_sandbox(&why).await
    }

    /// Ends a sandbox in which an agent may have left something running. Where its files would go with it, they are committed
    /// first, and it goes on if they cannot be.
    pub(super) async fn end_unfinished(&mut self, why: &str) -> Result<(), RecordError> {
        let kept = match self.files_at() {
            FilesAt::Host => Ok(()),
            FilesAt::Guest => self.keep_before_end().await?,
        };
        match kept {
            Ok(()) => self.stop_sandbox(why).await,
            Err(error) => self.go_on_for_now(error.to_string()).await,
        }
    }

    /// The sandbox cannot end yet: says why, and tries again before long.
    pub(super) async fn go_on_for_now(&mut self, problem: String) -> Result<(), RecordError> {
        self.deadlines.try_again();
        self.show_problem(problem).await
    }

    /// Says why the sandbox goes on although it is idle, once.
    async fn show_problem(&mut self, problem: String) -> Result<(), RecordError> {
        match &mut self.sandbox {
            SandboxSlot::Ready(ready) if ready.problem.as_ref() != Some(&problem) => {
                ready.problem = Some(problem);
                self.record_status(None).await
            }
            _ => Ok(()),
        }
    }

    async fn record_status(&mut self, instead: Option<SandboxStatus>) -> Result<(), RecordError> {
        let mut runtime = self.runtime_state();
        if let (Some(sandbox), Some(status)) = (&mut runtime.sandbox, instead) {
            sandbox.status = status;
        }
        self.write_status(runtime).await
    }

    async fn record_terminated(&mut self, why: &str) -> Result<(), RecordError> {
        match std::mem::replace(&mut self.sandbox, SandboxSlot::None) {
            SandboxSlot::Starting(starting) => {
                self.write_terminated(&starting.id, starting.restart_count, why).await
            }
            SandboxSlot::None | SandboxSlot::Ready(_) => Ok(()),
        }
    }

    async fn write_terminated(
        &mut self,
        id: &SandboxId,
        restart_count: u32,
        why: &str,
    ) -> Result<(), RecordError> {
        let sandbox = SandboxState {
            sandbox_id: warren_domain::SandboxId(id.0.clone()),
            status: SandboxStatus::Terminated,
            restart_count,
            last_health_check: self.shared.parts.env.now().as_millis(),
            status_message: Some(why.to_owned()),
            isolation: None,
        };
        self.write_status(SessionRuntimeState { is_loaded: true, sandbox: Some(sandbox) }).await
    }

    async fn write_status(&mut self, runtime: SessionRuntimeState) -> Result<(), RecordError> {
        self.history.note(self.shared.parts.env.now(), &runtime);
        let draft = Draft::of_session(EventBody::SessionStatus { runtime });
        self.recorder.record(vec![draft], |_| Vec::new()).await?;
        self.show_status();
        Ok(())
    }

    pub(super) async fn report(&self) -> SandboxReport {
        let ready = self.sandbox.ready();
        let resources = match ready {
            Some(ready) => ready.sandbox.stats().await.ok(),
            None => None,
        };
        SandboxReport {
            session_id: self.identity.session,
            state: self.runtime_state(),
            isolation: ready.and_then(|ready| serde_json::to_value(&ready.sandbox.isolation).ok()),
            resources: resources.and_then(|resources| serde_json::to_value(resources).ok()),
            limits: ready.and_then(|_| serde_json::to_value(&self.shared.options.limits).ok()),
            log: self.history.events.iter().cloned().collect(),
        }
    }
}

fn why_ended(exit: &warren_sandbox::Exit) -> &'static str {
    if exit.oom { "out of memory" } else { "the sandbox exited unexpectedly" }
}

impl History {
    fn note(&mut self, at: Timestamp, runtime: &SessionRuntimeState) {
        let Some(sandbox) = &runtime.sandbox else { return };
        if self.events.len() == HISTORY {
            self.events.pop_front();
        }
        self.events.push_back(serde_json::json!({
            "at": at,
            "sandboxId": sandbox.sandbox_id,
            "status": sandbox.status,
            "message": sandbox.status_message,
        }));
    }
}
