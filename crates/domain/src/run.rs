//! One message carried out.

use serde::{Deserialize, Serialize};

use crate::{Content, PermissionMode, RunFrom, Version};

/// Where a run stands. Stored with the run's record, and always changed together with the event that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Waits for its turn; survives a restart.
    Queued,
    /// The agent works on it.
    Running,
    /// Ended well.
    Completed,
    /// Ended with an error.
    Failed,
    /// Stopped by someone.
    Interrupted,
    /// Taken up by the run that was going on.
    Steered,
}

impl RunStatus {
    /// The status as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Queued => "queued",
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Steered => "steered",
        }
    }

    /// Reads a stored status.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [
            RunStatus::Queued,
            RunStatus::Running,
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::Interrupted,
            RunStatus::Steered,
        ]
        .into_iter()
        .find(|status| status.as_str() == text)
    }

    /// Whether nothing more will happen to the run.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, RunStatus::Queued | RunStatus::Running)
    }
}

/// What to do with a message that arrives while a run is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WhenBusy {
    /// Carry it out afterwards.
    #[default]
    Queue,
    /// Give it to the running agent; if it does not take it up, carry it out afterwards.
    Steer,
    /// Refuse it.
    Reject,
}

/// How long a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TimeBudget {
    /// After this many seconds the agent is asked to wrap up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_seconds: Option<u64>,
    /// After this many seconds the run is ended.
    pub hard_seconds: u64,
}

/// What may be spent. What is spent is known after each model call; a call that could go beyond is refused.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// At most this much money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// At most this many tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// How much a model thinks before it answers. More takes longer and costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// As little as it can.
    Low,
    /// Some.
    Medium,
    /// As much as it needs.
    High,
}

impl ReasoningEffort {
    /// The word by which agents and providers know it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::High => "high",
        }
    }

    /// Reads such a word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|effort| effort.as_str() == text)
    }
}

/// What a caller may set for one run or, as a default, for a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunOptions {
    /// The model the agent is asked to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it may take; the server's own budget if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<TimeBudget>,
    /// Whether the agent must ask before it acts; it need not if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// What the whole session may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// How much the model thinks, for agents that can say so; the agent's own choice if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort>,
}

/// Everything a run needs to begin, kept while it is queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunInput {
    /// The message.
    pub content: Content,
    /// What the caller set for this run.
    #[serde(default)]
    pub options: RunOptions,
    /// The version the caller believes to be the latest; a stale one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<Version>,
    /// Where it begins when an earlier run left something that is in no version.
    #[serde(default)]
    pub from: RunFrom,
}
