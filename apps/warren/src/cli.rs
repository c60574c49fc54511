//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0    the run was completed, the command did what it says
  1    the run failed, the command was refused
  2    the command line is wrong
  3    the server cannot be reached
  4    the replay diverged from what was recorded
  130  the run was interrupted

Without a running server, commands start one inside themselves for as long as they take.
https://github.com/warren/warren has the documentation.";

/// Runs coding agents in isolated sandboxes and keeps everything they do.
#[derive(Debug, Parser, PartialEq)]
#[command(name = "warren", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Flags of every command.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct Global {
    /// The data directory [default: $WARREN_HOME, else ./.warren if it exists, else ~/.warren]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) dir: Option<PathBuf>,
    /// The configuration [default: $WARREN_CONFIG, else warren.toml in the data directory]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    /// A server to talk to instead of the data directory's own [default: $WARREN_SERVER]; its token is in $WARREN_TOKEN
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) server: Option<String>,
    /// What to log to standard error, such as `info` or `warren_runtime=debug` [default: $WARREN_LOG, else errors only]
    #[arg(long, global = true, value_name = "FILTER", help_heading = "Global options")]
    pub(crate) log: Option<String>,
}

/// One for each file in `verbs/`.
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Verb {
    /// Start the server
    Up(Up),
    /// Give an agent one message, and show what it does until it is done
    Run(Run),
    /// Talk to an agent, message by message
    Chat(Chat),
    /// List, look at and remove sessions
    #[command(subcommand)]
    Sessions(Sessions),
    /// List a session's versions, newest first
    Versions(Versions),
    /// Show what is new in a version: files, line by line
    Diff(Diff),
    /// Make a session that goes on from a version of another
    Fork(Fork),
    /// Make an older version the latest once more
    Restore(Restore),
    /// Make a version of what a session has now
    Snapshot(Snapshot),
    /// Name a version, which keeps it for ever
    Label(Label),
    /// List what agents ask people, and answer
    #[command(subcommand)]
    Approvals(Approvals),
    /// Show what this machine can do, what is missing, and how to get it
    Doctor(Doctor),
    /// Show what agents wrote, as blocks; needs no server
    #[command(subcommand)]
    Transcript(Transcript),
    /// Carry a run, or all runs of a session, out once more with the recorded answers, and say whether it was the same
    Replay(Replay),
    /// Make a session out of a transcript, to go on from there
    Import(Import),
    /// List, install, remove and try the programs of agents
    #[command(subcommand)]
    Agents(Agents),
    /// Install, show and remove the packages that the template of new sessions needs
    #[command(subcommand)]
    Template(Template),
    /// List, read, write and remove the files of a session
    #[command(subcommand)]
    Files(Files),
    /// List, add and remove what a project's sessions can read as /knowledge
    #[command(subcommand)]
    Knowledge(Knowledge),
    /// List what a session made, get it, and open it in a browser
    #[command(subcommand)]
    Artifacts(Artifacts),
    /// List, make and remove the tokens that clients show to the server
    #[command(subcommand)]
    Tokens(Tokens),
    /// Show or check the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print a generated document
    #[command(name = "__codegen", hide = true)]
    Codegen(Codegen),
}

/// Arguments of `warren up`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Up {
    /// Address and port; port 0 takes a free one [default: the key `listen`, 127.0.0.1:7777]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Print one line {"url","token"} when ready, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which agent a new session talks to, and how.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct NewSession {
    /// The agent of a new session [default: builtin]
    #[arg(long, value_name = "TYPE", conflicts_with = "session")]
    pub(crate) agent: Option<String>,
    /// The profile of a new session: what the agent is given [default: default]
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) profile: Option<String>,
    /// A name for a new session
    #[arg(long, conflicts_with = "session")]
    pub(crate) name: Option<String>,
    /// Go on with this session; `last` is the newest one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The model to ask for
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Let the agent of a new session ask before it acts; the sandbox is its only guard otherwise
    #[arg(long, conflicts_with = "session")]
    pub(crate) ask: bool,
    /// What a new session may spend, in US dollars
    #[arg(long, value_name = "USD", conflicts_with = "session")]
    pub(crate) budget: Option<f64>,
}

