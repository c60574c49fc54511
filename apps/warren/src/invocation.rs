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
mod tests {
    use std::path::Path;

    use warren_config::Environment;

    use super::{Invocation, quoted};
    use crate::cli::Global;

    fn called<const N: usize>(
        program: &str,
        global: &Global,
        variables: [(&str, &str); N],
        directory: &str,
    ) -> Invocation {
        Invocation::new(program, global, &Environment::from(variables), Path::new(directory))
    }

    #[test]
    fn command_names_directory_config_and_server_only_if_they_are_not_the_default() {
        let none = Global::default();
        let check = |invocation: Invocation, expect: &str| {
            assert_eq!(invocation.command(&["run", "go on"]), format!("{expect} run 'go on'"));
        };
        let home = ("HOME", "/home/ada");
        check(called("warren", &none, [home], "/home/ada/.warren"), "warren");
        check(called("./target/warren", &none, [home], "/srv/data"), "./target/warren --dir /srv/data");
        check(called("warren", &none, [home], "/tmp/Ada's data"), r"warren --dir '/tmp/Ada'\''s data'");
        let variables = [home, ("WARREN_SERVER", "http://a:1"), ("WARREN_CONFIG", "/etc/w.toml")];
        check(
            called("warren", &none, variables, "/home/ada/.warren"),
            "warren --config /etc/w.toml --server http://a:1",
        );
        let server = Global { server: Some("http://b:2".to_owned()), ..Global::default() };
        let variables = [home, ("WARREN_SERVER", "http://a:1")];
        check(called("warren", &server, variables, "/home/ada/.warren"), "warren --server http://b:2");
    }

    #[test]
    fn commands_in_backticks_are_rewritten_and_other_text_is_not() {
        let invocation = called("warren", &Global::default(), [], "/d");
        let hint =
            "`warren agents install codex` installs it; `warren.toml` and warren stay, as does `warrens`";
        let expect = "`warren --dir /d agents install codex` installs it; `warren.toml` and warren stay, as does `warrens`";
        assert_eq!(invocation.adapt(hint), expect);
        assert_eq!(invocation.adapt("run `warren up`"), "run `warren --dir /d up`");
        assert_eq!(Invocation::default().adapt(hint), hint);
    }

    #[test]
    fn words_that_a_shell_would_split_or_expand_are_quoted() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        for word in ["", "a b", "$HOME", "a;b", "é", "*"] {
            assert_eq!(quoted(word), format!("'{word}'"));
        }
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
