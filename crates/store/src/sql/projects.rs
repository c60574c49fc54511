//! Projects and workspaces.

use async_trait::async_trait;
use warren_domain::{Partition, ProjectId, WorkspaceId};

use super::{
    Sql,
    args::args,
    queries::{
        PROJECT_GET, PROJECT_LIST, PROJECT_NAMED, PROJECT_PUT, WORKSPACE_GET, WORKSPACE_LIST, WORKSPACE_PUT,
        WORKSPACE_REMOVE,
    },
    row::{Row, to_json, undecodable},
    while_doing,
};
use crate::{ProjectRecord, Projects, ReadError, WorkspaceRecord};

/// How often two nodes may want the same user number at the same moment before one gives up.
const UID_ATTEMPTS: usize = 16;

#[async_trait]
impl Projects for Sql {
    async fn put_project(&self, project: &ProjectRecord) -> Result<ProjectRecord, ReadError> {
        self.put(project).await.map_err(while_doing("make the project"))
    }

    async fn project(&self, project: ProjectId) -> Result<Option<ProjectRecord>, ReadError> {
        let row = self.db.read_one(PROJECT_GET, args![project]).await;
        row.and_then(|row| row.as_ref().map(read_project).transpose())
            .map_err(while_doing("read the project"))
    }

    async fn projects(&self, partition: Option<&Partition>) -> Result<Vec<ProjectRecord>, ReadError> {
        let rows = self.db.read(PROJECT_LIST, args![partition]).await;
        rows.and_then(|rows| rows.iter().map(read_project).collect())
            .map_err(while_doing("list the projects"))
    }

    async fn make_workspace(
        &self,
        wanted: &WorkspaceRecord,
        first_uid: u32,
    ) -> Result<WorkspaceRecord, ReadError> {
        self.make(wanted, first_uid).await.map_err(while_doing("make the workspace"))
    }

    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRecord>, ReadError> {
        let row = self.db.read_one(WORKSPACE_GET, args![workspace]).await;
        row.and_then(|row| row.as_ref().map(read_workspace).transpose())
            .map_err(while_doing("read the workspace"))
    }

    async fn workspaces(&self, project: ProjectId) -> Result<Vec<WorkspaceRecord>, ReadError> {
        let rows = self.db.read(WORKSPACE_LIST, args![project]).await;
        rows.and_then(|rows| rows.iter().map(read_workspace).collect())
            .map_err(while_doing("list the workspaces"))
    }

    async fn remove_workspace(&self, workspace: WorkspaceId) -> Result<bool, ReadError> {
        let removed = self.db.write(WORKSPACE_REMOVE, args![workspace]).await;
        removed.map(|n| n > 0).map_err(while_doing("remove the workspace"))
    }
}

impl Sql {
    async fn put(&self, project: &ProjectRecord) -> Result<ProjectRecord, sqlx::Error> {
        let ProjectRecord { project_id, partition, name, options, created_at } = project;
        let args = args![*project_id, partition, name, to_json(options)?, *created_at];
        self.db.write(PROJECT_PUT, args).await?;
        let kept = self.db.read_one(PROJECT_NAMED, args![partition, name]).await?;
        kept.as_ref().map_or(Err(sqlx::Error::RowNotFound), read_project)
    }

    async fn make(&self, wanted: &WorkspaceRecord, first_uid: u32) -> Result<WorkspaceRecord, sqlx::Error> {
        let WorkspaceRecord { workspace_id, partition, project_id, uid: _, created_at } = wanted;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let args = args![*workspace_id, partition, *project_id, *created_at, first_uid];
            match self.db.write(WORKSPACE_PUT, args).await {
                Ok(_) => break,
                Err(sqlx::Error::Database(e)) if e.is_unique_violation() && attempts < UID_ATTEMPTS => {}
                Err(e) => return Err(e),
            }
        }
        let kept = self.db.read_one(WORKSPACE_GET, args![*workspace_id]).await?;
        kept.as_ref().map_or(Err(sqlx::Error::RowNotFound), read_workspace)
    }
}

fn read_project(row: &Row) -> Result<ProjectRecord, sqlx::Error> {
    Ok(ProjectRecord {
        project_id: row.id("project_id")?,
        partition: Partition(row.text("partition")?),
        name: row.text("name")?,
        options: row.json("options")?,
        created_at: row.time("created_at")?,
    })
}

fn read_workspace(row: &Row) -> Result<WorkspaceRecord, sqlx::Error> {
    Ok(WorkspaceRecord {
        workspace_id: row.id("workspace_id")?,
        partition: Partition(row.text("partition")?),
        project_id: row.id("project_id")?,
        uid: u32::try_from(row.int("uid")?).map_err(undecodable)?,
        created_at: row.time("created_at")?,
    })
}