/// Arguments of `warren run`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Run {
    /// What the agent shall do; `-` reads it from standard input
    pub(crate) prompt: String,
    #[command(flatten)]
    pub(crate) with: NewSession,
    /// Print the events as they were recorded, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren replay`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Replay {
    /// The session; `last` is the newest one
    pub(crate) session: String,
    /// One of its runs [default: all of them, each from its own base version]
    pub(crate) run: Option<warren_domain::RunId>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren chat`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) with: NewSession,
}

/// `warren sessions …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Sessions {
    /// List sessions, newest first
    List {
        /// At most this many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only names or ids that contain this text
        #[arg(long, value_name = "TEXT")]
        q: Option<String>,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Show a session: what was said and done in it
    Show {
        /// Which one; `last` is the newest
        id: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Print a session's log, one entry a line
    Events {
        /// Which one; `last` is the newest
        id: String,
        /// Only entries after this number
        #[arg(long, value_name = "N", default_value_t = 0)]
        after: u64,
        /// Go on with new entries as they come, until Ctrl-C
        #[arg(long, short)]
        follow: bool,
        /// Print the entries as they were recorded
        #[arg(long)]
        json: bool,
    },
    /// Remove sessions with their sandboxes, files and logs
    Rm {
        /// Which ones
        #[arg(required = true)]
        ids: Vec<String>,
        /// Print one JSON object for each
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `warren versions`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Versions {
    /// Of which session; `last` is the newest
    pub(crate) session: String,
    /// At most this many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren diff`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Diff {
    /// Of which session; `last` is the newest
    pub(crate) session: String,
    /// `v7` against the one it was made from, or `v3..v7` [default: the latest]
    pub(crate) versions: Option<String>,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren fork`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Fork {
    /// Which session; `last` is the newest
    pub(crate) session: String,
    /// From which version [default: the latest]
    pub(crate) version: Option<String>,
    /// A name for the new session
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Another agent; it knows the files, not the conversation
    #[arg(long, value_name = "TYPE")]
    pub(crate) agent: Option<String>,
    /// Another profile
    #[arg(long, value_name = "ID")]
    pub(crate) profile: Option<String>,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren restore`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Restore {
    /// Which session; `last` is the newest
    pub(crate) session: String,
    /// Which version
    pub(crate) version: String,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren snapshot`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Snapshot {
    /// Which session; `last` is the newest
    pub(crate) session: String,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren label`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Label {
    /// Of which session; `last` is the newest
    pub(crate) session: String,
    /// Which version
    pub(crate) version: String,
    /// Its name; left out, its name is taken away
    pub(crate) label: Option<String>,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// `warren approvals …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Approvals {
    /// List what waits for an answer
    List {
        /// Also what was answered or expired
        #[arg(long)]
        all: bool,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Say yes
    Allow {
        /// To which one
        id: String,
        /// Also for the rest of the session: this very request, unless a rule says more
        #[arg(long)]
        always: bool,
        /// With `--always`: commands that begin with these words, such as `git`
        #[arg(long, requires = "always", value_name = "WORDS", group = "rule")]
        prefix: Option<String>,
        /// With `--always`: files in this directory
        #[arg(long, requires = "always", value_name = "PATH", group = "rule")]
        directory: Option<String>,
        /// With `--always`: everything this tool does
        #[arg(long, requires = "always", group = "rule")]
        tool: bool,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Say no
    Deny {
        /// To which one
        id: String,
        /// What the agent is told
        #[arg(long, short)]
        message: Option<String>,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// List the rules in force: what is allowed without asking
    Rules {
        /// Only of this session
        #[arg(long)]
        session: Option<String>,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Withdraw a rule
    Revoke {
        /// The approval that granted it
        id: String,
    },
    /// Answer questions
    Answer {
        /// Which one
        id: String,
        /// The number of an option, or a text; `;` between the answers to several questions
        answer: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
}

/// `warren transcript …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Transcript {
    /// Print the blocks of a saved transcript: {"blocks","subagents","usage"}
    Parse {
        /// The agent that wrote it [default: told by the file]
        #[arg(long, value_name = "TYPE")]
        agent: Option<String>,
        /// The transcript, then its subagents' if they do not lie where the agent puts them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Print the same from what an agent printed while it ran
    Fold {
        /// The agent that printed it [default: told by the recording]
        #[arg(long, value_name = "TYPE")]
        agent: Option<String>,
        /// The recording; `-` is standard input
        #[arg(default_value = "-")]
        path: PathBuf,
        /// Print the events instead, one JSON object a line
        #[arg(long)]
        events: bool,
    },
}

/// Arguments of `warren import`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Import {
    /// The transcript, then its subagents' if they do not lie where the agent puts them
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The agent that wrote it, and will go on [default: told by the file]
    #[arg(long, value_name = "TYPE")]
    pub(crate) agent: Option<String>,
    /// The profile: what the agent is given [default: default]
    #[arg(long, value_name = "ID")]
    pub(crate) profile: Option<String>,
    /// A name for the session [default: the transcript's file name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Print the server's answer
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren doctor`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Doctor {
    /// Print what was found as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `warren agents …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Agents {
    /// List the agents there are, which of them are installed, and whether they run here
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Install agents from the npm registry, each in its pinned version
    Install {
        /// Which ones
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "NAME")]
        names: Vec<String>,
        /// All there are
        #[arg(long)]
        all: bool,
        /// Print one JSON object for each
        #[arg(long)]
        json: bool,
    },
    /// Remove agents' programs; sessions stay
    Remove {
        /// Which ones
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Start programs in a sandbox without network, and show what they say
    Doctor {
        /// Which one [default: all that are installed]
        name: Option<String>,
        /// Print one JSON object for each
        #[arg(long)]
        json: bool,
    },
}

/// `warren template …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Template {
    /// Show whether the packages are installed, and whether they work in a sandbox
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Install the packages, each in its pinned version; new sessions begin with the template from then on
    Install {
        /// Leave out those for Python
        #[arg(long)]
        no_python: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove the packages; sessions stay, new ones begin without the template
    Remove,
}

/// `warren tokens …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Tokens {
    /// List tokens
    List {
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Make a token, and show its secret this once
    Create {
        /// A name to know it by
        name: String,
        /// What it may do: admin, admin:ro, project:<id> or project:<id>:ro
        #[arg(long, default_value = "admin")]
        scope: String,
        /// When it stops working, such as 2027-01-31T00:00:00Z [default: never]
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
        /// Whose it is: messages of all tokens of one owner are counted together [default: the token's own]
        #[arg(long)]
        owner: Option<String>,
        /// How many messages may be sent: unpaid, paid or unlimited [default: what the scope is given]
        #[arg(long)]
        plan: Option<String>,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Remove a token: it stops working at once
    Rm {
        /// Which one, by its id
        id: String,
    },
}

/// `warren config …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Config {
    /// Print every key with the value in force and where it comes from
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check the file and the environment
    Check,
}

/// Arguments of `warren __codegen`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Codegen {
    pub(crate) document: Document,
}

/// What can be generated.
#[derive(Debug, Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum Document {
    /// `openapi.json`
    Openapi,
    /// `docs/config.md`
    Config,
}

/// `warren files …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Files {
    /// List a directory
    List {
        /// Whose: an id, or `last`
        session: String,
        /// Relative to the workspace, or in /user-input, /knowledge or /instructions
        #[arg(default_value = "")]
        path: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Print a file
    Get {
        /// Whose: an id, or `last`
        session: String,
        /// Which one
        path: String,
    },
    /// Make or replace a file by what comes on standard input
    Put {
        /// Whose: an id, or `last`
        session: String,
        /// Which one
        path: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Remove a file, or a directory with all in it
    Rm {
        /// Whose: an id, or `last`
        session: String,
        /// Which one
        path: String,
    },
}

/// `warren knowledge …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Knowledge {
    /// List the files
    List {
        #[command(flatten)]
        of: OfProject,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Add files, all of them or none; those of the same name are replaced
    Add {
        #[command(flatten)]
        of: OfProject,
        /// Files of this machine
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The directory in /knowledge that they go to
        #[arg(long, value_name = "DIRECTORY", default_value = "")]
        to: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Remove a file, or a directory with all in it
    Rm {
        #[command(flatten)]
        of: OfProject,
        /// Which one, relative to /knowledge
        path: String,
    },
}

/// Whose knowledge it is.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct OfProject {
    /// Of which project: an id. By default the token's own, or the default one
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) project: String,
}

/// `warren artifacts …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Artifacts {
    /// List what is worth showing
    List {
        /// Whose: an id, or `last`
        session: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
    /// Print what is in one
    Get {
        /// Whose: an id, or `last`
        session: String,
        /// Which one, by its id
        artifact: String,
    },
    /// Print a link that opens one in a browser, once
    Open {
        /// Whose: an id, or `last`
        session: String,
        /// Which one, by its id
        artifact: String,
        /// Print the server's answer
        #[arg(long)]
        json: bool,
    },
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{Agents, Chat, Cli, Global, NewSession, Run, Sessions, Up, Verb};

    fn parse(line: &str) -> Result<Cli, clap::error::ErrorKind> {
        Cli::try_parse_from(line.split(' ')).map_err(|error| error.kind())
    }

    #[track_caller]
    fn check(line: &str, verb: Verb) {
        assert_eq!(parse(line), Ok(Cli { global: Global::default(), verb }), "{line}");
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_are_read_as_they_are_typed() {
        check("warren up", Verb::Up(Up { listen: None, json: false }));
        check(
            "warren up --listen 127.0.0.1:0 --json",
            Verb::Up(Up { listen: Some(([127, 0, 0, 1], 0).into()), json: true }),
        );
        let with = NewSession { session: Some("last".to_owned()), ..NewSession::default() };
        let run = Run { prompt: "hello".to_owned(), with: with.clone(), json: true };
        check("warren run hello --session last --json", Verb::Run(run));
        check("warren chat --session last", Verb::Chat(Chat { with }));
        let events = Sessions::Events { id: "x".to_owned(), after: 7, follow: true, json: false };
        check("warren sessions events x --after 7 --follow", Verb::Sessions(events));
        let install = Agents::Install { names: vec!["codex".to_owned()], all: false, json: false };
        check("warren agents install codex", Verb::Agents(install));
    }

    #[test]
    fn global_flags_may_stand_before_and_after_the_command() {
        let global = Global { dir: Some("d".into()), ..Global::default() };
        for line in ["warren --dir d doctor", "warren doctor --dir d"] {
            assert_eq!(parse(line).map(|cli| cli.global), Ok(global.clone()), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        use clap::error::ErrorKind::{
            ArgumentConflict, DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand,
            MissingRequiredArgument, UnknownArgument, ValueValidation,
        };
        let cases = [
            ("warren", DisplayHelpOnMissingArgumentOrSubcommand),
            ("warren fly", InvalidSubcommand),
            ("warren run", MissingRequiredArgument),
            ("warren run x --agent a --session s", ArgumentConflict),
            ("warren up --listen here", ValueValidation),
            ("warren sessions rm", MissingRequiredArgument),
            ("warren doctor --colour", UnknownArgument),
            ("warren agents install", MissingRequiredArgument),
            ("warren agents install codex --all", ArgumentConflict),
        ];
        for (line, kind) in cases {
            assert_eq!(parse(line), Err(kind), "{line}");
        }
    }
}
