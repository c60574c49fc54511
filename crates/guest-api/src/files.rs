//! Files beneath the roots.

use serde::{Deserialize, Serialize};

/// The most entries one listing gives.
pub const MAX_LIST: u32 = 100_000;

/// A tree the file API can reach. There is no other way to name a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// `/workspace`.
    Workspace,
    /// `/home/agent`.
    Home,
    /// `/user-input`.
    UserInput,
}

impl Root {
    /// All of them.
    pub const ALL: [Root; 3] = [Root::Workspace, Root::Home, Root::UserInput];

    /// The name in requests and in the guest's arguments.
    pub fn name(self) -> &'static str {
        match self {
            Root::Workspace => "workspace",
            Root::Home => "home",
            Root::UserInput => "user-input",
        }
    }

    /// Where it lies in a sandbox.
    pub fn path(self) -> &'static str {
        match self {
            Root::Workspace => "/workspace",
            Root::Home => "/home/agent",
            Root::UserInput => "/user-input",
        }
    }
}

/// A path beneath a root: relative, with no `..`, and never through a symbolic link. Empty is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePath {
    /// Beneath which root.
    pub root: Root,
    /// Where, with `/` between names.
    pub path: String,
}

impl FilePath {
    /// A path beneath a root.
    pub fn new(root: Root, path: impl Into<String>) -> Self {
        Self { root, path: path.into() }
    }
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// Kind of thing.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Permission bits (0777).
    pub mode: u32,
    /// Time of last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// Kinds of thing in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, never followed.
    Symlink,
    /// A device, pipe or socket.
    Other,
}

/// See [`crate::Request::Read`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRequest {
    /// A regular file.
    pub path: FilePath,
    /// Where to begin. Past the end gives nothing.
    #[serde(default)]
    pub offset: u64,
    /// How many bytes at most; to the end if not given.
    #[serde(default)]
    pub len: Option<u64>,
}

/// See [`crate::Request::Write`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteRequest {
    /// A regular file, there or not. Directories above it are made.
    pub path: FilePath,
    /// What to do with what is there.
    #[serde(default)]
    pub how: WriteHow,
    /// Permission bits of a file that is made; else those of the file that is replaced, else 0644.
    #[serde(default)]
    pub mode: Option<u32>,
}

/// What a write does with what is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteHow {
    /// Takes its place at once when all is written; until then, and if anything fails, the old file is as it was.
    #[default]
    Replace,
    /// Like `Replace`, but fails if anything is there.
    CreateNew,
    /// Writes into the file that is there, from this byte on; what is beyond stays.
    At(u64),
    /// Writes behind the end of the file that is there, or makes it.
    Append,
    /// Like `Replace`, but fails unless the file that is there when all has come still looks so.
    ReplaceIf(FileLook),
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLook {
    /// Bytes.
    pub size: u64,
    /// Time of last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

impl FileStat {
    /// What tells this state of the file from another.
    pub fn look(&self) -> FileLook {
        FileLook { size: self.size, mtime_ns: self.mtime_ns }
    }
}

/// See [`crate::Request::Move`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// What to move; never the root itself.
    pub from: FilePath,
    /// Where it will be, with its name, beneath the same root. Directories above it are made; nothing may be there.
    pub to: FilePath,
    /// Fails unless what is moved looks so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<FileLook>,
}

/// See [`crate::Request::List`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// A directory.
    pub path: FilePath,
    /// How many levels: 1 is the directory itself.
    pub depth: u32,
    /// Names of directories that are listed but not entered.
    #[serde(default)]
    pub excludes: Vec<String>,
    /// How many entries at most, up to [`MAX_LIST`].
    pub limit: u32,
}

/// One thing in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirEntry {
    /// Relative to the directory that was asked for.
    pub path: String,
    /// What it is.
    #[serde(flatten)]
    pub stat: FileStat,
}

/// The end of a listing, and what is missing from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEnd {
    /// There was more than `limit`.
    pub truncated: bool,
    /// Names that are not UTF-8, or that vanished or could not be read while listing.
    pub skipped: u32,
}
