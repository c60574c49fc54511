//! Versions: what is asked of them, and what is answered.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{
    AgentType, BlobHash, Block, ErrorCode, FileChange, ProfileRef, SessionId, Timestamp, Version,
};
use warren_snapshots::ReadTreeError;
use warren_store::ReadError;
pub use warren_store::VersionRecord;

pub use crate::session::tree::outward as shown_path;

use super::{Page, SessionError, SessionSummary};
use crate::session::Memory;

/// Versions as they are listed, compared and made.
#[async_trait]
pub trait Versions: Send + Sync {
    /// A session's versions, newest first, older than `before`; and what the session has besides.
    async fn version_list(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<VersionList, SessionError>;
    /// One version.
    async fn version_get(&self, session: SessionId, version: Version) -> Result<VersionRecord, SessionError>;
    /// Names a version, which keeps it for ever; or takes the name away.
    async fn version_label(
        &self,
        session: SessionId,
        version: Version,
        label: Option<String>,
    ) -> Result<VersionRecord, SessionError>;
    /// How a version differs from another one; from its base if none is named.
    async fn version_diff(
        &self,
        session: SessionId,
        version: Version,
        against: Option<Version>,
        wanted: DiffWanted,
    ) -> Result<VersionDiff, SessionError>;
    /// Makes a version of what is there now. The latest, if nothing changed since.
    async fn version_commit(&self, session: SessionId) -> Result<VersionRecord, SessionError>;
    /// Makes an older version the latest once more. Ends the sandbox.
    async fn version_restore(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<VersionRecord, SessionError>;
    /// Makes a session that goes on from a version of another.
    async fn session_fork(&self, fork: Fork) -> Result<Forked, SessionError>;
}

/// The files of versions. Never makes a sandbox.
#[async_trait]
pub trait VersionFiles: Send + Sync {
    /// What is in a directory of a version.
    async fn version_files(
        &self,
        session: SessionId,
        version: Version,
        path: &str,
    ) -> Result<Vec<TreeEntry>, SessionError>;
    /// A file of a version, or a part of it.
    async fn version_file(
        &self,
        session: SessionId,
        version: Version,
        path: &str,
        range: Option<Range<u64>>,
    ) -> Result<TreeFile, SessionError>;
    /// Every path of the workspace that differs from another version; from the one whose files were imported last, if
    /// none is named.
    async fn version_changes(
        &self,
        session: SessionId,
        version: Version,
        against: Option<Version>,
    ) -> Result<VersionChanges, SessionError>;
    /// Files of the workspace that are not as in the latest version. A run that is active may be changing more of them.
    async fn unsaved_changes(&self, session: SessionId) -> Result<UnsavedChanges, SessionError>;
    /// All files of a version that are people's, as a tar archive.
    async fn version_archive(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<Box<dyn Pieces>, SessionError>;
}

/// Bytes that come piece by piece. Every piece was checked.
#[async_trait]
pub trait Pieces: Send {
    /// The next piece, or `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, SessionError>;
}

/// Versions of a session.
#[derive(Debug, Clone)]
pub struct VersionList {
    /// Some of them.
    pub page: Page<VersionRecord>,
    /// The latest.
    pub latest: Version,
    /// There is more than the latest: a run failed, or files changed between runs.
    pub is_dirty: bool,
}

/// What of a difference is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffWanted {
    /// How much of each file.
    pub lines: DiffLines,
    /// Of which files.
    pub files: DiffFiles,
    /// How many files at most; as many as an answer can have if absent.
    pub limit: Option<usize>,
}

/// How much is told of a file that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffLines {
    /// The lines, and how many they are.
    #[default]
    All,
    /// How many lines.
    Counts,
    /// Nothing of its content: no file is read.
    None,
}

/// Which files are told of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DiffFiles {
    /// All, from the first on.
    #[default]
    All,
    /// Those after this one.
    After(String),
    /// This one.
    One(String),
}

