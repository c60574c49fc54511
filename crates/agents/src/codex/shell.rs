//! Commands as a person would type them.
//!
//! Codex runs `ls` as `/bin/bash -lc ls`, and tells so in one place as words, in another as one line.

use std::str::Chars;

/// The command in a line that a shell was given.
pub(super) fn of_line(line: &str) -> String {
    match split(line) {
        Some(words) => of_words(&words),
        None => line.to_owned(),
    }
}

/// The command in the words that were executed.
pub(super) fn of_words(words: &[String]) -> String {
    match words {
        [shell, flag, script]
            if is_shell(shell) && matches!(flag.as_str(), "-c" | "-lc" | "-ic" | "-lic") =>
        {
            script.clone()
        }
        _ => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh" | "fish")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a line, by the shell's rules of quoting. `None` if a quote is left open.
fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(rest.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn single_quoted(rest: &mut Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '\'' => return Some(()),
            c => word.push(c),
        }
    }
}

fn double_quoted(rest: &mut Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '\\' => match rest.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{of_line, of_words};

    #[test]
    fn a_wrapped_command_is_unwrapped_from_words_and_from_a_line_alike() {
        let words = |script: &str| ["/bin/bash", "-lc", script].map(str::to_owned);
        for (line, script) in [
            ("/bin/bash -lc 'cat hello.txt'", "cat hello.txt"),
            ("bash -lc ls", "ls"),
            (r#"/bin/zsh -lc "echo \"it's\" \$x""#, r#"echo "it's" $x"#),
            (r"/bin/bash -lc 'echo '\''a'\'", "echo 'a'"),
            ("/bin/bash -lc ''", ""),
        ] {
            assert_eq!(of_line(line), script, "{line}");
            assert_eq!(of_words(&words(script)), script);
        }
    }

    #[test]
    fn other_commands_stay_what_they_are() {
        assert_eq!(of_line("git commit -m 'two words'"), "git commit -m 'two words'");
        assert_eq!(of_line("left 'open"), "left 'open");
        assert_eq!(of_words(&["echo".to_owned(), "a b".to_owned()]), "echo 'a b'");
    }
}
