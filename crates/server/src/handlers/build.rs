//! `/api/build`: the same operations, told in the words of the platform that API is for.

mod files;

use axum::http::StatusCode;
use uuid::Uuid;
use warren_domain::{
    Content, Partition, RunFrom, RunOptions, SandboxId, SandboxState, SandboxStatus, Seq, SessionId, WhenBusy,
};
use warren_env::TaskKind;
use warren_gateway::Rights;
use warren_runtime::api::{
    LogEntry, NewMessage, OnConflict, SessionError, SessionQuery, SessionSummary, StateFilter,
};
use warren_wire::{
    BuildArtifactList, BuildLimit, BuildMessageList, BuildMessageSend, BuildSandbox, BuildSession,
    BuildSessionCreate, BuildSessionList, BuildSessionStatus, BuildThings, History, Packets, SessionCreate,
};

pub(crate) use files::{files, read, upload};

use super::{
    messages::check_key,
    sessions::{self, limit},
};
use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
    sse::{self, PacketSource},
};

/// Sessions in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;
/// Entries of a log that are read at a time.
const PAGE: u32 = 1000;

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
    let sessions = page.items.into_iter().map(told);
    // What is idle is told from what the list says, so a part may be shorter than asked for; its cursor goes on.
    let is_wanted = |session: &BuildSession| match status.as_deref() {
        Some("idle") => session.status == BuildSessionStatus::Idle,
        _ => true,
    };
    let sessions = sessions.filter(is_wanted).collect();
    respond::ok(&BuildSessionList { sessions, next_cursor: last.filter(|_| page.more) })
}

/// Wakes the sandbox of whoever may do more than look, and waits for it.
pub(crate) async fn get(call: Call) -> Answer {
    let session = call.session()?;
    if call.identity()?.scope.rights() == Rights::ReadWrite
        && let Err(error) = call.runtime().sandboxes().sandbox_start(session).await
    {
        // The session can be read all the same, and says that it has none.
        tracing::info!(%session, error = &error as &dyn std::error::Error, "a session that is read does not wake");
    }
    let summary = call.runtime().sessions().session_get(session).await?;
    let mut things = things(&call, session).await?;
    measure(&call, session, &mut things).await?;
    let (artifacts, snapshots) = things.into_parts();
    respond::ok(&BuildSession { artifacts: Some(artifacts), snapshots: Some(snapshots), ..told(summary) })
}

pub(crate) async fn send(call: Call) -> Answer {
    let wanted: BuildMessageSend = call.json()?;
    check_key(wanted.client_request_id.as_deref())?;
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
    let sent = call.runtime().runs().run_send(session, message).await?;
    let follow = call.runtime().records().events_follow(session, Seq(sent.seq.0.saturating_sub(1))).await?;
    // Asked after the message was taken: what the sandbox does from now on is in the log behind it.
    let runtime = call.runtime().sessions().session_get(session).await?.runtime;
    let mut packets = Packets::default();
    let opening = packets.meanwhile(&runtime, call.app().now());
    Ok(sse::stream(PacketSource::new(follow, sent.run, packets, opening), call.cancel()))
}

pub(crate) async fn history(call: Call) -> Answer {
    let mut history = History::default();
    each_event(&call, call.session()?, |event| history.apply(event)).await?;
    respond::ok(&BuildMessageList { messages: history.into_messages() })
}

pub(crate) async fn artifacts(call: Call) -> Answer {
    let (artifacts, _) = things(&call, call.session()?).await?.into_parts();
    respond::ok(&BuildArtifactList { artifacts })
}

pub(crate) async fn artifact(call: Call) -> Answer {
    let text = call.parameter("artifactId");
    let not_found = || Failure::not_found("artifact", text.escape_debug());
    let id: Uuid = text.parse().map_err(|_| not_found())?;
    let (artifacts, _) = things(&call, call.session()?).await?.into_parts();
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
    })
}

fn told(summary: SessionSummary) -> BuildSession {
    let SessionSummary { record, runtime, running, .. } = summary;
    let (status, sandbox) =
        BuildSandbox::of(record.session_id, record.created_at, &runtime, running.is_some());
    BuildSession {
        id: record.session_id,
        user_id: record.made_by.as_deref().map(|user| user_id(&record.partition, user)),
        name: record.name,
        status,
        created_at: record.created_at,
        last_activity_at: record.last_activity,
        sandbox,
        artifacts: None,
        snapshots: None,
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

async fn things(call: &Call, session: SessionId) -> Result<BuildThings, Failure> {
    let mut things = BuildThings::default();
    each_event(call, session, |event| things.apply(event)).await?;
    Ok(things)
}

/// How long the versions are is in their records, and not in the log.
async fn measure(call: &Call, session: SessionId, things: &mut BuildThings) -> Result<(), SessionError> {
    let mut before = None;
    loop {
        let page = call.runtime().versions().version_list(session, before, PAGE).await?.page;
        page.items.iter().for_each(|item| things.measure(session, item.version, item.size_bytes));
        match page.items.last() {
            Some(last) if page.more => before = Some(last.version),
            _ => return Ok(()),
        }
    }
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
