//! Changes of files.

use serde::{Deserialize, Serialize};

use crate::{FilePath, FileStat, Root};

/// Directories that are not worth watching: caches, and trees that tools make and nobody edits.
pub const DEFAULT_EXCLUDES: &[&str] = &[
    ".cache",
    ".git",
    ".gradle",
    ".hg",
    ".mypy_cache",
    ".next",
    ".npm",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "__pycache__",
    "bower_components",
    "node_modules",
    "target",
    "venv",
];

/// See [`crate::Request::Watch`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// Which trees, whole.
    pub roots: Vec<Root>,
    /// Names of directories that are not entered, wherever they are. See [`DEFAULT_EXCLUDES`].
    pub excludes: Vec<String>,
}

/// What a watch says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "watch", rename_all = "snake_case")]
pub enum WatchEvent {
    /// Files changed, each named once, after a short quiet or half a second.
    Changes {
        /// In the order of their paths.
        changes: Vec<Change>,
    },
    /// Some changes were not seen: there were too many at a time, or there are too many files to watch. Scan the tree to be sure.
    Overflow {
        /// Why, for people.
        reason: String,
    },
}

/// The largest file that is read to tell its hash, and the most that is read of all that changed at a time.
pub const MAX_HASHED: u64 = 1 << 20;
/// See [`MAX_HASHED`].
pub const MAX_HASHED_AT_A_TIME: u64 = 16 << 20;

/// A file that is no longer as it was. Directories are not told of, only what is in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which.
    pub path: FilePath,
    /// What happened.
    pub change: ChangeKind,
    /// What is there now; nothing if it was deleted.
    pub stat: Option<FileStat>,
    /// The BLAKE3 of what is in it, in hexadecimal; nothing for what is no file or too large to be read each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Ways to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Created,
    /// It was there, and is another now.
    Modified,
    /// It is gone.
    Deleted,
}
