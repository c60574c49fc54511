//! Tests of what rules cover, and above all of what they do not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ApprovalRule, RuleError, RuleScope, circumstances, plain_words};

fn bash(command: &str) -> Value {
    json!({"toolName": "bash", "input": {"command": command, "description": "Look around"}})
}

fn write(path: &str) -> Value {
    json!({"toolName": "write", "input": {"path": path, "content": "x"}})
}

fn rule(tool: &str, scope: RuleScope, pattern: &str) -> ApprovalRule {
    ApprovalRule { tool: tool.to_owned(), scope, pattern: pattern.to_owned() }
}

fn git() -> ApprovalRule {
    rule("bash", RuleScope::Prefix, "git *")
}

#[test]
fn prefix_covers_single_plain_commands_only() {
    for command in
        ["git", "git status", "git  log -n 3", "git commit -m 'a; b | c'", "git add \"a b\"", "'git' log"]
    {
        assert!(git().covers(&bash(command)), "{command}");
    }
    for command in [
        "git status; rm -rf /",
        "git $(x)",
        "git `x`",
        "git status\nrm -rf /",
        "git status\rrm",
        "git log | sh",
        "git log > ~/.bashrc",
        "git log < /etc/passwd",
        "git status && rm -rf /",
        "git status & rm -rf /",
        "git \"$(x)\"",
        "git \"`x`\"",
        "git 'open",
        "git \\\nrm",
        "git {a,b}",
        "git *",
        "git #",
        "(git status)",
        "! git status",
        "gitx status",
        "./git status",
        "x=y git status",
        "PATH=. git",
        "",
        " ",
        "git\u{a0}status",
        "git 'a\nb'",
    ] {
        assert!(!git().covers(&bash(command)), "{command:?}");
    }
    assert!(!git().covers(&json!({"toolName": "Bash", "input": {"command": "git status"}})), "another tool");
    assert!(!git().covers(&json!({"toolName": "bash", "input": {"command": ["git", "status"]}})));
    let push = rule("bash", RuleScope::Prefix, "git push");
    assert!(push.covers(&bash("git push origin")) && !push.covers(&bash("git pushy")));
}

#[test]
fn command_with_shell_syntax_is_covered_by_the_very_same_command() {
    let command = "git status; rm -rf *";
    let exact = ApprovalRule::exact(&bash(command)).expect("it says what it does");
    assert!(exact.covers(&bash(command)));
    assert!(!exact.covers(&bash("git status; rm -rf /")));
    assert_eq!(
        ApprovalRule::choices(&bash(command)),
        [rule("bash", RuleScope::Exact, command), rule("bash", RuleScope::Tool, "*")]
    );
}

#[test]
fn exact_rule_takes_a_star_for_a_star() {
    let exact = ApprovalRule::exact(&bash("rm *")).expect("it says what it does");
    assert!(exact.covers(&bash("rm *")));
    assert!(!exact.covers(&bash("rm precious")));
}

#[test]
fn directory_covers_plain_paths_below_it() {
    let inside = rule("write", RuleScope::Directory, "/workspace/src");
    for path in ["/workspace/src/a", "/workspace/src/b/c.rs"] {
        assert!(inside.covers(&write(path)), "{path}");
    }
    for path in [
        "/workspace/src",
        "/workspace/srcs/a",
        "/workspace/src/../../etc/passwd",
        "/workspace/src/./a",
        "/workspace/src//a",
        "workspace/src/a",
        "/workspace/src/a\nb",
    ] {
        assert!(!inside.covers(&write(path)), "{path}");
    }
    for directory in ["", "/", "/workspace/..", "/workspace/src/.."] {
        assert!(
            !rule("write", RuleScope::Directory, directory).covers(&write("/workspace/src/a")),
            "{directory}"
        );
    }
}

#[test]
fn choices_are_narrowest_first_and_each_can_be_granted() {
    assert_eq!(
        ApprovalRule::choices(&bash("git push origin")),
        [
            rule("bash", RuleScope::Exact, "git push origin"),
            rule("bash", RuleScope::Prefix, "git"),
            rule("bash", RuleScope::Tool, "*")
        ]
    );
    assert_eq!(
        ApprovalRule::choices(&write("/outputs/a/b.md")),
        [
            rule("write", RuleScope::Exact, "/outputs/a/b.md"),
            rule("write", RuleScope::Directory, "/outputs/a"),
            rule("write", RuleScope::Tool, "*")
        ]
    );
    assert_eq!(ApprovalRule::choices(&json!({"toolName": "x", "input": null})), []);
    assert_eq!(ApprovalRule::choices(&bash("sudo ls")).len(), 2, "no prefix for a program that runs others");
}

