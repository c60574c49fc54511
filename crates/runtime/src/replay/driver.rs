//! What is done while a replay runs: its entries are copied, people's answers are given, and it is stopped where it must be.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};
use warren_domain::{
    ApprovalRequest, ApprovalResolution, Event, EventBody, Fence, ReplayDivergence, ReplayDivergenceKind,
    Resolution, RunId, Seq, SessionId,
};
use warren_models::{Playback, Progress, normal_text};
use warren_store::{Commit, EventLog as _, Live};

use super::{
    Failure, Tape,
    recorded::Recorded,
    scratch::Scratch,
    stop::{Reached, Way},
    told::Told,
};
use crate::{
    api::{Approvals as _, Runs as _},
    session::Request,
};

/// How long files may take to be told of, once all was said that was said when the run was stopped.
const FILES: Duration = Duration::from_secs(5);

/// How long as much may take to happen as had happened when something was said.
const HAPPENING: Duration = Duration::from_secs(2);

/// Who stops a replay, as its log says.
const BY: &str = "replay";

/// One run on its way.
pub(super) struct Driver<'r> {
    pub(super) scratch: &'r Scratch,
    pub(super) recorded: &'r Recorded,
    pub(super) playback: &'r Playback,
    pub(super) tape: &'r Arc<Tape>,
    pub(super) tape_live: &'r Live,
    /// What people answered and was not given again yet.
    answers: Vec<(ApprovalRequest, Option<ApprovalResolution>)>,
    /// What was said into the run and was not said again yet.
    told: Vec<Told>,
    /// Say it then, though less has happened than when it was said.
    tell_at: Option<Instant>,
    is_late: bool,
    events: Vec<Event>,
    way: Way,
    /// Stop it then, though files are missing.
    stop_at: Option<Instant>,
    is_stopped: bool,
    divergence: Option<ReplayDivergence>,
}

/// What came of it.
pub(super) struct Driven {
    /// The entries of the run.
    pub(super) events: Vec<Event>,
    /// What was not as recorded, beside the calls to the model.
    pub(super) divergence: Option<ReplayDivergence>,
}

impl<'r> Driver<'r> {
    pub(super) fn new(
        scratch: &'r Scratch,
        recorded: &'r Recorded,
        playback: &'r Playback,
        tape: &'r Arc<Tape>,
        tape_live: &'r Live,
    ) -> Self {
        Self {
            scratch,
            recorded,
            playback,
            tape,
            tape_live,
            answers: recorded.approvals.clone(),
            told: recorded.told.clone(),
            tell_at: None,
            is_late: false,
            events: Vec::new(),
            way: Way::default(),
            stop_at: None,
            is_stopped: false,
            divergence: None,
        }
    }

    /// Begins the run and sees it to its end.
    pub(super) async fn drive(mut self) -> Result<Driven, Failure> {
        let mut follow = self.scratch.live.follow(self.session(), Seq(0));
        let mut progress = self.playback.progress();
        self.told.iter().filter_map(|told| told.before_end).for_each(|place| self.playback.hold(place));
        let begun = self.scratch.manager.ask(self.session(), Request::PickUp).await;
        begun.map_err(|error| Failure::internal("begin the replay", &error))?;
        self.tell().await?;
        loop {
            let (stop_at, tell_at) = (self.stop_at, self.tell_at);
            tokio::select! {
                entry = follow.next() => {
                    let entry = entry.map_err(|error| Failure::internal("read the replay's log", &error))?;
                    let Some(entry) = entry else {
                        return Err(Failure::new(warren_domain::ErrorCode::Internal, "the replay's log ended early"));
                    };
                    let event = entry.event().map_err(|error| Failure::internal("read the replay's log", &error))?;
                    if self.on_event(event).await? {
                        return Ok(Driven { events: self.events, divergence: self.divergence });
                    }
                }
                Ok(()) = progress.changed() => {}
                () = sleep_until(tell_at) => self.is_late = true,
                () = sleep_until(stop_at) => self.stop().await?,
            }
            self.tell().await?;
            self.stop_if_due(&progress).await?;
        }
    }

    fn session(&self) -> SessionId {
        self.recorded.session.session_id
    }

    fn run(&self) -> RunId {
        self.recorded.run.run_id
    }

    /// Copies an entry and acts on it. Says whether the run is over.
    async fn on_event(&mut self, event: Event) -> Result<bool, Failure> {
        self.copy(event.clone()).await?;
        if event.run_id != Some(self.run()) {
            return Ok(false);
        }
        let is_over = event.body.ends_run();
        self.way.note(&event.body);
        match &event.body {
            EventBody::ApprovalRequested(asked) => self.on_asked(asked).await?,
            EventBody::EgressDecided { host, port, allowed: true, .. } => self.note_egress(host, *port),
            _ => {}
        }
        self.events.push(event);
        Ok(is_over)
    }

