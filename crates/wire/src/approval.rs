//! What agents ask people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use warren_domain::{
    ApprovalDecision, ApprovalRequest, ApprovalRule, Resolution, RunId, SessionId, Timestamp,
};

/// Something an agent asked, and what became of it.
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
    /// Whether an answer is waited for.
    pub status: ApprovalStatus,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ApprovalOutcome>,
}

/// Whether an answer is waited for.
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

/// What became of an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalOutcome {
    /// The decision.
    pub decision: Resolution,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What the agent was told with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For questions: what was answered to each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
    /// `allow_always`: the rule it granted, while that is in force. Decided by a rule: that rule.
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

/// Answers an agent. The same decision again changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalAnswer {
    /// Yes, yes for the rest of the session, or no.
    pub decision: ApprovalDecision,
    /// What the agent is told with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For questions: the question's text → the chosen label, a list of labels, or free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
    /// With `allow_always`: what is allowed for the rest of the session. It must cover what is asked. Absent: the very
    /// same request and no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
}
