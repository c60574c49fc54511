//! The owner of one session: decides, records, applies, acts.

mod accepted;
mod active;
mod agent;
mod approvals;
mod artifacts;
mod bring;
mod calls;
mod deadlines;
mod errands;
mod files;
mod identity;
mod import;
mod incoming;
mod instructions;
mod lineage;
mod log_limit;
mod memory;
mod output;
mod outside;
mod previews;
mod rebuild;
mod requests;
mod restore;
mod run;
mod run_record;
mod sandbox;
mod signal;
mod silence;
mod start;
mod status;
mod tail;
mod template;
mod transcripts;
pub(crate) mod tree;
mod versions;

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::mpsc;

pub(crate) use accepted::{accepted, check_effort, check_model};
pub(crate) use errands::Errand;
pub(crate) use files::{ByHand, known_files};
pub(crate) use identity::Identity;
pub(crate) use import::{Imported, Origin};
pub(crate) use incoming::Incoming;
pub(crate) use lineage::{is_shared, latest_of_workspace};
pub(crate) use memory::{Memory, put as put_memory};
pub(crate) use previews::{Door, Visit};
pub(crate) use requests::{Leave, Reply, Request, busy};
pub(crate) use restore::{expired, workspace_files};
pub(crate) use silence::is_silence;
pub(crate) use start::chain;
pub(crate) use status::{Status, StatusCell};
pub(crate) use transcripts::STATE;
pub(crate) use versions::{empty_version, first_version};

use self::{
    active::ActiveRun,
    artifacts::KnownOutputs,
    deadlines::Deadlines,
    files::KnownFiles,
    previews::Ports,
    sandbox::{History, SandboxSlot},
    signal::{SIGNALS, Signal},
};
use crate::{
    api::SessionError,
    manager::Roster,
    options::Shared,
    recorder::{RecordError, Recorder},
    recordings::Recordings,
};

/// Owns one session while there is something to do; parks itself when there is not.
pub(crate) struct SessionTask {
    identity: Identity,
    shared: Arc<Shared>,
    recorder: Recorder,
    status: Arc<StatusCell>,
    inbox: mpsc::Receiver<Request>,
    signals: mpsc::Receiver<Signal>,
    /// Cloned into every task that works for this session. Bounded: whoever is faster than the log waits.
    sender: mpsc::Sender<Signal>,
    /// Signals met while lines were being gathered; they come next.
    held: VecDeque<Signal>,
    sandbox: SandboxSlot,
    history: History,
    recordings: Recordings,
    files: KnownFiles,
    outputs: KnownOutputs,
    ports: Ports,
    run: Option<ActiveRun>,
    /// Operations that wait for a sandbox or for their turn.
    errands: VecDeque<Errand>,
    /// Someone wants the session to go; it goes when the run has ended.
    leaving: Option<(Leave, Vec<Reply<()>>)>,
    deadlines: Deadlines,
}

/// How a step ended.
enum Next {
    /// There may be more to do.
    Continue,
    /// The session left memory: unloaded, erased or drained.
    Gone,
}

/// How the task ended.
enum End {
    Parked,
    Gone,
}

impl SessionTask {
    /// A task around a recorder that is up to date.
    pub(crate) fn new(
        identity: Identity,
        shared: Arc<Shared>,
        recorder: Recorder,
        status: Arc<StatusCell>,
        inbox: mpsc::Receiver<Request>,
    ) -> Self {
        let (sender, signals) = mpsc::channel(SIGNALS);
        let deadlines = Deadlines::new(&shared.options, status.traffic.clone());
        let recordings = Recordings::new(shared.options.directory.clone());
        Self {
            identity,
            shared,
            recorder,
            status,
            inbox,
            signals,
            sender,
            held: VecDeque::new(),
            sandbox: SandboxSlot::None,
            history: History::default(),
            recordings,
            files: KnownFiles::default(),
            outputs: KnownOutputs::default(),
            ports: Ports::default(),
            run: None,
            errands: VecDeque::new(),
            leaving: None,
            deadlines,
        }
    }

    /// Runs until there is nothing left to do, then gives the session back to the roster.
    ///
    /// If the log can no longer be written, nothing else may happen either: the sandbox is ended and the session
    /// forgotten, to be read again from its log as soon as that can be done.
    pub(crate) async fn run(mut self, roster: Arc<Roster>) {
        let session = self.identity.session;
        match self.run_to_end().await {
            Ok(End::Parked) => {
                let Self { identity, recorder, inbox, .. } = self;
                roster.park(identity, recorder, inbox);
            }
            Ok(End::Gone) => roster.forget(session, self.inbox),
            Err(error) if error.is_not_ours() => {
                tracing::warn!(%session, error = &error as &dyn std::error::Error, "a session stops here: it is not this server's any more");
                self.abandon(&error).await;
                // Those who still ask find its new owner, or that it is gone.
                roster.forget(session, self.inbox);
            }
            Err(error) => {
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a session stops: its log cannot be written");
                self.abandon(&error).await;
                roster.turn_away(session, self.inbox, &SessionError::internal("record what happened", error));
                roster.take_up_later(session);
            }
        }
    }

    async fn run_to_end(&mut self) -> Result<End, RecordError> {
        self.pick_up().await?;
        loop {
            if self.is_done() {
                return Ok(End::Parked);
            }
            if let Next::Gone = self.step().await? {
                return Ok(End::Gone);
            }
        }
    }

    async fn step(&mut self) -> Result<Next, RecordError> {
        if let Some(signal) = self.held.pop_front() {
            self.on_signal(signal).await?;
        } else {
            let wake = self.deadlines.next(self.run.as_ref(), &self.sandbox);
            // Every head is cancel-safe; all work happens in the arms.
            tokio::select! {
                Some(signal) = self.signals.recv() => self.on_signal(signal).await?,
                Some(request) = self.inbox.recv() => self.on_request(request).await?,
                () = tokio::time::sleep_until(wake) => self.on_time().await?,
                () = self.sandbox.asked_to_give_way() => self.deadlines.hurry(),
            }
        }
        self.take_pending().await?;
        self.enforce_log_limits().await?;
        self.conclude_if_over().await?;
        self.settle_place();
        self.show_status();
        if self.run.is_none() && self.leaving.is_some() {
            return self.leave().await;
        }
        Ok(Next::Continue)
    }

    /// Looks after what an earlier owner left: model calls in flight, a run that was cut, messages that wait.
    async fn pick_up(&mut self) -> Result<(), RecordError> {
        self.files = KnownFiles::open(&self.shared.parts.store, self.identity.session).await?;
        self.settle_unseen_calls().await?;
        if let Some(run) = self.recorder.state.running() {
            self.fail_cut_run(run).await?;
        }
        self.start_next().await?;
        self.show_status();
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.run.is_none()
            && matches!(self.sandbox, SandboxSlot::None)
            && self.leaving.is_none()
            && self.errands.is_empty()
            // A call whose sandbox is gone ends soon, and only this task can record what it used.
            && self.recorder.open_calls.is_empty()
            && self.held.is_empty()
            && self.inbox.is_empty()
    }
}
