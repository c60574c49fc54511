//! `warren run`: one message, from the sandbox's start to the files it leaves.

use std::io::Read as _;

use anyhow::{Context as _, Result, bail};
use tokio::time::{Instant, sleep};

use crate::{
    answers::Person,
    attach::Attached,
    cli,
    connect::{Connection, PATIENCE, PAUSE},
    conversation::{Conversation, Form, Message, Seat, Sent},
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    terminal::Terminal,
};

/// Artifacts whose links are printed.
const N_LINKS: usize = 3;

/// A message that a server has accepted.
struct Begun {
    connection: Connection,
    conversation: Conversation,
    sent: Sent,
}

/// Runs the command.
pub(crate) async fn run(setting: &Setting, args: cli::Run, terminal: &mut Terminal) -> Result<Outcome> {
    let attached = Attached::read(&args.attached)?;
    let message = Message::new(&prompt(args.prompt)?).with(attached, args.steer);
    let mut signals = Signals::catch()?;
    let form = if args.json { Form::Json } else { Form::Text };
    let Begun { connection, mut conversation, sent } = begin(setting, &args.with, &message, form).await?;
    // Readers of JSON events answer by other means.
    let mut person = if form == Form::Text { Person::at_terminal(&setting.environment) } else { None };
    let seat = Seat { terminal, signals: &mut signals, person: person.as_mut() };
    let shown = conversation.show(&sent, form, seat).await;
    if form == Form::Text && shown.is_ok() {
        terminal.status(None);
        eprintln!("{}", links(setting, &connection, &conversation, &args.with));
    }
    match &shown {
        Ok(Outcome::Left) | Err(_) => connection.abandon().await,
        Ok(_) => connection.close(&mut signals).await,
    }
    shown
}

/// Where the result is, and how to continue.
fn links(
    setting: &Setting,
    connection: &Connection,
    conversation: &Conversation,
    with: &cli::NewSession,
) -> String {
    let (invocation, session) = (&setting.invocation, conversation.session().to_string());
    let mut lines = Vec::new();
    for (id, name) in conversation.artifacts().iter().take(N_LINKS) {
        let (id, name) = (id.to_string(), clean(name));
        lines.push(if connection.stays() {
            let url = connection.client.url();
            format!("Artifact:       {name}  {url}/sessions/{session}?tab=artifacts&artifact={id}")
        } else {
            format!("Artifact:       {name}  {}", invocation.command(&["artifacts", "get", &session, &id]))
        });
    }
    if let Some(directory) = with.workspace.as_deref().and_then(std::path::Path::to_str) {
        lines.push(format!("Bring it back:  {}", invocation.command(&["pull", &session, directory])));
    }
    if connection.stays() {
        lines.push(format!("Open the page:  {}", invocation.command(&["open", &session])));
    }
    lines.push(format!("Continue with:  {}", invocation.command(&["chat", "--session", &session])));
    lines.join("\n")
}

/// Sends the message. A server that another command brought may end after it was found and before it took the message: then
/// the next one gets it, with the same session and the same key, so that it runs once.
async fn begin(setting: &Setting, with: &cli::NewSession, message: &Message, form: Form) -> Result<Begun> {
    let deadline = Instant::now() + PATIENCE;
    let mut conversation = None;
    loop {
        let connection = Connection::open(setting).await?;
        if let Some(notice) = connection.notice().filter(|_| form == Form::Text) {
            eprintln!("{notice}");
        }
        match hand_in(setting, &connection, &mut conversation, with, (message, form)).await {
            Ok((conversation, sent)) => return Ok(Begun { connection, conversation, sent }),
            Err(error) if connection.may_have_left(&error) && Instant::now() < deadline => {
                tracing::debug!(%error, "the server that was found has left; looking for another");
                sleep(PAUSE).await;
            }
            Err(error) => {
                if let Some(conversation) = conversation {
                    conversation.abandon().await;
                }
                connection.abandon().await;
                return Err(error);
            }
        }
    }
}

/// Continues `conversation`, or creates it; it stays there if the message was not accepted.
async fn hand_in(
    setting: &Setting,
    connection: &Connection,
    conversation: &mut Option<Conversation>,
    with: &cli::NewSession,
    (message, form): (&Message, Form),
) -> Result<(Conversation, Sent)> {
    let mut current = match conversation.take() {
        Some(current) => current,
        None => Conversation::open(&connection.client, with, form, setting).await?,
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
            "write the task for the agent: `warren run \"Build me a dashboard\"`"
        ));
    }
    Ok(prompt)
}
