//! Approvals: requests of an agent and answers of a person.

mod rule;

pub(crate) use rule::circumstances;
pub use rule::{ApprovalRule, RuleError, RuleScope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{ApprovalId, Timestamp};

/// Whether an agent must ask before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// It acts: the sandbox is the guard.
    #[default]
    Auto,
    /// It asks a person, if it can.
    Ask,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalKind {
    /// To use a tool.
    Permission,
    /// An answer to questions.
    Question,
    /// To reach a host.
    Egress,
}

/// A person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Yes, this once.
    Allow,
    /// Yes, and a rule allows the like for the rest of the session.
    AllowAlways,
    /// No.
    Deny,
}

/// The resolution of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// A person said yes, this once.
    Allow,
    /// A person said yes, for the rest of the session.
    AllowAlways,
    /// A person said no.
    Deny,
    /// It expired.
    Expired,
}

/// A request to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// Its name.
    pub approval_id: ApprovalId,
    /// The request.
    pub kind: ApprovalKind,
    /// The tool call in question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// A one-line description.
    pub title: String,
    /// A permission: `{"toolName", "input", …}`. A question: `{"questions": [{"question", "header"?, "options":
    /// [{"label", "description"?}], "multiSelect"?}]}`.
    pub detail: Value,
    /// The possible answers.
    pub options: Vec<ApprovalDecision>,
    /// Rules that `allow_always` can grant, the narrowest first. Other rules are accepted if they cover the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ApprovalRule>,
    /// When the request expires.
    pub expires_at: Timestamp,
}

/// The answer, and who gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalResolution {
    /// Which one.
    pub approval_id: ApprovalId,
    /// The outcome.
    pub decision: Resolution,
    /// Who decided. `run`, `time` and `agent` if nobody did; `rule` for a rule of an earlier answer (`always` in older
    /// logs).
    pub by: String,
    /// A message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For questions: the question's text → the chosen label, a list of labels, or free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
    /// `allow_always`: the granted rule. Decided by a rule: that rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
}

impl From<ApprovalDecision> for Resolution {
    fn from(decision: ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Allow => Resolution::Allow,
            ApprovalDecision::AllowAlways => Resolution::AllowAlways,
            ApprovalDecision::Deny => Resolution::Deny,
        }
    }
}

impl Resolution {
    /// The person's decision, if there is one.
    #[must_use]
    pub fn decision(self) -> Option<ApprovalDecision> {
        match self {
            Resolution::Allow => Some(ApprovalDecision::Allow),
            Resolution::AllowAlways => Some(ApprovalDecision::AllowAlways),
            Resolution::Deny => Some(ApprovalDecision::Deny),
            Resolution::Expired => None,
        }
    }
}

/// Words of a question that only explain it. Whatever else an agent says of what it wants to do is a part of it.
const EXPLANATIONS: [&str; 2] = ["description", "reason"];

/// What a question is about, whoever asks it and however often: the questions, or the tool with its input and all that
/// goes with it (where, with which rights, on what). `None`: it does not say what a tool would do, so that no answer to
/// another question can be one to this.
#[must_use]
pub fn matter(kind: ApprovalKind, detail: &Value) -> Option<Value> {
    let mut about = detail.as_object()?.clone();
    about.retain(|name, _| !EXPLANATIONS.contains(&name.as_str()));
    let says_what = match kind {
        ApprovalKind::Question | ApprovalKind::Egress => !about.is_empty(),
        ApprovalKind::Permission => about.get("input").is_some_and(|input| !input.is_null()),
    };
    says_what.then(|| json!([kind, about]))
}

impl ApprovalResolution {
    /// A rule of an earlier answer allows this too. Answers of older logs have none, and count for the very same.
    #[must_use]
    pub fn by_rule(approval_id: ApprovalId, rule: Option<ApprovalRule>) -> Self {
        let by = "rule".to_owned();
        Self { approval_id, decision: Resolution::Allow, by, message: None, answers: None, rule }
    }

    /// It expired unanswered; `by` says what ended the wait.
    #[must_use]
    pub fn expired(approval_id: ApprovalId, by: &str) -> Self {
        let by = by.to_owned();
        Self { approval_id, decision: Resolution::Expired, by, message: None, answers: None, rule: None }
    }
}
