//! Runs and sessions carried out once more.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::Replay;

/// Options of a new replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplayStart {
    /// Answer when it has ended, not when it has started.
    #[serde(default)]
    pub wait: bool,
}

/// Part of a session's replays, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayPage {
    /// The part.
    pub replays: Vec<Replay>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
