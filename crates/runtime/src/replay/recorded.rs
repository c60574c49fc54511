//! What is known of a run that is to be replayed.

use std::collections::HashMap;

use serde_json::Value;
use warren_domain::{ApprovalId, ApprovalRequest, ApprovalResolution, ErrorCode, Event, EventBody, RunId};
use warren_models::Recording;
use warren_store::{RunRecord, SessionRecord, Store, VersionRecord};

use super::{
    Failure,
    stop::StopPoint,
    told::{Told, told},
};
use crate::{recorder::for_each_event, spaces};

/// Everything that was recorded of a run.
pub(super) struct Recorded {
    pub(super) session: SessionRecord,
    pub(super) run: RunRecord,
    /// Its entries of the log.
    pub(super) events: Vec<Event>,
    pub(super) recordings: Vec<Recording>,
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
    pub(super) async fn load(store: &Store, session: SessionRecord, run: RunId) -> Result<Self, Failure> {
        let id = session.session_id;
        let read = |error| Failure::internal("read what was recorded", &error);
        let found = store.runs.run(id, run).await.map_err(read)?;
        let run =
            found.ok_or_else(|| Failure::new(ErrorCode::NotFound, format!("there is no run `{run}`")))?;
        let mut log = Log { run: run.run_id, events: Vec::new(), options: None };
        for_each_event(store.log.as_ref(), id, |event| log.note(event))
            .await
            .map_err(|error| Failure::internal("read the log", &error))?;
        let Log { events, options, .. } = log;
        let recordings = recordings(store, &session, &events).await?;
        let mut session = session;
        session.options = without_budget(options.unwrap_or(session.options));
        let version = match run.version {
            Some(version) => store.versions.version(id, version).await.map_err(read)?,
            None => None,
        };
        let base = store.versions.version(id, run.base_version.unwrap_or_default()).await.map_err(read)?;
        let (told, n_unheard) = told(run.run_id, &events, &recordings);
        Ok(Self {
            told,
            stop: StopPoint::of(&events),
            notes: notes(n_unheard),
            approvals: approvals(&events),
            session,
            run,
            events,
            recordings,
            base,
            version,
        })
    }
}

/// What of a log matters to one run.
struct Log {
    run: RunId,
    events: Vec<Event>,
    /// The session's options when the run began, if they were ever changed before.
    options: Option<Value>,
}

impl Log {
    fn note(&mut self, event: Event) {
        if event.run_id == Some(self.run) {
            self.events.push(event);
        } else if let (true, EventBody::SessionUpdated { changes }) = (self.events.is_empty(), &event.body) {
            self.options = changes.options.clone().or_else(|| self.options.take());
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

async fn recordings(
    store: &Store,
    session: &SessionRecord,
    events: &[Event],
) -> Result<Vec<Recording>, Failure> {
    let mut all = Vec::new();
    let space = spaces::of_calls(&session.partition, session.session_id);
    for event in events {
        let EventBody::ModelCalled(called) = &event.body else { continue };
        let number = all.len() + 1;
        let gone = |why: &str| {
            let message = format!("call {number} of the run to the model cannot be replayed: {why}");
            Failure::new(ErrorCode::RecordingExpired, message)
        };
        let hash = called.recording.as_ref().ok_or_else(|| gone("it was not recorded"))?;
        let bytes = store.blobs.blob(&space, hash).await;
        let bytes = bytes.map_err(|error| Failure::internal("read a recording", &error))?;
        let bytes =
            bytes.ok_or_else(|| gone("its recording is not kept any more (`retention.recordings_days`)"))?;
        let recording = Recording::decode(&bytes).map_err(|error| gone(&error.to_string()))?;
        let thread = (!event.conversation_id.is_main()).then(|| event.conversation_id.0.clone());
        all.push(Recording {
            conversation: recording.conversation.clone().or(thread),
            // The log says who really answered.
            model: called.model.clone(),
            ..recording
        });
    }
    Ok(all)
}

fn approvals(events: &[Event]) -> Vec<(ApprovalRequest, Option<ApprovalResolution>)> {
    let mut answers: HashMap<ApprovalId, ApprovalResolution> = HashMap::new();
    for event in events {
        if let EventBody::ApprovalResolved(resolution) = &event.body {
            answers.insert(resolution.approval_id, resolution.clone());
        }
    }
    let asked = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested(request) => Some(request.clone()),
        _ => None,
    });
    asked.map(|request| (request.clone(), answers.remove(&request.approval_id))).collect()
}

/// What cannot be done again as it was.
fn notes(n_unheard: usize) -> Vec<String> {
    let note = format!(
        "{n_unheard} messages were sent into the run while it went on, and the model never heard of them; \
         a replay does not send them"
    );
    if n_unheard == 0 { Vec::new() } else { vec![note] }
}
