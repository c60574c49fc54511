//! The guest's first answer.

use serde::{Deserialize, Serialize};

/// Raised when a change is not an addition. Host and guest must agree: they are built from one tree and shipped in one file.
pub const PROTOCOL_VERSION: u32 = 1;

/// Who the guest is and what it could do for isolation from inside. Reply to [`crate::Request::Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL_VERSION`] of the guest.
    pub protocol: u32,
    /// Of the guest's build, for the log.
    pub version: String,
    /// Its process id as it sees it: 1 in a sandbox.
    pub pid: u32,
    /// Its uid as it sees it.
    pub uid: u32,
    /// What every exec is put under.
    pub landlock: Landlock,
    /// How many cgroups every exec joins.
    pub cgroups: u32,
}

/// What Landlock does for programs in this sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "landlock", rename_all = "snake_case")]
pub enum Landlock {
    /// The kernel has none, or the host asked for none.
    Off,
    /// Files outside the allowed trees cannot be written, and most not read.
    Enforced {
        /// The kernel's ABI number.
        abi: u32,
        /// Whether all that our rules ask for is enforced, or only a part because the kernel is older.
        fully: bool,
        /// Whether signals and abstract sockets are kept within one exec (ABI 6).
        scoped: bool,
    },
}
