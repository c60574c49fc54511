//! Messages to a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{
    Block, Content, ReasoningEffort, RunFrom, RunId, Seq, SessionId, TimeBudget, Version, WhenBusy,
};

use crate::OnConflict;

/// Sends a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageSend {
    /// Text, or parts.
    pub content: Content,
    /// The idempotency key: the same key returns the same run, for seven days; at most 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// What to do while a run is in progress; `queue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<WhenBusy>,
    /// The model for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The reasoning effort for this message, for agents that support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort>,
    /// The time budget of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<TimeBudget>,
    /// The version that the sender expects to be the latest; a stale one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<Version>,
    /// What to do if `baseVersion` is stale; `reject` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_conflict: Option<OnConflict>,
    /// Where to start if an earlier run left uncommitted changes: `head` (the default) commits them first, `version`
    /// discards them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RunFrom>,
}

/// An accepted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// Its run.
    pub run_id: RunId,
    /// The session it was sent to.
    pub session_id: SessionId,
    /// The log entry that announced the run; its events start there.
    pub seq: Seq,
    /// How often the message was retried because `baseVersion` was stale.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Part of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// The part.
    pub blocks: Vec<Block>,
    /// Pass it as `after` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Pass it as `before` for the previous part; absent at the beginning, and in parts that were read from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_cursor: Option<String>,
    /// The log position of the blocks. Clients that follow the log skip entries about them up to here.
    #[serde(default)]
    pub last_seq: Seq,
}
