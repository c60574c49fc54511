//! Runs: messages carried out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{Content, RunId, RunOptions, RunStatus, Seq, SessionId, Timestamp, Usage, Version};

/// A run, ended, active or queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunItem {
    /// Its name.
    pub run_id: RunId,
    /// The session of the run.
    pub session_id: SessionId,
    /// Its status.
    pub status: RunStatus,
    /// The message.
    pub content: Content,
    /// What the sender set for it.
    pub options: RunOptions,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The version it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<Version>,
    /// The version it created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The log entry that announced it.
    pub seq: Seq,
    /// The usage.
    pub usage: Usage,
    /// What went wrong, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunProblem>,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunProblem {
    /// A stable code; see `docs/errors/`.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// Part of a session's runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The part.
    pub runs: Vec<RunItem>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// With `sum=earlier`: the total usage of all runs before this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Usage>,
}

/// Changes a queued message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunPatch {
    /// The new message, if it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Its new position in the queue, from 1, if it changes; a position past the end means the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
}

/// What an interrupt stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interrupted {
    /// The run that is being stopped, or `null` if none was active.
    pub run_id: Option<RunId>,
}
