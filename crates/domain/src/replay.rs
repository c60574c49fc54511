//! What a replay came to.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, ErrorCode, ReplayId, RunId, SessionId, Timestamp};

/// A run, or all runs of a session, carried out once more with the recorded answers of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// Its name.
    pub replay_id: ReplayId,
    /// What is replayed.
    pub session_id: SessionId,
    /// The run that is; absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// How far it is.
    pub status: ReplayStatus,
    /// What it came to; of all runs together, if all are replayed.
    #[serde(flatten)]
    pub outcome: ReplayOutcome,
    /// Each run by itself, if all are replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<ReplayedRun>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// One run of a session that is replayed whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayedRun {
    /// Which.
    pub run_id: RunId,
    /// How far it is.
    pub status: ReplayStatus,
    /// What it came to.
    #[serde(flatten)]
    pub outcome: ReplayOutcome,
}

/// How far a replay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReplayStatus {
    /// It goes on.
    Running,
    /// It was carried out, be it as recorded or not.
    Done,
    /// It could not be carried out: it says nothing about the run.
    Failed,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayOutcome {
    /// Whether anything was not as recorded; absent while it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<bool>,
    /// Where it first was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_divergence: Option<ReplayDivergence>,
    /// What was different without leading anywhere else: what tools said.
    pub differences: Vec<ReplayDifference>,
    /// Calls to the model: how many were recorded, and how many were made again.
    pub calls: ReplayCount,
    /// Entries of the log.
    pub events: ReplayCount,
    /// Files of the resulting tree.
    pub files: ReplayFiles,
    /// What a reader should know: that something could not be compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it could not be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReplayProblem>,
}

/// Where a replay first was not as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayDivergence {
    /// In what way.
    pub kind: ReplayDivergenceKind,
    /// The run, if the whole session is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The recorded call to the model, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// For people.
    pub message: String,
    /// What is different, as a unified diff of what was recorded and what was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// In what way a replay was not as recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayDivergenceKind {
    /// A call to the model asks something else.
    Request,
    /// A call to the model that was not made then.
    ExtraCall,
    /// A call to the model that was made then.
    MissingCall,
    /// The agent reached out of its sandbox, and what it got then cannot be given again.
    Egress,
    /// The agent asks a person something that nobody answered then.
    Approval,
    /// The run ended in another way.
    Outcome,
    /// The log says something else.
    Event,
    /// The files are others.
    Files,
}

/// Something that was different without leading anywhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayDifference {
    /// The run, if the whole session is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// Pairs it with the tool's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// For people.
    pub message: String,
    /// What is different.
    pub diff: String,
}

/// How many were compared, and how many of them were equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayCount {
    /// How many there are on either side.
    pub compared: u64,
    /// How many are the same on both.
    pub equal: u64,
}

/// Files of the resulting tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayFiles {
    /// How many there are on either side.
    pub compared: u64,
    /// How many have the same content, kind and mode on both.
    pub equal: u64,
    /// The paths of the others; at most 100.
    pub different: Vec<String>,
}

/// Why a replay could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayProblem {
    /// A stable code; see `docs/errors/`.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
}

impl std::ops::AddAssign for ReplayCount {
    fn add_assign(&mut self, other: Self) {
        self.compared += other.compared;
        self.equal += other.equal;
    }
}
