//! What is known of a run that is to be replayed.

use std::{collections::HashMap, path::Path};

use serde_json::Value;
use warren_domain::{
    ApprovalId, ApprovalRequest, ApprovalResolution, BlobHash, ErrorCode, Event, EventBody, Resolution,
    RunId, is_recording_limit,
};
use warren_models::{Recording, RecordingError, Recordings, RefusalKind};
use warren_store::{RunRecord, SessionRecord, Store, VersionRecord};

use super::{
    Failure,
    stop::StopPoint,
    told::{Told, told},
};
use crate::{
    recorder::for_each_event,
    recordings::{LoadError, Shelf},
    session::chain,
    spaces,
};

/// The status of a call that nobody pays for.
const BUDGET_SPENT: u16 = 402;

/// Everything that was recorded of a run.
pub(super) struct Recorded {
    pub(super) session: SessionRecord,
    pub(super) run: RunRecord,
    /// Its entries of the log.
    pub(super) events: Vec<Event>,
    /// What it asked people, and what they answered.
    pub(super) approvals: Vec<(ApprovalRequest, Option<ApprovalResolution>)>,
    /// What was said into it while it went on.
    pub(super) told: Vec<Told>,
    /// Where it was stopped, if it was.
    pub(super) stop: Option<StopPoint>,
    /// The version it began from.
    pub(super) base: Option<VersionRecord>,
    /// The version it published.
    pub(super) version: Option<VersionRecord>,
    /// What a reader of the report should know.
    pub(super) notes: Vec<String>,
}

impl Recorded {
    /// Reads it, and the recordings of its calls, which are put into a temporary file in `directory`.
    pub(super) async fn load(
        store: &Store,
        session: SessionRecord,
        run: RunId,
        directory: &Path,
    ) -> Result<(Self, RecordedCalls), Failure> {
        let id = session.session_id;
        let read = |error| Failure::internal("read what was recorded", &error);
        let found = store.runs.run(id, run).await.map_err(read)?;
        let run =
            found.ok_or_else(|| Failure::new(ErrorCode::NotFound, format!("there is no run `{run}`")))?;
        let mut log = Log::of(run.run_id);
        for_each_event(store.log.as_ref(), id, |event| log.note(event))
            .await
            .map_err(|error| Failure::internal("read the log", &error))?;
        let options_are_guessed = log.options.is_none() && log.changed_since;
        let Log { events, options, asked, .. } = log;
        let mut calls = calls(store, &session, &events, directory).await?;
        let mut session = session;
        session.options = without_budget(options.unwrap_or(session.options));
        let version = match run.version {
            Some(version) => store.versions.version(id, version).await.map_err(read)?,
            None => None,
        };
        let base = store.versions.version(id, run.base_version.unwrap_or_default()).await.map_err(read)?;
        let told = told(run.run_id, &events, &mut calls);
        let (told, n_unheard) =
            told.map_err(|error| Failure::new(ErrorCode::RecordingExpired, error.to_string()))?;
        let recorded = Self {
            told,
            stop: StopPoint::of(&events),
            notes: notes(n_unheard, options_are_guessed),
            approvals: asked,
            session,
            run,
            events,
            base,
            version,
        };
        Ok((recorded, calls))
    }
}

/// What of a log matters to one run.
struct Log {
    run: RunId,
    /// Its entries to its end, and the calls to the model that were told of later.
    events: Vec<Event>,
    has_begun: bool,
    is_over: bool,
    /// The session's options when the run began, as far as the log says.
    options: Option<Value>,
    /// Whether they were changed after that.
    changed_since: bool,
    /// What the run asked people, and what they answered.
    asked: Vec<(ApprovalRequest, Option<ApprovalResolution>)>,
    /// What earlier runs asked and nobody answered yet.
    open: HashMap<ApprovalId, Event>,
}

impl Log {
    fn of(run: RunId) -> Self {
        Self {
            run,
            events: Vec::new(),
            has_begun: false,
            is_over: false,
            options: None,
            changed_since: false,
            asked: Vec::new(),
            open: HashMap::new(),
        }
    }

    fn note(&mut self, event: Event) {
        match &event.body {
            EventBody::SessionCreated { options, .. } => self.options.clone_from(options),
            EventBody::SessionUpdated { changes } => self.note_options(changes.options.as_ref()),
            EventBody::ApprovalRequested(request) => self.note_asked(request, &event),
            EventBody::ApprovalResolved(resolution) if !self.is_over => self.note_answer(resolution, &event),
            _ => {}
        }
        // What an earlier run asked may be answered when it is long over: that is no part of it.
        let is_late_call = matches!(event.body, EventBody::ModelCalled(_));
        if event.run_id == Some(self.run) && (!self.is_over || is_late_call) {
            self.has_begun |= matches!(event.body, EventBody::RunStarted { .. });
            self.is_over |= event.body.ends_run();
            self.events.push(event);
        }
    }

    fn note_options(&mut self, changed: Option<&Value>) {
        let Some(options) = changed else { return };
        if self.has_begun {
            self.changed_since = true;
        } else {
            self.options = Some(options.clone());
        }
    }

    fn note_asked(&mut self, request: &ApprovalRequest, event: &Event) {
        if event.run_id == Some(self.run) {
            self.asked.push((request.clone(), None));
        } else if !self.has_begun {
            self.open.insert(request.approval_id, event.clone());
        }
    }

