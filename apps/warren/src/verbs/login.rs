//! `warren login`: saves the token of a remote server.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result, bail};
use warren_wire::WhoAmI;

use crate::{
    answers::lines,
    cli,
    client::{Client, is_loopback},
    connect::check_address,
    logins::Logins,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    terminal::{Quiet, Terminal},
};

/// Runs the command.
pub(crate) async fn run(setting: &Setting, args: cli::Login, terminal: &mut Terminal) -> Result<Outcome> {
    let url = args.url.trim_end_matches('/');
    check_address(url)?;
    let advice = "set HOME, or pass the token as WARREN_TOKEN";
    let logins = Logins::of_user(&setting.environment)
        .ok_or_else(|| Advised::new("no directory for saved tokens was found", advice))?;
    if args.forget {
        let was_there = logins.forget(url)?;
        terminal.line(&if was_there {
            format!("Removed the token of {url}")
        } else {
            format!("No token of {url} is saved")
        })?;
        return Ok(Outcome::Done);
    }
    if url.starts_with("http://") && !is_loopback(url) {
        eprintln!("warning: {url} is not encrypted: others on the network can read the token");
    }
    // Checked before the token is typed: a wrong address must not get it.
    Client::new(url, None)?.health().await?;
    let mut signals = Signals::catch()?;
    let Some(token) = ask(&mut signals).await? else { return Ok(Outcome::Interrupted) };
    let who: WhoAmI = Client::new(url, Some(token.clone()))?.get("/api/auth").await?;
    logins.save(url, &token)?;
    terminal.line(&format!("Signed in to {url} as {} ({})", clean(&who.name), who.scope))?;
    eprintln!(
        "The token is in {}. Use it with `--server {url}` or WARREN_SERVER={url}.",
        logins.path().display()
    );
    Ok(Outcome::Done)
}

/// The token: typed without echo, or the first line of standard input. `None` after Ctrl-C.
async fn ask(signals: &mut Signals) -> Result<Option<String>> {
    let is_asked = io::stdin().is_terminal();
    if is_asked {
        eprint!("Token: ");
        io::stderr().flush().context("failed to write to the terminal")?;
    }
    // Ends before the command does, also after Ctrl-C: a terminal without echo is of no use to anybody.
    let hidden = is_asked.then(Quiet::hide);
    let mut lines = lines();
    let line = tokio::select! {
        line = lines.recv() => line.unwrap_or_default(),
        () = signals.next() => return Ok(None),
    };
    drop(hidden);
    if is_asked {
        eprintln!();
    }
    let token = line.trim().to_owned();
    if token.is_empty() {
        let advice = "create one on the server with `warren tokens create NAME --admin`";
        bail!(Advised::new("the token is empty", advice));
    }
    Ok(Some(token))
}
