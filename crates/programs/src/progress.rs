//! What is going on during an installation.

use std::sync::Arc;

/// One step, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Somebody else installs the same agent; this waits for them.
    Waiting,
    /// A package's description is read.
    Resolving {
        /// The package and its version.
        package: String,
    },
    /// A package comes in.
    Downloading {
        /// The package and its version.
        package: String,
        /// Bytes so far.
        received: u64,
        /// Bytes in all, if the registry says so.
        total: Option<u64>,
    },
    /// A package's files are written.
    Unpacking {
        /// The package and its version.
        package: String,
        /// Bytes of the package so far.
        read: u64,
        /// Bytes of the package in all.
        total: u64,
    },
}

/// Told of each step. Called often, also from other threads, so it must be quick.
pub type Report = Arc<dyn Fn(Progress) + Send + Sync>;
