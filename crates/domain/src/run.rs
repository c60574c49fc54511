//! One message carried out.

use serde::{Deserialize, Serialize};

use crate::{Content, PermissionMode, RunFrom, Version};

/// The status of a run. Stored with the run's record, and always changed together with its event.
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

/// What to do with a message that arrives while a run is in progress.
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

/// The time budget of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TimeBudget {
    /// After this many seconds the agent is asked to wrap up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_seconds: Option<u64>,
    /// After this many seconds the run is stopped.
    pub hard_seconds: u64,
}

/// A budget. Usage is known after each model call; a call that could exceed the budget is refused.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Maximum cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Maximum number of tokens, input and output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// How much a model thinks before it answers. More takes longer and costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// Little.
    Low,
    /// The middle.
    Medium,
    /// Much.
    High,
}

impl ReasoningEffort {
    /// Its name in the APIs of agents and providers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::High => "high",
        }
    }

    /// Parses such a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|effort| effort.as_str() == text)
    }
}

/// Options of a run or, as defaults, of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunOptions {
    /// The model that the agent should use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The time budget; the server's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<TimeBudget>,
    /// Whether the agent must ask before it acts; `auto` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The budget of the whole session.
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
