//! Commands that talk to an agent.

use std::path::PathBuf;

use clap::Args;
use warren_domain::ReasoningEffort;

use super::{EXIT_CODES, SESSION};
use crate::times::Span;

/// Session options of `run` and `chat`.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct NewSession {
    /// Agent of the new session [default: builtin]
    #[arg(long, short, value_name = "AGENT", conflicts_with = "session")]
    pub(crate) agent: Option<String>,
    /// Profile of the new session [default: default]
    #[arg(long, short, value_name = "PROFILE", conflicts_with = "session")]
    pub(crate) profile: Option<String>,
    /// Name of the new session [default: from the first message]
    #[arg(long, short, conflicts_with = "session")]
    pub(crate) name: Option<String>,
    /// Continue this session: a name, an ID or the start of one; `last` is the newest
    #[arg(long, short)]
    pub(crate) session: Option<String>,
    /// Import this local directory as the files of the new session; `warren pull` brings changes back
    #[arg(long, short, value_name = "DIR", conflicts_with = "session")]
    pub(crate) workspace: Option<PathBuf>,
    /// With `--workspace`: leave out files that `.gitignore` and `.ignore` exclude
    #[arg(long, requires = "workspace")]
    pub(crate) respect_ignore: bool,
    /// With `--workspace`: leave out `.git`
    #[arg(long, requires = "workspace")]
    pub(crate) without_git: bool,
    /// Model to ask for
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// How much the model thinks before it answers: low, medium or high
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    pub(crate) effort: Option<ReasoningEffort>,
    /// Let the agent of the new session ask before it acts. Without it, the sandbox is the only guard
    #[arg(long, conflicts_with = "session")]
    pub(crate) ask: bool,
    /// Spending limit of the new session in US dollars
    #[arg(long, value_name = "USD", conflicts_with = "session")]
    pub(crate) budget: Option<f64>,
    /// Time limit of each run, such as 90s, 45m or 2h [default: the key `runs.time_budget_seconds`, 30 minutes]
    #[arg(long, value_name = "DURATION")]
    pub(crate) time_budget: Option<Span>,
}

/// Reads `--effort`.
pub(crate) fn effort(text: &str) -> Result<ReasoningEffort, String> {
    ReasoningEffort::parse(text).ok_or_else(|| "write low, medium or high".to_owned())
}

/// Files of a message.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct Attachments {
    /// Upload a file for the agent; may be repeated
    #[arg(long = "file", short = 'f', value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Attach a PNG, JPEG, GIF or WebP image to the message; may be repeated
    #[arg(long = "image", short = 'i', value_name = "PATH")]
    pub(crate) images: Vec<PathBuf>,
}

/// Arguments of `warren run`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Run {
    /// The task for the agent; `-` reads it from standard input
    pub(crate) prompt: String,
    #[command(flatten)]
    pub(crate) with: NewSession,
    #[command(flatten)]
    pub(crate) attached: Attachments,
    /// Pass the message to the active run instead of queueing it
    #[arg(long, requires = "session")]
    pub(crate) steer: bool,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren chat`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) with: NewSession,
}

/// Arguments of `warren open`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Open {
    #[arg(help = "The session to show: a name, an ID or the start of one; `last` is the newest")]
    pub(crate) session: Option<String>,
    /// Print the link without opening a browser
    #[arg(long)]
    pub(crate) print: bool,
    /// Print the link as JSON without opening a browser
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren stop`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Stop {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren replay`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Replay {
    #[arg(help = SESSION)]
    pub(crate) session: String,
    /// Replay only this run [default: all runs, each from its own base version]
    pub(crate) run: Option<warren_domain::RunId>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
