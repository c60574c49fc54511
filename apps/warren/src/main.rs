//! The one binary: starts the server, and talks to it.
//!
//! Stands at both ends of the flow: `embed` puts the server together and is the only place that names a concrete
//! backend; everything else here is a client of it, over HTTP, even when the server is in the same process.
//! It must never hold what another crate is for: no SQL, no sandboxes, no state of sessions.
//! Start with [`cli`], then the file of the verb in `verbs/`; `embed` shows how it all fits.

#![allow(
    clippy::print_stderr,
    reason = "a command talks to its user; standard output goes through `Terminal`"
)]

mod cli;
mod verbs;

mod answerers;
mod answers;
mod attach;
mod client;
mod complete;
mod confirm;
mod connect;
mod conversation;
mod editor;
mod embed;
mod hidden;
mod home;
mod invocation;
mod logins;
mod lookup;
mod pack;
mod render;
mod report;
mod setting;
mod signals;
mod suggest;
mod table;
mod terminal;
mod times;
mod transcripts;
mod watch;

use std::{io::IsTerminal as _, process::ExitCode};

use anyhow::{Context as _, Result, anyhow};
use clap::{CommandFactory as _, Parser as _};
use tracing_subscriber::EnvFilter;
use warren_config::Environment;

use cli::{Cli, Verb};
use invocation::Invocation;
use report::{Advised, Outcome, report};
use setting::Setting;
use terminal::Terminal;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything that could start a thread: the launcher has one, and must keep it so.
    if let Some(code) = embed::launcher() {
        return code;
    }
    complete::answer();
    let cli = Cli::try_parse()
        .and_then(Cli::checked)
        .unwrap_or_else(|error| suggest::complete(error, &Cli::command()).exit());
    let environment = Environment::of_process();
    let mut terminal = Terminal::of_process(&environment);
    let Cli { global, verb } = cli;
    let outcome = match Setting::new(global, environment) {
        Ok(setting) => run(&setting, verb, &mut terminal).unwrap_or_else(|error| {
            terminal.status(None);
            report(&error, &setting.invocation)
        }),
        Err(error) => report(&error, &Invocation::default()),
    };
    outcome.into()
}

fn run(setting: &Setting, verb: Verb, terminal: &mut Terminal) -> Result<Outcome> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow!("another TLS provider is installed already"))?;
    log_to_stderr(setting, &verb)?;
    match &verb {
        Verb::Config(args) => return verbs::config::run(setting, args, terminal),
        Verb::Codegen(args) => return verbs::codegen::run(args, terminal),
        Verb::Transcript(args) => return verbs::transcript::run(args),
        Verb::Completions(args) => return verbs::shell::completions(args, terminal),
        Verb::Man(args) => return verbs::shell::man(args, terminal),
        _ => {}
    }
    embed::keep_little();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("failed to start the asynchronous runtime")?;
    let outcome = runtime.block_on(dispatch(setting, verb, terminal));
    // A thread that waits for a line of the terminal would be waited for in vain.
    runtime.shutdown_background();
    outcome
}

async fn dispatch(setting: &Setting, verb: Verb, terminal: &mut Terminal) -> Result<Outcome> {
    match verb {
        Verb::Up(args) => verbs::up::run(setting, args, terminal).await,
        Verb::Run(args) => verbs::run::run(setting, args, terminal).await,
        Verb::Chat(args) => verbs::chat::run(setting, args, terminal).await,
        Verb::Open(args) => verbs::open::run(setting, args, terminal).await,
        Verb::Stop(args) => verbs::stop::run(setting, args, terminal).await,
        Verb::Login(args) => verbs::login::run(setting, args, terminal).await,
        Verb::Profiles(args) => verbs::profiles::run(setting, args, terminal).await,
        Verb::Sessions(args) => verbs::sessions::run(setting, args, terminal).await,
        Verb::Versions(args) => verbs::versions::list(setting, args, terminal).await,
        Verb::Diff(args) => verbs::versions::diff(setting, args, terminal).await,
        Verb::Fork(args) => verbs::versions::fork(setting, args, terminal).await,
        Verb::Restore(args) => verbs::versions::restore(setting, args, terminal).await,
        Verb::Snapshot(args) => verbs::versions::snapshot(setting, args, terminal).await,
        Verb::Pull(args) => verbs::pull::run(setting, args, terminal).await,
        Verb::Label(args) => verbs::versions::label(setting, args, terminal).await,
        Verb::Approvals(args) => verbs::approvals::run(setting, args, terminal).await,
        Verb::Doctor(args) => verbs::doctor::run(setting, args, terminal).await,
        Verb::Template(args) => verbs::template::run(setting, args, terminal).await,
        Verb::Agents(args) => verbs::agents::run(setting, args, terminal).await,
        Verb::Files(args) => verbs::files::run(setting, args, terminal).await,
        Verb::Knowledge(args) => verbs::knowledge::run(setting, args, terminal).await,
        Verb::Artifacts(args) => verbs::artifacts::run(setting, args, terminal).await,
        Verb::Tokens(args) => verbs::tokens::run(setting, args, terminal).await,
        Verb::Keys(args) => verbs::keys::run(setting, args, terminal).await,
        Verb::Models(args) => verbs::keys::models(setting, args, terminal).await,
        Verb::Config(args) => verbs::config::run(setting, &args, terminal),
        Verb::Codegen(args) => verbs::codegen::run(&args, terminal),
        Verb::Transcript(args) => verbs::transcript::run(&args),
        Verb::Completions(args) => verbs::shell::completions(&args, terminal),
        Verb::Man(args) => verbs::shell::man(&args, terminal),
        Verb::Replay(args) => verbs::replay::run(setting, args, terminal).await,
        Verb::Import(args) => verbs::import::run(setting, args, terminal).await,
    }
}

/// A server logs warnings for its operator; a command with a server inside logs errors only.
fn log_to_stderr(setting: &Setting, verb: &Verb) -> Result<()> {
    let quiet = if matches!(verb, Verb::Up(_)) { "warn" } else { "error" };
    let filter = setting.log_filter().unwrap_or(quiet);
    let hint = "write levels and targets, such as `info` or `warn,warren_runtime=debug`";
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| Advised::new(format!("`{filter}` is not a log filter: {error}"), hint))?;
    let is_coloured = std::io::stderr().is_terminal() && setting.environment.get("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(is_coloured)
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}