#[test]
fn rule_that_does_not_cover_the_call_is_refused() {
    let check = |scope, pattern: &str, command: &str| rule("bash", scope, pattern).check(&bash(command));
    assert_eq!(check(RuleScope::Prefix, "git *", "git push"), Ok(()));
    assert_eq!(check(RuleScope::Prefix, "git pull", "git push"), Err(RuleError::NotCovering));
    assert_eq!(check(RuleScope::Prefix, "git;", "git push"), Err(RuleError::NotPlain));
    assert_eq!(check(RuleScope::Prefix, "*", "git push"), Err(RuleError::NotPlain));
    assert_eq!(check(RuleScope::Prefix, "", "git push"), Err(RuleError::NotPlain));
    assert_eq!(check(RuleScope::Prefix, "/usr/bin/env", "/usr/bin/env ls"), Err(RuleError::Launcher));
    assert_eq!(check(RuleScope::Tool, "", "git push"), Err(RuleError::NotCovering));
    assert_eq!(git().check(&json!({"toolName": "bash"})), Err(RuleError::Unsaid));
}

#[test]
fn circumstances_are_all_but_the_subject_and_its_explanation() {
    let with = |more: Value| {
        let mut detail = bash("ls");
        for (name, value) in more.as_object().expect("an object") {
            detail[name] = value.clone();
        }
        circumstances(&detail)
    };
    let plain = circumstances(&bash("git status"));
    assert_eq!(with(json!({"reason": "to see"})), plain);
    for other in [
        json!({"cwd": "/tmp"}),
        json!({"permissions": {"network": true}}),
        json!({"blockedPath": "/etc"}),
        json!({"permission": "external_directory", "patterns": ["/etc/*"]}),
        json!({"input": {"command": "ls", "dangerouslyDisableSandbox": true}}),
        json!({"what nobody knew when this was written": 1}),
    ] {
        assert_ne!(with(other.clone()), plain, "{other}");
    }
}

/// The program a shell would run, by another way of reading than the rule's: `None` if it may run several or none.
fn program(command: &str) -> Option<String> {
    let (mut quote, mut name, mut is_over) = (None, String::new(), false);
    for c in command.trim_start_matches([' ', '\t']).chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), _) => {}
            (_, '$' | '`' | '\\') => return None,
            (None, '\'' | '"') => {
                quote = Some(c);
                continue;
            }
            (
                None,
                ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '\n' | '#' | '!' | '~' | '*' | '?'
                | '[',
            ) => {
                return None;
            }
            (None, ' ' | '\t') => is_over = true,
            _ => {}
        }
        if !is_over && c != '\'' && c != '"' {
            name.push(c);
        }
    }
    (quote.is_none() && !name.contains('=')).then_some(name)
}

/// Commands of words, quotes and everything shells treat specially, most of them beginning as the rule's do.
fn commands() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["git", "status", "-n", "3", "a.txt", " ", " ", "'", "\"", "rm", "-rf", "/"]),
        3 => prop::sample::select(vec![
            ";", "&", "&&", "|", "||", "$", "$(", ")", "`", "\n", "\r", "\\", ">", "<", ">>", "#", "!", "{", "}",
            "*", "?", "[", "~", "=", "\t", "\u{0}", "\u{2028}", "\u{202e}", "$'", "<<<", "${x}",
        ]),
    ];
    let begin = prop::sample::select(vec!["git ", "git", "", " git ", "'git' ", "x=1 git "]);
    (begin, prop::collection::vec(piece, 0..8)).prop_map(|(begin, rest)| begin.to_owned() + &rest.concat())
}

proptest! {
    #[test]
    fn prefix_never_covers_a_command_that_runs_another_program(command in commands()) {
        if git().covers(&bash(&command)) {
            prop_assert_eq!(program(&command), Some("git".to_owned()), "{:?}", command);
        }
    }

    #[test]
    fn any_text_that_is_covered_has_the_prefix_as_its_first_words(text in "\\PC{0,40}", program in "[a-z]{1,8}") {
        let rule = rule("bash", RuleScope::Prefix, &program);
        for command in [text.clone(), format!("{program} {text}"), format!("{program}{text}")] {
            if rule.covers(&bash(&command)) {
                let words = plain_words(&command).expect("only plain commands are covered");
                prop_assert_eq!(&words[0], &program);
                prop_assert!(!command.contains(['$', '`', '\n']) || command.contains('\''), "{:?}", command);
            }
        }
    }

    #[test]
    fn directory_never_covers_a_path_that_leads_out(steps in prop::collection::vec(prop::sample::select(vec!["a", "..", ".", "", "b c", "etc"]), 0..6)) {
        let path = format!("/workspace/{}", steps.join("/"));
        if rule("write", RuleScope::Directory, "/workspace").covers(&write(&path)) {
            let mut depth = 0;
            for step in &steps {
                depth += if *step == ".." { -1 } else { 1 };
                prop_assert!(depth > 0, "{}", path);
            }
        }
    }

    #[test]
    fn exact_rule_covers_its_own_command_only(one in "\\PC{0,20}", other in "\\PC{0,20}") {
        let rule = ApprovalRule::exact(&bash(&one)).expect("it says what it does");
        prop_assert!(rule.covers(&bash(&one)));
        prop_assert_eq!(rule.covers(&bash(&other)), one == other);
    }
}
