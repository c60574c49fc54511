//! Where a sandbox's files are.

/// Where the files are that programs in a sandbox write: `/workspace`, `/home/agent` and `/user-input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesAt {
    /// In the directories of this machine that the spec names. They outlive the sandbox, and may be read, and written anew,
    /// while there is none.
    Host,
    /// In the sandbox alone, as on another machine: reached through its guest while it runs, empty when it starts, and gone
    /// with it.
    Guest,
}
