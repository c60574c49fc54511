//! Profiles, kept as JSON.

use async_trait::async_trait;
use warren_domain::{AgentProfile, Partition, ProfileId};

use super::{
    Sql,
    args::args,
    queries::{PROFILE_GET, PROFILE_LIST, PROFILE_PUT, PROFILE_REMOVE},
    row::to_json,
    while_doing,
};
use crate::{Profiles, ReadError};

#[async_trait]
impl Profiles for Sql {
    async fn profiles(&self, partition: &Partition) -> Result<Vec<AgentProfile>, ReadError> {
        let rows = self.db.read(PROFILE_LIST, args![partition]).await;
        rows.and_then(|rows| rows.iter().map(|row| row.json(0)).collect())
            .map_err(while_doing("list the profiles"))
    }

    async fn profile(
        &self,
        partition: &Partition,
        id: &ProfileId,
    ) -> Result<Option<AgentProfile>, ReadError> {
        let row = self.db.read_one(PROFILE_GET, args![partition, id]).await;
        row.and_then(|row| row.map(|row| row.json(0)).transpose()).map_err(while_doing("read the profile"))
    }

    async fn put_profile(&self, partition: &Partition, profile: &AgentProfile) -> Result<(), ReadError> {
        let write = async {
            self.db.write(PROFILE_PUT, args![partition, &profile.id, to_json(profile)?]).await.map(drop)
        };
        write.await.map_err(while_doing("write the profile"))
    }

    async fn remove_profile(&self, partition: &Partition, id: &ProfileId) -> Result<bool, ReadError> {
        let removed = self.db.write(PROFILE_REMOVE, args![partition, id]).await;
        removed.map(|n| n > 0).map_err(while_doing("remove the profile"))
    }
}
