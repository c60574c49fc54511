//! Ports that programs inside listen on.

use serde::{Deserialize, Serialize};

/// The most ports that are told of.
pub const MAX_PORTS: usize = 64;

/// A port that a program inside listens on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpenPort {
    /// Which.
    pub port: u16,
    /// The process group of the program, if it was found.
    #[serde(default)]
    pub group: Option<u32>,
    /// The absolute directory it runs in, likewise.
    #[serde(default)]
    pub directory: Option<String>,
}
