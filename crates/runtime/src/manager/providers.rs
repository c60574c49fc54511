//! Who answers model calls.

use async_trait::async_trait;

use super::SessionManager;
use crate::api::{ModelCatalogue, ModelProviders, ProviderSummary, ProviderTest, ProviderWish, SessionError};

#[async_trait]
impl ModelProviders for SessionManager {
    async fn provider_list(&self) -> Result<Vec<ProviderSummary>, SessionError> {
        self.shared.providers.list().await
    }

    async fn provider_set(
        &self,
        provider: &str,
        wanted: ProviderWish,
    ) -> Result<ProviderSummary, SessionError> {
        self.shared.providers.set(provider, wanted).await
    }

    async fn provider_unset(&self, provider: &str) -> Result<(), SessionError> {
        self.shared.providers.unset(provider).await
    }

    async fn provider_test(&self, provider: &str) -> Result<ProviderTest, SessionError> {
        self.shared.providers.test(&self.shared.parts.models, provider).await
    }

    async fn model_list(&self) -> ModelCatalogue {
        self.shared.providers.catalogue(&self.shared.parts.models).await
    }
}
