//! The manifest: an agent's description of its own outputs.

use serde::Deserialize;
use serde_json::Value;

use super::{ArtifactKind, MAX_ARTIFACTS, is_generated_manifest};

/// Path of the manifest in the workspace.
pub const MANIFEST_PATH: &str = "outputs/manifest.json";

/// The longest command that is taken.
const LONGEST_COMMAND: usize = 1_000;

/// The longest name that is taken.
const LONGEST_NAME: usize = 200;

/// `outputs/manifest.json`, as far as it makes sense.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// Its entries, in their order; each path once.
    pub entries: Vec<ManifestEntry>,
}

/// One thing the agent names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// How to show it; by its file's name if the manifest says nothing that is known.
    pub kind: Option<ArtifactKind>,
    /// A display name.
    pub name: Option<String>,
    /// Relative to the workspace, without a final slash.
    pub path: String,
    /// The command that starts it.
    pub command: Option<String>,
    /// Where it then listens.
    pub port: Option<u16>,
}

/// Why a text is not a manifest.
#[derive(Debug, thiserror::Error)]
#[error("`{MANIFEST_PATH}` is not a manifest")]
pub struct ManifestError(#[source] serde_json::Error);

/// As it is written. Entries are looked at one by one, so that one that is wrong spoils no other.
#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    artifacts: Vec<Value>,
}

#[derive(Deserialize)]
struct RawEntry {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    path: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    port: Option<u16>,
}

impl Manifest {
    /// Reads a manifest. Entries that make no sense, or lead out of `outputs/`, are left out. A list that the server wrote says
    /// nothing: it follows from the files, and must not keep what they no longer have.
    ///
    /// # Errors
    /// When the text is not an object with a list `artifacts`.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        let raw: Raw = serde_json::from_slice(text).map_err(ManifestError)?;
        if is_generated_manifest(text) {
            return Ok(Self::default());
        }
        let mut entries: Vec<ManifestEntry> = Vec::new();
        for entry in raw.artifacts.into_iter().take(MAX_ARTIFACTS).filter_map(entry) {
            if !entries.iter().any(|before| before.path == entry.path) {
                entries.push(entry);
            }
        }
        Ok(Self { entries })
    }

    /// What it says about a path.
    #[must_use]
    pub fn entry(&self, path: &str) -> Option<&ManifestEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }
}

fn entry(value: Value) -> Option<ManifestEntry> {
    let raw: RawEntry = serde_json::from_value(value).ok()?;
    let shown = |text: String| (!text.trim().is_empty() && text.len() <= LONGEST_NAME).then_some(text);
    Some(ManifestEntry {
        kind: ArtifactKind::parse(&raw.kind),
        name: raw.name.and_then(shown),
        path: beneath_outputs(&raw.path)?,
        command: raw.command.filter(|command| !command.is_empty() && command.len() <= LONGEST_COMMAND),
        port: raw.port.filter(|port| *port >= 1024),
    })
}

/// `web/`, `./web`, `outputs/web` and `/outputs/web` are the same place; what leads elsewhere is none.
fn beneath_outputs(path: &str) -> Option<String> {
    let path = path.strip_prefix("/workspace/").unwrap_or(path);
    let path = path.strip_prefix('/').unwrap_or(path);
    let names: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let names = names.strip_prefix(&["outputs"]).unwrap_or(&names);
    let is_plain = !names.is_empty() && !names.contains(&"..") && !path.contains('\0') && path.len() <= 1024;
    is_plain.then(|| format!("outputs/{}", names.join("/")))
}
