//! The file a thread is kept in: one line for each thing that is whole.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warren_domain::Draft;

use super::{api::Api, compaction::Compaction};

/// One line of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// What people see: the draft as it was printed. Never a delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<Draft>,
    /// What only the model needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) native: Option<Native>,
}

/// What the model needs besides what people see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Native {
    /// The answer a block came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<String>,
    /// Proves to the provider that a thought or a call is its model's own; without it a thought cannot be sent back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
    /// The provider whose signature it is; Anthropic where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api: Option<Api>,
    /// A thought that the provider shows to nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) redacted: Option<String>,
    /// The whole input of a call whose block shows only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    /// Something the model is told and people are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Pictures and documents of a tool's result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) media: Vec<Value>,
    /// From here on the model knows only this of what was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compaction: Option<Compaction>,
    /// On a subagent's first line: how many were opened before it in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opened: Option<u64>,
}

/// An open transcript, at its end.
pub(super) struct Transcript {
    file: File,
}

impl Transcript {
    /// Opens or makes the file and reads what is in it. Lines that cannot be read, such as the torn last one of a
    /// process that was killed, are passed over.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Entry>)> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        let entries = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        Ok((Self { file }, entries.collect()))
    }

    /// Appends one line, in one write.
    pub(super) fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
