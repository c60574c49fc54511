//! The machine: health, sandboxes, what was spent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use warren_domain::{SessionId, SessionRuntimeState, Usage};

/// The process answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
    /// The server's version.
    pub version: String,
}

/// Whether the server can do its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// `ready`, or what is missing.
    pub status: String,
}

/// What this machine can give: isolation, agents, models, and what is missing with the command that fixes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Doctor(pub Map<String, Value>);

/// A session's sandbox, for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxItem {
    /// Whose it is.
    pub session_id: SessionId,
    /// Whether the session is loaded, and its sandbox if it has one.
    pub runtime: SessionRuntimeState,
    /// The isolation it really got.
    pub isolation: Option<Value>,
    /// What it uses.
    pub resources: Option<Value>,
    /// What it may use.
    pub limits: Option<Value>,
    /// What happened to it, newest last.
    pub log: Vec<Value>,
}

/// All sandboxes of this node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxList {
    /// All of them.
    pub sandboxes: Vec<SandboxItem>,
}

/// What was spent, group by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// The groups.
    pub rows: Vec<UsageRow>,
    /// All of them together.
    pub total: Usage,
}

/// What one group spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The group's name.
    pub group: String,
    /// How many runs ended.
    pub runs: u64,
    /// What they spent.
    pub usage: Usage,
}
