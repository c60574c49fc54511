//! Sessions as `/api/build` shows them: the words and the fields of the platform this API is for, snake_case.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use warren_domain::{
    AgentType, ProjectId, SandboxId, SandboxStatus, SessionId, SessionRuntimeState, Timestamp, Version,
};

use crate::{ArtifactMetadata, BuildArtifactType, BuildMessage};

/// Creates a session. All fields are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildSessionCreate {
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent; `builtin` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentType>,
    /// The project; the token's own, or the default one, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

/// Sends a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildMessageSend {
    /// The text.
    pub content: String,
    /// The same ID returns the same answer, for seven days; at most 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_request_id: Option<String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSession {
    /// Its permanent ID.
    pub id: SessionId,
    /// Its owner; `null` if it was created with a token without an owner.
    pub user_id: Option<Uuid>,
    /// A display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it has a sandbox.
    pub status: BuildSessionStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// The time of its last activity.
    pub last_activity_at: Timestamp,
    /// Its sandbox.
    pub sandbox: BuildSandbox,
    /// Its artifacts, by path.
    #[serde(default)]
    pub artifacts: Vec<BuildArtifact>,
    /// Its snapshots, oldest first.
    #[serde(default)]
    pub snapshots: Vec<BuildSnapshot>,
}

/// Whether a session has a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildSessionStatus {
    /// It has one, or it starts.
    Active,
    /// It will have one when it is needed.
    Idle,
}

/// The sandbox of a session: one per session, whichever container it uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSandbox {
    /// Permanent.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// The current container; `null` before it starts and after it stopped.
    pub container_id: Option<SandboxId>,
    /// Its status.
    pub status: BuildSandboxStatus,
    /// When its session was created.
    pub created_at: Timestamp,
    /// When it last responded.
    pub last_heartbeat: Option<Timestamp>,
}

/// The status of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildSandboxStatus {
    /// It starts, or is started again.
    Provisioning,
    /// It is up, whether or not the agent works.
    Running,
    /// Of the platform this API is for; no sandbox is told as this.
    Idle,
    /// There is none.
    Terminated,
}

/// A result worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildArtifact {
    /// Its permanent ID.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: BuildArtifactType,
    /// Relative to `/outputs`.
    pub path: String,
    /// A display name.
    pub name: String,
    /// When it was first found.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// A link that a browser opens without a token, valid for at least half an hour; only for artifacts that are
    /// served. Read the artifact again for a new link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_url: Option<String>,
}

/// A stored version of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSnapshot {
    /// Its permanent ID.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// Where to download it.
    pub storage_path: String,
    /// When it was taken.
    pub created_at: Timestamp,
    /// Its size, if known.
    pub size_bytes: Option<u64>,
}

/// Part of the list of sessions, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSessionList {
    /// The part.
    pub sessions: Vec<BuildSession>,
    /// Pass it as `cursor` for the next part; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A whole conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BuildMessageList {
    /// All of it.
    pub messages: Vec<BuildMessage>,
}

/// The artifacts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildArtifactList {
    /// All artifacts, by path.
    pub artifacts: Vec<BuildArtifact>,
}

/// The entries of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildFileListing {
    /// The absolute path of the directory: `/outputs/web`.
    pub path: String,
    /// Directories first, then by name.
    pub entries: Vec<BuildFile>,
}

/// The uploaded files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildUploaded {
    /// In the order of the upload.
    pub files: Vec<BuildFile>,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildFile {
    /// Its name.
    pub name: String,
    /// The absolute path, as the other routes accept it: `/outputs/web/package.json`.
    pub path: String,
    /// `file`, `directory`, `symlink` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The size of a file; otherwise `null`.
    pub size_bytes: Option<u64>,
    /// When it was last modified.
    pub modified_at: Timestamp,
    /// The MIME type of a file, by its name; otherwise `null`.
    pub mime_type: Option<String>,
}

/// The message limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildLimit {
    /// `unpaid`, `paid` or `unlimited`.
    pub plan: String,
    /// The limit; `null` for no limit.
    pub limit: Option<u64>,
    /// Messages sent.
    pub used: u64,
    /// Remaining messages; `null` for no limit.
    pub remaining: Option<u64>,
    /// When the count restarts; `null` for never.
    pub resets_at: Option<Timestamp>,
    /// The same, under its first name.
    #[serde(rename = "resetsAt")]
    pub resets_at_as_before: Option<Timestamp>,
}

