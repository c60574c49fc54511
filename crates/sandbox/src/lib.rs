//! Sandboxes: the contract every backend keeps, the suite that checks it, and the backend `local` (bubblewrap).
//!
//! In: a [`Spec`] from the runtime. Out: a [`Sandbox`], whose [`Guest`] runs programs and moves files inside, and
//! whose [`Isolation`] says what really stands between those programs and the machine.
//! **Invariant:** nothing here knows agents, sessions or stores; and nothing that comes out of a sandbox is trusted.
//! Start with [`Backend`], then [`local`]; [`launcher`] is the small process that starts every local sandbox. [`apart`] makes
//! a backend of this machine one whose files are in its sandboxes alone. [`quota`] has the system calls of disk quotas.

mod contract;
pub mod guest;

pub mod local;

pub mod apart;

pub mod launcher;

pub mod quota;

mod cgroup;
mod seccomp;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use contract::{
    Backend, BoxError, CgroupIsolation, DiskIsolation, Exit, FilesAt, Hint, Isolation, Layer, LimitHit,
    Limits, Mounts, Probe, Resources, Running, Sandbox, SandboxId, Spec, StartError, StatsError, SweepError,
    Swept, TerminateError, UidIsolation,
};
pub use guest::{
    AttachError, CallError, Exec, ExecError, ExecOutput, ExecStdin, FileReader, Guest, Listener, Listing,
    PortWatch, Signals, TreeStream, Watch,
};
