//! Tokens, found by hash.

use async_trait::async_trait;
use warren_domain::{Partition, Timestamp, TokenId};

use super::{
    Sql,
    args::args,
    queries::{
        COUNT_FORGET, COUNT_GET, COUNT_REMOVE, TOKEN_GET, TOKEN_LIST, TOKEN_PRESENT, TOKEN_PUT, TOKEN_REMOVE,
    },
    row::{Row, to_json},
    while_doing,
};
use crate::{ReadError, TokenRecord, Tokens};

#[async_trait]
impl Tokens for Sql {
    async fn put_token(&self, token: &TokenRecord) -> Result<(), ReadError> {
        let args = args![
            token.token_id,
            &token.partition,
            &token.hash,
            &token.scope,
            &token.name,
            token.created_at,
            token.expires_at,
            token.owner.clone(),
            token.plan.clone(),
            token.parent,
        ];
        self.db.write(TOKEN_PUT, args).await.map(drop).map_err(while_doing("keep the token"))
    }

    async fn token(&self, hash: &str) -> Result<Option<TokenRecord>, ReadError> {
        let row = self.db.read_one(TOKEN_GET, args![hash]).await;
        row.and_then(|row| row.as_ref().map(read_token).transpose()).map_err(while_doing("read the token"))
    }

    async fn tokens(&self, partition: Option<&Partition>) -> Result<Vec<TokenRecord>, ReadError> {
        let rows = self.db.read(TOKEN_LIST, args![partition]).await;
        rows.and_then(|rows| rows.iter().map(read_token).collect()).map_err(while_doing("list the tokens"))
    }

    async fn tokens_present(&self, ids: &[TokenId]) -> Result<Vec<TokenId>, ReadError> {
        let read = async {
            let rows = self.db.read(TOKEN_PRESENT, args![to_json(ids)?]).await?;
            rows.iter().map(|row| row.id("token_id")).collect::<Result<_, sqlx::Error>>()
        };
        read.await.map_err(while_doing("look for tokens"))
    }

    async fn remove_token(&self, id: TokenId) -> Result<bool, ReadError> {
        let removed = self.db.write(TOKEN_REMOVE, args![id]).await;
        removed.map(|n| n > 0).map_err(while_doing("remove the token"))
    }

    async fn counted(&self, account: &str, since: Timestamp) -> Result<u64, ReadError> {
        let row = self.db.read_one(COUNT_GET, args![account, since]).await;
        let used = row.and_then(|row| row.as_ref().map_or(Ok(0), |row| row.number("used")));
        used.map_err(while_doing("read how many messages were sent"))
    }

    async fn forget_counts(&self, before: Timestamp) -> Result<u64, ReadError> {
        let removed = self.db.write(COUNT_FORGET, args![before]).await;
        removed.map_err(while_doing("remove the message counts of past windows"))
    }

    async fn remove_counts(&self, account: &str) -> Result<(), ReadError> {
        let removed = self.db.write(COUNT_REMOVE, args![account]).await;
        removed.map(drop).map_err(while_doing("remove the message counts of an account"))
    }
}

fn read_token(row: &Row) -> Result<TokenRecord, sqlx::Error> {
    Ok(TokenRecord {
        token_id: row.id("token_id")?,
        partition: Partition(row.text("partition")?),
        hash: row.text("hash")?,
        scope: row.text("scope")?,
        name: row.text("name")?,
        created_at: row.time("created_at")?,
        expires_at: row.maybe_time("expires_at")?,
        owner: row.maybe_text("owner")?,
        plan: row.maybe_text("plan")?,
        parent: row.maybe_id("parent")?,
    })
}
