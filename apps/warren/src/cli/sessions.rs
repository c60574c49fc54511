//! Commands about sessions, their versions and requests.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SESSION;

/// `warren sessions …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Sessions {
    /// List sessions, newest first
    #[command(alias = "ls")]
    List {
        /// Maximum number of sessions
        #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
        /// Only sessions with this text in their name or ID
        #[arg(long, short, value_name = "TEXT")]
        q: Option<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the conversation of a session
    Show {
        #[arg(help = SESSION, value_name = "SESSION")]
        id: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the event log of a session, one event per line
    Events {
        #[arg(help = SESSION, value_name = "SESSION")]
        id: String,
        /// Start after this event number
        #[arg(long, value_name = "N", default_value_t = 0)]
        after: u64,
        /// Wait for new events until Ctrl-C
        #[arg(long, short)]
        follow: bool,
        /// Print events as JSON Lines
        #[arg(long)]
        json: bool,
    },
    /// Rename a session
    Rename {
        #[arg(help = SESSION)]
        session: String,
        /// Its new name
        name: String,
    },
    /// Delete sessions with their sandboxes, files and logs
    #[command(visible_alias = "delete")]
    Rm {
        #[arg(help = "Sessions: names, IDs or their starts", required = true, value_name = "SESSION")]
        ids: Vec<String>,
        /// Delete without confirmation
        #[arg(long, short)]
        yes: bool,
        /// Print one JSON object per session
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `warren versions`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Versions {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Maximum number of versions
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren diff`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Diff {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// `v7` for its changes since its base version; `v3..v7` or `v3 v7` for those from one to the other [default: the latest]
    pub(crate) versions: Option<String>,
    #[arg(hide = true)]
    pub(crate) to: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren fork`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Fork {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Version to start from [default: the latest]
    pub(crate) version: Option<String>,
    /// Name of the new session
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// Another agent. It gets the files, but not the conversation
    #[arg(long, short, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Another profile
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren restore`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Restore {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Version to restore, such as v3
    pub(crate) version: String,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren snapshot`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Snapshot {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren pull`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = PULL)]
pub(crate) struct Pull {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Directory to change
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Version to bring back, such as v3 [default: the latest]
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Print the changes as a patch for `git apply`; no file is changed
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    pub(crate) patch: bool,
    /// List what would change; no file is changed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const PULL: &str = "\
Brings back what changed since the files were imported with `warren run --workspace`.
A file that was changed in both places is a conflict: all conflicts are listed, and no file is changed.
Changes in `.git` stay in the session. So do links that lead out of the directory.";

/// Arguments of `warren label`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Label {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Version, such as v3
    pub(crate) version: String,
    /// Label to set; without it, the current label is shown
    #[arg(conflicts_with = "remove")]
    pub(crate) label: Option<String>,
    /// Remove the label; the version is no longer protected from cleanup
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `warren approvals …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Approvals {
    /// List pending requests
    #[command(alias = "ls")]
    List {
        /// Include answered and expired requests
        #[arg(long, short)]
        all: bool,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow a request
    Allow {
        /// ID of the request
        id: String,
        /// Allow the same request for the rest of the session, or as much as a rule below covers
        #[arg(long)]
        always: bool,
        /// With `--always`: commands that start with these words, such as `git`
        #[arg(long, requires = "always", value_name = "WORDS", group = "rule")]
        prefix: Option<String>,
        /// With `--always`: files in this directory
        #[arg(long, requires = "always", value_name = "PATH", group = "rule")]
        directory: Option<String>,
        /// With `--always`: every use of this tool
        #[arg(long, requires = "always", group = "rule")]
        tool: bool,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Deny a request
    Deny {
        /// ID of the request
        id: String,
        /// Reason to give the agent
        #[arg(long, short)]
        message: Option<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// List active "always allow" rules
    Rules {
        #[arg(long, short, help = "Only rules of this session: a name, an ID or the start of one")]
        session: Option<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a rule
    Revoke {
        /// ID of the request that granted it
        id: String,
    },
    /// Answer a question
    Answer {
        /// ID of the request
        id: String,
        /// Number of an option, or text; separate the answers to several questions with `;`
        answer: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
}
