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

/// The subagent of a file beside the main transcript, `agent-<id>.jsonl`: each of its lines names the session. A session
/// that was gone on from may have lines under its earlier name.
pub(super) fn beside(
    (main_name, main): (&str, &[u8]),
    name: &str,
    head: &dyn Fn() -> Vec<u8>,
) -> Option<String> {
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl").filter(|id| !id.is_empty())?;
    let head = head();
    let session = session_names(&head).next()?;
    let is_own_name = main_name.strip_suffix(".jsonl").is_some_and(|name| name.as_bytes() == session);
    (is_own_name || session_names(main).any(|name| name == session)).then(|| id.to_owned())
}

/// The sessions that a transcript names, once for each line at least.
fn session_names(transcript: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = memchr::memmem::find_iter(transcript, SESSION_MARK);
    starts.filter_map(|at| {
        let name = &transcript[at + SESSION_MARK.len()..];
        Some(&name[..memchr::memchr(b'"', name)?])
    })
}

/// What stands before the name of the session in a line.
const SESSION_MARK: &[u8] = b"\"sessionId\":\"";

/// The same transcript under another session's name. Claude Code goes on only from lines that bear the name it is asked
/// for.
pub(super) fn renamed(main: &[u8], session: SessionId) -> Vec<u8> {
    let name = session.to_string();
    let mut renamed = Vec::with_capacity(main.len());
    let mut rest = main;
    while let Some(at) = memchr::memmem::find(rest, SESSION_MARK) {
        let (before, after) = rest.split_at(at + SESSION_MARK.len());
        renamed.extend_from_slice(before);
        let end = memchr::memchr(b'"', after).unwrap_or(after.len());
        renamed.extend_from_slice(name.as_bytes());
        rest = &after[end..];
    }
    renamed.extend_from_slice(rest);
    renamed
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_subagent_beside_a_transcript_is_known_by_the_session_that_its_lines_name() {
        let line =
            |session: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{session}\",\"agentId\":\"a1\"}}\n");
        let main = [line("earlier"), line("own")].concat();
        let of = |file: &str, head: &str| {
            beside(("own.jsonl", main.as_bytes()), file, &|| head.as_bytes().to_vec())
        };
        assert_eq!(of("agent-a1.jsonl", &line("own")), Some("a1".to_owned()));
        assert_eq!(of("agent-a1.jsonl", &line("earlier")), Some("a1".to_owned()));
        assert_eq!(of("agent-a1.jsonl", &line("another")), None);
        assert_eq!(of("agent-.jsonl", &line("own")), None);
        assert_eq!(of("b.jsonl", &line("own")), None);
        assert_eq!(of("agent-a1.jsonl", ""), None);
    }
}
