//! `/api/build`: the same operations, told in the words of the platform that API is for.

mod files;

use std::collections::HashMap;

use axum::http::StatusCode;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;
use warren_domain::{
    Content, ErrorCode, Partition, RunFrom, RunOptions, SandboxId, SandboxState, SandboxStatus, Seq,
    SessionId, Timestamp, WhenBusy,
};
use warren_env::TaskKind;
use warren_gateway::Rights;
use warren_runtime::api::{
    LogEntry, NewMessage, OnConflict, SessionError, SessionQuery, SessionSummary, StateFilter,
};
use warren_wire::{
    ArtifactMetadata, BuildArtifact, BuildArtifactList, BuildLimit, BuildMessageList, BuildMessageSend,
    BuildSandbox, BuildSession, BuildSessionCreate, BuildSessionList, BuildSessionStatus, BuildSnapshot,
    History, Packets, SessionCreate,
};

pub(crate) use files::{files, read, upload};

use super::{
    messages::{check_key, limited},
    sessions::{self, limit},
};
use crate::{
    choke::Call,
    failure::Failure,
    preview::Links,
    respond::{self, Answer},
    sse::{self, PacketSource},
};

/// Sessions in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;
/// Entries of a log that are read at a time.
const PAGE: u32 = 1000;
/// Sessions of a list that are looked into at a time.
const AT_ONCE: usize = 8;

/// Answers at once; the sandbox starts meanwhile, and a message that comes before it is ready waits for it.
pub(crate) async fn create(call: Call) -> Answer {
    let BuildSessionCreate { name, agent_type, project_id } = call.json_or_default()?;
    let wanted = SessionCreate { name, agent_type, project_id, ..SessionCreate::default() };
    let mut made = sessions::make(&call, wanted).await?;
    let (app, session) = (call.app().clone(), made.record.session_id);
    call.app().deps.tasks.spawn(TaskKind::Sandbox, async move {
        if let Err(error) = app.runtime().sandboxes().sandbox_start(session).await {
            // The log has it too; the next message tries again.
            tracing::warn!(%session, error = &error as &dyn std::error::Error, "a new session has no sandbox");
        }
    });
    made.runtime.sandbox.get_or_insert_with(about_to_start);
    respond::json(StatusCode::CREATED, &told(made))
}

pub(crate) async fn list(call: Call) -> Answer {
    let status = call.query().text("status").map(str::to_owned);
    let query = SessionQuery {
        partition: Some(call.identity()?.partition.clone()),
        project: call.identity()?.scope.project(),
        text: call.query().text("q").map(str::to_owned),
        before: call.query().text("cursor").map(sessions::cursor).transpose()?,
        limit: limit(&call, DEFAULT_LIMIT),
        ..SessionQuery::default()
    };
    let state = (status.as_deref() == Some("active")).then_some(StateFilter::Sandboxed);
    let page = call.runtime().sessions().session_list(query, state).await?;
    let last = page.items.last().map(|summary| summary.record.session_id.to_string());
    // What is idle is told from what the list says, so a part may be shorter than asked for; its cursor goes on.
    let is_wanted = |session: &BuildSession| match status.as_deref() {
        Some("idle") => session.status == BuildSessionStatus::Idle,
        _ => true,
    };
    let sessions = page.items.into_iter().map(told).filter(is_wanted).collect::<Vec<_>>();
    let sessions = stream::iter(sessions.into_iter().map(|session| with_things(&call, session)));
    let sessions = sessions.buffered(AT_ONCE);
    // One that was erased meanwhile is in no list.
    let sessions = sessions.try_filter_map(async |session| Ok(session)).try_collect().await?;
    respond::ok(&BuildSessionList { sessions, next_cursor: last.filter(|_| page.more) })
}

