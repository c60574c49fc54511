use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::CommandFactory as _;
use warren_config::Environment;

use super::{Invocation, quoted};
use crate::cli::{Cli, Global};

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
    let hint = "`warren agents install codex` installs it; `warren.toml` and warren stay, as does `warrens`";
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

/// Sources of this program without their tests and comments, by path.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let is_code = |line: &&str| !line.trim_start().starts_with("//");
                found.push((path, code.lines().filter(is_code).collect::<Vec<_>>().join("\n")));
            }
        }
    }
    found
}

/// The statements of a source: its text cut after each `;`, `{` and `}` outside of strings.
fn statements(code: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = code.chars().peekable();
    let mut is_string = false;
    while let Some(c) = chars.next() {
        let last = all.len() - 1;
        all[last].push(c);
        match c {
            '\\' if is_string => all[last].extend(chars.next()),
            // A quote as a character is no string.
            '"' if is_string || !all[last].ends_with("'\"") => is_string = !is_string,
            ';' | '{' | '}' if !is_string => all.push(String::new()),
            _ => {}
        }
    }
    all
}

#[test]
fn every_hint_of_every_command_goes_through_adapt() {
    let cli = Cli::command();
    // `man` is also a program of the system.
    let verbs: Vec<&str> =
        cli.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "man").collect();
    let mut n_hints = 0;
    for (path, code) in sources() {
        for statement in statements(&code) {
            let shown = format!("{}: {}", path.display(), statement.trim());
            let is_adapted = ["Advised::new(", "adapt(", "hint", "advice"];
            if statement.contains("`warren ") {
                n_hints += 1;
                let is_help = statement.contains("#[arg") || statement.contains("const ");
                let is_safe = is_help || is_adapted.iter().any(|word| statement.contains(word));
                assert!(
                    is_safe,
                    "pass the hint through `Invocation::adapt`, or make it the hint of an error: {shown}"
                );
            }
            if statement.contains("hint: {") {
                assert!(statement.contains("adapt("), "a hint is printed as it is: {shown}");
            }
            for span in statement.split('`').skip(1).step_by(2) {
                let mut words = span.split(' ');
                let is_bare =
                    words.next().is_some_and(|word| verbs.contains(&word)) && words.next().is_some();
                assert!(!is_bare, "`{span}` does not begin with `warren`: {shown}");
            }
        }
    }
    assert!(n_hints > 15, "the hints were not found: {n_hints}");
}
