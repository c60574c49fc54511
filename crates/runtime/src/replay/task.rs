//! A whole replay, from its runs to its report.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use warren_domain::{
    BlobHash, ConversationId, ErrorCode, Event, EventBody, Replay, ReplayCount, ReplayDifference,
    ReplayDivergence, ReplayDivergenceKind, ReplayId, ReplayOutcome, ReplayStatus, ReplayedRun, RunId,
};
use warren_models::{Divergence, DivergenceKind, Moments, Playback, PlaybackReport, ToolDifference};
use warren_store::{Live, ReplayRecord, RunRecord, SessionRecord};

use super::{
    Failure, Registry, Tape,
    compare::{Circumstances, Comparison, compare},
    driver::{Driven, Driver},
    files::ComparedFiles,
    recorded::{Recorded, RecordedCalls},
    scratch::Scratch,
};
use crate::{options::Shared, spaces};

/// Differences beyond these are not listed.
const MOST_DIFFERENCES: usize = 100;

/// What is to be replayed, and where its news go.
pub(crate) struct Job {
    pub(crate) shared: Arc<Shared>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) session: SessionRecord,
    /// Oldest first.
    pub(crate) runs: Vec<RunId>,
    pub(crate) tape: Arc<Tape>,
    pub(crate) live: Live,
    pub(crate) report: watch::Sender<Replay>,
    pub(crate) cancel: CancellationToken,
}

/// Carries a replay out, run by run, and keeps what came of it.
pub(crate) async fn run(job: Job) {
    let is_whole_session = job.report.borrow().run_id.is_none();
    // Closed: never. Who is told to end while it waits for its turn does not wait for it.
    let _turn = job.cancel.run_until_cancelled(Arc::clone(&job.registry.turns).acquire_owned()).await;
    let mut spilled = Vec::new();
    for run in job.runs.clone() {
        let outcome = match job.one_run(run, &mut spilled).await {
            Ok(outcome) => outcome,
            Err(failure) => ReplayOutcome { error: Some(failure.problem()), ..ReplayOutcome::default() },
        };
        let status = if outcome.error.is_some() { ReplayStatus::Failed } else { ReplayStatus::Done };
        job.report.send_modify(|report| {
            if is_whole_session {
                add(&mut report.outcome, run, &outcome);
                report.runs.push(ReplayedRun { run_id: run, status, outcome });
            } else {
                report.outcome = outcome;
            }
        });
        if job.cancel.is_cancelled() {
            break;
        }
    }
    job.finish(&spilled).await;
}

impl Job {
    async fn one_run(&self, run: RunId, spilled: &mut Vec<bytes::Bytes>) -> Result<ReplayOutcome, Failure> {
        if self.cancel.is_cancelled() {
            return Err(ended());
        }
        let (store, directory) = (&self.shared.parts.store, &self.shared.options.directory);
        let (recorded, calls) = Recorded::load(store, self.session.clone(), run, directory).await?;
        let moments = self.moments(&recorded);
        let playback = playback(calls).await?.at(moments.clone());
        let scratch = Scratch::make(&self.shared, self.id(), &recorded, &playback).await?;
        let driver = Driver::new(&scratch, &recorded, &playback, &self.tape, &self.live);
        let driven = self.cancel.run_until_cancelled(driver.drive()).await;
        let result = match driven {
            Some(Ok(driven)) => {
                spilled.extend(long_fields(&scratch, &driven));
                let files = scratch.compare_files(&self.shared.parts.snapshots, &recorded).await;
                files.map(|files| outcome(&recorded, driven, &playback.report(), files, moments))
            }
            Some(Err(failure)) => Err(failure),
            None => Err(ended()),
        };
        scratch.close().await;
        result
    }

    /// When the run took place, and now.
    fn moments(&self, recorded: &Recorded) -> Moments {
        let RunRecord { started_at, ended_at, .. } = recorded.run;
        Moments::new([started_at, ended_at].into_iter().flatten().chain([self.shared.parts.env.now()]))
    }

    fn id(&self) -> ReplayId {
        self.report.borrow().replay_id
    }

