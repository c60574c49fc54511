//! Profiles, tokens and model providers.

use async_trait::async_trait;
use warren_domain::{AgentProfile, Partition, ProfileId, ProjectId, Timestamp, TokenId};
use warren_store::{Profiles, ProviderRecord, Providers, ReadError, TokenRecord, Tokens};

use crate::{Memory, Refusal};

#[async_trait]
impl Profiles for Memory {
    async fn profiles(&self, partition: &Partition) -> Result<Vec<AgentProfile>, ReadError> {
        let state = self.state();
        let ours = state.profiles.iter().filter(|((owner, ..), _)| owner == partition);
        Ok(ours.map(|(_, profile)| profile.clone()).collect())
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
        Ok(self.state().profiles.get(&(partition.clone(), id.clone(), project)).cloned())
    }

    async fn put_profile(&self, partition: &Partition, profile: &AgentProfile) -> Result<(), ReadError> {
        let key = (partition.clone(), profile.id.clone(), profile.project_id);
        self.state().profiles.insert(key, profile.clone());
        Ok(())
    }

    async fn remove_profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<bool, ReadError> {
        Ok(self.state().profiles.remove(&(partition.clone(), id.clone(), project)).is_some())
    }
}

#[async_trait]
impl Tokens for Memory {
    async fn put_token(&self, token: &TokenRecord) -> Result<(), ReadError> {
        let mut state = self.state();
        let taken = |kept: &TokenRecord| kept.hash == token.hash || kept.token_id == token.token_id;
        if state.tokens.values().any(taken) {
            return Err(Refusal::Duplicate.while_doing("keep the token"));
        }
        if token.parent.is_some_and(|parent| !state.tokens.contains_key(&parent)) {
            return Err(Refusal::Absent.while_doing("keep the token"));
        }
        state.tokens.insert(token.token_id, token.clone());
        Ok(())
    }

    async fn token(&self, hash: &str) -> Result<Option<TokenRecord>, ReadError> {
        Ok(self.state().tokens.values().find(|token| token.hash == hash).cloned())
    }

    async fn tokens(&self, partition: Option<&Partition>) -> Result<Vec<TokenRecord>, ReadError> {
        let state = self.state();
        let ours = state.tokens.values().filter(|token| partition.is_none_or(|p| *p == token.partition));
        let mut tokens: Vec<_> = ours.cloned().collect();
        tokens.sort_by_key(|token| (token.created_at, token.token_id));
        Ok(tokens)
    }

    async fn tokens_present(&self, ids: &[TokenId]) -> Result<Vec<TokenId>, ReadError> {
        let state = self.state();
        Ok(ids.iter().filter(|id| state.tokens.contains_key(id)).copied().collect())
    }

    async fn remove_token(&self, id: TokenId) -> Result<bool, ReadError> {
        let mut state = self.state();
        let was_there = state.tokens.contains_key(&id);
        let mut ended = vec![id];
        while let Some(id) = ended.pop() {
            state.tokens.remove(&id);
            ended.extend(
                state.tokens.values().filter(|token| token.parent == Some(id)).map(|token| token.token_id),
            );
        }
        Ok(was_there)
    }

    async fn counted(&self, account: &str, since: Timestamp) -> Result<u64, ReadError> {
        Ok(self.state().counts.get(&(account.to_owned(), since)).copied().unwrap_or(0))
    }

    async fn forget_counts(&self, before: Timestamp) -> Result<u64, ReadError> {
        let counts = &mut self.state().counts;
        let n_before = counts.len();
        counts.retain(|(_, since), _| *since == Timestamp::default() || *since >= before);
        Ok((n_before - counts.len()) as u64)
    }

    async fn remove_counts(&self, account: &str) -> Result<(), ReadError> {
        self.state().counts.retain(|(counted, _), _| counted != account);
        Ok(())
    }
}

#[async_trait]
impl Providers for Memory {
    async fn providers(&self) -> Result<Vec<ProviderRecord>, ReadError> {
        Ok(self.state().providers.values().cloned().collect())
    }

    async fn put_provider(&self, record: &ProviderRecord) -> Result<(), ReadError> {
        self.state().providers.insert(record.provider.clone(), record.clone());
        Ok(())
    }

    async fn remove_provider(&self, provider: &str) -> Result<bool, ReadError> {
        Ok(self.state().providers.remove(provider).is_some())
    }
}
