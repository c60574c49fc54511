//! What an agent keeps on disk.

use warren_domain::Conversations;

/// Where an agent keeps its own memory of a session: saved during a run, put back before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptPlan {
    /// The main transcript, relative to the agent's home.
    pub main: String,
    /// The subagents' transcripts, if they are files of their own.
    pub subagents: Option<SubagentFiles>,
}

/// Files of one directory, one for each subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentFiles {
    /// The directory, relative to the agent's home.
    pub directory: String,
    /// What stands before the id in a file's name.
    pub prefix: &'static str,
    /// What stands after it.
    pub suffix: &'static str,
}

/// What saved transcripts say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// All threads.
    pub conversations: Conversations,
    /// Lines nobody understood, among them a torn last one.
    pub n_unreadable: usize,
}

impl SubagentFiles {
    /// The file of one subagent, relative to the agent's home.
    #[must_use]
    pub fn path(&self, subagent: &str) -> String {
        format!("{}/{}{subagent}{}", self.directory, self.prefix, self.suffix)
    }

    /// The subagent whose file this is, by its name within the directory.
    #[must_use]
    pub fn subagent<'a>(&self, file_name: &'a str) -> Option<&'a str> {
        let id = file_name.strip_prefix(self.prefix)?.strip_suffix(self.suffix)?;
        (!id.is_empty()).then_some(id)
    }
}
