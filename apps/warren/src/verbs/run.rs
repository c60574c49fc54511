//! `warren run`: one message, from the sandbox's start to the files it leaves.

use std::io::Read as _;

use anyhow::{Context as _, Result, bail};
use tokio::time::{Instant, sleep};
use warren_wire::MessageAccepted;

use crate::{
    answers::Person,
    cli,
    connect::{Connection, PATIENCE, PAUSE},
    conversation::{Conversation, Form, Message},
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    terminal::Terminal,
};

/// A message that a server has taken.
struct Begun {
    connection: Connection,
    conversation: Conversation,
    sent: MessageAccepted,
}

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Run, terminal: &mut Terminal) -> Result<Outcome> {
    let message = Message::new(&prompt(args.prompt)?);
    let mut signals = Signals::catch()?;
    let form = if args.json { Form::Json } else { Form::Text };
    let Begun { connection, mut conversation, sent } = begin(setting, &args.with, &message, form).await?;
    // Whoever reads events as JSON answers by other means.
    let mut person = if form == Form::Text { Person::at_terminal() } else { None };
    let shown = conversation.show(sent, form, terminal, &mut signals, person.as_mut()).await;
    if form == Form::Text && shown.is_ok() {
        eprintln!("To go on: warren run --session {} \"…\"", conversation.session());
    }
    match &shown {
        Ok(Outcome::Left) | Err(_) => connection.abandon().await,
        Ok(_) => connection.close(&mut signals).await,
    }
    shown
}

/// Hands the message to a server. One that another command brought may end after it was found and before it took the
/// message: then the next one gets it, with the same session and the same key, so that it is carried out once.
async fn begin(setting: &Setting, with: &cli::NewSession, message: &Message, form: Form) -> Result<Begun> {
    let deadline = Instant::now() + PATIENCE;
    let mut conversation = None;
    loop {
        let connection = Connection::open(setting).await?;
        if let Some(notice) = connection.notice().filter(|_| form == Form::Text) {
            eprintln!("{notice}");
        }
        match hand_in(&connection, &mut conversation, with, message).await {
            Ok((conversation, sent)) => return Ok(Begun { connection, conversation, sent }),
            Err(error) if connection.may_have_left(&error) && Instant::now() < deadline => {
                tracing::debug!(%error, "the server that was found has left; looking for another");
                sleep(PAUSE).await;
            }
            Err(error) => {
                connection.abandon().await;
                return Err(error);
            }
        }
    }
}

/// Goes on with `conversation`, or makes it; it stays there if the message was not taken.
async fn hand_in(
    connection: &Connection,
    conversation: &mut Option<Conversation>,
    with: &cli::NewSession,
    message: &Message,
) -> Result<(Conversation, MessageAccepted)> {
    let mut current = match conversation.take() {
        Some(current) => current,
        None => Conversation::open(&connection.client, with).await?,
    };
    current.move_to(&connection.client);
    match current.hand_in(message).await {
        Ok(sent) => Ok((current, sent)),
        Err(error) => {
            *conversation = Some(current);
            Err(error)
        }
    }
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
