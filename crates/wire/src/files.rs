//! A session's files, and what of them is worth showing.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{Artifact, ArtifactChange, BlobHash, FileChange, Seq, Timestamp, Version};

/// The entries of a session's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileListing {
    /// Relative to the workspace, or absolute in another volume, such as `/user-input`.
    pub path: String,
    /// `live`: the files of the sandbox. `version`: the files of the latest version.
    pub source: FileSource,
    /// Directories first, then by name.
    pub entries: Vec<FileItem>,
    /// The list is truncated.
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

/// Where the files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "see `FileListing`")]
pub enum FileSource {
    Live,
    Version,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileItem {
    /// Its name.
    pub name: String,
    /// As the other routes accept it.
    pub path: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub kind: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last modified.
    pub modified_at: Timestamp,
    /// BLAKE3 of its content, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
    /// Pass it as `If-Match` to replace exactly this state.
    pub etag: String,
}

/// Moves a file, or a directory with its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileMove {
    /// The source: relative to the workspace, or in `/workspace`, `/outputs` or `/user-input`.
    pub from: String,
    /// The target, including the name, in the same volume. Parent directories are created; the target must not exist.
    pub to: String,
}

/// The uploaded files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uploaded {
    /// In the order of the upload.
    pub files: Vec<FileItem>,
}

/// What a project's sessions can read as `/knowledge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeListing {
    /// By path, relative to `/knowledge`. The generated `INDEX.md` is not included.
    pub files: Vec<FileItem>,
    /// The total size in bytes.
    pub size_bytes: u64,
    /// The limit in bytes.
    pub max_bytes: u64,
    /// The list is truncated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The artifacts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactList {
    /// By path.
    pub artifacts: Vec<Artifact>,
}

/// The history of an artifact.
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
    /// The log entry that reports it.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// `created`, `updated` or `deleted`.
    pub change: String,
    /// Its changed fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ArtifactChange>,
    /// The session's first version with that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Its state at that time.
    pub artifact: Artifact,
}

/// Access to a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewLink {
    /// Works once, for one browser. Redirects to the preview.
    pub url: String,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Whether the app already listens; if not, the browser shows a waiting page.
    pub ready: bool,
}
