//! Reports of replays.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, ErrorCode, ReplayId, RunId, SessionId, Timestamp};

/// A replay of a run, or of all runs of a session, with the recorded model responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// Its name.
    pub replay_id: ReplayId,
    /// The replayed session.
    pub session_id: SessionId,
    /// The replayed run; absent for the whole session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Its status.
    pub status: ReplayStatus,
    /// The result; for all runs together if the whole session is replayed.
    #[serde(flatten)]
    pub outcome: ReplayOutcome,
    /// One report per run, if the whole session is replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<ReplayedRun>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// One run of a replayed session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayedRun {
    /// Which.
    pub run_id: RunId,
    /// Its status.
    pub status: ReplayStatus,
    /// The result.
    #[serde(flatten)]
    pub outcome: ReplayOutcome,
}

/// The status of a replay.
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

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayOutcome {
    /// Whether anything differed from the recording; absent while unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<bool>,
    /// The first divergence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_divergence: Option<ReplayDivergence>,
    /// Differences that did not end the replay: tool output.
    pub differences: Vec<ReplayDifference>,
    /// Model calls: recorded and replayed.
    pub calls: ReplayCount,
    /// Entries of the log.
    pub events: ReplayCount,
    /// Files of the resulting tree.
    pub files: ReplayFiles,
    /// Remarks: what could not be compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReplayProblem>,
}

/// The first divergence of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayDivergence {
    /// The kind of divergence.
    pub kind: ReplayDivergenceKind,
    /// The run, if the whole session is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The recorded model call, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// For people.
    pub message: String,
    /// The difference, as a unified diff of the recording and the replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The kind of a divergence.
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

/// A difference that did not end the replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayDifference {
    /// The run, if the whole session is replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// Matches it with the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// For people.
    pub message: String,
    /// What is different.
    pub diff: String,
}

/// The number of compared items, and how many were equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayCount {
    /// The number of items on either side.
    pub compared: u64,
    /// The number of equal items.
    pub equal: u64,
}

/// Files of the resulting tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayFiles {
    /// The number of items on either side.
    pub compared: u64,
    /// The number of files with the same content, kind and mode.
    pub equal: u64,
    /// The paths of the others; at most 100.
    pub different: Vec<String>,
}

/// Why a replay failed.
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
