//! What was set for model providers.

use async_trait::async_trait;

use super::{
    Sql,
    args::args,
    queries::{PROVIDER_LIST, PROVIDER_PUT, PROVIDER_REMOVE},
    row::Row,
    while_doing,
};
use crate::{ProviderRecord, Providers, ReadError};

#[async_trait]
impl Providers for Sql {
    async fn providers(&self) -> Result<Vec<ProviderRecord>, ReadError> {
        let rows = self.db.read(PROVIDER_LIST, args![]).await;
        rows.and_then(|rows| rows.iter().map(read_provider).collect())
            .map_err(while_doing("read what was set for model providers"))
    }

    async fn put_provider(&self, record: &ProviderRecord) -> Result<(), ReadError> {
        let args =
            args![&record.provider, record.base_url.clone(), record.sealed_key.clone(), record.updated_at];
        let written = self.db.write(PROVIDER_PUT, args).await;
        written.map(drop).map_err(while_doing("keep what was set for a model provider"))
    }

    async fn remove_provider(&self, provider: &str) -> Result<bool, ReadError> {
        let removed = self.db.write(PROVIDER_REMOVE, args![provider]).await;
        removed.map(|n| n > 0).map_err(while_doing("remove what was set for a model provider"))
    }
}

fn read_provider(row: &Row) -> Result<ProviderRecord, sqlx::Error> {
    Ok(ProviderRecord {
        provider: row.text("provider")?,
        base_url: row.maybe_text("base_url")?,
        sealed_key: row.maybe_text("sealed_key")?,
        updated_at: row.time("updated_at")?,
    })
}
