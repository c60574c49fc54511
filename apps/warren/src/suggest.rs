//! "Did you mean": the names nearest to a word.

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The names that differ from `word` by a slip or two of the fingers, nearest first.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let limit = if word.chars().count() <= 4 { 1 } else { 2 };
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&word, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

/// Adds a suggestion to a usage error about an unknown command, where clap has none.
pub(crate) fn complete(mut error: Error, root: &Command) -> Error {
    let has_one = error.get(ContextKind::SuggestedSubcommand).is_some();
    if error.kind() != ErrorKind::InvalidSubcommand || has_one {
        return error;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned() else {
        return error;
    };
    let parent = parent(&error, root);
    let visible = parent.get_subcommands().filter(|command| !command.is_hide_set());
    let names =
        visible.flat_map(|command| std::iter::once(command.get_name()).chain(command.get_visible_aliases()));
    let found: Vec<String> = nearest(&word, names).into_iter().map(str::to_owned).collect();
    if !found.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(found));
    }
    error
}

/// The command whose subcommand was misspelt, by the usage line of the error: `Usage: warren sessions …`.
fn parent<'a>(error: &Error, root: &'a Command) -> &'a Command {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let words = usage.split_whitespace().skip_while(|word| *word != root.get_name()).skip(1);
    let mut command = root;
    for word in words {
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => break,
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{complete, nearest};
    use crate::cli::Cli;

    fn said(line: &str) -> String {
        let error = Cli::try_parse_from(line.split(' ')).expect_err("a usage error");
        complete(error, &Cli::command()).to_string()
    }

    #[test]
    fn misspelt_command_gets_a_suggestion() {
        for (line, meant) in [
            ("warren rnu", "'run'"),
            ("warren sesions", "'sessions'"),
            ("warren sessions lsit", "'list'"),
            ("warren tokens crate", "'create'"),
        ] {
            let said = said(line);
            assert!(said.contains(meant), "{line}: {said}");
        }
        assert!(!said("warren xyzzy").contains("similar"), "{}", said("warren xyzzy"));
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(nearest("codx", ["codex", "claude-code"]), ["codex"]);
        assert_eq!(nearest("claudecode", ["codex", "claude-code"]), ["claude-code"]);
        assert_eq!(nearest("x", ["a", "b"]), Vec::<&str>::new());
    }
}