impl BuildArtifact {
    /// Of what an artifact is, and when it was found and last changed.
    #[must_use]
    pub fn of(
        session_id: SessionId,
        artifact: ArtifactMetadata,
        created_at: Timestamp,
        updated_at: Timestamp,
    ) -> Self {
        let ArtifactMetadata { id, kind, name, path, preview_url } = artifact;
        Self { id, session_id, kind, path, name, created_at, updated_at, preview_url }
    }
}

impl BuildSnapshot {
    /// Of a version.
    #[must_use]
    pub fn of(session_id: SessionId, version: Version, created_at: Timestamp, size_bytes: u64) -> Self {
        Self {
            id: snapshot_id(session_id, version),
            session_id,
            storage_path: format!("/api/sessions/{session_id}/versions/{version}/archive"),
            created_at,
            size_bytes: Some(size_bytes),
        }
    }
}

fn snapshot_id(session: SessionId, version: Version) -> Uuid {
    Uuid::new_v5(&session.0, format!("version {version}").as_bytes())
}

impl BuildSandbox {
    /// The sandbox of a session, and what that makes the session.
    #[must_use]
    pub fn of(
        session: SessionId,
        created_at: Timestamp,
        runtime: &SessionRuntimeState,
    ) -> (BuildSessionStatus, Self) {
        let alive = runtime.sandbox.as_ref().filter(|sandbox| sandbox.status != SandboxStatus::Terminated);
        let status = match alive.map(|sandbox| sandbox.status) {
            Some(SandboxStatus::Starting | SandboxStatus::Unhealthy) => BuildSandboxStatus::Provisioning,
            Some(SandboxStatus::Ready) => BuildSandboxStatus::Running,
            Some(SandboxStatus::Terminated) | None => BuildSandboxStatus::Terminated,
        };
        let of_session = match status {
            BuildSandboxStatus::Terminated => BuildSessionStatus::Idle,
            _ => BuildSessionStatus::Active,
        };
        let heard = alive.map(|sandbox| sandbox.last_health_check).filter(|at| *at > 0);
        let sandbox = Self {
            id: Uuid::new_v5(&session.0, b"sandbox"),
            session_id: session,
            // One that is about to start has no name yet.
            container_id: alive.map(|sandbox| sandbox.sandbox_id.clone()).filter(|id| !id.0.is_empty()),
            status,
            created_at,
            last_heartbeat: heard.map(Timestamp::from_millis),
        };
        (of_session, sandbox)
    }
}

#[cfg(test)]
mod tests {
    use super::{BuildSandbox, BuildSandboxStatus as Of, BuildSessionStatus as Session};
    use warren_domain::{SandboxId, SandboxState, SandboxStatus, SessionId, SessionRuntimeState, Timestamp};

    fn runtime(status: Option<SandboxStatus>) -> SessionRuntimeState {
        let sandbox = status.map(|status| SandboxState {
            sandbox_id: SandboxId::from("s"),
            status,
            restart_count: 0,
            last_health_check: 0,
            status_message: None,
            isolation: None,
        });
        SessionRuntimeState { is_loaded: true, sandbox }
    }

    #[test]
    fn a_state_is_told_in_the_words_of_this_api() {
        for (status, expect) in [
            (None, (Session::Idle, Of::Terminated)),
            (Some(SandboxStatus::Starting), (Session::Active, Of::Provisioning)),
            (Some(SandboxStatus::Ready), (Session::Active, Of::Running)),
            (Some(SandboxStatus::Unhealthy), (Session::Active, Of::Provisioning)),
            (Some(SandboxStatus::Terminated), (Session::Idle, Of::Terminated)),
        ] {
            let id = SessionId(uuid::Uuid::nil());
            let (session, sandbox) = BuildSandbox::of(id, Timestamp::default(), &runtime(status));
            assert_eq!((session, sandbox.status), expect, "{status:?}");
        }
    }

    #[test]
    fn sandbox_without_a_name_has_no_container() {
        let mut nameless = runtime(Some(SandboxStatus::Starting));
        if let Some(sandbox) = &mut nameless.sandbox {
            sandbox.sandbox_id = SandboxId::from("");
        }
        for (runtime, expect) in
            [(nameless, None), (runtime(Some(SandboxStatus::Ready)), Some("s")), (runtime(None), None)]
        {
            let id = SessionId(uuid::Uuid::nil());
            let (_, sandbox) = BuildSandbox::of(id, Timestamp::default(), &runtime);
            assert_eq!(sandbox.container_id.as_ref().map(|id| id.0.as_str()), expect);
        }
    }
}