    /// Keeps the log and the report, then tells those who wait.
    async fn finish(&self, spilled: &[bytes::Bytes]) {
        let parts = &self.shared.parts;
        let log = self.keep(spilled).await;
        let mut report = self.report.borrow().clone();
        if report.run_id.is_none() {
            conclude(&mut report, self.cancel.is_cancelled());
        }
        let is_failed = report.outcome.error.is_some();
        report.status = if is_failed { ReplayStatus::Failed } else { ReplayStatus::Done };
        report.ended_at = Some(parts.env.now());
        if report.status == ReplayStatus::Done {
            report.outcome.diverged = Some(report.outcome.first_divergence.is_some());
        }
        let record = record(&report, &self.shared.options.node, log);
        let kept = match record {
            Ok(record) => parts.store.replays.put_replay(&record).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = kept {
            // Also when the session was erased meanwhile.
            tracing::warn!(session = %self.session.session_id, error, "the report of a replay was not kept");
        }
        self.tape.close();
        self.live.wake(self.session.session_id);
        self.registry.remove(report.replay_id);
        self.report.send_replace(report);
    }

    async fn keep(&self, spilled: &[bytes::Bytes]) -> Option<BlobHash> {
        let blobs = &self.shared.parts.store.blobs;
        let space = spaces::of_log(&self.session.partition, self.session.session_id);
        for bytes in spilled {
            if let Err(error) = blobs.put_blob(&space, bytes.clone()).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a long field of a replay's log was not kept"
                );
            }
        }
        match blobs.put_blob(&space, self.tape.to_lines()).await {
            Ok(hash) => Some(hash),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the log of a replay was not kept");
                None
            }
        }
    }
}

/// Looks at every recording, on a thread where nobody waits for it.
async fn playback(calls: RecordedCalls) -> Result<Playback, Failure> {
    let made = tokio::task::spawn_blocking(move || Playback::new(calls)).await;
    let made = made.map_err(|panicked| Failure::internal("read the recordings", &panicked))?;
    made.map_err(|error| {
        let message = format!("a model call of the run cannot be replayed: {error}");
        Failure::new(ErrorCode::RecordingExpired, message)
    })
}

fn ended() -> Failure {
    Failure::new(ErrorCode::Unavailable, "the replay was stopped before it finished")
}

/// What became of a whole session: it failed if no run of it could be replayed, or if somebody ended it.
fn conclude(report: &mut Replay, was_ended: bool) {
    if was_ended {
        report.outcome.error = Some(ended().problem());
    } else if report.runs.is_empty() {
        report.outcome.notes.push("no run of the session has ended, so nothing was replayed".to_owned());
    } else if report.runs.iter().all(|run| run.outcome.error.is_some()) {
        report.outcome.error = report.runs.first().and_then(|run| run.outcome.error.clone());
    }
}

/// What was too long for an entry of the log: it is kept with it.
fn long_fields(scratch: &Scratch, driven: &Driven) -> Vec<bytes::Bytes> {
    let spilled = driven.events.iter().flat_map(|event| &event.spilled);
    spilled.filter_map(|field| scratch.blobs.own(&field.blob)).collect()
}

/// The report as it is kept.
pub(crate) fn record(
    report: &Replay,
    node: &warren_domain::NodeId,
    log: Option<BlobHash>,
) -> Result<ReplayRecord, serde_json::Error> {
    Ok(ReplayRecord {
        replay_id: report.replay_id,
        session_id: report.session_id,
        node: node.clone(),
        started_at: report.started_at,
        ended_at: report.ended_at,
        report: serde_json::to_value(report)?,
        log,
    })
}

