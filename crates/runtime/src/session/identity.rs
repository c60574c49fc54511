//! Immutable data of a session while it has the same owner.

use warren_domain::{AgentType, Fence, Partition, ProfileRef, ProjectId, SessionId, WorkspaceId};
use warren_store::SessionRecord;

/// Immutable data of a session while it has the same owner.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) session: SessionId,
    pub(crate) partition: Partition,
    pub(crate) project: ProjectId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) agent_type: AgentType,
    pub(crate) profile: ProfileRef,
    /// The lease under which its owner writes; 0 before there is one.
    pub(crate) fence: Fence,
}

impl From<&SessionRecord> for Identity {
    fn from(record: &SessionRecord) -> Self {
        Self {
            session: record.session_id,
            partition: record.partition.clone(),
            project: record.project_id,
            workspace: record.workspace_id,
            agent_type: record.agent_type.clone(),
            profile: record.profile.clone(),
            fence: Fence(0),
        }
    }
}
