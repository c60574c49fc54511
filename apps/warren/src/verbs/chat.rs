//! `warren chat`: message by message, line by line.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Result;

use crate::{
    answers::{Person, lines},
    cli,
    connect::Connection,
    conversation::{Conversation, Form},
    report::{Outcome, report},
    setting::Setting,
    signals::Signals,
    terminal::{OutputError, Terminal},
};

/// Runs the verb. A run that fails does not end the conversation; the end of the input does.
pub(crate) async fn run(setting: &Setting, args: cli::Chat, terminal: &mut Terminal) -> Result<Outcome> {
    let mut signals = Signals::catch()?;
    let connection = Connection::open(setting).await?;
    if let Some(notice) = connection.notice() {
        eprintln!("{notice}");
    }
    let talked = talk(&connection, &args, terminal, &mut signals).await;
    connection.close(&mut signals).await;
    talked
}

async fn talk(
    connection: &Connection,
    args: &cli::Chat,
    terminal: &mut Terminal,
    signals: &mut Signals,
) -> Result<Outcome> {
    let mut conversation = Conversation::open(&connection.client, &args.with).await?;
    let mut person = Person::reading(lines());
    let is_asked = io::stdin().is_terminal();
    if is_asked {
        eprintln!("session {}; Ctrl-C interrupts, Ctrl-D ends", conversation.session());
    }
    let mut outcome = Outcome::Done;
    loop {
        if is_asked {
            ask()?;
        }
        let line = tokio::select! {
            line = person.lines.recv() => line,
            () = signals.next() => None,
        };
        let Some(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        outcome = match conversation.send(&line, Form::Text, terminal, signals, Some(&mut person)).await {
            Ok(outcome) => outcome,
            Err(error) => report(&error),
        };
        if matches!(outcome, Outcome::Unreachable | Outcome::Left) {
            return Ok(outcome);
        }
    }
    if is_asked {
        eprintln!();
    }
    // Whoever sat there saw how each run ended; a script wants to know about the last one.
    Ok(if is_asked { Outcome::Done } else { outcome })
}

fn ask() -> Result<(), OutputError> {
    let mut out = io::stderr().lock();
    out.write_all("\n› ".as_bytes())?;
    Ok(out.flush()?)
}
