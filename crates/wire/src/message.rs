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
    /// The same key gives the same run, for seven days; at most 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// What to do while a run is going on; `queue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<WhenBusy>,
    /// The model for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much the model thinks before it answers this message, for agents that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort>,
    /// How long this run may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<TimeBudget>,
    /// The version the sender believes to be the latest; a stale one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<Version>,
    /// What to do when `baseVersion` is not the latest any more; `reject` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_conflict: Option<OnConflict>,
    /// Where to begin when an earlier run left something that is in no version: `head` (the default) commits it first,
    /// `version` gives it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RunFrom>,
}

/// A message that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// The run that carries it out.
    pub run_id: RunId,
    /// The session it was sent to.
    pub session_id: SessionId,
    /// The entry of the log that announced the run; its events begin there.
    pub seq: Seq,
    /// How often `baseVersion` was not the latest any more, before the message was taken.
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
    /// Pass it as `before` for the part before this one; absent at the beginning, and in parts that were not asked for
    /// from the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_cursor: Option<String>,
    /// The position of the log at which the blocks are current. Whoever follows the log skips what it says about them
    /// up to here.
    #[serde(default)]
    pub last_seq: Seq,
}
