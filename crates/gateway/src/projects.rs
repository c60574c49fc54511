//! Projects: where a new session belongs.

use serde_json::json;
use warren_domain::{Partition, ProjectId, WorkspaceId};
use warren_store::ProjectRecord;

use crate::{Action, Denied, Gateway, Identity, RequestError, Target, authorize};

/// The project that is there from the first start.
const DEFAULT: &str = "default";

/// Which workspace a new session is to work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// One of its own.
    Own,
    /// The project's oldest, or one of its own if there is none yet.
    Oldest,
    /// This one.
    This(WorkspaceId),
}

impl Gateway {
    /// One project, if the identity may see it.
    ///
    /// # Errors
    /// When there is none, or not for this identity.
    pub async fn project_get(
        &self,
        identity: &Identity,
        project: ProjectId,
    ) -> Result<ProjectRecord, RequestError> {
        self.project_for(identity, Action::Read, project).await
    }

    /// The project that is meant: the one asked for, else the token's own, else the default one.
    ///
    /// # Errors
    /// When there is none, or the identity may not do this to it.
    pub async fn project_find(
        &self,
        identity: &Identity,
        action: Action,
        asked: Option<ProjectId>,
    ) -> Result<ProjectRecord, RequestError> {
        match asked.or(identity.scope.project()) {
            Some(project) => self.project_for(identity, action, project).await,
            None => {
                authorize(identity, action, Target::Visible)?;
                self.project_default(&identity.partition).await
            }
        }
    }

    /// The project a new session belongs to: the one asked for, else the token's own, else the default one.
    ///
    /// # Errors
    /// When the identity may not work in it.
    pub async fn project_resolve(
        &self,
        identity: &Identity,
        asked: Option<ProjectId>,
    ) -> Result<ProjectId, RequestError> {
        Ok(self.project_find(identity, Action::Write, asked).await?.project_id)
    }

    /// The workspace to share, or `None` for one of the session's own. A workspace of another project is not there.
    ///
    /// # Errors
    /// When the project has no such workspace.
    pub async fn workspace_resolve(
        &self,
        project: ProjectId,
        choice: WorkspaceChoice,
    ) -> Result<Option<WorkspaceId>, RequestError> {
        let asked = match choice {
            WorkspaceChoice::Own => return Ok(None),
            WorkspaceChoice::Oldest => None,
            WorkspaceChoice::This(workspace) => Some(workspace),
        };
        let workspaces = self.records.projects.workspaces(project).await.map_err(RequestError::Backend)?;
        match asked {
            None => Ok(workspaces.first().map(|oldest| oldest.workspace_id)),
            Some(id) if workspaces.iter().any(|known| known.workspace_id == id) => Ok(Some(id)),
            Some(id) => Err(RequestError::NotFound { kind: "workspace", id: id.to_string() }),
        }
    }

    /// The partition's default project, made if it is not there.
    pub(crate) async fn project_default(&self, partition: &Partition) -> Result<ProjectRecord, RequestError> {
        let all = self.records.projects.projects(Some(partition)).await.map_err(RequestError::Backend)?;
        if let Some(found) = all.into_iter().find(|project| project.name == DEFAULT) {
            return Ok(found);
        }
        let wanted = ProjectRecord {
            project_id: ProjectId(self.env.uuid()),
            partition: partition.clone(),
            name: DEFAULT.to_owned(),
            options: json!({}),
            created_at: self.env.now(),
        };
        // Two servers may start at once: the store keeps one of that name, and says which.
        self.records.projects.put_project(&wanted).await.map_err(RequestError::Backend)
    }

    async fn project_for(
        &self,
        identity: &Identity,
        action: Action,
        id: ProjectId,
    ) -> Result<ProjectRecord, RequestError> {
        let not_found = || RequestError::NotFound { kind: "project", id: id.to_string() };
        let found = self.records.projects.project(id).await.map_err(RequestError::Backend)?;
        let project = found.ok_or_else(not_found)?;
        let target = Target::Project { partition: &project.partition, project: project.project_id };
        authorize(identity, action, target).map_err(|denied| match denied {
            Denied::NotFound => not_found(),
            Denied::ReadOnly
            | Denied::NotAdmin
            | Denied::WiderEgress
            | Denied::ProviderTools
            | Denied::NotOperator => RequestError::Denied(denied),
        })?;
        Ok(project)
    }
}

#[cfg(test)]
mod tests;
