//! Commands about the server, this machine, agents, profiles and access.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::times::Lifetime;

/// Arguments of `warren up`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Up {
    /// Address and port; port 0 takes a free one [default: the key `listen`, 127.0.0.1:7777]
    #[arg(long, short, value_name = "ADDR")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Print one line {"url","token"} when the server is ready
    #[arg(long)]
    pub(crate) json: bool,
}

/// `warren transcript …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Transcript {
    /// Print the blocks of a saved transcript: {"blocks","subagents","usage"}
    Parse {
        /// Agent that wrote it [default: detected]
        #[arg(long, short, value_name = "AGENT")]
        agent: Option<String>,
        /// The transcript, then those of its subagents unless they are in their usual place. Files may be compressed with
        /// gzip; `-` is standard input; a directory stands for the newest transcript in it
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Print the blocks of a recorded agent output
    Fold {
        /// Agent that wrote it [default: detected]
        #[arg(long, short, value_name = "AGENT")]
        agent: Option<String>,
        /// The recording, perhaps compressed with gzip; `-` is standard input
        #[arg(default_value = "-")]
        path: PathBuf,
        /// Print events as JSON Lines instead
        #[arg(long)]
        events: bool,
    },
}

/// Arguments of `warren import`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Import {
    /// The transcript, then those of its subagents unless they are in their usual place; `-` is standard input
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Agent that wrote it and will continue it [default: detected]
    #[arg(long, short, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Profile of the session [default: default]
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Name of the session [default: the file name of the transcript]
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `warren doctor`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Doctor {
    /// Print the findings as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `warren agents …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Agents {
    /// List agents, their installed versions and whether they start
    #[command(alias = "ls")]
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Install agents from the npm registry
    ///
    /// `warren agents install codex` installs the tested version, whose hashes are built in. Any other version
    /// (`codex@0.169.0`) is checked against the registry's integrity hash. That hash is then pinned: a later installation of
    /// the same version with another hash is refused.
    ///
    /// `warren agents install npm:@scope/package@1.2.3 --id NAME -- --acp` installs any package whose program speaks ACP, the
    /// Agent Client Protocol, with everything that it depends on. What follows `--` is given to the program. The agent must
    /// answer in a sandbox, and is then used like the others: `warren run --agent NAME`.
    #[command(visible_alias = "add")]
    Install {
        /// Agents, each perhaps with a version: NAME[@VERSION]; or one package: npm:PACKAGE[@VERSION]
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "NAME")]
        names: Vec<String>,
        /// Install all agents in their tested versions
        #[arg(long)]
        all: bool,
        /// Use this local program instead of the registry. It is copied
        #[arg(long, value_name = "FILE", conflicts_with = "all")]
        path: Option<PathBuf>,
        #[command(flatten)]
        npm: NpmRecipe,
        /// Print one JSON object per agent
        #[arg(long)]
        json: bool,
    },
    /// Remove agents; their sessions are kept
    #[command(visible_aliases = ["rm", "uninstall"])]
    Remove {
        /// Agents
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Start agents in a sandbox without network and show their output
    Doctor {
        /// Agent [default: all installed agents]
        name: Option<String>,
        /// Print one JSON object per agent
        #[arg(long)]
        json: bool,
    },
}

/// How an agent of the npm registry is started.
#[derive(Debug, Args, Clone, Default, PartialEq)]
pub(crate) struct NpmRecipe {
    /// Name of the agent [default: the name of the package without its scope]
    #[arg(long, value_name = "NAME", help_heading = "Options of npm packages")]
    pub(crate) id: Option<String>,
    /// Program of the package, if it has several
    #[arg(long, value_name = "NAME", help_heading = "Options of npm packages")]
    pub(crate) bin: Option<String>,
    /// Environment variable of the agent; without a value, one that the profile must set. May be repeated
    #[arg(long, short, value_name = "NAME[=VALUE]", help_heading = "Options of npm packages")]
    pub(crate) env: Vec<String>,
    /// Host that the sandbox of the agent may reach; may be repeated
    #[arg(long, value_name = "HOST", help_heading = "Options of npm packages")]
    pub(crate) allow: Vec<String>,
    /// Arguments of the program, such as `--acp`
    #[arg(last = true, value_name = "ARGS", help_heading = "Options of npm packages")]
    pub(crate) args: Vec<String>,
}

