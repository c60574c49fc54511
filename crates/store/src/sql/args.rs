//! Values on their way into a statement.

use warren_domain::{
    AgentType, ApprovalId, BlobHash, Fence, NodeId, Partition, ProfileId, ProjectId, ReplayId, RunId, Seq,
    SessionId, Timestamp, TokenId, Version, WorkspaceId,
};

/// One value. Absent ones keep their type, because PostgreSQL asks for it.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Text(Option<String>),
    Int(Option<i64>),
    Real(f64),
    Bytes(Vec<u8>),
}

/// The values of a statement, in order.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::sql::args::Arg::from($value)),*] };
}
pub(crate) use args;

/// Numbers of ours are never near the end of the signed range; one that were would be refused as a conflict.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(Some(text))
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Arg {
    fn from(text: &String) -> Self {
        Arg::Text(Some(text.clone()))
    }
}

impl From<u64> for Arg {
    fn from(number: u64) -> Self {
        Arg::Int(Some(int(number)))
    }
}

impl From<Option<u64>> for Arg {
    fn from(number: Option<u64>) -> Self {
        Arg::Int(number.map(int))
    }
}

impl From<u32> for Arg {
    fn from(number: u32) -> Self {
        Arg::Int(Some(i64::from(number)))
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Arg::Int(Some(number))
    }
}

impl From<f64> for Arg {
    fn from(number: f64) -> Self {
        Arg::Real(number)
    }
}

impl From<Vec<u8>> for Arg {
    fn from(bytes: Vec<u8>) -> Self {
        Arg::Bytes(bytes)
    }
}

macro_rules! as_text {
    ($($name:ty),*) => {$(
        impl From<&$name> for Arg {
            fn from(id: &$name) -> Self {
                Arg::Text(Some(id.to_string()))
            }
        }

        impl From<$name> for Arg {
            fn from(id: $name) -> Self {
                Arg::Text(Some(id.to_string()))
            }
        }

        impl From<Option<$name>> for Arg {
            fn from(id: Option<$name>) -> Self {
                Arg::Text(id.map(|id| id.to_string()))
            }
        }

        impl From<Option<&$name>> for Arg {
            fn from(id: Option<&$name>) -> Self {
                Arg::Text(id.map(ToString::to_string))
            }
        }
    )*};
}
as_text!(
    SessionId,
    RunId,
    ReplayId,
    ApprovalId,
    ProjectId,
    WorkspaceId,
    TokenId,
    ProfileId,
    NodeId,
    Partition,
    AgentType,
    BlobHash
);

macro_rules! as_int {
    ($($name:ty => $read:expr),*) => {$(
        impl From<$name> for Arg {
            fn from(number: $name) -> Self {
                Arg::Int(Some($read(number)))
            }
        }

        impl From<Option<$name>> for Arg {
            fn from(number: Option<$name>) -> Self {
                Arg::Int(number.map($read))
            }
        }
    )*};
}
as_int!(
    Seq => |n: Seq| int(n.0),
    Version => |n: Version| int(n.0),
    Fence => |n: Fence| int(n.0),
    Timestamp => Timestamp::as_millis
);

impl From<Option<String>> for Arg {
    fn from(text: Option<String>) -> Self {
        Arg::Text(text)
    }
}
