//! A session's files, what of them is worth showing, and what listens in its sandbox.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use tokio::io::{AsyncRead, AsyncWrite};
use warren_domain::{Artifact, ArtifactChange, ArtifactId, BlobHash, Seq, SessionId, Timestamp, Version};

use super::{SessionError, VersionRecord};

/// A session's files. Reading never makes a sandbox; changing wakes one.
///
/// A path is relative to the workspace, or begins with one of the sandbox's volumes: `/workspace`, `/outputs`,
/// `/user-input`, and read-only `/knowledge` and `/instructions`.
#[async_trait]
pub trait Files: Send + Sync {
    /// What is in a directory.
    async fn file_list(&self, session: SessionId, path: &str) -> Result<FileListing, SessionError>;
    /// Everything beneath a directory, links and directories included.
    async fn file_walk(&self, session: SessionId, path: &str) -> Result<FileListing, SessionError>;
    /// What is at a path.
    async fn file_stat(&self, session: SessionId, path: &str) -> Result<FileEntry, SessionError>;
    /// A regular file, or a part of it.
    async fn file_read(
        &self,
        session: SessionId,
        path: &str,
        part: FilePart,
    ) -> Result<FileContent, SessionError>;
    /// Makes or replaces a regular file, at once when all of it is there.
    async fn file_write(
        &self,
        session: SessionId,
        path: &str,
        how: FileWrite,
        source: FileSource,
    ) -> Result<FileEntry, SessionError>;
    /// Puts the files of a tar, a tar compressed by gzip or a zip into the workspace, over those that are there, and makes
    /// a version of the result (cause `import`). All of it or nothing. Ends the sandbox.
    async fn workspace_import(
        &self,
        session: SessionId,
        archive: FileSource,
    ) -> Result<VersionRecord, SessionError>;
    /// Removes a file or a directory with all that is in it.
    async fn file_remove(
        &self,
        session: SessionId,
        path: &str,
        expected: Expected,
    ) -> Result<(), SessionError>;
    /// Moves a file or a directory, with all that is in it, to another place in its volume. Nothing is replaced.
    async fn file_move(&self, session: SessionId, moved: FileMove) -> Result<FileEntry, SessionError>;
    /// Makes a directory and those above it. One that is there is fine.
    async fn directory_make(&self, session: SessionId, path: &str) -> Result<FileEntry, SessionError>;
}

/// What is worth showing of what a session made.
#[async_trait]
pub trait ArtifactRecords: Send + Sync {
    /// All artifacts, by path.
    async fn artifact_list(&self, session: SessionId) -> Result<Vec<Artifact>, SessionError>;
    /// What became of one, oldest first. Also of one that is gone.
    async fn artifact_history(
        &self,
        session: SessionId,
        artifact: ArtifactId,
    ) -> Result<Vec<ArtifactMoment>, SessionError>;
}

/// What listens in sandboxes.
#[async_trait]
pub trait Previews: Send + Sync {
    /// Gets an artifact ready to be seen: starts what serves it, if that does not run, and waits a little for it.
    async fn preview_open(
        &self,
        session: SessionId,
        artifact: ArtifactId,
        wake: Wake,
    ) -> Result<PreviewTarget, SessionError>;
    /// Starts again, in the background, what once served a port.
    async fn preview_wake(&self, session: SessionId, port: u16) -> Result<(), SessionError>;
    /// A connection to a port that something listens on. It counts as work of the session, and so does whatever passes
    /// over it.
    async fn preview_dial(&self, session: SessionId, port: u16) -> Result<Dialled, SessionError>;
    /// How often [`Previews::preview_touch`] must be called so that a session does not fall asleep.
    fn preview_pulse(&self) -> Duration;
    /// Somebody waits for what an app does. Counts as work of the session.
    async fn preview_touch(&self, session: SessionId);
}

/// Where bytes of a new file come from.
pub type FileSource = Box<dyn AsyncRead + Send + Unpin>;

/// A connection into a sandbox.
pub type PreviewStream = Box<dyn PreviewIo>;

/// Both directions of a connection.
pub trait PreviewIo: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> PreviewIo for T {}

/// Whether a sandbox may be made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Whoever asks may only look.
    Never,
    /// If there is none.
    IfAsleep,
}

/// Where files were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesFrom {
    /// In the sandbox, or in what it will have when it starts.
    Live,
    /// In the latest version.
    Version,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileListing {
    /// The directory, as [`FileEntry::path`] is written.
    pub path: String,
    /// Where this is from.
    pub from: FilesFrom,
    /// By path.
    pub entries: Vec<FileEntry>,
    /// There is more than is told.
    pub is_truncated: bool,
}

/// One thing in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative to the workspace; in another volume, with its name before it as `/user-input/a.csv`.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Its length.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// BLAKE3 of its content, where it is known.
    pub hash: Option<BlobHash>,
}

/// Kinds of thing in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum FileKind {
    File,
    Directory,
    Symlink,
    Other,
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilePart {
    /// Where it begins.
    pub offset: u64,
    /// How long it is at most; to the end if absent.
    pub len: Option<u64>,
}

/// A file as it comes.
pub struct FileContent {
    /// What it was when it was opened.
    pub entry: FileEntry,
    /// Its bytes.
    pub bytes: BoxStream<'static, Result<Bytes, SessionError>>,
}

/// What a write does with what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWrite {
    /// Replaces it.
    Replace,
    /// Replaces it if it is in one of these states when all of the new content is there.
    If(Vec<FileTag>),
    /// Fails if anything is there.
    New,
}

/// What must be there for a file to be removed or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Anything,
    /// A file in one of these states: nobody wrote it since it was looked at.
    OneOf(Vec<FileTag>),
}

/// A file or directory on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMove {
    /// Where it is.
    pub from: String,
    /// Where it will be, with its name.
    pub to: String,
    /// What it must be.
    pub expected: Expected,
}

/// Tells two states of one file apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTag(pub String);

/// What became of an artifact at some point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactMoment {
    /// The entry that says so.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// The version that has it so; none if it was removed.
    pub version: Option<Version>,
    /// What changed.
    pub change: MomentKind,
    /// As it was then.
    pub artifact: Artifact,
}

/// What happened to an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MomentKind {
    /// It was made.
    Created,
    /// It changed.
    Updated(Vec<ArtifactChange>),
    /// It was removed.
    Deleted,
}

/// Where an artifact can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewTarget {
    /// On a port of the sandbox.
    Port {
        /// Which.
        port: u16,
        /// Whether something listens there already.
        is_ready: bool,
    },
    /// As files, beginning with this one.
    Files {
        /// Relative to the workspace.
        path: String,
    },
}

/// What came of dialling a port.
pub enum Dialled {
    /// Somebody answered.
    Connected(PreviewStream),
    /// What listens there is being started.
    Starting,
    /// Nothing listens there, though there is a sandbox.
    Closed {
        /// The last of what the app said before it ended, if it was started from here.
        complaint: Option<String>,
    },
    /// There is no sandbox.
    Asleep,
}

impl FileEntry {
    /// Tells this state from any other of the file. The same wherever it is read: a restored file keeps its time, and a
    /// sandbox does not know hashes.
    #[must_use]
    pub fn tag(&self) -> FileTag {
        FileTag(format!("{:x}-{:x}", self.modified_ns, self.size_bytes))
    }
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileContent").field("entry", &self.entry).finish_non_exhaustive()
    }
}