    async fn copy(&self, event: Event) -> Result<(), Failure> {
        let failed =
            |error: &(dyn std::error::Error + 'static)| Failure::internal("keep the replay's log", error);
        let entry = self.tape.next(event).map_err(|error| failed(&error))?;
        let (session, expected) = (self.session(), self.tape.last());
        let commit = Commit { session, fence: Fence(0), expected, entries: vec![entry], changes: Vec::new() };
        self.tape_live.commit(commit).await.map(drop).map_err(|error| failed(&error))
    }

    /// Says what was said by the time that a call was being answered which is made now, or before any was; then the answer may
    /// end. It is said when as much has happened as then, or when nothing more happens.
    async fn tell(&mut self) -> Result<(), Failure> {
        let (playback, n_blocks, is_late) = (self.playback, self.way.n_blocks(), self.is_late);
        let is_asked = |told: &Told| told.before_end.is_none_or(|place| playback.was_asked(place));
        let is_due = |told: &mut Told| is_asked(told) && (is_late || told.n_blocks <= n_blocks);
        let due: Vec<Told> = self.told.extract_if(.., is_due).collect();
        for Told { prompt, .. } in &due {
            let tell = |reply| Request::Tell(prompt.clone(), reply);
            let told = self.scratch.manager.ask(self.session(), tell).await;
            told.map_err(|error| Failure::internal("say again what was said into the run", &error))?;
        }
        due.iter().filter_map(|told| told.before_end).for_each(|place| playback.release(place));
        let waits = self.told.iter().any(is_asked);
        self.tell_at = waits.then(|| self.tell_at.filter(|_| !is_late).unwrap_or(Instant::now() + HAPPENING));
        self.is_late = false;
        Ok(())
    }

    /// Gives the answer that was given to the same question.
    async fn on_asked(&mut self, asked: &ApprovalRequest) -> Result<(), Failure> {
        let same = |other: &ApprovalRequest| {
            let text = |request: &ApprovalRequest| normal_text(&request.detail.to_string()).into_owned();
            other.kind == asked.kind && text(other) == text(asked)
        };
        let Some(place) = self.answers.iter().position(|(other, _)| same(other)) else {
            self.diverge(
                ReplayDivergenceKind::Approval,
                format!("the agent asks something that was not recorded: {}", asked.title),
            );
            return self.stop().await;
        };
        match self.answers.remove(place).1 {
            // It was withdrawn by the agent itself, or nobody answered: that happens again by itself.
            None | Some(ApprovalResolution { decision: Resolution::Expired, .. }) => Ok(()),
            Some(answer) => {
                let answer = ApprovalResolution { approval_id: asked.approval_id, ..answer };
                let given = self.scratch.manager.approval_resolve(answer).await;
                given.map(drop).map_err(|error| Failure::internal("give a recorded answer", &error))
            }
        }
    }

    /// What is behind a connection is not recorded, so the replay may be another one from here on.
    fn note_egress(&mut self, host: &str, port: u16) {
        let message = format!("the agent reaches `{host}:{port}`, and the response is not recorded");
        self.diverge(ReplayDivergenceKind::Egress, message);
    }

    fn diverge(&mut self, kind: ReplayDivergenceKind, message: String) {
        self.divergence.get_or_insert(ReplayDivergence {
            kind,
            run_id: None,
            conversation_id: None,
            index: None,
            message,
            diff: None,
        });
    }

    async fn stop_if_due(&mut self, progress: &watch::Receiver<Progress>) -> Result<(), Failure> {
        let Progress { left, diverged, .. } = *progress.borrow();
        if diverged {
            return self.stop().await;
        }
        let Some(stop) = self.recorded.stop.as_ref().filter(|_| left == 0) else { return Ok(()) };
        match stop.reached(&self.way) {
            Reached::No => Ok(()),
            Reached::Said => {
                self.stop_at.get_or_insert(Instant::now() + FILES);
                Ok(())
            }
            Reached::All => self.stop().await,
        }
    }

    async fn stop(&mut self) -> Result<(), Failure> {
        self.stop_at = None;
        if std::mem::replace(&mut self.is_stopped, true) {
            return Ok(());
        }
        let stopped = self.scratch.manager.run_interrupt(self.session(), BY.to_owned()).await;
        stopped.map(drop).map_err(|error| Failure::internal("stop the replay", &error))
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
