//! The machine: health, sandboxes, what was spent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use warren_domain::{SessionId, SessionRuntimeState, Usage};

/// The process responds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
    /// The server's version.
    pub version: String,
}

/// Whether the server is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// `ready`, or what is missing.
    pub status: String,
}

/// What this machine provides: isolation, agents, models, and what is missing, with commands that fix it.
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
    /// Its actual isolation.
    pub isolation: Option<Value>,
    /// Its current usage.
    pub resources: Option<Value>,
    /// Its limits.
    pub limits: Option<Value>,
    /// Its history, newest last.
    pub log: Vec<Value>,
}

/// All sandboxes of this node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxList {
    /// All of them.
    pub sandboxes: Vec<SandboxItem>,
}

/// Usage by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// The groups.
    pub rows: Vec<UsageRow>,
    /// All of them together.
    pub total: Usage,
}

/// The usage of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The group's name.
    pub group: String,
    /// How many runs ended.
    pub runs: u64,
    /// Their usage.
    pub usage: Usage,
}
