//! Where Codex keeps a session: one rollout file a thread, in a directory by day, named by time and thread.

use serde_json::Value;

use crate::{
    Growth, TranscriptFile, TranscriptName, TranscriptPlan,
    fields::{present, text},
};

/// One file for the conversation and one for each subagent; only their first line tells which is which.
pub(super) struct Rollouts;

impl TranscriptPlan for Rollouts {
    fn root(&self) -> String {
        format!("{}/sessions", super::layout::HOME)
    }

    fn file(&self, path: &str) -> Option<TranscriptFile> {
        thread(path)?;
        Some(TranscriptFile { name: TranscriptName::Main, growth: Growth::Appended })
    }

    /// The conversation is the oldest thread: it made the others. Names begin with the time, and threads sort by it.
    fn files(&self, paths: &[&str]) -> Vec<Option<TranscriptFile>> {
        let main = paths.iter().copied().filter(|path| thread(path).is_some()).min_by_key(|path| name(path));
        let file = |path: &&str| match thread(path) {
            Some(thread) if Some(*path) != main => {
                let name = TranscriptName::Subagent(thread.to_owned());
                Some(TranscriptFile { name, growth: Growth::Appended })
            }
            _ => self.file(path),
        };
        paths.iter().map(file).collect()
    }

    fn path(&self, _name: &TranscriptName, content: &[u8]) -> Option<String> {
        let meta = meta(content)?;
        let thread = text(&meta, "id").filter(|id| is_name(id))?;
        let time = text(&meta, "timestamp").filter(|time| time.len() >= 19 && time.is_ascii())?;
        let (day, clock) = (&time[..10], &time[11..19]);
        let safe = day.chars().chain(clock.chars()).all(|c| c.is_ascii_digit() || c == '-' || c == ':');
        let directory = day.replace('-', "/");
        safe.then(|| format!("{directory}/rollout-{day}T{}-{thread}.jsonl", clock.replace(':', "-")))
    }
}

/// The thread in a file's name: what follows the time, `rollout-2026-11-15T19-37-22-<thread>.jsonl`.
fn thread(path: &str) -> Option<&str> {
    let name = name(path).strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    name.get(20..).filter(|thread| is_name(thread))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The head of a file.
pub(super) fn meta(content: &[u8]) -> Option<Value> {
    let first = content.split(|byte| *byte == b'\n').next()?;
    let line: Value = serde_json::from_slice(first).ok()?;
    present(&line, "payload").cloned().or(Some(line))
}
