//! `warren chat`: a conversation with an agent, message by message.

mod commands;

use anyhow::Result;

use crate::{
    answers::{Person, can_edit, lines},
    cli,
    client::Client,
    connect::Connection,
    conversation::{Conversation, Form, Seat},
    editor::{Completion, Editor, Typed},
    report::{Outcome, report},
    setting::Setting,
    signals::Signals,
    terminal::Terminal,
};
use commands::{COMMANDS, Command};

/// The file in the data directory that has what was typed.
const HISTORY: &str = "chat-history";

/// Runs the command. A run that fails does not end the conversation; the end of the input does.
pub(crate) async fn run(setting: &Setting, args: cli::Chat, terminal: &mut Terminal) -> Result<Outcome> {
    let mut signals = Signals::catch()?;
    let connection = Connection::open(setting).await?;
    if let Some(notice) = connection.notice() {
        eprintln!("{notice}");
    }
    let talked = talk(setting, &connection, &args, terminal, &mut signals).await;
    connection.close(&mut signals).await;
    talked
}

async fn talk(
    setting: &Setting,
    connection: &Connection,
    args: &cli::Chat,
    terminal: &mut Terminal,
    signals: &mut Signals,
) -> Result<Outcome> {
    let client = &connection.client;
    let conversation = Conversation::open(client, &args.with, Form::Text, setting).await?;
    let mut talk = Talk { setting, client, conversation, terminal, signals };
    if !can_edit(&setting.environment) {
        return talk.in_a_pipe().await;
    }
    setting.home.make()?;
    let completion = Completion::new(client, talk.conversation.session(), COMMANDS);
    let editor = Editor::with_history(&setting.home.directory().join(HISTORY), completion)?;
    talk.at_a_terminal(editor).await
}

/// One conversation.
struct Talk<'a> {
    setting: &'a Setting,
    client: &'a Client,
    conversation: Conversation,
    terminal: &'a mut Terminal,
    signals: &'a mut Signals,
}

impl Talk<'_> {
    /// Every line is a message. The outcome is that of the last run.
    async fn in_a_pipe(&mut self) -> Result<Outcome> {
        let mut person = Person::reading(lines());
        let mut outcome = Outcome::Done;
        loop {
            let line = tokio::select! {
                line = person.line() => line,
                () = self.signals.next() => None,
            };
            let Some(line) = line else { return Ok(outcome) };
            if line.trim().is_empty() {
                continue;
            }
            outcome = self.send(&line, &mut person).await;
            if matches!(outcome, Outcome::Unreachable | Outcome::Left) {
                return Ok(outcome);
            }
        }
    }

    /// The user sees how each run ends, so the command succeeds.
    async fn at_a_terminal(&mut self, editor: Editor) -> Result<Outcome> {
        eprintln!(
            "Session {}. /help lists commands, Ctrl-C clears the line or stops a run, Ctrl-D quits.",
            self.conversation.session()
        );
        let mut person = Person::with_editor(editor);
        loop {
            eprintln!();
            let Some(text) = self.next_message(&mut person).await else { return Ok(Outcome::Done) };
            match Command::parse(&text) {
                Some(Command::Quit) => return Ok(Outcome::Done),
                Some(command) => {
                    if let Err(error) = self.command(command).await {
                        report(&error, &self.setting.invocation);
                    }
                }
                None => {
                    let outcome = self.send(&text, &mut person).await;
                    if matches!(outcome, Outcome::Unreachable | Outcome::Left) {
                        return Ok(outcome);
                    }
                }
            }
        }
    }

    /// The next message that is not empty; `None` at the end.
    async fn next_message(&mut self, person: &mut Person) -> Option<String> {
        let editor = person.editor()?;
        loop {
            editor.read_message();
            let typed = tokio::select! {
                typed = editor.typed() => typed,
                () = self.signals.next() => {
                    editor.settle().await;
                    return None;
                }
            };
            match typed {
                Typed::Line(text) if !text.trim().is_empty() => return Some(text.replace("\\\n", "\n")),
                Typed::Line(_) | Typed::Cleared | Typed::Cancelled => {}
                Typed::End => return None,
            }
        }
    }

    async fn send(&mut self, text: &str, person: &mut Person) -> Outcome {
        let seat = Seat { terminal: self.terminal, signals: self.signals, person: Some(person) };
        match self.conversation.send(text, Form::Text, seat).await {
            Ok(outcome) => outcome,
            Err(error) => {
                self.terminal.status(None);
                report(&error, &self.setting.invocation)
            }
        }
    }
}
