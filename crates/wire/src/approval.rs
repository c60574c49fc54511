//! What agents ask people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use warren_domain::{
    ApprovalDecision, ApprovalRequest, ApprovalRule, Resolution, RunId, SessionId, Timestamp,
};

/// A request of an agent, and its resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalItem {
    /// What is asked.
    #[serde(flatten)]
    pub request: ApprovalRequest,
    /// Whose agent asks.
    pub session_id: SessionId,
    /// The run it asks in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// When it asked.
    pub requested_at: Timestamp,
    /// Whether it is pending.
    pub status: ApprovalStatus,
    /// The outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ApprovalOutcome>,
}

/// Whether it is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    /// It is.
    Pending,
    /// Somebody answered.
    Resolved,
    /// Nobody did while it mattered.
    Expired,
}

/// The resolution of an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalOutcome {
    /// The decision.
    pub decision: Resolution,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For questions: the answer to each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
    /// `allow_always`: the granted rule, while it is active. Decided by a rule: that rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
}

/// Part of the approvals, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPage {
    /// The part.
    pub approvals: Vec<ApprovalItem>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Answers an approval. Repeating the same decision changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalAnswer {
    /// Allow, allow for the rest of the session, or deny.
    pub decision: ApprovalDecision,
    /// A message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For questions: the question's text → the chosen label, a list of labels, or free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
    /// With `allow_always`: the rule for the rest of the session. It must cover the request. Without it, only identical
    /// requests are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
}