/// How two versions differ.
#[derive(Debug, Clone)]
pub struct VersionDiff {
    /// Before.
    pub from: Version,
    /// After.
    pub to: Version,
    /// Files that differ, by path.
    pub files: Vec<FileDiff>,
    /// There are more.
    pub is_truncated: bool,
    /// Blocks of the main conversation that are new.
    pub blocks: Vec<Block>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Relative to the workspace, or absolute in the sandbox.
    pub path: String,
    /// As it was.
    pub before: Option<TreeEntry>,
    /// As it is.
    pub after: Option<TreeEntry>,
    /// It is not text.
    pub is_binary: bool,
    /// The lines that differ.
    pub diff: Option<String>,
    /// The diff is cut, or the file is too long for one.
    pub is_truncated: bool,
    /// How many lines are new, and how many are gone; where they were compared.
    pub counts: Option<LineCounts>,
}

/// How many lines differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCounts {
    /// New ones.
    pub added: u64,
    /// Those that are gone.
    pub removed: u64,
}

/// Every path of the workspace that two versions do not have alike.
#[derive(Debug, Clone)]
pub struct VersionChanges {
    /// Before. It may be of the session that this one was forked from.
    pub from: VersionRecord,
    /// After.
    pub to: VersionRecord,
    /// Files, links, and directories that only one of them has; by path.
    pub changes: Vec<PathChange>,
}

/// Files of the workspace that are not as in the latest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedChanges {
    /// The latest version.
    pub version: Version,
    /// By path.
    pub changes: Vec<UnsavedChange>,
}

/// A file that is not as in the latest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedChange {
    /// Relative to the workspace.
    pub path: String,
    /// What happened to it since.
    pub change: FileChange,
    /// Where the version has it, if it was moved or renamed since.
    pub moved_from: Option<String>,
}

/// A path of the workspace that two versions do not have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// Relative to the workspace.
    pub path: String,
    /// As it was.
    pub before: Option<TreeEntry>,
    /// As it is.
    pub after: Option<TreeEntry>,
}

/// Something in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// `file`, `directory` or `symlink`.
    pub kind: &'static str,
    /// Its length.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// The hash of its content.
    pub hash: Option<BlobHash>,
    /// Where a link points to.
    pub target: Option<String>,
}

/// A file that is being read.
pub struct TreeFile {
    /// Length of the whole file.
    pub size_bytes: u64,
    /// The hash of the whole content.
    pub hash: BlobHash,
    /// Which bytes will come.
    pub range: Range<u64>,
    /// The bytes.
    pub pieces: Box<dyn Pieces>,
}

/// A session to be made of a version.
#[derive(Debug, Clone)]
pub struct Fork {
    /// Whose version.
    pub session: SessionId,
    /// Which; the latest if absent.
    pub version: Option<Version>,
    /// A name for people.
    pub name: Option<String>,
    /// Another agent.
    pub agent_type: Option<AgentType>,
    /// Another profile, resolved in the project of the session.
    pub profile: Option<ProfileRef>,
    /// On whose behalf it is made, if that is known.
    pub made_by: Option<String>,
}

/// A session that was made of a version.
#[derive(Debug, Clone)]
pub struct Forked {
    /// The new session.
    pub summary: SessionSummary,
    /// What of the version it does not have, for people.
    pub loss: Vec<String>,
}

/// What to do when a message's base version is not the latest any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Refuse the message.
    #[default]
    Reject,
    /// Try again on the latest version.
    Retry {
        /// How often.
        retries: u32,
        /// How long to wait before the first time; then twice as long each time.
        backoff: std::time::Duration,
    },
}

/// An error of reading something that is kept.
pub(crate) trait Unread: std::error::Error + 'static {
    /// Whether it is missing or damaged, so that reading it again would not help.
    fn is_lost(&self) -> bool;
}

impl Unread for ReadTreeError {
    fn is_lost(&self) -> bool {
        ReadTreeError::is_lost(self)
    }
}

impl Unread for ReadError {
    fn is_lost(&self) -> bool {
        Memory::is_lost(self)
    }
}

/// Something that is kept could not be read. What is missing or not what was put there is named, and never served as good; a
/// store that does not answer is another matter.
pub(crate) fn not_read(error: impl Unread) -> SessionError {
    let message = crate::session::chain(&error);
    if error.is_lost() {
        let hint = "restore or fork another version; the operator may have a backup of the stored files";
        return SessionError::Invalid { code: ErrorCode::DataDamaged, message, hint: Some(hint.to_owned()) };
    }
    let hint = "the storage of files and blobs does not respond; retry later";
    SessionError::Invalid { code: ErrorCode::Unavailable, message, hint: Some(hint.to_owned()) }
}
