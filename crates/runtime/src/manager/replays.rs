//! Runs and sessions carried out once more.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::watch;
use warren_domain::{
    ErrorCode, Replay, ReplayId, ReplayOutcome, ReplayProblem, ReplayStatus, RunId, RunStatus, Seq, SessionId,
};
use warren_env::TaskKind;
use warren_store::{EventLog as _, Follow, Live, LogEntry, Page, ReplayRecord, RunRecord, Store};

use super::SessionManager;
use crate::{
    api::{ReplayWhat, Replays, SessionError},
    replay::{self, Job, Running, Tape},
    spaces,
};

/// How many runs are read at a time.
const RUNS_AT_ONCE: u32 = 500;

#[async_trait]
impl Replays for SessionManager {
    async fn replay_start(&self, session: SessionId, what: ReplayWhat) -> Result<Replay, SessionError> {
        let record = self.record(session).await?;
        let runs = self.runs_to_replay(session, what).await?;
        let parts = &self.shared.parts;
        let report = Replay {
            replay_id: ReplayId(parts.env.uuid()),
            session_id: session,
            run_id: match what {
                ReplayWhat::Run(run) => Some(run),
                ReplayWhat::Session => None,
            },
            status: ReplayStatus::Running,
            outcome: ReplayOutcome::default(),
            runs: Vec::new(),
            started_at: parts.env.now(),
            ended_at: None,
        };
        let kept = replay::record(&report, &self.shared.options.node, None);
        let kept = kept.map_err(|error| SessionError::internal("keep the replay", error))?;
        let put = parts.store.replays.put_replay(&kept).await;
        put.map_err(|error| SessionError::internal("keep the replay", error))?;
        let tape = Arc::new(Tape::default());
        let live = self.live_of(tape.clone());
        let (sender, receiver) = watch::channel(report.clone());
        let cancel = parts.tasks.token().child_token();
        let running = Running {
            session,
            tape: tape.clone(),
            live: live.clone(),
            report: receiver,
            cancel: cancel.clone(),
        };
        self.replays.insert(report.replay_id, running);
        let job = Job {
            shared: self.shared.clone(),
            registry: self.replays.clone(),
            session: record,
            runs,
            tape,
            live,
            report: sender,
            cancel,
        };
        parts.tasks.spawn_to_end(TaskKind::Session, replay::run(job));
        Ok(report)
    }

    async fn replay_wait(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        if let Some(mut running) = self.replays.get(session, replay) {
            // Closed: it has ended, and what came of it is kept.
            if let Ok(report) = running.report.wait_for(|report| report.status != ReplayStatus::Running).await
            {
                return Ok(report.clone());
            }
        }
        self.replay_get(session, replay).await
    }

    async fn replay_end(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        if let Some(running) = self.replays.get(session, replay) {
            running.cancel.cancel();
        }
        self.replay_wait(session, replay).await
    }

    async fn replay_get(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        if let Some(running) = self.replays.get(session, replay) {
            return Ok(running.report.borrow().clone());
        }
        self.report(self.kept_replay(session, replay).await?)
    }

    async fn replay_list(
        &self,
        session: SessionId,
        before: Option<ReplayId>,
        limit: u32,
    ) -> Result<Page<Replay>, SessionError> {
        self.record(session).await?;
        let page = self.shared.parts.store.replays.replays(session, before, limit).await;
        let page = page.map_err(|error| SessionError::internal("list the replays", error))?;
        let report = |record: ReplayRecord| match self.replays.get(session, record.replay_id) {
            Some(running) => Ok(running.report.borrow().clone()),
            None => self.report(record),
        };
        let items = page.items.into_iter().map(report).collect::<Result<_, _>>()?;
        Ok(Page { items, more: page.more })
    }

