//! A session's files, and what of them is worth showing.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{Artifact, ArtifactChange, BlobHash, FileChange, Seq, Timestamp, Version};

/// What is in a directory of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileListing {
    /// Relative to the workspace, or with the name of another volume before it, as `/user-input`.
    pub path: String,
    /// `live`: as the sandbox has it, or will have it. `version`: as the latest version has it.
    pub source: FileSource,
    /// Directories first, then by name.
    pub entries: Vec<FileItem>,
    /// There is more than is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Files of the workspace that are not as in the latest version, or a part of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChanges {
    /// The latest version.
    pub version: Version,
    /// By path.
    pub changes: Vec<FileChangeItem>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A file of the workspace that is not as in the latest version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChangeItem {
    /// Relative to the workspace.
    pub path: String,
    /// What happened to it since that version.
    pub change: FileChange,
    /// Where the version has it, if it was moved or renamed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
}

/// Where files were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "see `FileListing`")]
pub enum FileSource {
    Live,
    Version,
}

/// One thing in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileItem {
    /// Its name.
    pub name: String,
    /// As the other routes take it.
    pub path: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub kind: String,
    /// Its length.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// BLAKE3 of its content, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
    /// Pass it as `If-Match` to replace exactly this.
    pub etag: String,
}

/// Moves a file, or a directory with all in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileMove {
    /// Where it is: relative to the workspace, or in `/workspace`, `/outputs` or `/user-input`.
    pub from: String,
    /// Where it will be, with its name, in the same volume. Directories above it are made; nothing may be there.
    pub to: String,
}

/// Files that were uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uploaded {
    /// In the order in which they came.
    pub files: Vec<FileItem>,
}

/// What a project's sessions can read as `/knowledge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeListing {
    /// By path, which is relative to `/knowledge`. The `INDEX.md` that is made from them is not among them.
    pub files: Vec<FileItem>,
    /// Their length together.
    pub size_bytes: u64,
    /// How much it may be.
    pub max_bytes: u64,
    /// There is more than is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What is worth showing of what a session made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactList {
    /// By path.
    pub artifacts: Vec<Artifact>,
}

/// What became of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactHistory {
    /// Newest first.
    pub versions: Vec<ArtifactVersion>,
}

/// One state of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactVersion {
    /// The entry of the log that tells of it.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// `created`, `updated` or `deleted`.
    pub change: String,
    /// What of it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ArtifactChange>,
    /// The session's version that is the first to have it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// As it was then.
    pub artifact: Artifact,
}

/// A way into a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewLink {
    /// Good for one browser, once. Leads to the preview.
    pub url: String,
    /// When it stops being good.
    pub expires_at: Timestamp,
    /// Whether something listens there already; if not, the browser sees a page that waits for it.
    pub ready: bool,
}
