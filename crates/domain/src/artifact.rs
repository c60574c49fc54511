//! Things in `outputs/` worth showing: what they are, and what of them changed.

mod find;
mod manifest;
mod registry;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{ArtifactId, BlobHash, EventBody, Seq, SessionId, Version};

pub use find::{MAX_ARTIFACTS, OutputFile, Outputs, Package, PortOwner, find};
pub use manifest::{MANIFEST_PATH, Manifest, ManifestEntry, ManifestError};
pub use registry::{is_generated_manifest, manifest_of};

/// A result worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Always the same for the same path, even after it was deleted and created again.
    pub id: ArtifactId,
    /// How to show it.
    pub kind: ArtifactKind,
    /// A display name.
    pub name: String,
    /// Relative to the workspace; a directory for an app. An app of which only the port is known has `port:3000`.
    pub path: String,
    /// Bytes of the file, or of all files of the app.
    pub size_bytes: u64,
    /// BLAKE3 of the content, if known; for an app, of the names and hashes of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlobHash>,
    /// The port in the sandbox, current or assigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The command that starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The address of its preview. `POST …/artifacts/{id}/preview` creates a link that grants access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_url: Option<String>,
    /// The log entry that first reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_seq: Option<Seq>,
    /// The log entry of its last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_seq: Option<Seq>,
    /// The first version that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_version: Option<Version>,
    /// The first version that contains its current state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_version: Option<Version>,
}

/// The kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// Something that listens on a port, or can be started to do so.
    WebApp,
    /// Slides.
    Pptx,
    /// A text document.
    Docx,
    /// A spreadsheet.
    Excel,
    /// Markdown.
    Markdown,
    /// A picture.
    Image,
    /// A PDF document.
    Pdf,
    /// Comma-separated values.
    Csv,
    /// A page that needs no server of its own.
    Html,
    /// Text of a program, or of data.
    Code,
}

/// The changed fields of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum ArtifactChange {
    /// What is in it.
    Content,
    /// Its kind.
    Kind,
    /// Its name.
    Name,
    /// Where it listens.
    Port,
    /// The command that starts it.
    Command,
    /// Where it is seen.
    PreviewUrl,
}

/// The artifacts a log tells of, by id.
pub type Artifacts = BTreeMap<ArtifactId, Artifact>;

impl ArtifactId {
    /// The id of what lies at `path` in a session's workspace.
    #[must_use]
    pub fn of(session: SessionId, path: &str) -> Self {
        Self(Uuid::new_v5(&session.0, path.as_bytes()))
    }
}

/// Events to record when the found artifacts differ from the known ones: in the order of their paths, removals
/// first. The first entry gets the number after `head`; `version` is the one that has them so first.
#[must_use]
pub fn artifact_events(
    known: &Artifacts,
    found: Vec<Artifact>,
    head: Seq,
    version: Version,
) -> Vec<EventBody> {
    let version = Some(version);
    let is_gone = |artifact: &&Artifact| !found.iter().any(|now| now.id == artifact.id);
    let mut gone: Vec<_> = known.values().filter(is_gone).cloned().collect();
    gone.sort_by(|a, b| a.path.cmp(&b.path));
    let mut bodies: Vec<EventBody> =
        gone.into_iter().map(|artifact| EventBody::ArtifactDeleted { artifact }).collect();
    for mut artifact in found {
        let seq = Some(Seq(head.0 + 1 + bodies.len() as u64));
        artifact.updated_seq = seq;
        artifact.updated_version = version;
        match known.get(&artifact.id) {
            None => {
                artifact.created_seq = seq;
                artifact.created_version = version;
                bodies.push(EventBody::ArtifactCreated { artifact });
            }
            Some(before) => {
                let changes = before.changes_to(&artifact);
                if changes.is_empty() {
                    continue;
                }
                artifact.created_seq = before.created_seq;
                artifact.created_version = before.created_version;
                if !changes.contains(&ArtifactChange::Content) {
                    artifact.updated_version = before.updated_version;
                }
                bodies.push(EventBody::ArtifactUpdated { artifact, changes });
            }
        }
    }
    bodies
}

/// Folds one entry of a log into the artifacts it tells of.
pub fn apply_artifact_event(artifacts: &mut Artifacts, body: &EventBody) {
    match body {
        EventBody::ArtifactCreated { artifact } | EventBody::ArtifactUpdated { artifact, .. } => {
            artifacts.insert(artifact.id, artifact.clone());
        }
        EventBody::ArtifactDeleted { artifact } => {
            artifacts.remove(&artifact.id);
        }
        // Every other entry is about something else, also those that are still to come.
        _ => {}
    }
}

impl Artifact {
    fn changes_to(&self, now: &Artifact) -> Vec<ArtifactChange> {
        let content = self.hash != now.hash || self.size_bytes != now.size_bytes;
        let all = [
            (content, ArtifactChange::Content),
            (self.kind != now.kind, ArtifactChange::Kind),
            (self.name != now.name, ArtifactChange::Name),
            (self.port != now.port, ArtifactChange::Port),
            (self.command != now.command, ArtifactChange::Command),
            (self.preview_url != now.preview_url, ArtifactChange::PreviewUrl),
        ];
        all.into_iter().filter(|(changed, _)| *changed).map(|(_, change)| change).collect()
    }
}

impl ArtifactKind {
    /// The kind of a file, by its name.
    #[must_use]
    pub fn of_file(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "pptx" | "ppt" | "odp" => Some(Self::Pptx),
            "docx" | "doc" | "odt" | "rtf" => Some(Self::Docx),
            "xlsx" | "xls" | "xlsm" | "ods" => Some(Self::Excel),
            "md" | "markdown" | "mdx" => Some(Self::Markdown),
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "avif" | "bmp" | "ico" | "tiff" => {
                Some(Self::Image)
            }
            "pdf" => Some(Self::Pdf),
            "csv" | "tsv" => Some(Self::Csv),
            "html" | "htm" => Some(Self::Html),
            "py" | "js" | "mjs" | "ts" | "tsx" | "jsx" | "rs" | "go" | "java" | "c" | "h" | "cpp" | "rb"
            | "sh" | "sql" | "r" | "ipynb" | "json" | "jsonl" | "yaml" | "yml" | "toml" | "xml" | "txt"
            | "css" => Some(Self::Code),
            _ => None,
        }
    }

    /// The kind by its name, as a manifest writes it.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word.trim().to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "web_app" | "webapp" | "nextjs_app" => Some(Self::WebApp),
            "pptx" | "presentation" => Some(Self::Pptx),
            "docx" | "document" => Some(Self::Docx),
            "excel" | "xlsx" | "spreadsheet" => Some(Self::Excel),
            "markdown" => Some(Self::Markdown),
            "image" | "chart" => Some(Self::Image),
            "pdf" => Some(Self::Pdf),
            "csv" => Some(Self::Csv),
            "html" => Some(Self::Html),
            "code" => Some(Self::Code),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