/// Wakes the sandbox of whoever may do more than look, and waits for it.
pub(crate) async fn get(call: Call) -> Answer {
    let session = call.session()?;
    if call.identity()?.scope.rights() == Rights::ReadWrite {
        match call.runtime().sandboxes().sandbox_start(session).await {
            Ok(_) => {}
            // An ended session can be read, and has no sandbox.
            Err(error) if error.code() == ErrorCode::SessionEnded => {}
            Err(error) => return Err(error.into()),
        }
    }
    let summary = told(call.runtime().sessions().session_get(session).await?);
    let not_found = || Failure::not_found("session", session);
    respond::ok(&with_things(&call, summary).await?.ok_or_else(not_found)?)
}

pub(crate) async fn send(call: Call) -> Answer {
    let wanted: BuildMessageSend = call.json()?;
    check_key("client_request_id", wanted.client_request_id.as_deref())?;
    let session = call.session()?;
    let message = NewMessage {
        content: Content::Text(wanted.content),
        idempotency_key: wanted.client_request_id,
        when_busy: WhenBusy::default(),
        options: RunOptions::default(),
        base_version: None,
        on_conflict: OnConflict::Reject,
        from: RunFrom::default(),
        count: Some(call.app().gateway().count_of(call.identity()?)),
    };
    let sent = match call.runtime().runs().run_send(session, message).await {
        Ok(sent) => sent,
        Err(error) => return Err(limited(&call, error).await),
    };
    let follow = call.runtime().records().events_follow(session, Seq(sent.seq.0.saturating_sub(1))).await?;
    // Asked after the message was taken: what the sandbox does from now on is in the log behind it.
    let runtime = call.runtime().sessions().session_get(session).await?.runtime;
    let mut packets = Packets::default();
    let opening = packets.meanwhile(&runtime, call.app().now());
    let links = links(&call, session)?;
    Ok(sse::stream(PacketSource::new(follow, sent.run, packets, opening, links), call.cancel()))
}

pub(crate) async fn history(call: Call) -> Answer {
    let mut history = History::default();
    let session = call.session()?;
    each_event(&call, session, |event| history.apply(event)).await?;
    let mut messages = history.into_messages();
    let links = links(&call, session)?;
    messages.iter_mut().flat_map(|message| &mut message.packets).for_each(|packet| links.put_into(packet));
    respond::ok(&BuildMessageList { messages })
}

pub(crate) async fn artifacts(call: Call) -> Answer {
    respond::ok(&BuildArtifactList { artifacts: artifacts_of(&call, call.session()?).await? })
}

pub(crate) async fn artifact(call: Call) -> Answer {
    let text = call.parameter("artifactId");
    let not_found = || Failure::not_found("artifact", text.escape_debug());
    let id: Uuid = text.parse().map_err(|_| not_found())?;
    let artifacts = artifacts_of(&call, call.session()?).await?;
    respond::ok(&artifacts.into_iter().find(|artifact| artifact.id == id).ok_or_else(not_found)?)
}

pub(crate) async fn limits(call: Call) -> Answer {
    let allowance = call.app().gateway().allowance(call.identity()?).await?;
    respond::ok(&BuildLimit {
        plan: allowance.plan.to_string(),
        limit: allowance.most,
        used: allowance.used,
        remaining: allowance.most.map(|most| most.saturating_sub(allowance.used)),
        resets_at: allowance.resets_at,
        resets_at_as_before: allowance.resets_at,
    })
}

fn told(summary: SessionSummary) -> BuildSession {
    let SessionSummary { record, runtime, .. } = summary;
    let (status, sandbox) = BuildSandbox::of(record.session_id, record.created_at, &runtime);
    BuildSession {
        id: record.session_id,
        user_id: record.made_by.as_deref().map(|user| user_id(&record.partition, user)),
        name: record.name,
        status,
        created_at: record.created_at,
        last_activity_at: record.last_activity,
        sandbox,
        artifacts: Vec::new(),
        snapshots: Vec::new(),
    }
}

