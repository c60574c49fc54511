//! `warren run`: one message, from the sandbox's start to the files it leaves.

use std::io::Read as _;

use anyhow::{Context as _, Result, bail};

use crate::{
    answers::Person,
    cli,
    connect::Connection,
    conversation::{Conversation, Form},
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Run, terminal: &mut Terminal) -> Result<Outcome> {
    let prompt = prompt(args.prompt)?;
    let mut signals = Signals::catch()?;
    let connection = Connection::open(setting).await?;
    if connection.is_demo() && !args.json {
        eprintln!(
            "No API key was found, so the offline demo model answers. Set ANTHROPIC_API_KEY to use Claude."
        );
    }
    let form = if args.json { Form::Json } else { Form::Text };
    let carried_out = carry_out(&connection, &args.with, &prompt, form, terminal, &mut signals).await;
    match &carried_out {
        Ok(Outcome::Left) | Err(_) => connection.abandon().await,
        Ok(_) => connection.close(&mut signals).await,
    }
    carried_out
}

async fn carry_out(
    connection: &Connection,
    with: &cli::NewSession,
    prompt: &str,
    form: Form,
    terminal: &mut Terminal,
    signals: &mut Signals,
) -> Result<Outcome> {
    let mut conversation = Conversation::open(&connection.client, with).await?;
    let outcome = {
        // Whoever reads events as JSON answers by other means.
        let mut person = if form == Form::Text { Person::at_terminal() } else { None };
        conversation.send(prompt, form, terminal, signals, person.as_mut()).await?
    };
    if form == Form::Text {
        eprintln!("To go on: warren run --session {} \"…\"", conversation.session());
    }
    Ok(outcome)
}

fn prompt(argument: String) -> Result<String> {
    let prompt = if argument == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("failed to read the prompt from standard input")?;
        text
    } else {
        argument
    };
    if prompt.trim().is_empty() {
        bail!(Advised::new(
            "the prompt is empty",
            "say what the agent shall do: warren run \"Build me a dashboard\""
        ));
    }
    Ok(prompt)
}
