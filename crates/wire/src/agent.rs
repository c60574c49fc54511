//! Agents and their programs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An agent, or a program that an ACP profile can start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentItem {
    /// Its name.
    pub name: String,
    /// Whether it can be the `type` of a session. Otherwise it is a program for the `command` of a profile.
    pub is_agent: bool,
    /// Whether it is ready to use: it needs no program, or its program is installed.
    pub ready: bool,
    /// Whether it supports reasoning effort: `options.effort` of a session.
    #[serde(default)]
    pub has_effort: bool,
    /// The installed version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed_version: Option<String>,
    /// The version that would be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_version: Option<String>,
    /// Bytes of the program on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// All agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// In display order.
    pub agents: Vec<AgentItem>,
}
