//! Tokens: whose a secret is, and making and revoking them.

use warren_domain::{Partition, Timestamp, TokenId};
use warren_store::TokenRecord;

use crate::{
    AuthenticateError, Gateway, Identity, Plan, RequestError, Scope,
    gateway::OWNER,
    plans::account,
    secret::{self, Secret},
};

/// A token as its administrator sees it: neither its secret nor the hash of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its public name.
    pub token_id: TokenId,
    /// A name for people.
    pub name: String,
    /// What it may do, as it is written.
    pub scope: String,
    /// Whose it is, if that was said.
    pub owner: Option<String>,
    /// How much its owner may send, if that was said.
    pub plan: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// The token that it was made from, and ends with.
    pub parent: Option<TokenId>,
}

/// A token to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// A name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// Whose it is; `None`: it stands for itself.
    pub owner: Option<String>,
    /// How much its owner may send; `None`: what its scope is given.
    pub plan: Option<Plan>,
}

impl Gateway {
    /// Whose secret it is.
    ///
    /// # Errors
    /// When it is nobody's, or the tokens cannot be read.
    pub async fn authenticate(&self, secret: &str) -> Result<Identity, AuthenticateError> {
        if !secret::is_plausible(secret) {
            return Err(AuthenticateError::Unknown);
        }
        let now = self.env.now();
        let token = self.token_by_hash(&secret::hash(secret), now).await?;
        if is_expired(&token, now) {
            return Err(AuthenticateError::Expired);
        }
        // A scope that this version does not know gives no rights at all.
        let scope = token.scope.parse().map_err(|_| AuthenticateError::Unknown)?;
        // Nor does a plan that it does not know: nothing may be sent then.
        let plan = token.plan.as_deref().map(str::parse).transpose();
        let plan = plan.map_err(|_: RequestError| AuthenticateError::Unknown)?;
        let owner = token.owner.unwrap_or_else(|| token.token_id.to_string());
        let TokenRecord { token_id, name, partition, expires_at, .. } = token;
        Ok(Identity { token_id, name, partition, scope, owner, plan, expires_at })
    }

    /// Whether a browser's call that changes something comes from a page of ours.
    #[must_use]
    pub fn csrf_matches(&self, secret: &str, shown: &str) -> bool {
        secret::csrf_matches(secret, shown)
    }

    /// Makes a token. The caller has been authorised as an administrator of `identity`'s partition.
    ///
    /// # Errors
    /// When the name is empty, the time is past or the project is not there.
    pub async fn token_create(
        &self,
        identity: &Identity,
        new: NewToken,
    ) -> Result<(Secret, Token), RequestError> {
        if new.name.trim().is_empty() || new.name.len() > 200 || new.name.contains('\0') {
            return Err(RequestError::Invalid {
                message: "a token's name must have 1 to 200 bytes and no NUL".to_owned(),
                hint: "name it after its user, so that you know later which one to revoke",
            });
        }
        if new.owner.as_ref().is_some_and(|owner| owner.contains('\0')) {
            return Err(RequestError::Invalid {
                message: "`owner` must not contain NUL".to_owned(),
                hint: "name the person or service whose token it is",
            });
        }
        if new.name == OWNER || new.name.starts_with(&format!("{OWNER}@")) {
            return Err(RequestError::Invalid {
                message: format!("the name `{}` is reserved for the server", new.name),
                hint: "name it after its user, so that you know later which one to revoke",
            });
        }
        if new.expires_at.is_some_and(|at| at <= self.env.now()) {
            return Err(RequestError::Invalid {
                message: "`expiresAt` is in the past".to_owned(),
                hint: "leave it out for a token that does not expire",
            });
        }
        if let Some(project) = new.scope.project() {
            self.project_get(identity, project).await?;
        }
        self.token_mint(&identity.partition, new, None).await
    }

    /// All tokens of the identity's partition, oldest first, without those that have expired.
    ///
    /// # Errors
    /// When the tokens cannot be read.
    pub async fn token_list(&self, identity: &Identity) -> Result<Vec<Token>, RequestError> {
        let now = self.env.now();
        let tokens = self.tokens_of(&identity.partition).await?;
        Ok(tokens.into_iter().filter(|token| !is_expired(token, now)).map(Token::from).collect())
    }

