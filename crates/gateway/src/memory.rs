//! The gateway's records in memory: its rules are tested without a database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use warren_domain::{AgentProfile, Partition, ProfileId, ProjectId, Timestamp, TokenId, WorkspaceId};
use warren_store::{Profiles, ProjectRecord, Projects, ReadError, TokenRecord, Tokens, WorkspaceRecord};

use crate::Records;

/// Empty records that live as long as someone holds them.
pub(crate) fn memory() -> Records {
    let all = Arc::new(Memory::default());
    Records { tokens: all.clone(), projects: all.clone(), profiles: all }
}

/// The same, but of tokens nothing can be read: the store is out of reach.
pub(crate) fn silent() -> Records {
    Records { tokens: Arc::new(Silent), ..memory() }
}

struct Silent;

fn out_of_reach<T>() -> Result<T, ReadError> {
    Err(ReadError { doing: "reach the store", source: "nobody answers".into() })
}

#[async_trait]
impl Tokens for Silent {
    async fn put_token(&self, _: &TokenRecord) -> Result<(), ReadError> {
        out_of_reach()
    }

    async fn token(&self, _: &str) -> Result<Option<TokenRecord>, ReadError> {
        out_of_reach()
    }

    async fn tokens(&self, _: Option<&Partition>) -> Result<Vec<TokenRecord>, ReadError> {
        out_of_reach()
    }

    async fn tokens_present(&self, _: &[TokenId]) -> Result<Vec<TokenId>, ReadError> {
        out_of_reach()
    }

    async fn remove_token(&self, _: TokenId) -> Result<bool, ReadError> {
        out_of_reach()
    }

    async fn counted(&self, _: &str, _: Timestamp) -> Result<u64, ReadError> {
        out_of_reach()
    }

    async fn forget_counts(&self, _: Timestamp) -> Result<u64, ReadError> {
        out_of_reach()
    }

    async fn remove_counts(&self, _: &str) -> Result<(), ReadError> {
        out_of_reach()
    }
}

#[derive(Default)]
struct Memory(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    tokens: Vec<TokenRecord>,
    projects: Vec<ProjectRecord>,
    workspaces: Vec<WorkspaceRecord>,
    profiles: Vec<(Partition, AgentProfile)>,
}

impl Memory {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Tokens for Memory {
    async fn put_token(&self, token: &TokenRecord) -> Result<(), ReadError> {
        let mut tables = self.tables();
        let is_there = |parent| tables.tokens.iter().any(|known| known.token_id == parent);
        if !token.parent.is_none_or(is_there) {
            return Err(ReadError { doing: "keep the token", source: "its parent is not there".into() });
        }
        tables.tokens.push(token.clone());
        Ok(())
    }

    async fn token(&self, hash: &str) -> Result<Option<TokenRecord>, ReadError> {
        Ok(self.tables().tokens.iter().find(|token| token.hash == hash).cloned())
    }

    async fn tokens(&self, partition: Option<&Partition>) -> Result<Vec<TokenRecord>, ReadError> {
        let tables = self.tables();
        let wanted = tables.tokens.iter().filter(|token| partition.is_none_or(|p| token.partition == *p));
        Ok(wanted.cloned().collect())
    }

    async fn tokens_present(&self, ids: &[TokenId]) -> Result<Vec<TokenId>, ReadError> {
        let tables = self.tables();
        let all = tables.tokens.iter().map(|token| token.token_id);
        Ok(all.filter(|token| ids.contains(token)).collect())
    }

    async fn remove_token(&self, id: TokenId) -> Result<bool, ReadError> {
        let mut tables = self.tables();
        let before = tables.tokens.len();
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            gone.extend(tables.tokens.iter().filter(|one| one.parent == Some(id)).map(|one| one.token_id));
            tables.tokens.retain(|token| token.token_id != id);
        }
        Ok(tables.tokens.len() < before)
    }

    /// Nothing is sent here.
    async fn counted(&self, _: &str, _: Timestamp) -> Result<u64, ReadError> {
        Ok(0)
    }