/// Puts everything together. What led to the rest comes first.
fn outcome(
    recorded: &Recorded,
    driven: Driven,
    calls: &PlaybackReport,
    files: ComparedFiles,
    moments: Moments,
) -> ReplayOutcome {
    let was_stopped = recorded.stop.is_some();
    // Trees tell more of files than a log, in which they come and go as a watcher saw them; and what others did to the files
    // of a shared workspace meanwhile is in the run's log and cannot be in the replay's.
    let is_shared = recorded.version.as_ref().is_some_and(|version| version.shared);
    let is_without_files = is_shared || was_stopped || files.are_compared;
    let told = |events: &[Event]| -> Vec<Event> {
        events.iter().filter(|event| !(is_without_files && is_of_file(event))).cloned().collect()
    };
    let known = Circumstances { was_stopped, moments };
    let Comparison { count, divergence, differences, .. } =
        compare(&told(&recorded.events), &told(&driven.events), &known);
    let mut notes = recorded.notes.clone();
    notes.extend(files.notes);
    // It may come to one more before it is stopped.
    let extra = calls
        .divergence
        .clone()
        .filter(|found| !(was_stopped && found.kind == DivergenceKind::CallNotRecorded));
    let first = extra
        .map(model_divergence)
        .or(driven.divergence)
        .or(calls.unasked.clone().map(model_divergence))
        .or(divergence)
        .or(files.divergence);
    if was_stopped {
        notes.push("the run was stopped from outside; its replay was stopped at the same point".to_owned());
    }
    ReplayOutcome {
        diverged: Some(first.is_some()),
        first_divergence: first,
        differences: merged(&calls.differences, differences),
        calls: ReplayCount { compared: calls.calls as u64, equal: calls.answered as u64 },
        events: count,
        files: files.files,
        notes,
        error: None,
    }
}

fn is_of_file(event: &Event) -> bool {
    matches!(event.body, EventBody::FileChanged { .. })
}

/// What tools said to the model, and what they said to the log; each call once.
fn merged(told: &[ToolDifference], logged: Vec<ReplayDifference>) -> Vec<ReplayDifference> {
    let told = told.iter().map(|difference| ReplayDifference {
        run_id: None,
        conversation_id: difference.conversation.clone().map(ConversationId),
        tool_use_id: Some(difference.tool_use_id.clone()),
        message: format!("the output of a tool differs, as model call {} shows", difference.index),
        diff: difference.diff.clone(),
    });
    let mut all: Vec<ReplayDifference> = told.collect();
    for difference in logged {
        let is_known = all.iter().any(|known| known.tool_use_id == difference.tool_use_id);
        if !is_known {
            all.push(difference);
        }
    }
    all.truncate(MOST_DIFFERENCES);
    all
}

fn model_divergence(found: Divergence) -> ReplayDivergence {
    ReplayDivergence {
        kind: match found.kind {
            DivergenceKind::RequestDiffers => ReplayDivergenceKind::Request,
            DivergenceKind::CallNotRecorded => ReplayDivergenceKind::ExtraCall,
            DivergenceKind::CallNotMade => ReplayDivergenceKind::MissingCall,
        },
        run_id: None,
        conversation_id: found.conversation.map(ConversationId),
        index: found.index.map(|index| index as u64),
        message: found.message,
        diff: found.diff,
    }
}

/// Adds what one run came to, to what all came to.
fn add(all: &mut ReplayOutcome, run: RunId, one: &ReplayOutcome) {
    let of_run = |divergence: &ReplayDivergence| ReplayDivergence { run_id: Some(run), ..divergence.clone() };
    if all.first_divergence.is_none() {
        all.first_divergence = one.first_divergence.as_ref().map(of_run);
    }
    let room = MOST_DIFFERENCES.saturating_sub(all.differences.len());
    let of_run = |difference: &ReplayDifference| ReplayDifference { run_id: Some(run), ..difference.clone() };
    all.differences.extend(one.differences.iter().take(room).map(of_run));
    all.calls += one.calls;
    all.events += one.events;
    all.files.compared += one.files.compared;
    all.files.equal += one.files.equal;
    let room = MOST_DIFFERENCES.saturating_sub(all.files.different.len());
    all.files.different.extend(one.files.different.iter().take(room).cloned());
    all.notes.extend(one.notes.iter().map(|note| format!("run `{run}`: {note}")));
    all.notes.extend(
        one.error
            .iter()
            .map(|error| format!("run `{run}` could not be replayed: {} ({})", error.message, error.code)),
    );
}
