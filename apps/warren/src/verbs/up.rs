//! `warren up`: the server, until it is told to end.

use std::process;

use anyhow::{Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::{
    answerers::summary, cli, embed::Server, report::Outcome, setting::Setting, signals::Signals,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Up, terminal: &mut Terminal) -> Result<Outcome> {
    let mut signals = Signals::catch()?;
    raise_descriptor_limit();
    let listen = match args.listen {
        Some(address) => address,
        None => setting.load()?.config.listen,
    };
    let Some(lock) = setting.home.lock()? else { bail!(setting.home.held()) };
    let server = Server::start(setting, lock, listen).await?;
    if args.json {
        terminal.line(&json!({ "url": server.url, "token": server.token }).to_string())?;
    } else {
        terminal.write(&greeting(&server, setting, terminal)?)?;
    }
    signals.next().await;
    if !args.json {
        eprintln!("\nStopping active runs; Ctrl-C again quits at once.");
    }
    tokio::select! {
        () = server.stop() => Ok(Outcome::Done),
        () = signals.next() => leave_at_once(),
    }
}

fn greeting(server: &Server, setting: &Setting, terminal: &Terminal) -> Result<String> {
    let paint = terminal.paint();
    let token = if server.is_first_start {
        format!("{}  (kept in {})", server.token, setting.home.token_path().display())
    } else {
        format!("in {}", setting.home.token_path().display())
    };
    let models = summary(&server.answerers);
    let models =
        if server.answerers.iter().any(|answerer| answerer.is_demo) { paint.yellow(&models) } else { models };
    let rows = [
        ("address", paint.bold(&server.url)),
        ("token", token),
        ("sign in", format!("{}  (once, within five minutes)", server.sign_in_link()?)),
        ("later", format!("{}  (makes another link)", setting.invocation.command(&["open"]))),
        ("models", models),
        ("data", setting.home.directory().display().to_string()),
    ];
    if !server.is_loopback_only {
        eprintln!(
            "warning: other machines can reach this server without encryption; put a TLS proxy in front of it"
        );
    }
    let example = setting.invocation.command(&["run", "Build me a dashboard of our sales"]);
    let rows = rows.map(|(name, value)| format!("  {:<8}  {value}\n", name));
    Ok(format!(
        "{} is up\n\n{}\n  {}\n",
        paint.bold("Warren"),
        rows.concat(),
        paint.dim(&format!("try: {example}\n  Ctrl-C stops the server"))
    ))
}

/// Each reader of a stream is a descriptor, and the usual limit of 1,024 is a thousand readers. The guest sets its own.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
    {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

/// What is not recorded now is recorded at the next start; the launcher ends all sandboxes when we are gone.
fn leave_at_once() -> ! {
    process::exit(130)
}
