//! The packets of `/api/build`: what a stream of an agent's answer consists of there.

mod fold;
mod history;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;
use warren_domain::{Artifact, ArtifactKind, Timestamp};

pub use fold::Packets;
pub use history::{BuildMessage, BuildMessageType, History};

/// One packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Packet {
    /// What it says.
    #[serde(flatten)]
    pub body: PacketBody,
    /// When it was recorded.
    pub timestamp: Timestamp,
}

/// The content of a packet. Names and fields are those of the platform that this API is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PacketBody {
    /// The answer is complete.
    Done {
        /// A summary in one sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// The run failed.
    Error {
        /// What went wrong.
        message: String,
        /// A stable code: `TIMEOUT`, `SANDBOX_ERROR`, `LLM_ERROR`, …
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// A retry may help.
        recoverable: bool,
    },
    /// A step starts: thinking, a subagent, a wait.
    StepStart {
        /// Its name.
        step_id: String,
        /// For people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A step continues.
    StepDelta {
        /// Which one.
        step_id: String,
        /// What is new.
        content: String,
    },
    /// A step is over.
    StepEnd {
        /// Which one.
        step_id: String,
        /// How it ended.
        status: StepStatus,
    },
    /// The agent starts to answer.
    OutputStart {},
    /// The answer continues.
    OutputDelta {
        /// What is new.
        content: String,
    },
    /// A new artifact.
    ArtifactCreated {
        /// Which one.
        artifact: ArtifactMetadata,
    },
    /// An artifact changed.
    ArtifactUpdated {
        /// Which one.
        artifact: ArtifactMetadata,
        /// What changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<Vec<String>>,
    },
    /// The agent calls a tool.
    ToolStart {
        /// Which one.
        tool_name: String,
        /// Its input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_input: Option<Value>,
    },
    /// Output of a tool.
    ToolOutput {
        /// Which one.
        tool_name: String,
        /// What is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// The tool failed.
        is_error: bool,
    },
    /// A tool has finished.
    ToolEnd {
        /// Which one.
        tool_name: String,
        /// How it ended.
        status: ToolStatus,
    },
    /// A file was created or changed.
    FileWrite {
        /// Relative to `/outputs`; a file outside of it has a path such as `../notes.txt`.
        path: String,
        /// Its size in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
    },
    /// A file was deleted.
    FileDelete {
        /// As in `file_write`.
        path: String,
    },
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Well.
    Success,
    /// It failed, or was refused.
    Failed,
    /// It came to nothing.
    Skipped,
}

/// How a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// Well.
    Success,
    /// It failed, or was stopped.
    Failed,
}

/// The kind of an artifact: the six that clients of this API know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BuildArtifactType {
    /// A web application, or an HTML page.
    WebApp,
    /// Slides.
    Pptx,
    /// A document.
    Docx,
    /// A picture.
    Image,
    /// A text with markup.
    Markdown,
    /// Sheets.
    Excel,
}

/// An artifact in a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArtifactMetadata {
    /// Its permanent ID.
    pub id: Uuid,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: BuildArtifactType,
    /// A display name.
    pub name: String,
    /// Relative to `/outputs`.
    pub path: String,
    /// The address of its preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_url: Option<String>,
}

impl BuildArtifactType {
    /// Of the kinds there are, those that clients of this API know.
    #[must_use]
    pub fn of(kind: ArtifactKind) -> Option<Self> {
        match kind {
            // A page is an application of one file.
            ArtifactKind::WebApp | ArtifactKind::Html => Some(BuildArtifactType::WebApp),
            ArtifactKind::Pptx => Some(BuildArtifactType::Pptx),
            ArtifactKind::Docx => Some(BuildArtifactType::Docx),
            ArtifactKind::Excel => Some(BuildArtifactType::Excel),
            ArtifactKind::Markdown => Some(BuildArtifactType::Markdown),
            ArtifactKind::Image => Some(BuildArtifactType::Image),
            ArtifactKind::Pdf | ArtifactKind::Csv | ArtifactKind::Code => None,
        }
    }
}

impl ArtifactMetadata {
    /// Of an artifact of a kind that clients of this API know.
    #[must_use]
    pub fn of(artifact: &Artifact) -> Option<Self> {
        fold::metadata(artifact)
    }
}

impl PacketBody {
    /// Its type, as it is written.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            PacketBody::Done { .. } => "done",
            PacketBody::Error { .. } => "error",
            PacketBody::StepStart { .. } => "step_start",
            PacketBody::StepDelta { .. } => "step_delta",
            PacketBody::StepEnd { .. } => "step_end",
            PacketBody::OutputStart {} => "output_start",
            PacketBody::OutputDelta { .. } => "output_delta",
            PacketBody::ArtifactCreated { .. } => "artifact_created",
            PacketBody::ArtifactUpdated { .. } => "artifact_updated",
            PacketBody::ToolStart { .. } => "tool_start",
            PacketBody::ToolOutput { .. } => "tool_output",
            PacketBody::ToolEnd { .. } => "tool_end",
            PacketBody::FileWrite { .. } => "file_write",
            PacketBody::FileDelete { .. } => "file_delete",
        }
    }

    /// Whether nothing comes after it.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self, PacketBody::Done { .. } | PacketBody::Error { .. })
    }
}