/// Users have names here and numbers there: the same user of the same tenant always has the same number.
fn user_id(partition: &Partition, user: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("warren:user:{partition}/{user}").as_bytes())
}

/// A sandbox that has no name yet.
fn about_to_start() -> SandboxState {
    SandboxState {
        sandbox_id: SandboxId(String::new()),
        status: SandboxStatus::Starting,
        restart_count: 0,
        last_health_check: 0,
        status_message: None,
        isolation: None,
    }
}

/// A session with what it made and what is kept of it; `None` if it was erased meanwhile.
async fn with_things(call: &Call, session: BuildSession) -> Result<Option<BuildSession>, Failure> {
    let things = async {
        Ok::<_, Failure>((artifacts_of(call, session.id).await?, snapshots_of(call, session.id).await?))
    };
    match things.await {
        Ok((artifacts, snapshots)) => Ok(Some(BuildSession { artifacts, snapshots, ..session })),
        Err(failure) if failure.code == ErrorCode::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What a session made that clients of this API know, by path.
async fn artifacts_of(call: &Call, session: SessionId) -> Result<Vec<BuildArtifact>, Failure> {
    let links = links(call, session)?;
    let mut times = HashMap::new();
    let mut told = Vec::new();
    for artifact in call.runtime().artifacts().artifact_list(session).await? {
        let Some(mut metadata) = ArtifactMetadata::of(&artifact) else { continue };
        links.put(&mut metadata);
        let created_at = time_of(call, session, artifact.created_seq, &mut times).await?;
        let updated_at = time_of(call, session, artifact.updated_seq, &mut times).await?;
        told.push(BuildArtifact::of(session, metadata, created_at, updated_at.max(created_at)));
    }
    Ok(told)
}

/// When an entry was recorded. One that is not known, as of an artifact of an early version, is told as the beginning.
async fn time_of(
    call: &Call,
    session: SessionId,
    entry: Option<Seq>,
    known: &mut HashMap<Seq, Timestamp>,
) -> Result<Timestamp, Failure> {
    let seq = entry.unwrap_or(Seq(1));
    if let Some(time) = known.get(&seq) {
        return Ok(*time);
    }
    let before = Seq(seq.0.saturating_sub(1));
    let (entries, _) = call.runtime().records().events_read(session, before, 1, None).await?;
    let time = entries.first().and_then(|entry| entry.event().ok()).map(|event| event.timestamp);
    let time = time.unwrap_or_default();
    known.insert(seq, time);
    Ok(time)
}

/// A session's versions, oldest first.
async fn snapshots_of(call: &Call, session: SessionId) -> Result<Vec<BuildSnapshot>, SessionError> {
    let (mut snapshots, mut before) = (Vec::new(), None);
    loop {
        let page = call.runtime().versions().version_list(session, before, PAGE).await?.page;
        // The beginning is no snapshot: nothing was saved yet.
        let told = page.items.iter().filter(|it| it.version.0 > 0);
        snapshots.extend(told.map(|it| BuildSnapshot::of(session, it.version, it.created_at, it.size_bytes)));
        match page.items.last() {
            Some(last) if page.more => before = Some(last.version),
            _ => break,
        }
    }
    snapshots.reverse();
    Ok(snapshots)
}

fn links(call: &Call, session: SessionId) -> Result<Links, Failure> {
    Ok(Links::new(call.app().clone(), session, call.secret()?))
}

/// Reads a whole log, page by page. An entry that is no event of this version says nothing here.
async fn each_event(
    call: &Call,
    session: SessionId,
    mut each: impl FnMut(&warren_domain::Event),
) -> Result<(), SessionError> {
    let mut after = Seq(0);
    loop {
        let (page, _) = call.runtime().records().events_read(session, after, PAGE, None).await?;
        page.iter().filter_map(|entry: &LogEntry| entry.event().ok()).for_each(|event| each(&event));
        match page.last() {
            Some(last) => after = last.seq,
            None => return Ok(()),
        }
    }
}
