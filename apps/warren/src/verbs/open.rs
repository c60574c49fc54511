//! `warren open`: the web page, signed in by a one-time link.

use std::{
    io::{self, IsTerminal as _},
    process::{Command, Stdio},
};

use anyhow::{Result, bail};
use serde_json::json;
use warren_config::Environment;
use warren_wire::SignInLink;

use crate::{
    cli,
    connect::Connection,
    lookup::find,
    report::{Advised, Outcome},
    setting::Setting,
    terminal::Terminal,
};

/// Programs that open an address in the user's browser, tried in this order.
const OPENERS: [&str; 3] = ["xdg-open", "wslview", "open"];

/// Runs the command. A page needs a server that stays, so none is started for it.
pub(crate) async fn run(setting: &Setting, args: cli::Open, terminal: &mut Terminal) -> Result<Outcome> {
    let Some(connection) = Connection::to_running(setting).await? else {
        bail!(Advised::new("no server is running", "start one with `warren up`"));
    };
    let client = &connection.client;
    let session = match &args.session {
        Some(named) => Some(find(client, named).await?),
        None => None,
    };
    let link: SignInLink = client.post("/api/auth/link", &json!({})).await?;
    let session = session.map(|id| format!("&session={id}")).unwrap_or_default();
    let url = format!("{}{}{session}", client.url(), link.path);
    if args.json {
        terminal.line(&json!({ "url": url, "expiresAt": link.expires_at }).to_string())?;
        return Ok(Outcome::Done);
    }
    terminal.line(&url)?;
    eprintln!("This link signs one browser in, once, within five minutes.");
    if !args.print && io::stdout().is_terminal() && has_display(&setting.environment) {
        open(&url);
    }
    Ok(Outcome::Done)
}

fn has_display(environment: &Environment) -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| environment.get(name).is_some())
        || cfg!(target_os = "macos")
}

/// Starts the browser. The link is printed as well, so a machine without one loses nothing.
fn open(url: &str) {
    let start = |program: &&str| {
        let mut command = Command::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
    };
    OPENERS.iter().find(|program| start(program));
}
