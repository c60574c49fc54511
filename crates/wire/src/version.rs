//! Versions: conversation and files together.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use warren_domain::{
    AgentType, BlobHash, Block, FileCounts, ProfileId, RunId, Seq, SessionId, Timestamp, Usage, Version,
    VersionCause,
};

use crate::SessionListItem;

/// A version in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionItem {
    /// Its number.
    pub version: Version,
    /// Its base version.
    pub base: Version,
    /// Why it was created.
    pub cause: VersionCause,
    /// The run that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Its last log entry.
    pub seq: Seq,
    /// When it was created.
    pub created_at: Timestamp,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// File changes since its base.
    pub files: FileCounts,
    /// The number of new blocks since its base.
    pub blocks: u64,
    /// The session's usage up to then.
    pub usage: Usage,
    /// The cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// A name; labelled versions are kept forever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Another session worked in the same workspace at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The restored version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Version>,
    /// Its files and transcripts have been deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}

/// One version in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetail {
    /// As it is listed.
    #[serde(flatten)]
    pub item: VersionItem,
    /// Excluded paths: caches and dependencies.
    pub excluded: Vec<String>,
    /// Files that could not be saved, at most 1,000 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFile>,
    /// Files that kept changing while they were read, at most 1,000 of them; their last content is saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<String>,
    /// The agent's transcripts.
    pub transcripts: Vec<TranscriptLength>,
}

/// A file that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedFile {
    /// Relative to the workspace; or absolute in the sandbox, if it is not in the workspace.
    pub path: String,
    /// `special`: a device, pipe or socket; `unreadable`: it could not be opened or read; `too_long`: its path is;
    /// `link_out`: a link of an imported archive that leads out of the workspace.
    pub why: String,
}

/// A transcript at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptLength {
    /// `main`, or the agent's own ID for it.
    pub thread: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Part of the list of versions, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionPage {
    /// The part.
    pub versions: Vec<VersionItem>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The current state of the session.
    pub head: VersionHead,
}

/// The current state of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionHead {
    /// Its latest version.
    pub version: Version,
    /// There are uncommitted changes: a run failed, or files changed between runs. The next run commits them first.
    pub dirty: bool,
}

/// Labels a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionLabel {
    /// The label, 1 to 100 characters; `null` removes it.
    #[serde(deserialize_with = "Option::deserialize")]
    pub label: Option<String>,
}

/// How two versions differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionDiff {
    /// Before.
    pub from: Version,
    /// After.
    pub to: Version,
    /// Files that differ, by path.
    pub files: Vec<FileDiff>,
    /// More files differ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// New blocks of the main conversation. Empty if only some files were requested, with `path` or `after`.
    pub blocks: Vec<Block>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Relative to the workspace; or absolute in the sandbox, if it is not in the workspace.
    pub path: String,
    /// What happened to it.
    pub change: TreeChange,
    /// `file`, `directory` or `symlink`.
    pub kind: String,
    /// It is not text. Also `false` if it was not read, because `lines` was `none`.
    pub binary: bool,
    /// The previous state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileLook>,
    /// The current state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileLook>,
    /// The lines that differ, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The diff is truncated, or was left out because of a limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The number of added lines, if counted, including those that a truncated diff does not show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// The number of removed lines, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

/// What happened to a file between two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TreeChange {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content, mode or kind is another.
    Changed,
}

/// A file without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileLook {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The hash of its content, or of a link's target.
    pub hash: BlobHash,
    /// Permission bits.
    pub mode: u32,
}

/// Paths of the workspace that differ between two versions, or a part of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionChanges {
    /// Before.
    pub from: VersionPlace,
    /// After.
    pub to: VersionPlace,
    /// Files, links, and directories that only one of them has; by path, a directory before its content.
    pub changes: Vec<PathChange>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A reference to a version, possibly of the session that this one was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionPlace {
    /// Whose.
    pub session_id: SessionId,
    /// Which.
    pub version: Version,
    /// Why it was created.
    pub cause: VersionCause,
}

/// A path that differs between two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathChange {
    /// Relative to the workspace. A backslash is written as `\\`, a byte that is not UTF-8 as `\xNN`.
    pub path: String,
    /// What happened to it.
    pub change: TreeChange,
    /// The previous state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<TreeEntry>,
    /// The current state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TreeEntry>,
}

/// A directory of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeListing {
    /// The directory.
    pub path: String,
    /// Its entries, by name.
    pub entries: Vec<TreeEntry>,
}

/// An entry of a version's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeEntry {
    /// Its name.
    pub name: String,
    /// The path, for requests.
    pub path: String,
    /// `file`, `directory` or `symlink`.
    pub kind: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last modified.
    pub modified_at: Timestamp,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
    /// The target of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Forks a session from a version of another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionFork {
    /// The version to fork from; the latest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A different agent than the origin's.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentType>,
    /// A different profile than the origin's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileId>,
}

/// A fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionForked {
    /// The new session.
    #[serde(flatten)]
    pub session: SessionListItem,
    /// What the fork lacks, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<String>,
}

/// Restores an older version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRestore {
    /// Which one.
    pub version: Version,
}

/// What to do if `baseVersion` is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum OnConflict {
    /// By name: `reject` or `retry`.
    Word(ConflictWord),
    /// Retry on the latest version.
    Retry(ConflictRetry),
}

/// The policy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConflictWord {
    /// Refuse the message.
    Reject,
    /// Try again on the latest version: three times, with half a second before the first.
    Retry,
}

/// How to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConflictRetry {
    /// The number of retries; at most 10.
    pub retries: u32,
    /// The delay before the first retry, in milliseconds, doubled each time. At most 10000.
    pub backoff_ms: u64,
}

/// Word or object by the form of the JSON: an error then speaks of the form that was meant.
impl<'de> Deserialize<'de> for OnConflict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = if value.is_object() {
            serde_json::from_value(value).map(OnConflict::Retry)
        } else {
            serde_json::from_value(value).map(OnConflict::Word)
        };
        read.map_err(serde::de::Error::custom)
    }
}