    /// A run that asks what an earlier one asked in vain asks nothing new: it waits for the same answer. In its replay it asks
    /// for the first time.
    fn note_answer(&mut self, resolution: &ApprovalResolution, event: &Event) {
        let id = resolution.approval_id;
        if let Some((_, answer)) = self.asked.iter_mut().find(|(request, _)| request.approval_id == id) {
            *answer = Some(resolution.clone());
        }
        let Some(earlier) = self.open.remove(&id).filter(|_| self.has_begun) else { return };
        if let EventBody::ApprovalRequested(request) = &earlier.body {
            self.asked.push((request.clone(), Some(resolution.clone())));
        }
        // What expired may never have been asked again.
        if resolution.decision != Resolution::Expired {
            let own = |event: Event| Event { run_id: Some(self.run), ..event };
            self.events.extend([own(earlier), own(event.clone())]);
        }
    }
}

/// A replay is charged to nobody, so that nothing limits it.
fn without_budget(mut options: Value) -> Value {
    if let Some(fields) = options.as_object_mut() {
        fields.remove("budget");
    }
    options
}

/// The recorded calls of a run.
pub(super) struct RecordedCalls {
    shelf: Shelf,
    calls: Vec<RecordedCall>,
}

/// A call, and what the log knows better than its recording.
struct RecordedCall {
    recording: BlobHash,
    thread: Option<String>,
    model: String,
    is_over_budget: bool,
}

impl Recordings for RecordedCalls {
    fn count(&self) -> usize {
        self.calls.len()
    }

    fn recording(&mut self, place: usize) -> Result<Recording, RecordingError> {
        let missing = RecordingError::Damaged("there is no such recording");
        let call = self.calls.get(place).ok_or(missing)?;
        let recording = self.shelf.recording(&call.recording).map_err(|error| match error {
            LoadError::Damaged(error) => error,
            error => RecordingError::Unread(chain(&error)),
        })?;
        // Recordings of the first versions do not say that the budget was spent, but what it led to does.
        let spent =
            (call.is_over_budget && recording.status == BUDGET_SPENT).then_some(RefusalKind::BudgetSpent);
        Ok(Recording {
            conversation: recording.conversation.or_else(|| call.thread.clone()),
            refusal: recording.refusal.or(spent),
            // The log says who really answered.
            model: call.model.clone(),
            ..recording
        })
    }
}

async fn calls(
    store: &Store,
    session: &SessionRecord,
    events: &[Event],
    directory: &Path,
) -> Result<RecordedCalls, Failure> {
    let is_over_budget = events
        .iter()
        .any(|event| matches!(&event.body, EventBody::RunFailed { code: ErrorCode::BudgetExceeded, .. }));
    let space = spaces::of_calls(&session.partition, session.session_id);
    let (mut shelf, mut calls) = (Shelf::new(directory), Vec::new());
    for event in events {
        let EventBody::ModelCalled(called) = &event.body else { continue };
        // Nothing of its answer is known. The run was stopped there, and so is its replay.
        if called.is_ended_unseen() {
            continue;
        }
        let number = calls.len() + 1;
        let gone = |why: &str| {
            let message = format!("model call {number} of the run cannot be replayed: {why}");
            Failure::new(ErrorCode::RecordingExpired, message)
        };
        let hash = called.recording.as_ref().ok_or_else(|| gone(&not_recorded(events)))?;
        let fetched = shelf.fetch(store.blobs.as_ref(), &space, hash).await;
        fetched.map_err(|error| match error {
            LoadError::Gone(_) => gone("its recording has expired (`retention.recordings_days`)"),
            LoadError::Damaged(error) => gone(&error.to_string()),
            error => Failure::internal("read a recording", &error),
        })?;
        calls.push(RecordedCall {
            recording: hash.clone(),
            thread: (!event.conversation_id.is_main()).then(|| event.conversation_id.0.clone()),
            model: called.model.clone(),
            is_over_budget,
        });
    }
    Ok(RecordedCalls { shelf, calls })
}

/// Why a call of these events has no recording.
fn not_recorded(events: &[Event]) -> String {
    let reached = events.iter().find_map(|event| match &event.body {
        EventBody::LimitReached { limit, scope, allowed, .. } if is_recording_limit(limit) => {
            Some((limit, scope, allowed))
        }
        _ => None,
    });
    match reached {
        Some((limit, scope, allowed)) => format!(
            "the recording of the run is incomplete, because the {scope} reached the limit of {allowed} bytes (`{limit}`)"
        ),
        None => "it was not recorded".to_owned(),
    }
}

/// What cannot be done again as it was.
fn notes(n_unheard: usize, options_are_guessed: bool) -> Vec<String> {
    let unheard = format!(
        "{n_unheard} messages were sent into the run while it went on, and the model never heard of them; \
         a replay does not send them"
    );
    let guessed = "the session's options were changed after the run, and its log is too old to say what they were: \
                   the replay has today's";
    let all = [(n_unheard > 0, unheard), (options_are_guessed, guessed.to_owned())];
    all.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect()
}

#[cfg(test)]
mod tests {
    use warren_domain::{Draft, EventBody, RunId, Seq, SessionId, Timestamp};

    use super::not_recorded;

    #[test]
    fn a_call_beyond_the_limit_says_that_the_recording_is_incomplete() {
        let reached = EventBody::LimitReached {
            limit: "models.max_recorded_bytes_per_run".to_owned(),
            scope: "run".to_owned(),
            used: 90,
            allowed: 100,
            resets_at: None,
        };
        let (run, session) = (RunId(uuid::Uuid::nil()), SessionId(uuid::Uuid::nil()));
        let event = Draft::of_run(run, reached).numbered(Seq(1), session, Timestamp::from_millis(0));
        let why = not_recorded(&[event]);
        assert!(why.contains("incomplete") && why.contains("models.max_recorded_bytes_per_run"), "{why}");
        assert_eq!(not_recorded(&[]), "it was not recorded");
    }
}
