//! Running a program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many bytes of each of stdin, stdout and stderr may be on their way before the receiver gives more credit.
///
/// Each has its own credit, so that a program whose stderr nobody reads still gets its stdin and gives its stdout, and
/// a signal passes at any time. The receiver never has to hold more than this for each.
pub const EXEC_CREDIT: u32 = 128 * 1024;

/// The program to run. Its environment is exactly `env`; nothing is inherited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecRequest {
    /// Program and arguments. A program without a slash is looked for in `env`'s `PATH`.
    pub argv: Vec<String>,
    /// The whole environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The absolute directory to start in; `/` if not given.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Whether the host will send stdin. If not, it is empty.
    #[serde(default)]
    pub stdin: bool,
    /// Resource limits for this program, which can only be lower than the sandbox's own.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// What becomes of processes in the program's group when it has ended.
    #[serde(default)]
    pub leftovers: Leftovers,
    /// What its stdin, stdout and stderr are.
    #[serde(default, skip_serializing_if = "Stdio::is_pipes")]
    pub stdio: Stdio,
}

/// What connects a program with the guest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdio {
    /// Pipes. They can be opened again by a name such as `/dev/stderr`, and through `/proc` by every process of the same
    /// user.
    #[default]
    Pipes,
    /// Sockets, which no name opens: only the program, and what it hands them to, can read or write them.
    Sockets,
}

impl Stdio {
    fn is_pipes(&self) -> bool {
        *self == Stdio::Pipes
    }
}

/// One resource limit, soft and hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", content = "value", rename_all = "snake_case")]
pub enum Limit {
    /// Open files.
    Nofile(u64),
    /// Size of a file, in bytes.
    Fsize(u64),
    /// Address space, in bytes.
    As(u64),
    /// CPU time, in seconds.
    Cpu(u64),
}

/// Processes that a program leaves behind in its group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// They go on: a dev server started by a shell that ends.
    #[default]
    Keep,
    /// They are killed.
    Kill,
}

/// Reply to [`crate::Request::Exec`]: it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Process id and process group inside the sandbox.
    pub pid: u32,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Which of a program's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Descriptor 1.
    Stdout,
    /// Descriptor 2.
    Stderr,
}
