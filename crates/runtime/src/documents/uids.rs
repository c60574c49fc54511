//! The UIDs that conversions run under: never a session's, whose files and disk quota are its own.

use std::sync::Arc;

use uuid::Uuid;
use warren_domain::{ErrorCode, Partition, ProjectId, WorkspaceId};
use warren_env::Env;
use warren_store::{Projects, WorkspaceRecord};

use super::ConvertError;

/// Hands out the UIDs of workspaces, one for each place where a conversion runs.
pub(crate) struct Uids {
    pub(crate) projects: Arc<dyn Projects>,
    pub(crate) env: Env,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Uids {
    /// The UID of a place. The store has it as that of a workspace of no project, so that no session gets it; the same place
    /// has the same UID forever.
    pub(super) async fn of(&self, slot: usize) -> Result<u32, ConvertError> {
        let hash = blake3::hash(format!("conversion {slot}").as_bytes());
        let workspace_id = WorkspaceId(Uuid::from_slice(&hash.as_bytes()[..16]).unwrap_or_default());
        let wanted = WorkspaceRecord {
            workspace_id,
            partition: Partition("conversions".to_owned()),
            project_id: ProjectId(Uuid::nil()),
            uid: 0,
            created_at: self.env.now(),
        };
        let failed = |message: String| ConvertError { code: ErrorCode::Internal, message, hint: None };
        let made = self.projects.make_workspace(&wanted, self.first).await;
        let made = made.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "no UID for a conversion");
            failed("failed to get a UID for the conversion".to_owned())
        })?;
        if made.uid > self.last {
            // It belongs to another server of this host, or to nobody.
            _ = self.projects.remove_workspace(workspace_id).await;
            return Err(failed(format!(
                "all UIDs from {} to {} belong to workspaces",
                self.first, self.last
            ))
            .advised("name a larger range in `sandbox.uid_range`, or erase sessions"));
        }
        Ok(made.uid)
    }
}
