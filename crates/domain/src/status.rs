//! The state of a session's sandbox as clients see it: derived, never stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SandboxId;

/// Whether a session is loaded, and the state of its sandbox.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionRuntimeState {
    /// The session is loaded on some node.
    pub is_loaded: bool,
    /// Its sandbox, if it has one now.
    pub sandbox: Option<SandboxState>,
}

/// One sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SandboxState {
    /// Which one.
    pub sandbox_id: SandboxId,
    /// Its status.
    pub status: SandboxStatus,
    /// How often it was restarted because it was unhealthy.
    pub restart_count: u32,
    /// When it last responded, in milliseconds since 1970.
    pub last_health_check: i64,
    /// A status message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Its actual isolation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Value>,
}

/// The status of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxStatus {
    /// Being made or restored.
    Starting,
    /// Answers.
    Ready,
    /// Does not answer; about to be restarted.
    Unhealthy,
    /// Gone.
    Terminated,
}
