//! What an agent keeps on disk.

use serde_json::Value;
use warren_domain::{Conversations, Usage};

/// Where an agent keeps its own memory of a session: saved during a run, put back before the next.
pub trait TranscriptPlan: Send + Sync {
    /// The directory that holds all of it, relative to the agent's home. It is looked through with everything beneath.
    fn root(&self) -> String;

    /// What a file is, by its path beneath the root. `None`: nothing to keep.
    fn file(&self, path: &str) -> Option<TranscriptFile>;

    /// What all files beneath the root are, in their order. Some agents' names tell only beside each other.
    fn files(&self, paths: &[&str]) -> Vec<Option<TranscriptFile>> {
        paths.iter().map(|path| self.file(path)).collect()
    }

    /// Where a saved file goes, beneath the root. Some agents have the session's own name in it, which only the
    /// content tells.
    fn path(&self, name: &TranscriptName, content: &[u8]) -> Option<String>;

    /// Whether the agent can go on from this main transcript.
    fn is_resumable(&self, main: &[u8]) -> bool {
        !main.is_empty()
    }
}

/// A file of an agent's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// Which one. If two files have one name, the longer counts.
    pub name: TranscriptName,
    /// How it changes.
    pub growth: Growth,
}

/// How an agent writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// What is written stays; more follows.
    Appended,
    /// It is written anew.
    Rewritten,
}

/// Which part of an agent's memory a file is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TranscriptName {
    /// The conversation itself.
    Main,
    /// A subagent's thread.
    Subagent(String),
    /// Something that belongs to them and holds no blocks.
    Other(String),
}

/// The plan of an agent with one file for the conversation and one for each subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainPlan {
    /// The directory of all, relative to the agent's home.
    pub root: String,
    /// The main transcript, beneath the root.
    pub main: String,
    /// The directory of the subagents' transcripts, beneath the root, with a slash at its end.
    pub subagents: String,
    /// What stands before a subagent's id in a file's name.
    pub prefix: &'static str,
    /// What stands after it.
    pub suffix: &'static str,
}

impl TranscriptPlan for PlainPlan {
    fn root(&self) -> String {
        self.root.clone()
    }

    fn file(&self, path: &str) -> Option<TranscriptFile> {
        let name = if path == self.main {
            TranscriptName::Main
        } else {
            let id = path.strip_prefix(&self.subagents)?;
            let id = id.strip_prefix(self.prefix)?.strip_suffix(self.suffix)?;
            (!id.is_empty() && !id.contains('/')).then(|| TranscriptName::Subagent(id.to_owned()))?
        };
        Some(TranscriptFile { name, growth: Growth::Appended })
    }

    fn path(&self, name: &TranscriptName, _content: &[u8]) -> Option<String> {
        match name {
            TranscriptName::Main => Some(self.main.clone()),
            TranscriptName::Subagent(id) if !id.contains('/') => {
                Some(format!("{}{}{id}{}", self.subagents, self.prefix, self.suffix))
            }
            TranscriptName::Subagent(_) | TranscriptName::Other(_) => None,
        }
    }
}

impl TranscriptName {
    /// The name under which it is stored: the main thread is the empty text, and what is no thread begins with `@`.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            TranscriptName::Main => String::new(),
            TranscriptName::Subagent(id) => id.clone(),
            TranscriptName::Other(path) => format!("@{path}"),
        }
    }

    /// The file that is stored under `name`.
    #[must_use]
    pub fn of_stored(name: &str) -> Self {
        match (name, name.strip_prefix('@')) {
            ("", _) => TranscriptName::Main,
            (_, Some(path)) => TranscriptName::Other(path.to_owned()),
            (id, None) => TranscriptName::Subagent(id.to_owned()),
        }
    }
}

/// Where subagents' transcripts lie, beside a main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companions {
    /// The directory, relative to that of the main transcript.
    pub directory: String,
    /// What stands before the id in a file's name.
    pub prefix: &'static str,
    /// What stands after it.
    pub suffix: &'static str,
}

impl Companions {
    /// The subagent whose file this is, by its name within the directory.
    #[must_use]
    pub fn subagent<'a>(&self, file_name: &'a str) -> Option<&'a str> {
        let id = file_name.strip_prefix(self.prefix)?.strip_suffix(self.suffix)?;
        (!id.is_empty()).then_some(id)
    }
}

/// A transcript that was somebody else's.
#[derive(Debug, Clone, PartialEq)]
pub struct Adopted {
    /// The main transcript as the agent must find it.
    pub main: Vec<u8>,
    /// What must be known to continue. See [`LaunchRequest::state`](crate::LaunchRequest::state).
    pub state: Option<Value>,
}

/// What saved transcripts say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// All threads.
    pub conversations: Conversations,
    /// Lines nobody understood, among them a torn last one.
    pub n_unreadable: usize,
    /// The first of them, each cut where it gets long.
    pub unrecognized: Vec<String>,
    /// What was spent, as far as the transcripts say.
    pub usage: Option<Usage>,
}

/// How many unreadable lines are shown, and how much of each.
const SHOWN_LINES: usize = 100;
const SHOWN_BYTES: usize = 1024;

/// Gathers what nobody understood.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    n_lines: usize,
    first: Vec<String>,
}

impl Unread {
    /// Notes one line or record.
    pub(crate) fn note(&mut self, line: &[u8]) {
        self.n_lines += 1;
        if self.first.len() < SHOWN_LINES {
            self.first.push(String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]).into_owned());
        }
    }

    /// What was read, and this beside it.
    pub(crate) fn parsed(self, conversations: Conversations, usage: Option<Usage>) -> Parsed {
        Parsed { conversations, n_unreadable: self.n_lines, unrecognized: self.first, usage }
    }
}
