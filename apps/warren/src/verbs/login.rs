//! `warren login`: saves the token of a remote server.

use anyhow::Result;
use warren_wire::WhoAmI;

use crate::{
    cli,
    client::{Client, is_loopback},
    connect::check_address,
    hidden,
    logins::Logins,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    terminal::Terminal,
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
    let advice = "create one on the server with `warren tokens create NAME --admin`";
    let Some(token) = hidden::ask("Token", advice, &mut signals).await? else {
        return Ok(Outcome::Interrupted);
    };
    let who: WhoAmI = Client::new(url, Some(token.clone()))?.get("/api/auth").await?;
    logins.save(url, &token)?;
    terminal.line(&format!("Signed in to {url} as {} ({})", clean(&who.name), who.scope))?;
    eprintln!(
        "The token is in {}. Use it with `--server {url}` or WARREN_SERVER={url}.",
        logins.path().display()
    );
    Ok(Outcome::Done)
}
