//! Sessions.

use axum::http::{HeaderValue, StatusCode, header};
use warren_domain::{AgentType, ProjectId, RunOptions, SessionChanges, SessionId};
use warren_gateway::WorkspaceChoice;
use warren_runtime::api::{
    Force, NewSession, SessionError, SessionQuery, SessionSummary, StateFilter, Transcripts,
};
use warren_wire::{Forced, Interrupted, SessionCreate, SessionEnd, SessionImport, SessionPage, SessionPatch};

use crate::{
    choke::Call,
    convert,
    failure::Failure,
    respond::{self, Answer},
};

/// Sessions in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;
/// Names longer than this are not names.
const LONGEST_NAME: usize = 200;

pub(crate) async fn create(call: Call) -> Answer {
    created(make(&call, call.json()?).await?)
}

/// Makes the session that was asked for.
pub(super) async fn make(call: &Call, wanted: SessionCreate) -> Result<SessionSummary, Failure> {
    check_name(wanted.name.as_deref())?;
    let (identity, gateway) = (call.identity()?, call.app().gateway());
    let project = gateway.project_resolve(identity, wanted.project_id).await?;
    let choice = workspace_choice(&wanted)?;
    if call.app().deps.options.workspace_isolation && choice != WorkspaceChoice::Own {
        return Err(Failure::new(
            warren_domain::ErrorCode::Forbidden,
            "sessions of this server do not share workspaces",
        )
        .hint("leave `workspaceId` and `createWorkspace` out"));
    }
    let workspace = gateway.workspace_resolve(project, choice).await?;
    let profile = gateway.profile_resolve(identity, project, wanted.agent_profile_reference).await?;
    let new = NewSession {
        partition: identity.partition.clone(),
        project,
        workspace,
        agent_type: wanted.agent_type.unwrap_or_else(|| AgentType::from("builtin")),
        profile,
        name: wanted.name,
        metadata: wanted.metadata.unwrap_or_default(),
        options: convert::options(wanted.options.unwrap_or_default())?,
        made_by: identity.user().map(str::to_owned),
    };
    Ok(call.runtime().sessions().session_create(new).await?)
}

pub(crate) async fn import(call: Call) -> Answer {
    let wanted: SessionImport = call.json()?;
    check_name(wanted.name.as_deref())?;
    if wanted.subagents.iter().any(|thread| thread.id.contains('\0')) {
        return Err(Failure::bad_request("`subagents[].id` must not contain NUL"));
    }
    let (identity, gateway) = (call.identity()?, call.app().gateway());
    let project = gateway.project_resolve(identity, wanted.project_id).await?;
    let profile = gateway.profile_resolve(identity, project, wanted.agent_profile_reference).await?;
    let new = NewSession {
        partition: identity.partition.clone(),
        project,
        workspace: None,
        agent_type: wanted.agent_type,
        profile,
        name: wanted.name,
        metadata: wanted.metadata.unwrap_or_default(),
        options: RunOptions::default(),
        made_by: identity.user().map(str::to_owned),
    };
    let subagents = wanted.subagents.into_iter().map(|thread| (thread.id, thread.transcript.into_bytes()));
    let transcripts = Transcripts { main: wanted.transcript.into_bytes(), subagents: subagents.collect() };
    created(call.runtime().imports().session_import(new, transcripts).await?)
}

fn created(made: SessionSummary) -> Answer {
    let path = format!("/api/sessions/{}", made.record.session_id);
    let mut response = respond::json(StatusCode::CREATED, &convert::session(made))?;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_str(&path).map_err(Failure::internal)?);
    Ok(response)
}

pub(crate) async fn list(call: Call) -> Answer {
    let query = SessionQuery {
        partition: Some(call.identity()?.partition.clone()),
        project: project(&call).await?,
        workspace: None,
        agent_type: call.query().text("type").map(AgentType::from),
        text: call.query().text("q").map(str::to_owned),
        only: None,
        before: call.query().text("cursor").map(cursor).transpose()?,
        limit: limit(&call, DEFAULT_LIMIT),
    };
    let state = match call.query().text("state") {
        Some("running") => Some(StateFilter::Running),
        Some("loaded") => Some(StateFilter::Loaded),
        Some("sandboxed") => Some(StateFilter::Sandboxed),
        _ => None,
    };
    let page = call.runtime().sessions().session_list(query, state).await?;
    let last = page.items.last().map(|summary| summary.record.session_id.to_string());
    let mut sessions = Vec::with_capacity(page.items.len());
    for summary in page.items {
        sessions.push(convert::listed(call.runtime().sessions(), summary).await?);
    }
    respond::ok(&SessionPage { next_cursor: last.filter(|_| page.more), sessions })
}