    async fn replay_events_read(
        &self,
        session: SessionId,
        replay: ReplayId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError> {
        let (tape, live) = self.tape(session, replay).await?;
        let read = async || {
            let entries = tape.read(session, after, limit).await;
            entries.map_err(|error| SessionError::internal("read the replay's log", error))
        };
        let mut entries = read().await?;
        if let (true, Some(wait)) = (entries.is_empty() && !tape.is_closed(), wait) {
            // Nothing came in time: an empty answer is the right one.
            let _ = tokio::time::timeout(wait, live.follow(session, after).next()).await;
            entries = read().await?;
        }
        Ok((entries, tape.last()))
    }

    async fn replay_events_follow(
        &self,
        session: SessionId,
        replay: ReplayId,
        after: Seq,
    ) -> Result<(Follow, Option<Seq>), SessionError> {
        let (tape, live) = self.tape(session, replay).await?;
        let end = tape.is_closed().then(|| tape.last());
        Ok((live.follow(session, after), end))
    }
}

impl SessionManager {
    /// The runs that have ended and can be replayed, oldest first.
    async fn runs_to_replay(&self, session: SessionId, what: ReplayWhat) -> Result<Vec<RunId>, SessionError> {
        let runs = &self.shared.parts.store.runs;
        let failed = |error| SessionError::internal("read the runs", error);
        if let ReplayWhat::Run(run) = what {
            let record = runs.run(session, run).await.map_err(failed)?;
            let record = record.ok_or_else(|| SessionError::not_found("run", run))?;
            return if can_be_replayed(&record) { Ok(vec![run]) } else { Err(not_ended(&record)) };
        }
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let page = runs.runs(session, before, RUNS_AT_ONCE).await.map_err(failed)?;
            all.extend(page.items.iter().filter(|run| can_be_replayed(run)).map(|run| run.run_id));
            before = page.items.last().map(|run| run.run_id);
            if !page.more {
                break;
            }
        }
        all.reverse();
        Ok(all)
    }

    async fn kept_replay(&self, session: SessionId, replay: ReplayId) -> Result<ReplayRecord, SessionError> {
        let found = self.shared.parts.store.replays.replay(session, replay).await;
        let found = found.map_err(|error| SessionError::internal("read the replay", error))?;
        found.ok_or_else(|| SessionError::not_found("replay", replay))
    }

    /// A report as it was kept. One of ours that still runs there, but not here, was cut.
    fn report(&self, record: ReplayRecord) -> Result<Replay, SessionError> {
        let mut report: Replay = serde_json::from_value(record.report)
            .map_err(|error| SessionError::internal("read the replay", error))?;
        if report.status == ReplayStatus::Running && record.node == self.shared.options.node {
            report.status = ReplayStatus::Failed;
            let message = "the server stopped during the replay".to_owned();
            report.outcome.error = Some(ReplayProblem { code: ErrorCode::ServerRestarted, message });
        }
        Ok(report)
    }

    /// A replay's log, whether it still grows or was kept.
    async fn tape(&self, session: SessionId, replay: ReplayId) -> Result<(Arc<Tape>, Live), SessionError> {
        if let Some(running) = self.replays.get(session, replay) {
            return Ok((running.tape, running.live));
        }
        let kept = self.kept_replay(session, replay).await?;
        let space = spaces::of_log(&self.record(session).await?.partition, session);
        let lines = match &kept.log {
            Some(hash) => self.shared.parts.store.blobs.blob(&space, hash).await,
            None => Ok(None),
        };
        let lines = lines.map_err(|error| SessionError::internal("read the replay's log", error))?;
        let tape = Arc::new(Tape::of_lines(&lines.unwrap_or_default()));
        let live = self.live_of(tape.clone());
        Ok((tape, live))
    }

    fn live_of(&self, tape: Arc<Tape>) -> Live {
        let parts = &self.shared.parts;
        Live::new(&Store { log: tape, ..parts.store.clone() }, &parts.tasks)
    }
}

fn can_be_replayed(run: &RunRecord) -> bool {
    let has_ended = matches!(run.status, RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted);
    has_ended && run.started_at.is_some()
}

fn not_ended(run: &RunRecord) -> SessionError {
    let message = match run.status {
        RunStatus::Queued | RunStatus::Running => "the run has not ended",
        _ => "the message had no run of its own",
    };
    SessionError::Invalid { code: ErrorCode::Conflict, message: message.to_owned(), hint: None }
}
