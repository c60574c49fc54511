//! What can go wrong, as a client may see it.

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
    /// The request is not what the route takes.
    BadRequest = "BAD_REQUEST", 400;
    /// No token, or one that is unknown or expired.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The budget for model calls is spent.
    BudgetExceeded = "BUDGET_EXCEEDED", 402;
    /// The token may not do this.
    Forbidden = "FORBIDDEN", 403;
    /// There is no such thing, or it is not yours to see.
    NotFound = "NOT_FOUND", 404;
    /// The route exists, the method does not.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// No answer in a form the client accepts.
    NotAcceptable = "NOT_ACCEPTABLE", 406;
    /// The state of the thing does not allow this.
    Conflict = "CONFLICT", 409;
    /// A run is going on.
    RunInProgress = "RUN_IN_PROGRESS", 409;
    /// Nobody waits for an answer to this approval.
    ApprovalNotPending = "APPROVAL_NOT_PENDING", 409;
    /// The base version is not the latest.
    VersionConflict = "VERSION_CONFLICT", 409;
    /// Another node holds the session.
    SessionElsewhere = "SESSION_ELSEWHERE", 409;
    /// The session has ended.
    SessionEnded = "SESSION_ENDED", 410;
    /// The recordings that a replay needs are not kept any more.
    RecordingExpired = "RECORDING_EXPIRED", 410;
    /// The thing is not as the caller believes.
    PreconditionFailed = "PRECONDITION_FAILED", 412;
    /// The body is too large.
    TooLarge = "TOO_LARGE", 413;
    /// The body is not JSON.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// The file has no such part.
    RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE", 416;
    /// The `Host` header names another server.
    Misdirected = "MISDIRECTED", 421;
    /// The same idempotency key came with another body.
    IdempotencyMismatch = "IDEMPOTENCY_MISMATCH", 422;
    /// The document cannot be converted.
    ConversionFailed = "CONVERSION_FAILED", 422;
    /// Too many messages are waiting.
    QueueFull = "QUEUE_FULL", 429;
    /// Something that is kept is missing, or is not what was put there.
    DataDamaged = "DATA_DAMAGED", 500;
    /// As many messages were sent as the plan allows.
    MessageLimit = "MESSAGE_LIMIT", 429;
    /// Something failed on our side; the log has it under the request id.
    Internal = "INTERNAL", 500;
    /// The server is draining or not ready yet.
    Unavailable = "UNAVAILABLE", 503;
    /// The server has no program that converts documents.
    ConverterMissing = "CONVERTER_MISSING", 503;
    /// The run took longer than its budget.
    Timeout = "TIMEOUT", 504;
    /// The sandbox could not be made, or died.
    SandboxError = "SANDBOX_ERROR", 502;
    /// The machine cannot give the isolation that is required.
    IsolationMissing = "ISOLATION_MISSING", 503;
    /// The agent could not be started, or ended without finishing.
    AgentError = "AGENT_ERROR", 502;
    /// There is no such agent, or it is not installed.
    AgentUnknown = "AGENT_UNKNOWN", 400;
    /// The model's provider answered with an error.
    LlmError = "LLM_ERROR", 502;
    /// The run was cut because the server stopped.
    ServerRestarted = "SERVER_RESTARTED", 503;
    /// The sandbox used up its memory.
    OutOfMemory = "OUT_OF_MEMORY", 507;
    /// The sandbox used up its disk space.
    DiskLimit = "DISK_LIMIT", 507;
    /// A log reached its limit: that of a run, a session or a project.
    StorageLimit = "STORAGE_LIMIT", 507;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
