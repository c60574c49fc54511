//! Profiles, kept as JSON: a table for those of whole partitions, another for those of projects.

use async_trait::async_trait;
use warren_domain::{AgentProfile, Partition, ProfileId, ProjectId};

use super::{
    Sql,
    args::args,
    queries::{
        PROFILE_GET, PROFILE_LIST, PROFILE_PUT, PROFILE_REMOVE, PROJECT_PROFILE_GET, PROJECT_PROFILE_PUT,
        PROJECT_PROFILE_REMOVE,
    },
    row::to_json,
    while_doing,
};
use crate::{Profiles, ReadError};

#[async_trait]
impl Profiles for Sql {
    async fn profiles(&self, partition: &Partition) -> Result<Vec<AgentProfile>, ReadError> {
        self.list_profiles(partition, None).await
    }

    async fn profiles_in(
        &self,
        partition: &Partition,
        project: ProjectId,
    ) -> Result<Vec<AgentProfile>, ReadError> {
        self.list_profiles(partition, Some(project)).await
    }

    async fn profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<Option<AgentProfile>, ReadError> {
        let row = match project {
            None => self.db.read_one(PROFILE_GET, args![partition, id]).await,
            Some(project) => self.db.read_one(PROJECT_PROFILE_GET, args![partition, project, id]).await,
        };
        row.and_then(|row| row.map(|row| row.json(0)).transpose()).map_err(while_doing("read the profile"))
    }

    async fn put_profile(&self, partition: &Partition, profile: &AgentProfile) -> Result<(), ReadError> {
        let write = async {
            let json = to_json(profile)?;
            match profile.project_id {
                None => self.db.write(PROFILE_PUT, args![partition, &profile.id, json]).await,
                Some(project) => {
                    self.db.write(PROJECT_PROFILE_PUT, args![partition, project, &profile.id, json]).await
                }
            }
        };
        write.await.map(drop).map_err(while_doing("write the profile"))
    }

    async fn remove_profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<bool, ReadError> {
        let removed = match project {
            None => self.db.write(PROFILE_REMOVE, args![partition, id]).await,
            Some(project) => self.db.write(PROJECT_PROFILE_REMOVE, args![partition, project, id]).await,
        };
        removed.map(|n| n > 0).map_err(while_doing("remove the profile"))
    }
}

impl Sql {
    async fn list_profiles(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
    ) -> Result<Vec<AgentProfile>, ReadError> {
        let rows = self.db.read(PROFILE_LIST, args![partition, project]).await;
        rows.and_then(|rows| rows.iter().map(|row| row.json(0)).collect())
            .map_err(while_doing("list the profiles"))
    }
}
