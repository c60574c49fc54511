//! What server and launcher say to each other: one JSON document a packet.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Limits, Swept, cgroup::Layout};

/// From the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Always the first. Answered by [`Report::Ready`].
    Configure(Configure),
    /// Comes with two descriptors: the guest's end of the link, and where complaints go.
    Start(Box<Start>),
    /// Kill a sandbox. Answered by [`Report::Exited`], if it had not exited before.
    Kill { ticket: u64 },
}

/// What all sandboxes of this server have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Configure {
    /// The bubblewrap program.
    pub(crate) bwrap: PathBuf,
    /// Where control groups are made; `None` makes none.
    pub(crate) cgroups: Option<Layout>,
    /// Limits that parked children are given in advance.
    pub(crate) limits: Limits,
    /// How many children to keep parked.
    pub(crate) spares: usize,
    /// Whether to give each sandbox a uid of its own. Needs root.
    pub(crate) own_uid: bool,
    /// Files that appear in every sandbox.
    pub(crate) base: Vec<Mount>,
}

/// One sandbox to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The server's number for it.
    pub(crate) ticket: u64,
    pub(crate) uid: u32,
    pub(crate) limits: Limits,
    pub(crate) mounts: Vec<Mount>,
}

/// A file or directory of the host that appears inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mount {
    pub(crate) source: PathBuf,
    pub(crate) target: String,
    pub(crate) writable: bool,
}

/// From the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// Leftovers are gone, sandboxes can be started.
    Ready { swept: Swept },
    /// The child `pid` was told to become this sandbox; `group` is the name of its control group.
    Started { ticket: u64, group: Option<String>, pid: i32 },
    /// A sandbox is gone: all its processes and its control groups.
    Exited { ticket: u64, code: Option<i32>, signal: Option<i32>, oom_kills: u64 },
    /// A child could not be had at all.
    Failed { ticket: u64, problem: String },
}
