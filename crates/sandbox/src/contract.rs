//! The contract: what a backend is asked for, and what it gives back.

mod errors;
mod files;
mod isolation;
mod limits;
mod sandbox;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use errors::{BoxError, StartError, StatsError, SweepError, TerminateError};
pub use files::FilesAt;
pub use isolation::{CgroupIsolation, DiskIsolation, Isolation, Layer, UidIsolation};
pub use limits::{LimitHit, Limits, Resources};
pub use sandbox::{Exit, Running, Sandbox};

/// A way to make sandboxes. Chosen at run time, hence `dyn`.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Starts a sandbox and returns once the guest in it has answered.
    async fn start(&self, spec: Spec) -> Result<Sandbox, StartError>;

    /// Where the files are that programs in its sandboxes write. The same for all of them, and known before one starts.
    fn files(&self) -> FilesAt;

    /// Finds out, by trying, what isolation this machine really gives.
    async fn probe(&self) -> Probe;

    /// Gets a new, empty directory of the host ready to be filled with files for a sandbox of `uid`, so that a disk quota counts
    /// them. Until that sandbox starts, no quota limits `uid`. Blocks; does nothing where there are no quotas.
    fn adopt(&self, _directory: &Path, _uid: u32) {}

    /// Takes a directory that no sandbox uses any more, and all that is in it, off the disk quota of its UID, which others may
    /// get. Blocks; does nothing where there are no quotas.
    fn disown(&self, _directory: &Path) {}

    /// Removes the disk quota of a UID whose workspace was removed, from the file system of `directory`. Blocks; does nothing
    /// where there are no quotas.
    fn release(&self, _directory: &Path, _uid: u32) {}

    /// Ends what an earlier server of the same data directory left behind: processes and control groups.
    /// Sandboxes of this server are never touched.
    async fn sweep(&self) -> Result<Swept, SweepError>;
}

/// What a sandbox is called, in logs and reports. Never part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SandboxId(pub String);

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Everything a backend must know to start one sandbox.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Names the sandbox in logs and reports.
    pub id: SandboxId,
    /// Directories of the host that appear inside, as far as [`Backend::files`] says that they do.
    pub mounts: Mounts,
    /// The workspace's own uid (and gid): used if the server runs as root, else the server's own is taken.
    pub uid: u32,
    /// Added to what every program inside should start from: see [`Sandbox::env`].
    pub env: BTreeMap<String, String>,
    /// What the sandbox may use.
    pub limits: Limits,
    /// Layers without which the sandbox must not start.
    pub required: Vec<Layer>,
}

/// Host directories and where they appear inside. Writable ones are made, and given to the uid, if they are new.
///
/// Where a backend's files are [`FilesAt::Guest`], it uses none of the writable ones: it makes its own, which are empty, at
/// the same paths inside. Those that can only be read are the backend's to bring there.
#[derive(Debug, Clone, Default)]
pub struct Mounts {
    /// `/workspace`, writable. `/outputs` points to `outputs` in it.
    pub workspace: PathBuf,
    /// `/home/agent`, writable: the agent's configuration and transcripts.
    pub home: PathBuf,
    /// `/user-input`, writable: what people uploaded.
    pub user_input: Option<PathBuf>,
    /// `/knowledge`, read-only.
    pub knowledge: Option<PathBuf>,
    /// `/instructions`, read-only.
    pub instructions: Option<PathBuf>,
    /// `/opt/agents/NAME`, read-only: the agents' programs.
    pub agents: BTreeMap<String, PathBuf>,
    /// `/node_modules`, read-only: where Node looks for what no directory above an app has.
    pub node_packages: Option<PathBuf>,
    /// `/opt/python`, read-only: packages for Python.
    pub python_packages: Option<PathBuf>,
    /// Further directories, read-only, by where they appear inside: beneath `/etc` or `/opt`, where programs may read.
    pub read_only: BTreeMap<String, PathBuf>,
}

/// What a machine can give, as found by trying it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    /// Which backend was asked.
    pub backend: String,
    /// The version of the program that isolates, if it was found.
    pub version: Option<String>,
    /// Whether a sandbox started.
    pub usable: bool,
    /// What a sandbox started now would get.
    pub isolation: Isolation,
    /// What is missing, and how to get it.
    pub hints: Vec<Hint>,
}

/// One thing that is missing, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// The layer that is not there.
    pub layer: Layer,
    /// What is wrong, in one sentence.
    pub problem: String,
    /// The command or change that helps.
    pub hint: String,
}

/// What a sweep found and ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// Processes that were still running.
    pub processes: u64,
    /// Sandboxes whose control groups were still there.
    pub cgroups: u64,
}
