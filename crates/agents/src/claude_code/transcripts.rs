//! What Claude Code keeps on disk of a session.

use warren_domain::SessionId;

use super::{
    CONFIG_DIRECTORY,
    native::{Kind, Line},
};
use crate::{Growth, TranscriptFile, TranscriptName, TranscriptPlan};

/// The directory of all sessions in the place where every sandbox has its workspace.
const PROJECT: &str = "projects/-workspace";

/// The directory of all sessions in a workspace: its name is the path, with `-` for whatever is no letter or digit.
pub(super) fn project(workspace: &str) -> String {
    let dash = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("projects/{}", workspace.chars().map(dash).collect::<String>())
}

/// The files of one session.
pub(super) struct Plan {
    main: String,
    subagents: String,
    /// Where further files that belong to the session are: long results of tools, tasks, what it noted for itself.
    others: [String; 3],
}

impl Plan {
    pub(super) fn of(session: SessionId) -> Self {
        Self {
            main: format!("{PROJECT}/{session}.jsonl"),
            subagents: format!("{PROJECT}/{session}/subagents/agent-"),
            others: [
                format!("{PROJECT}/{session}/"),
                format!("tasks/{session}/"),
                format!("{PROJECT}/memory/"),
            ],
        }
    }

    fn is_other(&self, path: &str) -> bool {
        let is_safe = path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".lock"));
        is_safe && self.others.iter().any(|directory| path.starts_with(directory))
    }
}

impl TranscriptPlan for Plan {
    fn root(&self) -> String {
        CONFIG_DIRECTORY.to_owned()
    }

    fn file(&self, path: &str) -> Option<TranscriptFile> {
        let subagent = path.strip_prefix(&self.subagents).and_then(|rest| rest.strip_suffix(".jsonl"));
        let (name, growth) = match subagent.filter(|id| !id.is_empty() && !id.contains('/')) {
            _ if path == self.main => (TranscriptName::Main, Growth::Appended),
            Some(id) => (TranscriptName::Subagent(id.to_owned()), Growth::Appended),
            None if self.is_other(path) => (TranscriptName::Other(path.to_owned()), Growth::Rewritten),
            None => return None,
        };
        Some(TranscriptFile { name, growth })
    }

    fn path(&self, name: &TranscriptName, _content: &[u8]) -> Option<String> {
        match name {
            TranscriptName::Main => Some(self.main.clone()),
            TranscriptName::Subagent(id) if !id.contains('/') => {
                Some(format!("{}{id}.jsonl", self.subagents))
            }
            TranscriptName::Other(path) if self.is_other(path) => Some(path.clone()),
            TranscriptName::Subagent(_) | TranscriptName::Other(_) => None,
        }
    }

    /// Claude Code goes on from a transcript in which somebody said something.
    fn is_resumable(&self, main: &[u8]) -> bool {
        main.split(|byte| *byte == b'\n').any(|line| {
            let line = Line::read(line);
            line.is_ok_and(|line| {
                matches!(line.kind(), Kind::User | Kind::Assistant) && line.message.is_some()
            })
        })
    }
}

/// The same transcript under another session's name. Claude Code goes on only from lines that bear the name it is asked
/// for.
pub(super) fn renamed(main: &[u8], session: SessionId) -> Vec<u8> {
    const MARK: &[u8] = b"\"sessionId\":\"";
    let name = session.to_string();
    let mut renamed = Vec::with_capacity(main.len());
    let mut rest = main;
    while let Some(at) = memchr::memmem::find(rest, MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        renamed.extend_from_slice(before);
        let end = memchr::memchr(b'"', after).unwrap_or(after.len());
        renamed.extend_from_slice(name.as_bytes());
        rest = &after[end..];
    }
    renamed.extend_from_slice(rest);
    renamed
}