    /// One token.
    ///
    /// # Errors
    /// When there is none of that name in the identity's partition.
    pub async fn token_get(&self, identity: &Identity, id: TokenId) -> Result<Token, RequestError> {
        let tokens = self.token_list(identity).await?;
        tokens
            .into_iter()
            .find(|token| token.token_id == id)
            .ok_or_else(|| RequestError::NotFound { kind: "token", id: id.to_string() })
    }

    /// Revokes a token and all that were made from it: on this node at once, on others within seconds;
    /// streams that are open with one of them end within a second everywhere.
    ///
    /// # Errors
    /// When there is none of that name in the identity's partition.
    pub async fn token_delete(&self, identity: &Identity, id: TokenId) -> Result<(), RequestError> {
        self.token_get(identity, id).await?;
        self.token_remove(&identity.partition, id).await
    }

    pub(crate) async fn token_mint(
        &self,
        partition: &Partition,
        new: NewToken,
        parent: Option<TokenId>,
    ) -> Result<(Secret, Token), RequestError> {
        let secret = Secret::generate(&self.env).map_err(RequestError::Randomness)?;
        let token = TokenRecord {
            token_id: TokenId(self.env.uuid()),
            partition: partition.clone(),
            hash: secret::hash(secret.expose()),
            scope: new.scope.to_string(),
            name: new.name,
            created_at: self.env.now(),
            expires_at: new.expires_at,
            owner: new.owner,
            plan: new.plan.map(|plan| plan.to_string()),
            parent,
        };
        self.records.tokens.put_token(&token).await.map_err(RequestError::Backend)?;
        tracing::info!(token = %token.token_id, scope = %token.scope, "token made");
        Ok((secret, Token::from(token)))
    }

    pub(crate) async fn token_remove(&self, partition: &Partition, id: TokenId) -> Result<(), RequestError> {
        self.records.tokens.remove_token(id).await.map_err(RequestError::Backend)?;
        self.cache.revoke();
        // A token that stands for itself is its own account. What a named owner has sent stays: another token may be theirs.
        let account = account(partition, &id.to_string());
        self.records.tokens.remove_counts(&account).await.map_err(RequestError::Backend)?;
        // What holds it ends before this is answered. It is removed all the same if that cannot be looked up: then what
        // holds it ends when it can.
        if let Err(error) = self.recheck().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "tokens cannot be checked");
        }
        tracing::info!(token = %id, "token revoked");
        Ok(())
    }

    /// Removes tokens that have expired; they stopped working by themselves before.
    pub(crate) async fn tokens_sweep(&self, partition: &Partition) -> Result<(), RequestError> {
        let now = self.env.now();
        for token in self.tokens_of(partition).await?.iter().filter(|token| is_expired(token, now)) {
            self.token_remove(partition, token.token_id).await?;
        }
        Ok(())
    }

    pub(crate) async fn tokens_revoke_named(
        &self,
        partition: &Partition,
        name: &str,
    ) -> Result<(), RequestError> {
        for token in self.tokens_of(partition).await?.iter().filter(|token| token.name == name) {
            self.token_remove(partition, token.token_id).await?;
        }
        Ok(())
    }

    pub(crate) async fn tokens_of(&self, partition: &Partition) -> Result<Vec<TokenRecord>, RequestError> {
        self.records.tokens.tokens(Some(partition)).await.map_err(RequestError::Backend)
    }

    async fn token_by_hash(&self, hash: &str, now: Timestamp) -> Result<TokenRecord, AuthenticateError> {
        let look_up = match self.cache.get(hash, now) {
            Ok(token) => return Ok(token),
            Err(look_up) => look_up,
        };
        let found = self.records.tokens.token(hash).await.map_err(AuthenticateError::Backend)?;
        let token = found.ok_or(AuthenticateError::Unknown)?;
        self.cache.put(look_up, &token, now);
        Ok(token)
    }
}

impl From<TokenRecord> for Token {
    fn from(record: TokenRecord) -> Self {
        Self {
            token_id: record.token_id,
            name: record.name,
            scope: record.scope,
            owner: record.owner,
            plan: record.plan,
            created_at: record.created_at,
            expires_at: record.expires_at,
            parent: record.parent,
        }
    }
}

fn is_expired(token: &TokenRecord, now: Timestamp) -> bool {
    token.expires_at.is_some_and(|at| at <= now)
}

#[cfg(test)]
mod tests;
