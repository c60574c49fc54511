//! Rules: what a person allows beyond one call.
//!
//! A rule names one tool and what it may be used for. Whatever a rule does not plainly cover is asked again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EXPLANATIONS;

/// A rule: what is allowed for the rest of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRule {
    /// The tool, by the agent's name for it.
    pub tool: String,
    /// How `pattern` is compared with a call.
    pub scope: RuleScope,
    /// `exact`: the command, the path, or the input as JSON. `prefix`: the first words of a command. `directory`: a
    /// directory. `tool`: `*`.
    pub pattern: String,
}

/// How a rule's pattern is compared with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// This command, this path, or this input.
    Exact,
    /// Single commands that begin with these words. Shell syntax beyond quoted words never matches.
    Prefix,
    /// Paths inside this directory.
    Directory,
    /// Everything the tool does.
    Tool,
}

/// Why a rule cannot be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It would not have allowed the call it is an answer to.
    #[error("the rule does not cover the request")]
    NotCovering,
    /// Its words are not a plain command.
    #[error("the words of a `prefix` rule must be a plain command, without shell syntax")]
    NotPlain,
    /// The program exists to run other programs.
    #[error("a `prefix` rule for a program that runs other programs would allow any of them")]
    Launcher,
    /// The call does not say what would be done.
    #[error("the request does not say what it would do, so no rule can cover it")]
    Unsaid,
}

