//! Sessions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use warren_domain::{
    AgentType, BlobHash, Block, Budget, ConversationId, ForkedFrom, PermissionMode, ProfileId, ProjectId,
    ReasoningEffort, RunId, RunStatus, Seq, SessionId, SessionRuntimeState, TimeBudget, Timestamp, Version,
    WorkspaceId,
};

/// Creates a session. All fields are optional.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionCreate {
    /// The agent; `builtin` if absent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentType>,
    /// The profile; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_profile_reference: Option<ProfileId>,
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client's own data, returned unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The project; the token's own, or the default one, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// A workspace of the project to share with other sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// `true` (the default without `workspaceId`) gives the session its own workspace; `false` uses the project's
    /// oldest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_workspace: Option<bool>,
    /// Defaults for its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<SessionOptions>,
}

/// Creates a session from an agent's transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionImport {
    /// The agent that wrote the transcript and continues it.
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    /// The profile; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_profile_reference: Option<ProfileId>,
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client's own data, returned unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The project; the token's own, or the default one, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The main transcript, as the agent wrote it.
    pub transcript: String,
    /// Its subagents' transcripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<ImportedThread>,
}

/// A subagent's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportedThread {
    /// The agent's own ID for it.
    pub id: String,
    /// As the agent wrote it.
    pub transcript: String,
}

/// Defaults for the runs of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionOptions {
    /// The model that the agent should use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The time budget of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<TimeBudget>,
    /// `auto` (the default): the agent acts without asking, isolated by its sandbox. `ask`: it asks a person first, if
    /// it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The budget of the whole session; a model call that could exceed it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// How much the model thinks before it answers. For agents whose `hasEffort` says that they can say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort>,
}

/// Changes a session's own data. Absent fields stay unchanged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPatch {
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its complete new metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Its complete new options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<SessionOptions>,
    /// `false` resumes queued messages that a stop holds; `true` holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_held: Option<bool>,
}

/// Stops something that may be active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Forced {
    /// Interrupt the active run instead of answering 409.
    #[serde(default)]
    pub force: bool,
}

/// Ends a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionEnd {
    /// The reason; it is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A session in a list. Its state is derived at the time of the request; none is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionListItem {
    /// Its permanent ID.
    pub session_id: SessionId,
    /// Its agent.
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    /// Its profile.
    pub agent_profile_reference: ProfileId,
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created_at: i64,
    /// The time of its last activity, in milliseconds since 1970.
    pub last_activity: i64,
    /// The client's own data.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Defaults for its runs.
    pub options: Value,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// Its origin, if it is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// Its latest version.
    pub version: Version,
    /// The head of its log.
    pub last_seq: Seq,
    /// Whether it is loaded, and its sandbox.
    pub runtime: SessionRuntimeState,
    /// The active run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_run_id: Option<RunId>,
    /// The status of its latest run. In lists and their changes; absent elsewhere, and before the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run_status: Option<RunStatus>,
}

/// Part of the list of sessions, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    /// The part.
    pub sessions: Vec<SessionListItem>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A whole session as of `lastSeq`: follow the events after it to stay up to date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSessionData {
    /// As it is listed.
    #[serde(flatten)]
    pub session: SessionListItem,
    /// The main conversation.
    pub blocks: Vec<Block>,
    /// The subagents' conversations, in the order in which they opened.
    pub subagents: Vec<SubagentThread>,
    /// Files of its workspace as last seen; empty with `limit`. Never their content.
    pub workspace_files: Vec<WorkspaceFile>,
    /// Queued runs, the next one first.
    pub queue: Vec<RunId>,
    /// They are held, because a person stopped the run before them: a new message or `PATCH` with `queueHeld: false`
    /// releases them.
    #[serde(default)]
    pub queue_held: bool,
    /// With `limit`: there are older blocks of the main conversation. Pass it as `before` to the list of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_cursor: Option<String>,
    /// With `include=rawTranscript`: the agent's own transcript of the main conversation; absent before its first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_transcript: Option<String>,
}

/// A subagent's conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentThread {
    /// The ID of its conversation.
    pub id: ConversationId,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// With `include=rawTranscript`: the agent's own transcript of it, where the agent keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_transcript: Option<String>,
}

/// A file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFile {
    /// Relative to the workspace.
    pub path: String,
    /// `file`, `directory`, `symlink` or, for pipes and similar, `other`.
    pub kind: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last modified.
    pub modified_at: Timestamp,
    /// BLAKE3 of its content, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
}
