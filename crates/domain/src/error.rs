//! Error codes that clients can receive.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $status:literal;)*) => {
        /// A stable name of a failure. Each has a page in `docs/errors/`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl ErrorCode {
            /// All codes, for the index of their pages and the test that each has one.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),*];

            /// The code as clients see it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $code,)* }
            }

            /// The HTTP status that goes with it.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status,)* }
            }
        }
    };
}

codes! {
    /// The request is malformed or has invalid fields.
    BadRequest = "BAD_REQUEST", 400;
    /// The token is missing, unknown, expired or revoked.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The budget for model calls is spent.
    BudgetExceeded = "BUDGET_EXCEEDED", 402;
    /// The token does not have permission.
    Forbidden = "FORBIDDEN", 403;
    /// Not found, or you don't have access.
    NotFound = "NOT_FOUND", 404;
    /// The route does not support this method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// No response in a format that the client accepts.
    NotAcceptable = "NOT_ACCEPTABLE", 406;
    /// The current state does not allow this.
    Conflict = "CONFLICT", 409;
    /// A run is in progress.
    RunInProgress = "RUN_IN_PROGRESS", 409;
    /// The approval is no longer pending.
    ApprovalNotPending = "APPROVAL_NOT_PENDING", 409;
    /// The base version is not the latest.
    VersionConflict = "VERSION_CONFLICT", 409;
    /// Another node holds the session.
    SessionElsewhere = "SESSION_ELSEWHERE", 409;
    /// The session has ended.
    SessionEnded = "SESSION_ENDED", 410;
    /// The recordings that a replay needs are missing or expired.
    RecordingExpired = "RECORDING_EXPIRED", 410;
    /// The file has changed, or already exists.
    PreconditionFailed = "PRECONDITION_FAILED", 412;
    /// The request body is too large.
    TooLarge = "TOO_LARGE", 413;
    /// The body is not declared as JSON.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// The requested range is outside the file.
    RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE", 416;
    /// The `Host` header does not name this server.
    Misdirected = "MISDIRECTED", 421;
    /// The idempotency key was used with a different body.
    IdempotencyMismatch = "IDEMPOTENCY_MISMATCH", 422;
    /// The document cannot be converted.
    ConversionFailed = "CONVERSION_FAILED", 422;
    /// The session's queue is full.
    QueueFull = "QUEUE_FULL", 429;
    /// Stored data is missing or corrupted.
    DataDamaged = "DATA_DAMAGED", 500;
    /// The plan's message limit is reached.
    MessageLimit = "MESSAGE_LIMIT", 429;
    /// Something failed on the server; its log has the cause under the request ID.
    Internal = "INTERNAL", 500;
    /// The server is not ready, or is shutting down.
    Unavailable = "UNAVAILABLE", 503;
    /// The server has no program that converts documents.
    ConverterMissing = "CONVERTER_MISSING", 503;
    /// The run exceeded its time budget.
    Timeout = "TIMEOUT", 504;
    /// The sandbox could not be created, or died.
    SandboxError = "SANDBOX_ERROR", 502;
    /// The machine cannot provide the required isolation.
    IsolationMissing = "ISOLATION_MISSING", 503;
    /// The agent could not be started, or ended without finishing.
    AgentError = "AGENT_ERROR", 502;
    /// The agent is unknown or not installed.
    AgentUnknown = "AGENT_UNKNOWN", 400;
    /// The model's provider refused the call or failed.
    LlmError = "LLM_ERROR", 502;
    /// The server stopped during the run.
    ServerRestarted = "SERVER_RESTARTED", 503;
    /// The sandbox used up its memory.
    OutOfMemory = "OUT_OF_MEMORY", 507;
    /// The sandbox used up its disk space.
    DiskLimit = "DISK_LIMIT", 507;
    /// A log reached its size limit: of a run, a session or a project.
    StorageLimit = "STORAGE_LIMIT", 507;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
