//! Versions: conversation and files together.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use warren_domain::{
    AgentType, BlobHash, Block, FileCounts, ProfileId, RunId, Seq, SessionId, Timestamp, Usage, Version,
    VersionCause,
};

use crate::SessionListItem;

/// A version as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionItem {
    /// Its number.
    pub version: Version,
    /// The one it was made from.
    pub base: Version,
    /// Why it was made.
    pub cause: VersionCause,
    /// The run that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The last entry of the log that belongs to it.
    pub seq: Seq,
    /// When it was made.
    pub created_at: Timestamp,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// What happened to files since its base.
    pub files: FileCounts,
    /// How many blocks are new since its base.
    pub blocks: u64,
    /// What the session had spent until then.
    pub usage: Usage,
    /// The price of that.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// A name for people; keeps it for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Another session worked in the same workspace meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The older version it is once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Version>,
    /// Its files and transcripts are not kept any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}

/// One version, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetail {
    /// As it is listed.
    #[serde(flatten)]
    pub item: VersionItem,
    /// Paths that were there and are not in it: caches and dependencies.
    pub excluded: Vec<String>,
    /// What is not in it because it could not be kept, at most 1,000 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedFile>,
    /// Files that changed every time they were read, at most 1,000 of them: they are in it as they were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<String>,
    /// What the agent remembered.
    pub transcripts: Vec<TranscriptLength>,
}

/// Something that could not be kept.
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
    /// `main`, or the agent's own name for it.
    pub thread: String,
    /// Its length.
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
    /// What the session has now.
    pub head: VersionHead,
}

/// What a session has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionHead {
    /// Its latest version.
    pub version: Version,
    /// There is more than that: a run failed, or files changed between runs. The next run commits it first.
    pub dirty: bool,
}

/// Names a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionLabel {
    /// Its name, of 1 to 100 characters; `null` takes it away.
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
    /// There are more files that differ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Blocks of the main conversation that are new. None if only some files were asked for, with `path` or `after`.
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
    /// It is not text. `false` too where nobody looked, because `lines` was `none`.
    pub binary: bool,
    /// As it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileLook>,
    /// As it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileLook>,
    /// The lines that differ, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The diff is cut, or there was no room or no time for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How many lines are new, where they were counted. Also those that a diff that is cut does not show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// How many lines are gone, where they were counted.
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

/// What a file is, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileLook {
    /// Its length.
    pub size_bytes: u64,
    /// The hash of its content, or of a link's target.
    pub hash: BlobHash,
    /// Permission bits.
    pub mode: u32,
}

/// Paths of the workspace that two versions do not have alike, or a part of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionChanges {
    /// Before.
    pub from: VersionPlace,
    /// After.
    pub to: VersionPlace,
    /// Files, links, and directories that only one of them has; by path, a directory before what is in it.
    pub changes: Vec<PathChange>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Where a version is. It may be of the session that another was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionPlace {
    /// Whose.
    pub session_id: SessionId,
    /// Which.
    pub version: Version,
    /// Why it was made.
    pub cause: VersionCause,
}

/// A path that two versions do not have alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathChange {
    /// Relative to the workspace. A backslash is written as `\\`, a byte that is not UTF-8 as `\xNN`.
    pub path: String,
    /// What happened to it.
    pub change: TreeChange,
    /// As it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<TreeEntry>,
    /// As it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TreeEntry>,
}

/// A directory of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeListing {
    /// The directory.
    pub path: String,
    /// What is in it, by name.
    pub entries: Vec<TreeEntry>,
}

/// Something in a directory of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeEntry {
    /// Its name.
    pub name: String,
    /// Where it is, to ask for it.
    pub path: String,
    /// `file`, `directory` or `symlink`.
    pub kind: String,
    /// Its length.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
    /// Where a link points to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Makes a session that goes on from a version of another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionFork {
    /// From which version; the latest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Another agent than that of the other session.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentType>,
    /// Another profile than that of the other session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileId>,
}

/// A session that was forked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionForked {
    /// The new session.
    #[serde(flatten)]
    pub session: SessionListItem,
    /// What of the version the new session does not have, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<String>,
}

/// Makes an older version the latest once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRestore {
    /// Which one.
    pub version: Version,
}

/// What to do when `baseVersion` is not the latest any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum OnConflict {
    /// In a word: `reject` or `retry`.
    Word(ConflictWord),
    /// Try again on the latest version.
    Retry(ConflictRetry),
}

/// What to do, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConflictWord {
    /// Refuse the message.
    Reject,
    /// Try again on the latest version: three times, with half a second before the first.
    Retry,
}

/// How to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConflictRetry {
    /// How often; at most 10.
    pub retries: u32,
    /// How long to wait before the first, in milliseconds; then twice as long each time. At most 10000.
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
