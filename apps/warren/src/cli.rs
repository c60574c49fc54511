//! The command line: commands, arguments and their help.

mod content;
mod conversation;
mod machine;
mod sessions;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub(crate) use content::{Artifacts, Files, Knowledge, OfProject};
pub(crate) use conversation::{Attachments, Chat, NewSession, Open, Replay, Run, Stop};
pub(crate) use machine::{
    Agents, Codegen, Completions, Config, Doctor, Document, Import, InProject, Keys, Login, Man, Models,
    NpmRecipe, Profiles, Template, Tokens, Transcript, Up,
};
pub(crate) use sessions::{Approvals, Diff, Fork, Label, Pull, Restore, Sessions, Snapshot, Versions};

const EXIT_CODES: &str = "\
Exit codes:
  0    success: the run completed, the command did its work
  1    failure: the run failed, the command was refused
  2    the command line is invalid
  3    the server cannot be reached
  4    the replay differs from the recording
  130  interrupted

Without a running server, a command starts its own and stops it at the end.
Documentation: https://github.com/warren/warren";

/// How a session is named on the command line.
const SESSION: &str = "The session: a name, an ID or the start of one; `last` is the newest";

/// Run coding agents in isolated sandboxes and record everything they do
#[derive(Debug, Parser, PartialEq)]
#[command(name = "warren", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// Refuses flags that are of no use to the command.
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        let (Verb::Up(_), Some(server)) = (&self.verb, &self.global.server) else { return Ok(self) };
        let address =
            server.split_once("://").map_or(server.as_str(), |(_, rest)| rest).trim_end_matches('/');
        let example =
            if address.parse::<std::net::SocketAddr>().is_ok() { address } else { "127.0.0.1:7777" };
        let message = format!(
            "the argument '--server <URL>' cannot be used with 'up': it names a server that is running already\n\n  \
             tip: to choose the address of the new server, write '--listen {example}'"
        );
        Err(Self::command().error(clap::error::ErrorKind::ArgumentConflict, message))
    }
}

/// Flags of every command.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct Global {
    /// Data directory [default: $WARREN_HOME, else ./.warren if it exists, else ~/.warren]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) dir: Option<PathBuf>,
    /// Configuration file [default: $WARREN_CONFIG, else warren.toml in the data directory]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    /// Server to use instead of the data directory's own [default: $WARREN_SERVER]. Its token comes from $WARREN_TOKEN
    /// or `warren login`
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) server: Option<String>,
    /// Log filter for standard error, such as `info` or `warren_runtime=debug` [default: $WARREN_LOG, else errors only]
    #[arg(long, global = true, value_name = "FILTER", help_heading = "Global options")]
    pub(crate) log: Option<String>,
}

/// One variant for each file in `verbs/`.
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Verb {
    /// Start the server
    Up(Up),
    /// Send a prompt to an agent and stream its work
    Run(Run),
    /// Talk to an agent
    Chat(Chat),
    /// Open the web page in a browser, signed in
    Open(Open),
    /// Stop the active run of a session
    Stop(Stop),
    /// List, show and delete sessions
    #[command(subcommand, alias = "session")]
    Sessions(Sessions),
    /// List the versions of a session, newest first
    Versions(Versions),
    /// Show the changes of a version, line by line
    Diff(Diff),
    /// Start a new session from a version of another
    Fork(Fork),
    /// Roll back to an earlier version
    Restore(Restore),
    /// Save the current state of a session as a version
    Snapshot(Snapshot),
    /// Bring the changes of a session back into a local directory
    Pull(Pull),
    /// Name a version and protect it from cleanup
    Label(Label),
    /// List and answer agent requests
    #[command(subcommand, alias = "approval")]
    Approvals(Approvals),
    /// Check this machine and list missing parts
    Doctor(Doctor),
    /// Print agent transcripts as blocks; needs no server
    #[command(subcommand)]
    Transcript(Transcript),
    /// Re-run recorded runs with the saved model responses and report differences
    Replay(Replay),
    /// Create a session from a transcript
    Import(Import),
    /// Install, list, test and remove agents
    #[command(subcommand, alias = "agent")]
    Agents(Agents),
    /// List, show, create, edit and delete profiles
    #[command(subcommand, alias = "profile")]
    Profiles(Profiles),
    /// Install, show and remove the packages of the outputs template
    #[command(subcommand)]
    Template(Template),
    /// List, read, write and delete files of a session
    #[command(subcommand, alias = "file")]
    Files(Files),
    /// List, add and delete files that all sessions of a project can read in /knowledge
    #[command(subcommand)]
    Knowledge(Knowledge),
    /// List, print and open artifacts of a session
    #[command(subcommand, alias = "artifact")]
    Artifacts(Artifacts),
    /// Manage API tokens
    #[command(subcommand, alias = "token")]
    Tokens(Tokens),
    /// Store, list, test and remove keys of model providers
    #[command(subcommand, alias = "key")]
    Keys(Keys),
    /// List the models that can be chosen, with price and context size
    #[command(alias = "model")]
    Models(Models),
    /// Save the token of a remote server
    Login(Login),
    /// Show or check the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write manual pages to a directory
    Man(Man),
    /// Print a generated document
    #[command(name = "__codegen", hide = true)]
    Codegen(Codegen),
}

#[cfg(test)]
mod tests;
