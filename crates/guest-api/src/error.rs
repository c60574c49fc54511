//! Why the guest could not.

use serde::{Deserialize, Serialize};

/// A refusal or failure, as it crosses the link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct GuestError {
    /// What kind: for code to act on.
    pub code: ErrorCode,
    /// What happened: for people. Comes from a sandbox, so it may say anything.
    pub message: String,
}

impl GuestError {
    /// An error with a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The kinds of failure. New kinds may come; an unknown one is read as [`ErrorCode::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request could not be read, or asks for something that is not allowed by the protocol.
    InvalidRequest,
    /// Nothing is there.
    NotFound,
    /// Something is there already.
    AlreadyExists,
    /// The path leaves its root, is absolute, or goes through a symbolic link.
    PathEscapes,
    /// It is there, but not a regular file or directory, whichever was needed.
    WrongKind,
    /// It is there, but is not as the request says it was.
    Changed,
    /// A directory to be removed is not empty.
    NotEmpty,
    /// The kernel refused.
    PermissionDenied,
    /// The disk, a quota or the file size limit is reached.
    NoSpace,
    /// No more processes, memory or descriptors can be had at the moment.
    Exhausted,
    /// More than this side holds at a time.
    TooMany,
    /// The port is taken, or nobody listens on it.
    Port,
    /// The program could not be started for a reason of its own: not executable, a bad interpreter.
    NotExecutable,
    /// Anything else.
    #[serde(other)]
    Other,
}
