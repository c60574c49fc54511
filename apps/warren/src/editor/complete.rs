//! Completes slash commands and paths of the session's files.

use std::time::Duration;

use reedline::{Completer, CompletionResult, Span, Suggestion};
use tokio::runtime::Handle;
use warren_domain::SessionId;
use warren_wire::{FileItem, FileListing};

use crate::{client::Client, verbs::files::query};

/// A slower answer is of no use to somebody who types.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Suggestions for a line.
pub(crate) struct Completion {
    client: Client,
    session: SessionId,
    runtime: Handle,
    commands: &'static [(&'static str, &'static str)],
}

impl Completion {
    /// `commands` are names with a slash, and their descriptions.
    pub(crate) fn new(
        client: &Client,
        session: SessionId,
        commands: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { client: client.clone(), session, runtime: Handle::current(), commands }
    }

    fn files(&self, directory: &str) -> Vec<FileItem> {
        let path = format!("/api/sessions/{}/fs?path={}", self.session, query(directory));
        let listing = tokio::time::timeout(TIMEOUT, self.client.get::<FileListing>(&path));
        // No suggestion is what a failure looks like here.
        self.runtime
            .block_on(listing)
            .ok()
            .and_then(Result::ok)
            .map(|listing| listing.entries)
            .unwrap_or_default()
    }
}

impl Completer for Completion {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        if is_command(before) {
            return CompletionResult::fresh(commands(before, self.commands));
        }
        let Some(word) = Word::at_end_of(before) else { return CompletionResult::fresh(Vec::new()) };
        CompletionResult::fresh(word.suggestions(&self.files(word.directory)))
    }
}

fn is_command(before: &str) -> bool {
    before.starts_with('/') && !before.contains(char::is_whitespace)
}

fn commands(before: &str, all: &[(&str, &str)]) -> Vec<Suggestion> {
    let chosen = all.iter().filter(|(name, _)| name.starts_with(before));
    let suggestion = |(name, description): &(&str, &str)| Suggestion {
        value: (*name).to_owned(),
        description: Some((*description).to_owned()),
        span: Span::new(0, before.len()),
        append_whitespace: true,
        ..Suggestion::default()
    };
    chosen.map(suggestion).collect()
}

/// A path that is being typed: `src/ma`, perhaps after `@`.
#[derive(Debug, PartialEq, Eq)]
struct Word<'a> {
    /// Where the path begins in the line.
    start: usize,
    end: usize,
    directory: &'a str,
    name: &'a str,
}

impl<'a> Word<'a> {
    fn at_end_of(before: &'a str) -> Option<Self> {
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = &before[start..];
        let path = word.strip_prefix('@').unwrap_or(word);
        if word.is_empty() {
            return None;
        }
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        Some(Self { start: before.len() - path.len(), end: before.len(), directory, name })
    }

    fn suggestions(&self, entries: &[FileItem]) -> Vec<Suggestion> {
        let chosen = entries.iter().filter(|entry| entry.name.starts_with(self.name));
        // A name with control characters cannot be shown on a line.
        let chosen = chosen.filter(|entry| !entry.name.chars().any(char::is_control));
        let suggestion = |entry: &FileItem| {
            let is_directory = entry.kind == "directory";
            let place =
                if self.directory.is_empty() { String::new() } else { format!("{}/", self.directory) };
            let end = if is_directory { "/" } else { "" };
            Suggestion {
                value: format!("{place}{}{end}", entry.name),
                span: Span::new(self.start, self.end),
                append_whitespace: !is_directory,
                ..Suggestion::default()
            }
        };
        chosen.map(suggestion).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_wire::FileItem;

    use super::{Word, commands, is_command};

    fn entry(name: &str, kind: &str) -> FileItem {
        let time = "2026-01-01T00:00:00.000Z";
        let item = json!({"name": name, "path": name, "kind": kind, "sizeBytes": 1, "mode": 420, "modifiedAt": time, "etag": ""});
        serde_json::from_value(item).expect("an entry")
    }

    #[test]
    fn slash_commands_complete_only_at_the_start_of_a_line() {
        let all = [("/help", "Show help"), ("/files", "List files")];
        let values = |before| commands(before, &all).into_iter().map(|it| it.value).collect::<Vec<_>>();
        assert_eq!(values("/"), ["/help", "/files"]);
        assert_eq!(values("/f"), ["/files"]);
        assert!(is_command("/fi") && !is_command("/files src") && !is_command("a /f") && !is_command(""));
    }

    #[test]
    fn last_word_completes_to_paths_of_the_session() {
        let entries = [
            entry("main.rs", "file"),
            entry("map", "directory"),
            entry("lib.rs", "file"),
            entry("m\n", "file"),
        ];
        let values = |before: &str| {
            let word = Word::at_end_of(before).expect("a word");
            word.suggestions(&entries).into_iter().map(|it| (it.value, it.span.start)).collect::<Vec<_>>()
        };
        assert_eq!(values("look at @src/ma"), [("src/main.rs".to_owned(), 9), ("src/map/".to_owned(), 9)]);
        assert_eq!(values("l"), [("lib.rs".to_owned(), 0)]);
        assert_eq!(values("grüße @").len(), 3);
        assert_eq!(Word::at_end_of("look at "), None);
    }
}
