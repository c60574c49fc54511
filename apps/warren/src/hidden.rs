//! Secrets that people type: without echo, and never as an argument, which other users of the machine could see.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result, bail};

use crate::{answers::lines, report::Advised, signals::Signals, terminal::Quiet};

/// A secret: typed without echo, or the first line of standard input. `None` after Ctrl-C.
///
/// # Errors
/// When nothing was given; `advice` says where to get one.
pub(crate) async fn ask(what: &str, advice: &str, signals: &mut Signals) -> Result<Option<String>> {
    let is_asked = io::stdin().is_terminal();
    if is_asked {
        eprint!("{what}: ");
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
    let secret = line.trim().to_owned();
    if secret.is_empty() {
        let what = if what == "Token" { "token" } else { what };
        bail!(Advised::new(format!("the {what} is empty"), advice));
    }
    Ok(Some(secret))
}