/// `warren profiles …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Profiles {
    /// List profiles
    #[command(alias = "ls")]
    List {
        #[command(flatten)]
        of: InProject,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a profile as JSON
    #[command(visible_alias = "get")]
    Show {
        /// ID of the profile
        id: String,
        #[command(flatten)]
        of: InProject,
    },
    /// Create a profile, from a JSON file or from options
    Create {
        /// ID of the profile
        id: String,
        #[command(flatten)]
        of: InProject,
        /// JSON file with the fields of docs/profiles.md; `-` is standard input
        #[arg(long, short, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Instructions that precede everything else
        #[arg(long, value_name = "TEXT")]
        system_prompt: Option<String>,
        /// Model to ask for
        #[arg(long, short)]
        model: Option<String>,
        /// Command that starts an ACP agent, one argument per word
        #[arg(long, value_name = "COMMAND")]
        command: Option<String>,
        /// Environment variable; may be repeated
        #[arg(long, short, value_name = "NAME=VALUE")]
        env: Vec<String>,
        /// Host that the sandbox may reach; may be repeated
        #[arg(long, value_name = "HOST")]
        allow: Vec<String>,
        /// Replace an existing profile
        #[arg(long)]
        replace: bool,
    },
    /// Edit a profile in $VISUAL or $EDITOR
    Edit {
        /// ID of the profile
        id: String,
        #[command(flatten)]
        of: InProject,
    },
    /// Delete a profile. Its sessions continue without a profile
    #[command(visible_alias = "delete")]
    Rm {
        /// ID of the profile
        id: String,
        #[command(flatten)]
        of: InProject,
        /// Delete without confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

/// Owner of a profile.
#[derive(Debug, Args, PartialEq, Default)]
pub(crate) struct InProject {
    /// Project that owns the profile [default: the project of the token, else all projects]
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

/// `warren template …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Template {
    /// Show whether the packages are installed and work in a sandbox
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Install the packages in their pinned versions, for the app and the script of the template
    Install {
        /// Leave out the Python packages
        #[arg(long)]
        no_python: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove the packages. The files of the template stay in sessions
    #[command(visible_alias = "rm")]
    Remove,
}

/// `warren tokens …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Tokens {
    /// List tokens
    #[command(alias = "ls")]
    List {
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a token and print its secret once. By default it can read everything for 30 days
    Create {
        /// Name of the token
        name: String,
        /// Permissions: admin, admin:ro, project:<id> or project:<id>:ro [default: admin:ro]
        #[arg(long, conflicts_with = "admin")]
        scope: Option<String>,
        /// Full access, the same as `--scope admin`
        #[arg(long)]
        admin: bool,
        /// Expiry: a duration such as 12h or 90d, a time such as 2027-01-31T00:00:00Z, or `never` [default: 30d]
        #[arg(long, visible_alias = "expires-at", value_name = "WHEN")]
        expires: Option<Lifetime>,
        /// Owner: messages of all tokens of one owner count together [default: the token itself]
        #[arg(long)]
        owner: Option<String>,
        /// Message plan: unpaid, paid or unlimited [default: the plan of the scope]
        #[arg(long)]
        plan: Option<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token. It stops working at once
    #[command(visible_alias = "revoke")]
    Rm {
        /// ID or name of the token
        id: String,
    },
}

/// Arguments of `warren login`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Login {
    /// Address of the server, such as https://warren.example.com
    pub(crate) url: String,
    /// Forget the saved token of this server
    #[arg(long)]
    pub(crate) forget: bool,
}

/// `warren config …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Config {
    /// Print every key with its value and source
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration file and the environment
    Check,
}

/// Arguments of `warren completions`.
#[derive(Debug, Args, PartialEq)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

const COMPLETIONS: &str = "\
Completes commands and options and, while a server is running, the names of sessions, versions, profiles and agents.
Add one of these lines to the start-up file of the shell:
  bash  source <(warren completions bash)
  zsh   source <(warren completions zsh)
  fish  warren completions fish | source";

/// Arguments of `warren man`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Man {
    /// Target directory, such as ~/.local/share/man/man1
    pub(crate) directory: PathBuf,
}

/// Arguments of `warren __codegen`.
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Codegen {
    pub(crate) document: Document,
}

/// Documents that can be generated.
#[derive(Debug, Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum Document {
    /// `openapi.json`
    Openapi,
    /// `docs/config.md`
    Config,
}

/// `warren keys …`
#[derive(Debug, Subcommand, PartialEq)]
pub(crate) enum Keys {
    /// List model providers and where their keys come from. A key itself is never shown
    #[command(alias = "ls")]
    List {
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Store the key of a provider, encrypted, and test it. The key is asked for, or read from standard input
    Set {
        /// Provider: anthropic, gemini or openai
        provider: String,
        /// Base URL of the API [default: the configured one]
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// Store a base URL only: the provider there needs no key
        #[arg(long, requires = "base_url")]
        no_key: bool,
    },
    /// Ask a provider for its models, to check its key and its base URL
    Test {
        /// Provider: anthropic, gemini or openai
        provider: String,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the stored key and base URL of a provider. The configuration counts again
    #[command(visible_alias = "remove")]
    Rm {
        /// Provider: anthropic, gemini or openai
        provider: String,
    },
}

/// `warren models`
#[derive(Debug, Args, PartialEq)]
pub(crate) struct Models {
    /// Only models that this agent can use
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
