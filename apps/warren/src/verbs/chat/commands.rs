//! Slash commands of `warren chat`. Others go to the agent, which may have its own.

use anyhow::Result;
use warren_domain::ReasoningEffort;

use super::Talk;
use crate::{
    cli,
    verbs::{files, versions},
};

/// Names and descriptions, for help and completion.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("/help", "Show this list"),
    ("/stop", "Stop the active run of the session"),
    ("/files", "List files: /files [PATH]"),
    ("/versions", "List versions"),
    ("/model", "Show or change the model: /model [NAME], /model default"),
    ("/effort", "Show or change how much the model thinks: /effort [low|medium|high|default]"),
    ("/quit", "Leave; the session is kept"),
];

const KEYS: &str = "\
Enter sends, Alt-Enter starts a new line, Up recalls messages, Tab completes commands and files.
Ctrl-C clears the line, or stops the run; Ctrl-D on an empty line quits.
Other slash commands go to the agent.";

/// A slash command of `warren chat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Stop,
    Files(String),
    Versions,
    Model(Option<String>),
    Effort(Option<String>),
    Quit,
}

impl Command {
    /// The command that a line is. `None`: the line is a message.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        // A text of several lines is a message, whatever it begins with.
        if !line.starts_with('/') || line.contains('\n') {
            return None;
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (name, rest.is_empty()) {
            ("/help" | "/?", true) => Some(Self::Help),
            ("/stop", true) => Some(Self::Stop),
            ("/files", _) => Some(Self::Files(rest.to_owned())),
            ("/versions", true) => Some(Self::Versions),
            ("/model", _) => Some(Self::Model((!rest.is_empty()).then(|| rest.to_owned()))),
            ("/effort", _) => Some(Self::Effort((!rest.is_empty()).then(|| rest.to_owned()))),
            ("/quit" | "/exit", true) => Some(Self::Quit),
            _ => None,
        }
    }
}

impl Talk<'_> {
    /// Runs a slash command.
    pub(super) async fn command(&mut self, command: Command) -> Result<()> {
        let session = self.conversation.session();
        match command {
            Command::Help => Ok(self.terminal.write(&help())?),
            Command::Stop => {
                let stopped = self.client.interrupt(session).await?.run_id.is_some();
                Ok(self.terminal.line(if stopped { "Stopped the active run" } else { "No run is active" })?)
            }
            Command::Files(path) => {
                let list = cli::Files::List { session: session.to_string(), path, json: false };
                files::act(self.client, list, self.terminal).await
            }
            Command::Versions => {
                let list = cli::Versions { session: session.to_string(), limit: 20, json: false };
                versions::show_list(self.client, &list, self.terminal).await
            }
            Command::Model(name) => self.model(name),
            Command::Effort(level) => self.effort(level.as_deref()),
            Command::Quit => Ok(()),
        }
    }

    fn model(&mut self, name: Option<String>) -> Result<()> {
        if let Some(name) = name {
            self.conversation.use_model((name != "default").then_some(name));
        }
        let text = match self.conversation.model() {
            Some(model) => format!("Model: {model}"),
            None => "Model: the default of the session".to_owned(),
        };
        Ok(self.terminal.line(&text)?)
    }

    fn effort(&mut self, level: Option<&str>) -> Result<()> {
        match (level, level.and_then(ReasoningEffort::parse)) {
            (None, _) => {}
            (Some("default"), _) => self.conversation.use_effort(None),
            (Some(_), Some(effort)) => self.conversation.use_effort(Some(effort)),
            (Some(other), None) => {
                let text = format!("`{other}` is no effort: write low, medium, high or default");
                return Ok(self.terminal.line(&text)?);
            }
        }
        let text = match self.conversation.effort() {
            Some(effort) => format!("Effort: {}", effort.as_str()),
            None => "Effort: the default of the session".to_owned(),
        };
        Ok(self.terminal.line(&text)?)
    }
}

fn help() -> String {
    let rows = COMMANDS.iter().map(|(name, description)| format!("  {name:<10} {description}\n"));
    format!("{}\n{KEYS}\n", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, Command, help};

    #[test]
    fn lines_that_begin_with_a_known_command_are_commands_and_others_are_messages() {
        assert_eq!(Command::parse(" /help "), Some(Command::Help));
        assert_eq!(Command::parse("/files src/app"), Some(Command::Files("src/app".to_owned())));
        assert_eq!(Command::parse("/model"), Some(Command::Model(None)));
        assert_eq!(Command::parse("/effort high"), Some(Command::Effort(Some("high".to_owned()))));
        assert_eq!(Command::parse("/model x-1"), Some(Command::Model(Some("x-1".to_owned()))));
        for message in
            ["/compact", "/helpme", "/stop it at noon", "see /help", "/quit\nor not", "/usr/bin/env"]
        {
            assert_eq!(Command::parse(message), None, "{message}");
        }
    }

    #[test]
    fn every_command_in_the_list_works_and_is_in_the_help() {
        for (name, _) in COMMANDS {
            assert!(Command::parse(name).is_some() && help().contains(name), "{name}");
        }
    }
}