    async fn forget_counts(&self, _: Timestamp) -> Result<u64, ReadError> {
        Ok(0)
    }

    async fn remove_counts(&self, _: &str) -> Result<(), ReadError> {
        Ok(())
    }
}

#[async_trait]
impl Projects for Memory {
    async fn put_project(&self, project: &ProjectRecord) -> Result<ProjectRecord, ReadError> {
        let mut tables = self.tables();
        let same =
            |known: &&ProjectRecord| known.partition == project.partition && known.name == project.name;
        if let Some(known) = tables.projects.iter().find(same) {
            return Ok(known.clone());
        }
        tables.projects.push(project.clone());
        Ok(project.clone())
    }

    async fn project(&self, project: ProjectId) -> Result<Option<ProjectRecord>, ReadError> {
        Ok(self.tables().projects.iter().find(|known| known.project_id == project).cloned())
    }

    async fn projects(&self, partition: Option<&Partition>) -> Result<Vec<ProjectRecord>, ReadError> {
        let tables = self.tables();
        let wanted = tables.projects.iter().filter(|known| partition.is_none_or(|p| known.partition == *p));
        Ok(wanted.cloned().collect())
    }

    async fn make_workspace(
        &self,
        wanted: &WorkspaceRecord,
        first_uid: u32,
    ) -> Result<WorkspaceRecord, ReadError> {
        let mut tables = self.tables();
        let taken: Vec<u32> = tables.workspaces.iter().map(|known| known.uid).collect();
        let uid = (first_uid..).find(|uid| !taken.contains(uid)).unwrap_or(first_uid);
        tables.workspaces.push(WorkspaceRecord { uid, ..wanted.clone() });
        Ok(WorkspaceRecord { uid, ..wanted.clone() })
    }

    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRecord>, ReadError> {
        Ok(self.tables().workspaces.iter().find(|known| known.workspace_id == workspace).cloned())
    }

    async fn workspaces(&self, project: ProjectId) -> Result<Vec<WorkspaceRecord>, ReadError> {
        let tables = self.tables();
        Ok(tables.workspaces.iter().filter(|known| known.project_id == project).cloned().collect())
    }

    async fn remove_workspace(&self, workspace: WorkspaceId) -> Result<bool, ReadError> {
        let mut tables = self.tables();
        let before = tables.workspaces.len();
        tables.workspaces.retain(|known| known.workspace_id != workspace);
        Ok(tables.workspaces.len() < before)
    }
}

#[async_trait]
impl Profiles for Memory {
    async fn profiles(&self, partition: &Partition) -> Result<Vec<AgentProfile>, ReadError> {
        let tables = self.tables();
        let wanted = tables.profiles.iter().filter(|(known, _)| known == partition);
        let mut profiles: Vec<_> = wanted.map(|(_, profile)| profile.clone()).collect();
        profiles.sort_by(|one, two| (&one.id, one.project_id).cmp(&(&two.id, two.project_id)));
        Ok(profiles)
    }

    async fn profiles_in(
        &self,
        partition: &Partition,
        project: ProjectId,
    ) -> Result<Vec<AgentProfile>, ReadError> {
        let mut all = self.profiles(partition).await?;
        all.retain(|profile| profile.project_id.is_none_or(|owner| owner == project));
        Ok(all)
    }

    async fn profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<Option<AgentProfile>, ReadError> {
        let all = self.profiles(partition).await?;
        Ok(all.into_iter().find(|profile| profile.id == *id && profile.project_id == project))
    }

    async fn put_profile(&self, partition: &Partition, profile: &AgentProfile) -> Result<(), ReadError> {
        self.remove_profile(partition, profile.project_id, &profile.id).await?;
        self.tables().profiles.push((partition.clone(), profile.clone()));
        Ok(())
    }

    async fn remove_profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<bool, ReadError> {
        let mut tables = self.tables();
        let before = tables.profiles.len();
        let is_it = |profile: &AgentProfile| profile.id == *id && profile.project_id == project;
        tables.profiles.retain(|(known, profile)| known != partition || !is_it(profile));
        Ok(tables.profiles.len() < before)
    }
}
