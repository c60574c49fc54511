//! Commands that the user can copy: the program as it was called, with the flags that reach the same server.

use std::{env, path::Path};

use warren_config::Environment;

use crate::cli::Global;

/// The name that commands in hints begin with.
const NAME: &str = "warren";

/// The first words of every command that is shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    prefix: String,
}

impl Default for Invocation {
    fn default() -> Self {
        Self { prefix: NAME.to_owned() }
    }
}

impl Invocation {
    /// The way this process was called. A directory, configuration or server other than the default is named, also if it came from
    /// a variable or the current directory: the command may be typed in another terminal.
    pub(crate) fn of_process(global: &Global, environment: &Environment, directory: &Path) -> Self {
        let program = env::args().next().unwrap_or_else(|| NAME.to_owned());
        Self::new(&program, global, environment, directory)
    }

    fn new(program: &str, global: &Global, environment: &Environment, directory: &Path) -> Self {
        let mut prefix = quoted(program);
        let mut add = |flag: &str, value: &str| prefix.push_str(&format!(" {flag} {}", quoted(value)));
        let is_default =
            environment.get("HOME").is_some_and(|home| Path::new(home).join(".warren") == directory);
        if !is_default {
            add("--dir", &directory.display().to_string());
        }
        let config = global.config.as_deref().map(|path| path.display().to_string());
        if let Some(config) = config.as_deref().or(environment.get("WARREN_CONFIG")) {
            add("--config", config);
        }
        if let Some(server) = global.server.as_deref().or(environment.get("WARREN_SERVER")) {
            add("--server", server);
        }
        Self { prefix }
    }

    /// A whole command; every argument is one word for the shell.
    pub(crate) fn command(&self, arguments: &[&str]) -> String {
        let words = arguments.iter().map(|argument| quoted(argument));
        [self.prefix.clone()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }

    /// A text with its commands as they must be typed: those in backticks that begin with `warren `.
    pub(crate) fn adapt(&self, text: &str) -> String {
        let is_command = |span: &str| span.strip_prefix(NAME).is_some_and(|rest| rest.starts_with(' '));
        let spans = text.split('`').enumerate().map(|(n, span)| match span.strip_prefix(NAME) {
            // Every second span is in backticks.
            Some(rest) if n % 2 == 1 && is_command(span) => format!("{}{rest}", self.prefix),
            _ => span.to_owned(),
        });
        spans.collect::<Vec<_>>().join("`")
    }
}

/// A text as one word of a shell command.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@,=%".contains(&byte);
    let is_word = !word.is_empty() && word.bytes().all(is_plain);
    if is_word { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