pub(crate) async fn get(call: Call) -> Answer {
    let session = call.session()?;
    match call.runtime().sessions().session_load(session).await {
        // What was recorded can be read wherever the session is loaded, and while the server stops.
        Ok(_) | Err(SessionError::Elsewhere { .. } | SessionError::Draining) => {}
        Err(error) => return Err(error.into()),
    }
    let limit = call.query().number("limit").map(|_| limit(&call, 0));
    let detail = call.runtime().records().session_detail(session, limit).await?;
    let mut told = convert::detail(detail);
    if call.query().text("include") == Some("rawTranscript") {
        told.raw_transcript = raw_transcript(&call, session, "").await?;
        for thread in &mut told.subagents {
            thread.raw_transcript = raw_transcript(&call, session, &thread.id.0).await?;
        }
    }
    respond::ok(&told)
}

/// An agent's own transcript, if there is one: not every agent keeps one of each subagent.
async fn raw_transcript(call: &Call, session: SessionId, thread: &str) -> Result<Option<String>, Failure> {
    match call.runtime().records().transcript(session, thread).await {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(SessionError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn update(call: Call) -> Answer {
    let patch: SessionPatch = call.json()?;
    check_name(patch.name.as_deref())?;
    let (session, sessions) = (call.session()?, call.runtime().sessions());
    if patch == SessionPatch::default() {
        return respond::ok(&convert::session(sessions.session_get(session).await?));
    }
    let options = patch.options.map(convert::options).transpose()?;
    let changes = SessionChanges {
        name: patch.name,
        metadata: patch.metadata,
        options: options.map(serde_json::to_value).transpose().map_err(Failure::internal)?,
        queue_held: patch.queue_held,
    };
    respond::ok(&convert::session(sessions.session_update(session, changes).await?))
}

pub(crate) async fn erase(call: Call) -> Answer {
    call.runtime().sessions().session_erase(call.session()?).await?;
    respond::nothing()
}

pub(crate) async fn load(call: Call) -> Answer {
    let loaded = call.runtime().sessions().session_load(call.session()?).await?;
    respond::ok(&convert::session(loaded))
}

pub(crate) async fn unload(call: Call) -> Answer {
    let forced: Forced = call.json_or_default()?;
    let unloaded = call.runtime().sessions().session_unload(call.session()?, force(forced)).await?;
    respond::ok(&convert::session(unloaded))
}

pub(crate) async fn end(call: Call) -> Answer {
    let end: SessionEnd = call.json_or_default()?;
    let reason = match end.reason {
        Some(reason) => reason,
        None => format!("ended by {}", call.identity()?.name),
    };
    let ended = call.runtime().sessions().session_end(call.session()?, reason).await?;
    respond::ok(&convert::session(ended))
}

pub(crate) async fn interrupt(call: Call) -> Answer {
    let by = call.identity()?.name.clone();
    let run_id = call.runtime().runs().run_interrupt(call.session()?, by).await?;
    respond::json(StatusCode::ACCEPTED, &Interrupted { run_id })
}

/// The project a list is narrowed to: the one asked for, if the caller may see it, else the caller's own.
pub(super) async fn project(call: &Call) -> Result<Option<ProjectId>, Failure> {
    let identity = call.identity()?;
    match call.query().id("projectId").map(ProjectId) {
        Some(asked) => Ok(Some(call.app().gateway().project_get(identity, asked).await?.project_id)),
        None => Ok(identity.scope.project()),
    }
}

/// The `limit` of a list; the table has checked that it is small.
pub(super) fn limit(call: &Call, default: u64) -> u32 {
    u32::try_from(call.query().number("limit").unwrap_or(default)).unwrap_or(u32::MAX)
}

pub(super) fn force(forced: Forced) -> Force {
    if forced.force { Force::Yes } else { Force::No }
}

pub(super) fn cursor(text: &str) -> Result<SessionId, Failure> {
    text.parse().map_err(|_| {
        Failure::bad_request("`cursor` is not valid")
            .hint("pass the `nextCursor` of an earlier response unchanged")
    })
}

fn workspace_choice(wanted: &SessionCreate) -> Result<WorkspaceChoice, Failure> {
    match (wanted.workspace_id, wanted.create_workspace) {
        (Some(_), Some(true)) => {
            Err(Failure::bad_request("`workspaceId` and `createWorkspace: true` contradict each other"))
        }
        (Some(workspace), _) => Ok(WorkspaceChoice::This(workspace)),
        (None, Some(false)) => Ok(WorkspaceChoice::Oldest),
        (None, _) => Ok(WorkspaceChoice::Own),
    }
}

pub(super) fn check_name(name: Option<&str>) -> Result<(), Failure> {
    match name {
        Some(name) if name.trim().is_empty() || name.chars().count() > LONGEST_NAME => {
            Err(Failure::bad_request(format!("`name` must have 1 to {LONGEST_NAME} characters")))
        }
        // PostgreSQL keeps no text with it.
        Some(name) if name.contains('\0') => Err(Failure::bad_request("`name` must not contain NUL")),
        _ => Ok(()),
    }
}