/// What a call is about.
enum Subject<'a> {
    Command(&'a str),
    Path(&'a str),
    Other(&'a Value),
}

/// Inputs that name the one file a call is about.
const PATHS: [&str; 4] = ["file_path", "filePath", "notebook_path", "path"];

/// Inputs beside a command that change nothing about what it does.
const HARMLESS: [&str; 2] = ["description", "timeout"];

/// Programs and shell words that run what their arguments say.
const LAUNCHERS: [&str; 46] = [
    ".", "alias", "ash", "bash", "builtin", "busybox", "chroot", "command", "coproc", "csh", "dash", "doas",
    "env", "eval", "exec", "find", "fish", "flock", "function", "ionice", "ksh", "nice", "nohup", "nsenter",
    "parallel", "script", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo", "tcsh", "time",
    "timeout", "toybox", "trap", "unshare", "watch", "xargs", "zsh", "if", "while", "for",
];

impl ApprovalRule {
    /// The narrowest rule for a call: the same command, path or input. `None`: the call does not say what it would do.
    #[must_use]
    pub fn exact(detail: &Value) -> Option<Self> {
        let (tool, subject) = parts(detail)?;
        let pattern = match subject {
            Subject::Command(text) | Subject::Path(text) => text.to_owned(),
            Subject::Other(input) => input.to_string(),
        };
        Some(Self { tool: tool.to_owned(), scope: RuleScope::Exact, pattern })
    }

    /// The rule that covers a call and nothing else, if there is one. A rule for a file would also cover other content.
    #[must_use]
    pub fn same(detail: &Value) -> Option<Self> {
        let is_file = matches!(parts(detail), Some((_, Subject::Path(_))));
        Self::exact(detail).filter(|_| !is_file)
    }

    /// Rules that can be granted in answer to a call, the narrowest first.
    #[must_use]
    pub fn choices(detail: &Value) -> Vec<Self> {
        let Some((tool, subject)) = parts(detail) else { return Vec::new() };
        let rule = |scope, pattern: &str| Self { tool: tool.to_owned(), scope, pattern: pattern.to_owned() };
        let wider = match subject {
            Subject::Command(command) => plain_words(command)
                .and_then(|words| words.into_iter().next())
                .map(|program| rule(RuleScope::Prefix, &program)),
            Subject::Path(path) => {
                path.rsplit_once('/').map(|(directory, _)| rule(RuleScope::Directory, directory))
            }
            Subject::Other(_) => None,
        };
        let all = Self::exact(detail).into_iter().chain(wider).chain([rule(RuleScope::Tool, "*")]);
        all.filter(|rule| rule.check(detail).is_ok()).collect()
    }

    /// Whether the rule may be granted in answer to this call.
    ///
    /// # Errors
    ///
    /// Says why it may not.
    pub fn check(&self, detail: &Value) -> Result<(), RuleError> {
        if parts(detail).is_none() {
            return Err(RuleError::Unsaid);
        }
        if self.scope == RuleScope::Prefix {
            self.prefix()?;
        }
        if self.covers(detail) { Ok(()) } else { Err(RuleError::NotCovering) }
    }

    /// Whether the rule allows this call, its directory and its rights aside.
    #[must_use]
    pub fn covers(&self, detail: &Value) -> bool {
        let Some((tool, subject)) = parts(detail) else { return false };
        tool == self.tool
            && match (self.scope, subject) {
                (RuleScope::Tool, _) => self.pattern == "*",
                (RuleScope::Exact, Subject::Command(text) | Subject::Path(text)) => text == self.pattern,
                (RuleScope::Exact, Subject::Other(input)) => {
                    serde_json::from_str::<Value>(&self.pattern).is_ok_and(|pattern| pattern == *input)
                }
                (RuleScope::Prefix, Subject::Command(command)) => self.begins(command),
                (RuleScope::Directory, Subject::Path(path)) => is_inside(path, &self.pattern),
                (RuleScope::Prefix | RuleScope::Directory, _) => false,
            }
    }

    fn begins(&self, command: &str) -> bool {
        let words = plain_words(command);
        words.zip(self.prefix().ok()).is_some_and(|(words, prefix)| words.starts_with(&prefix))
    }

    /// The words a command must begin with. A closing `*` says the same once more.
    fn prefix(&self) -> Result<Vec<String>, RuleError> {
        let pattern = self.pattern.trim();
        let pattern = pattern.strip_suffix(" *").unwrap_or(pattern);
        let words = plain_words(pattern).ok_or(RuleError::NotPlain)?;
        let program = words.first().filter(|program| !program.is_empty() && !program.contains('='));
        let program = program.ok_or(RuleError::NotPlain)?;
        let name = program.rsplit('/').next().unwrap_or(program);
        if LAUNCHERS.contains(&name) { Err(RuleError::Launcher) } else { Ok(words) }
    }
}

/// The tool of a call and what it is about.
fn parts(detail: &Value) -> Option<(&str, Subject<'_>)> {
    let tool = detail.get("toolName")?.as_str().filter(|tool| !tool.is_empty())?;
    let input = detail.get("input").filter(|input| !input.is_null())?;
    if let Some(command) = input.get("command").and_then(Value::as_str) {
        return Some((tool, Subject::Command(command)));
    }
    let mut paths = PATHS.iter().filter_map(|name| input.get(name));
    let path = match (input.get("command"), paths.next(), paths.next()) {
        (None, Some(Value::String(path)), None) => Some(path),
        _ => None,
    };
    Some((tool, path.map_or(Subject::Other(input), |path| Subject::Path(path))))
}

/// What goes with a call beside its tool and what it is about: where, with which rights, by which switches. A rule counts
/// only where this is as it was when the rule was granted.
#[must_use]
pub(crate) fn circumstances(detail: &Value) -> Value {
    let Some(mut rest) = detail.as_object().cloned() else { return detail.clone() };
    let tool = rest.remove("toolName").unwrap_or_default();
    let input = rest.remove("input").unwrap_or_default();
    rest.retain(|name, _| !EXPLANATIONS.contains(&name.as_str()));
    // Both say of the input what the input says.
    rest.remove("content");
    rest.remove("locations");
    let is_own = rest.get("permission").is_some_and(|permission| *permission == tool || permission == "edit");
    if is_own {
        rest.remove("patterns");
        rest.remove("metadata");
    }
    if let (Some(Subject::Command(_)), Value::Object(mut input)) = (parts(detail).map(|(_, it)| it), input) {
        input.retain(|name, _| name != "command" && !HARMLESS.contains(&name.as_str()));
        rest.insert("input".to_owned(), Value::Object(input));
    }
    Value::Object(rest)
}

/// The words of a command that is one program with arguments and nothing else. `None`: it uses any other syntax of shells.
fn plain_words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' | '!' if c == '"' => return None,
                        inner if inner.is_control() => return None,
                        inner => text.push(inner),
                    }
                }
            }
            c if c.is_ascii_alphanumeric() || "_-./:,+@%=".contains(c) => {
                word.get_or_insert_default().push(c)
            }
            _ => return None,
        }
    }
    words.extend(word);
    (!words.is_empty()).then_some(words)
}

/// Whether a path is plainly inside a directory: neither has steps that lead elsewhere.
fn is_inside(path: &str, directory: &str) -> bool {
    let directory = directory.strip_suffix('/').unwrap_or(directory);
    let is_plain = |path: &str| {
        let steps = path.strip_prefix('/').unwrap_or(path).split('/');
        let mut steps = steps.map(|step| !step.is_empty() && step != "." && step != "..");
        steps.all(|is_plain| is_plain) && !path.chars().any(char::is_control)
    };
    let below = path.strip_prefix(directory).and_then(|below| below.strip_prefix('/'));
    is_plain(directory) && is_plain(path) && below.is_some()
}

#[cfg(test)]
mod tests;
