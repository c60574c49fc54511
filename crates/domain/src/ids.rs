//! Names of things. Ids of two kinds never mix, so each kind is a type.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an ID.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a {kind} id")]
pub struct IdError {
    kind: &'static str,
    text: String,
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::parse_str(text).map($name).map_err(|_| IdError { kind: $kind, text: text.to_owned() })
            }
        }
    };
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The number after this one.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id! {
    /// A question to a person.
    ApprovalId, "approval"
}
uuid_id! {
    /// An artifact ID: always the same for the same path of the same session.
    ArtifactId, "artifact"
}
uuid_id! {
    /// One conversation with one agent. Immutable; UUIDv7, so that IDs sort by creation.
    SessionId, "session"
}
uuid_id! {
    /// A run.
    RunId, "run"
}
uuid_id! {
    /// One call to a model.
    ModelCallId, "model call"
}
uuid_id! {
    /// A replay of a run or of a whole session.
    ReplayId, "replay"
}
uuid_id! {
    /// A group of sessions and workspaces.
    ProjectId, "project"
}
uuid_id! {
    /// A directory tree that sessions work in.
    WorkspaceId, "workspace"
}
uuid_id! {
    /// The public ID of a token; reveals nothing about its secret.
    TokenId, "token"
}

text_id! {
    /// A block's ID, the same in the live stream and in the parsed transcript.
    BlockId
}
text_id! {
    /// A profile, by name.
    ProfileId
}
text_id! {
    /// A sandbox from one start; a restart creates a new one.
    SandboxId
}
text_id! {
    /// One server process's lasting name: the same data directory keeps it over restarts.
    NodeId
}
text_id! {
    /// Keeps records apart. Opaque: whoever stores something never learns what it stands for.
    Partition
}
text_id! {
    /// Which agent a session talks to (`builtin`, `claude-code`, …).
    AgentType
}
text_id! {
    /// The BLAKE3 of a blob's bytes, in hexadecimal.
    BlobHash
}

text_id! {
    /// `main`, or a subagent's thread inside a session.
    ConversationId
}

number! {
    /// A position in a session's log. The first event is 1; 0 is before it.
    Seq
}
number! {
    /// A version of a session. v0 is its initial state.
    Version
}
number! {
    /// Grows with every holder of a lease, so that a late writer is known by its old number.
    Fence
}

impl ConversationId {
    /// The session's own thread.
    #[must_use]
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// The same name, cut to a length that every event has room for. What an agent calls a thread is its own affair.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.0.truncate(self.0.floor_char_boundary(128));
        self
    }

    /// Whether this is the session's own thread.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }
}

impl Default for ConversationId {
    fn default() -> Self {
        Self::main()
    }
}

impl BlockId {
    /// The id of the user message that began `run`, or was taken up by a running one.
    #[must_use]
    pub fn of_message(run: RunId) -> Self {
        Self(format!("msg-{run}"))
    }
}

impl Partition {
    /// The partition of a server that has only one tenant.
    #[must_use]
    pub fn default_partition() -> Self {
        Self("default".to_owned())
    }
}
