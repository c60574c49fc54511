//! Sessions as `/api/build` shows them: the words and the fields of the platform this API is for, snake_case.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use warren_domain::{
    AgentType, Event, EventBody, ProjectId, SandboxId, SandboxStatus, SessionId, SessionRuntimeState,
    Timestamp, Version,
};

use crate::{ArtifactMetadata, BuildArtifactType, BuildMessage};

/// Makes a session. Everything has a default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildSessionCreate {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent to talk to; `builtin` if absent.
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
    /// The same id gives the same answer, for seven days; at most 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_request_id: Option<String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSession {
    /// Its name for ever.
    pub id: SessionId,
    /// Whose it is; `null` if it was made with a token that stands for no user.
    pub user_id: Option<Uuid>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it has a sandbox.
    pub status: BuildSessionStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_activity_at: Timestamp,
    /// Where its agent works.
    pub sandbox: BuildSandbox,
    /// What it made that is worth showing; not in lists of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Vec<BuildArtifact>>,
    /// What is kept of it, oldest first; not in lists of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Vec<BuildSnapshot>>,
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

/// Where a session's agent works: one for each session, whichever container it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSandbox {
    /// The same for ever.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// What it runs in now.
    pub container_id: Option<SandboxId>,
    /// Its condition.
    pub status: BuildSandboxStatus,
    /// When its session was made.
    pub created_at: Timestamp,
    /// When it last answered.
    pub last_heartbeat: Option<Timestamp>,
}

/// Condition of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildSandboxStatus {
    /// It starts, or is started again.
    Provisioning,
    /// The agent works.
    Running,
    /// The agent has nothing to do.
    Idle,
    /// There is none.
    Terminated,
}

/// Something worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildArtifact {
    /// Its name for ever.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: BuildArtifactType,
    /// Relative to `/outputs`.
    pub path: String,
    /// A name for people.
    pub name: String,
    /// When it was found first.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A version of a session, kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildSnapshot {
    /// Its name for ever.
    pub id: Uuid,
    /// Whose it is.
    pub session_id: SessionId,
    /// Where it can be had.
    pub storage_path: String,
    /// When it was taken.
    pub created_at: Timestamp,
    /// How long it is, where that is known.
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

/// What a session made that is worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildArtifactList {
    /// All of it, by path.
    pub artifacts: Vec<BuildArtifact>,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildFileListing {
    /// The directory, from the root: `/outputs/web`.
    pub path: String,
    /// Directories first, then by name.
    pub entries: Vec<BuildFile>,
}

/// Files that were uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildUploaded {
    /// In the order in which they came.
    pub files: Vec<BuildFile>,
}

/// One thing in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildFile {
    /// Its name.
    pub name: String,
    /// From the root, as the other routes take it: `/outputs/web/package.json`.
    pub path: String,
    /// `file`, `directory`, `symlink` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How long a file is; `null` for anything else.
    pub size_bytes: Option<u64>,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// What a file is, by its name; `null` for anything else.
    pub mime_type: Option<String>,
}

/// How many messages may be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BuildLimit {
    /// `unpaid`, `paid` or `unlimited`.
    pub plan: String,
    /// Messages that it gives; `null`: any number.
    pub limit: Option<u64>,
    /// Messages that were sent.
    pub used: u64,
    /// Messages that are left; `null`: any number.
    pub remaining: Option<u64>,
    /// When the count begins anew; `null`: never.
    #[serde(rename = "resetsAt")]
    pub resets_at: Option<Timestamp>,
}

/// What a session has, as its log tells. Give it the entries in order.
#[derive(Debug, Clone, Default)]
pub struct BuildThings {
    artifacts: Vec<BuildArtifact>,
    snapshots: Vec<BuildSnapshot>,
}

impl BuildThings {
    /// Takes one entry.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::ArtifactCreated { artifact } | EventBody::ArtifactUpdated { artifact, .. } => {
                let before = self.remove(artifact.id.0).map(|before| before.created_at);
                let Some(ArtifactMetadata { id, kind, name, path, .. }) = ArtifactMetadata::of(artifact)
                else {
                    return;
                };
                let (session_id, updated_at) = (event.session_id, event.timestamp);
                let created_at = before.unwrap_or(updated_at);
                self.artifacts.push(BuildArtifact {
                    id,
                    session_id,
                    kind,
                    path,
                    name,
                    created_at,
                    updated_at,
                });
            }
            EventBody::ArtifactDeleted { artifact } => {
                self.remove(artifact.id.0);
            }
            EventBody::VersionCommitted { version, .. } => self.snapshots.push(BuildSnapshot {
                id: snapshot_id(event.session_id, *version),
                session_id: event.session_id,
                storage_path: format!("/api/sessions/{}/versions/{version}/archive", event.session_id),
                created_at: event.timestamp,
                size_bytes: None,
            }),
            _ => {}
        }
    }

    /// Says how long a version is; the log does not.
    pub fn measure(&mut self, session: SessionId, version: Version, size_bytes: u64) {
        let id = snapshot_id(session, version);
        if let Some(snapshot) = self.snapshots.iter_mut().find(|snapshot| snapshot.id == id) {
            snapshot.size_bytes = Some(size_bytes);
        }
    }

    /// Artifacts by path, and snapshots, oldest first.
    #[must_use]
    pub fn into_parts(mut self) -> (Vec<BuildArtifact>, Vec<BuildSnapshot>) {
        self.artifacts.sort_by(|one, two| one.path.cmp(&two.path));
        (self.artifacts, self.snapshots)
    }

    fn remove(&mut self, id: Uuid) -> Option<BuildArtifact> {
        let place = self.artifacts.iter().position(|artifact| artifact.id == id)?;
        Some(self.artifacts.remove(place))
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
        is_running: bool,
    ) -> (BuildSessionStatus, Self) {
        let alive = runtime.sandbox.as_ref().filter(|sandbox| sandbox.status != SandboxStatus::Terminated);
        let status = match alive.map(|sandbox| sandbox.status) {
            Some(SandboxStatus::Starting | SandboxStatus::Unhealthy) => BuildSandboxStatus::Provisioning,
            Some(SandboxStatus::Ready) if is_running => BuildSandboxStatus::Running,
            Some(SandboxStatus::Ready) => BuildSandboxStatus::Idle,
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
            container_id: alive.map(|sandbox| sandbox.sandbox_id.clone()),
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
        for (status, is_running, expect) in [
            (None, false, (Session::Idle, Of::Terminated)),
            (Some(SandboxStatus::Starting), true, (Session::Active, Of::Provisioning)),
            (Some(SandboxStatus::Ready), true, (Session::Active, Of::Running)),
            (Some(SandboxStatus::Ready), false, (Session::Active, Of::Idle)),
            (Some(SandboxStatus::Unhealthy), true, (Session::Active, Of::Provisioning)),
            (Some(SandboxStatus::Terminated), false, (Session::Idle, Of::Terminated)),
        ] {
            let id = SessionId(uuid::Uuid::nil());
            let (session, sandbox) = BuildSandbox::of(id, Timestamp::default(), &runtime(status), is_running);
            assert_eq!((session, sandbox.status), expect, "{status:?}");
        }
    }
}
