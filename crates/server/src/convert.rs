//! From what the runtime says to what clients read.

pub(crate) mod versions;

use warren_domain::{Resolution, RunOptions, Timestamp};
use warren_gateway::{Identity, Token};
use warren_runtime::api::{
    AgentSummary, ApprovalRecord, RunRecord, SandboxReport, SessionDetail, SessionError, SessionSummary,
    Sessions, UsageRow as SpentRow, WorkspaceFile as KnownFile,
};
use warren_wire::{
    AgentItem, ApprovalItem, ApprovalOutcome, ApprovalStatus, RunItem, RunProblem, RuntimeSessionData,
    SandboxItem, SessionListItem, SessionOptions, SubagentThread, TokenItem, UsageRow, WhoAmI, WorkspaceFile,
};

use crate::failure::Failure;

pub(crate) fn session(summary: SessionSummary) -> SessionListItem {
    let SessionSummary { record, runtime, running } = summary;
    SessionListItem {
        session_id: record.session_id,
        agent_type: record.agent_type,
        agent_profile_reference: record.profile.id,
        name: record.name,
        created_at: record.created_at.as_millis(),
        last_activity: record.last_activity.as_millis(),
        metadata: record.metadata,
        options: record.options,
        project_id: record.project_id,
        workspace_id: record.workspace_id,
        forked_from: record.forked_from,
        version: record.version,
        last_seq: record.head,
        runtime,
        active_run_id: running,
        last_run_status: None,
    }
}

/// A session as a list shows it: with how its latest run ended.
pub(crate) async fn listed(
    sessions: &dyn Sessions,
    summary: SessionSummary,
) -> Result<SessionListItem, SessionError> {
    let last_run_status = sessions.session_last_run(summary.record.session_id).await?;
    Ok(SessionListItem { last_run_status, ..session(summary) })
}

pub(crate) fn detail(detail: SessionDetail) -> RuntimeSessionData {
    let threads = detail.conversations.subagents();
    let subagents = threads.map(|(id, blocks)| SubagentThread {
        id: id.clone(),
        blocks: blocks.to_vec(),
        raw_transcript: None,
    });
    let oldest = detail.conversations.main().first().map(|block| block.id().to_string());
    RuntimeSessionData {
        previous_cursor: oldest.filter(|_| detail.more),
        raw_transcript: None,
        subagents: subagents.collect(),
        blocks: detail.conversations.main().to_vec(),
        workspace_files: detail.files.into_iter().map(file).collect(),
        queue: detail.queue,
        queue_held: detail.queue_held,
        // The blocks and the number must be of the same moment; the record may be of a later one.
        session: SessionListItem { last_seq: detail.last_seq, ..session(detail.summary) },
    }
}

pub(crate) fn agent(summary: AgentSummary) -> AgentItem {
    let installed = summary.program.as_ref().and_then(|program| program.installed.clone());
    let (installed_version, size_bytes) = installed.unzip();
    AgentItem {
        name: summary.name,
        is_agent: summary.is_agent,
        has_effort: summary.has_effort,
        ready: !summary.needs_program || installed_version.is_some(),
        installed_version,
        pinned_version: summary.program.map(|program| program.pinned),
        size_bytes,
    }
}

pub(crate) fn approval(record: ApprovalRecord, now: Timestamp) -> ApprovalItem {
    let status = match &record.resolution {
        Some((resolution, _)) if resolution.decision == Resolution::Expired => ApprovalStatus::Expired,
        Some(_) => ApprovalStatus::Resolved,
        None if record.request.expires_at <= now => ApprovalStatus::Expired,
        None => ApprovalStatus::Pending,
    };
    ApprovalItem {
        request: record.request,
        session_id: record.session_id,
        run_id: record.run_id,
        requested_at: record.requested_at,
        status,
        resolution: record.resolution.map(|(resolution, at)| ApprovalOutcome {
            decision: resolution.decision,
            by: resolution.by,
            at,
            message: resolution.message,
            answers: resolution.answers,
            rule: resolution.rule,
        }),
    }
}

pub(crate) fn run(record: RunRecord) -> RunItem {
    RunItem {
        run_id: record.run_id,
        session_id: record.session_id,
        status: record.status,
        content: record.input.content,
        options: record.input.options,
        created_at: record.created_at,
        started_at: record.started_at,
        ended_at: record.ended_at,
        base_version: record.base_version,
        version: record.version,
        seq: record.seq,
        usage: record.usage,
        error: record.error.map(|(code, message)| RunProblem { code, message }),
    }
}

pub(crate) fn sandbox(report: SandboxReport) -> SandboxItem {
    SandboxItem {
        session_id: report.session_id,
        runtime: report.state,
        isolation: report.isolation,
        resources: report.resources,
        limits: report.limits,
        log: report.log,
    }
}

pub(crate) fn usage(row: SpentRow) -> UsageRow {
    UsageRow { group: row.group, runs: row.runs, usage: row.usage }
}

pub(crate) fn options(options: SessionOptions) -> Result<RunOptions, Failure> {
    let SessionOptions { model, time_budget, permission_mode, budget, effort } = options;
    if budget.and_then(|budget| budget.cost_usd).is_some_and(|cost| cost < 0.0) {
        return Err(Failure::bad_request("`options.budget.costUsd` must not be negative"));
    }
    Ok(RunOptions { model, time_budget, permission_mode, budget, effort })
}

pub(crate) fn who(identity: &Identity, csrf: Option<String>) -> WhoAmI {
    WhoAmI {
        token_id: identity.token_id,
        name: identity.name.clone(),
        scope: identity.scope.to_string(),
        csrf,
    }
}

pub(crate) fn token(token: Token) -> TokenItem {
    TokenItem {
        token_id: token.token_id,
        name: token.name,
        scope: token.scope,
        created_at: token.created_at,
        expires_at: token.expires_at,
        owner: token.owner,
        plan: token.plan,
        parent: token.parent,
    }
}

fn file(file: KnownFile) -> WorkspaceFile {
    WorkspaceFile {
        path: file.path,
        kind: file.kind,
        size_bytes: file.size_bytes,
        mode: file.mode,
        modified_at: file.modified_at,
        hash: file.hash,
    }
}
