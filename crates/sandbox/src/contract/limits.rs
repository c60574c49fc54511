//! What a sandbox may use, what it uses, and what happens when it takes more.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What one sandbox may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// Memory of all programs together. Beyond it the kernel kills one of them (exit 137).
    pub memory_bytes: u64,
    /// CPU time per second of wall time, in thousandths of one CPU. Beyond it programs wait.
    pub cpu_millis: u32,
    /// Processes and threads. Beyond it `fork` fails.
    pub pids: u32,
    /// What the writable directories may hold together. Beyond it [`LimitHit::Disk`] is reported.
    pub disk_bytes: u64,
    /// How many files and directories they may hold together. Beyond it [`LimitHit::Inodes`] is reported.
    pub inodes: u64,
    /// The largest single file. Beyond it a write fails with `EFBIG`.
    pub file_bytes: u64,
    /// The size of `/tmp`, which lives in memory. Beyond it a write fails with `ENOSPC`.
    pub tmp_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 * GIB,
            cpu_millis: 1000,
            pids: 512,
            disk_bytes: 5 * GIB,
            inodes: 500_000,
            file_bytes: 2 * GIB,
            tmp_bytes: 256 * MIB,
        }
    }
}

/// What one sandbox uses now.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Memory in use, the guest's included; `None` where nothing measures it.
    pub memory_bytes: Option<u64>,
    /// CPU time used since the start.
    pub cpu_seconds: Option<f64>,
    /// Processes and threads, the guest's included.
    pub pids: Option<u64>,
    /// What the writable directories hold, as last measured, and files without a name that are still open.
    pub disk_bytes: u64,
    /// Files and directories, counted in the same way.
    #[serde(default)]
    pub inodes: u64,
    /// How many processes the kernel killed for lack of memory.
    pub oom_kills: u64,
}

/// A limit that the backend noticed but cannot hold by itself: the runtime decides what to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "limit")]
pub enum LimitHit {
    /// The writable directories hold more than they may.
    #[serde(rename_all = "camelCase")]
    Disk {
        /// What they hold.
        used_bytes: u64,
        /// What they may hold.
        limit_bytes: u64,
    },
    /// The host's own disk is nearly full, and this sandbox writes to it.
    #[serde(rename_all = "camelCase")]
    HostDisk {
        /// What is left.
        free_bytes: u64,
        /// What must be left.
        floor_bytes: u64,
    },
    /// The writable directories hold more files than they may.
    #[serde(rename_all = "camelCase")]
    Inodes {
        /// How many they hold.
        used_inodes: u64,
        /// How many they may hold.
        limit_inodes: u64,
    },
    /// The host's file system has nearly no inodes left, and this sandbox makes files on it.
    #[serde(rename_all = "camelCase")]
    HostInodes {
        /// How many are left.
        free_inodes: u64,
        /// How many must be left.
        floor_inodes: u64,
    },
    /// Directories are nested so deeply that what they hold cannot be measured.
    TreeTooDeep,
}
