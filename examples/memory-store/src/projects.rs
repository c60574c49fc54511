//! Projects and workspaces.

use async_trait::async_trait;
use warren_domain::{Partition, ProjectId, WorkspaceId};
use warren_store::{ProjectRecord, Projects, ReadError, WorkspaceRecord};

use crate::Memory;

#[async_trait]
impl Projects for Memory {
    async fn put_project(&self, project: &ProjectRecord) -> Result<ProjectRecord, ReadError> {
        let mut state = self.state();
        let same = |kept: &&ProjectRecord| kept.partition == project.partition && kept.name == project.name;
        if let Some(kept) = state.projects.iter().find(same) {
            return Ok(kept.clone());
        }
        state.projects.push(project.clone());
        state.projects.sort_by_key(|project| (project.created_at, project.project_id));
        Ok(project.clone())
    }

    async fn project(&self, project: ProjectId) -> Result<Option<ProjectRecord>, ReadError> {
        Ok(self.state().projects.iter().find(|kept| kept.project_id == project).cloned())
    }

    async fn projects(&self, partition: Option<&Partition>) -> Result<Vec<ProjectRecord>, ReadError> {
        let state = self.state();
        let ours = state.projects.iter().filter(|project| partition.is_none_or(|p| *p == project.partition));
        Ok(ours.cloned().collect())
    }

    async fn make_workspace(
        &self,
        wanted: &WorkspaceRecord,
        first_uid: u32,
    ) -> Result<WorkspaceRecord, ReadError> {
        let mut state = self.state();
        if let Some(kept) = state.workspaces.iter().find(|kept| kept.workspace_id == wanted.workspace_id) {
            return Ok(kept.clone());
        }
        let is_free = |uid: &u32| state.workspaces.iter().all(|kept| kept.uid != *uid);
        let uid = (first_uid..).find(is_free).unwrap_or(first_uid);
        let workspace = WorkspaceRecord { uid, ..wanted.clone() };
        state.workspaces.push(workspace.clone());
        state.workspaces.sort_by_key(|workspace| (workspace.created_at, workspace.workspace_id));
        Ok(workspace)
    }

    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRecord>, ReadError> {
        Ok(self.state().workspaces.iter().find(|kept| kept.workspace_id == workspace).cloned())
    }

    async fn workspaces(&self, project: ProjectId) -> Result<Vec<WorkspaceRecord>, ReadError> {
        let state = self.state();
        Ok(state.workspaces.iter().filter(|kept| kept.project_id == project).cloned().collect())
    }

    async fn remove_workspace(&self, workspace: WorkspaceId) -> Result<bool, ReadError> {
        let mut state = self.state();
        let before = state.workspaces.len();
        state.workspaces.retain(|kept| kept.workspace_id != workspace);
        Ok(state.workspaces.len() < before)
    }
}
