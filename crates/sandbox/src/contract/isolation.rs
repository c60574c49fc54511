//! What stands between a sandbox and the machine, layer by layer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The isolation one sandbox really got. Shown to users as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Isolation {
    /// Which backend made it.
    pub backend: String,
    /// A user namespace of its own, in which no further one can be made.
    pub userns: bool,
    /// A process namespace of its own: other processes cannot be seen or signalled.
    pub pidns: bool,
    /// A network namespace of its own, with nothing but a loopback in it.
    pub netns: bool,
    /// The system-call filter.
    pub seccomp: bool,
    /// The Landlock ABI that programs inside are confined by; `None` without Landlock.
    pub landlock: Option<u32>,
    /// Which limits control groups enforce; `None` without control groups.
    pub cgroup: Option<CgroupIsolation>,
    /// Whose uid it runs under.
    pub uid: UidIsolation,
    /// How the disk limit is held.
    pub disk: DiskIsolation,
    /// Sentences about what is weaker than it could be.
    pub notes: Vec<String>,
}

/// Limits that control groups enforce.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CgroupIsolation {
    /// 1 or 2.
    pub version: u8,
    /// The memory limit is enforced.
    pub memory: bool,
    /// The CPU limit is enforced.
    pub cpu: bool,
    /// The limit on processes is enforced.
    pub pids: bool,
}

/// The uid of a sandbox, seen from the host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UidIsolation {
    /// The uid on the host.
    pub uid: u32,
    /// Whether it belongs to this workspace alone; `false` is the server's own uid.
    pub own: bool,
}

/// How the disk limit is held.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskIsolation {
    /// `quota` (the file system refuses), or `best effort` (file-size limit, watcher and free-space floor).
    pub how: String,
}

/// One layer that a sandbox can be required to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Layer {
    /// User and process namespaces.
    Namespaces,
    /// No network.
    Network,
    /// The system-call filter.
    Seccomp,
    /// Landlock.
    Landlock,
    /// The memory limit of a control group.
    MemoryLimit,
    /// The CPU limit of a control group.
    CpuLimit,
    /// The process limit of a control group.
    PidsLimit,
    /// A uid that belongs to the workspace alone.
    OwnUid,
    /// A disk quota the file system enforces.
    DiskQuota,
}

impl Layer {
    /// What every sandbox must have, unless the operator asks for more.
    pub const BASIC: [Layer; 3] = [Layer::Namespaces, Layer::Network, Layer::Seccomp];

    /// All that a machine can give.
    pub const OFFERED: [Layer; 9] = [
        Layer::Namespaces,
        Layer::Network,
        Layer::Seccomp,
        Layer::Landlock,
        Layer::MemoryLimit,
        Layer::CpuLimit,
        Layer::PidsLimit,
        Layer::OwnUid,
        Layer::DiskQuota,
    ];

    /// What the operator can do when this layer is missing.
    pub fn hint(self) -> &'static str {
        match self {
            Layer::Namespaces | Layer::Network => {
                "install bubblewrap (`apt install bubblewrap`) and allow user namespaces (`sysctl -w user.max_user_namespaces=15000`, \
                 and `kernel.apparmor_restrict_unprivileged_userns=0` where there is AppArmor)"
            }
            Layer::Seccomp => "run a kernel with CONFIG_SECCOMP_FILTER",
            Layer::Landlock => "boot a kernel of at least 5.13 with `lsm=landlock,…`",
            Layer::MemoryLimit | Layer::CpuLimit | Layer::PidsLimit => {
                "run the server as root on a machine whose cgroup file system is writable and has the memory, cpu and pids controllers"
            }
            Layer::OwnUid => "run the server as root, so that each workspace can have a uid of its own",
            Layer::DiskQuota => {
                "run the server as root, with its data directory on ext4 (`tune2fs -O quota,project -Q prjquota DEVICE` while it \
                 is not mounted) or XFS, mounted with `-o prjquota`, on a kernel of at least 5.14"
            }
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Namespaces => "namespaces",
            Layer::Network => "network",
            Layer::Seccomp => "seccomp",
            Layer::Landlock => "landlock",
            Layer::MemoryLimit => "memoryLimit",
            Layer::CpuLimit => "cpuLimit",
            Layer::PidsLimit => "pidsLimit",
            Layer::OwnUid => "ownUid",
            Layer::DiskQuota => "diskQuota",
        })
    }
}

impl Isolation {
    /// Whether a layer is there.
    pub fn has(&self, layer: Layer) -> bool {
        let cgroup = self.cgroup.as_ref();
        match layer {
            Layer::Namespaces => self.userns && self.pidns,
            Layer::Network => self.netns,
            Layer::Seccomp => self.seccomp,
            Layer::Landlock => self.landlock.is_some(),
            Layer::MemoryLimit => cgroup.is_some_and(|cgroup| cgroup.memory),
            Layer::CpuLimit => cgroup.is_some_and(|cgroup| cgroup.cpu),
            Layer::PidsLimit => cgroup.is_some_and(|cgroup| cgroup.pids),
            Layer::OwnUid => self.uid.own,
            Layer::DiskQuota => self.disk.how == "quota",
        }
    }

    /// The required layers that are not there, in the order they were asked for.
    pub fn missing(&self, required: &[Layer]) -> Vec<Layer> {
        required.iter().copied().filter(|layer| !self.has(*layer)).collect()
    }
}
