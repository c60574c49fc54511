//! Signing a browser in: a link that works once, or a token, becomes another token that the browser keeps in a cookie.
//!
//! What is made from a token never outlives it: it expires no later, and is revoked with it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use warren_domain::{Partition, Timestamp, TokenId};

use crate::{
    Gateway, Identity, RequestError, Rights, Scope,
    gateway::OWNER,
    secret::{self, Secret},
    tokens::NewToken,
};

/// How long a link works.
pub const LINK_LIFETIME_MILLIS: i64 = 5 * 60 * 1000;
/// How long a browser stays signed in.
pub const SIGN_IN_LIFETIME_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;
/// More open links than this are somebody's mistake: the oldest stops working.
const MOST_OPEN_LINKS: usize = 64;

/// A link that works once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What the link carries.
    pub code: String,
    /// When it stops working.
    pub expires_at: Timestamp,
}

/// A browser that signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// Goes into a cookie that pages cannot read.
    pub secret: Secret,
    /// Goes into one that pages of ours can; calls that change something bring it back.
    pub csrf: String,
}

/// Codes of open links, by their hash. In memory only: a restart closes them.
#[derive(Default)]
pub(crate) struct Codes(Mutex<HashMap<String, OpenLink>>);

#[derive(Clone)]
struct OpenLink {
    partition: Partition,
    expires_at: Timestamp,
    /// The token that asked for it, and when that one expires; `None`: the server itself did, for its owner.
    made_from: Option<(TokenId, Option<Timestamp>)>,
}

impl Gateway {
    /// Makes a link for the owner of the server, as it is printed at the start.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn sign_in_link(&self) -> Result<Link, RequestError> {
        self.link_into(Partition::default_partition(), None)
    }

    /// Makes a link into the identity's partition. The caller has been authorised as an administrator.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn sign_in_link_for(&self, identity: &Identity) -> Result<Link, RequestError> {
        self.link_into(identity.partition.clone(), Some((identity.token_id, identity.expires_at)))
    }

    /// Uses a link up and signs the browser in, as an administrator.
    ///
    /// # Errors
    /// When the code is unknown, used or too old, or the token that it was made with has ended.
    pub async fn sign_in(&self, code: &str) -> Result<SignedIn, RequestError> {
        let now = self.env.now();
        let OpenLink { partition, made_from, .. } =
            self.codes.take(&secret::hash(code), now).ok_or(RequestError::SignInCode)?;
        self.tokens_sweep(&partition).await?;
        let parent = made_from.map(|(token, _)| token);
        if !self.is_there(&partition, parent).await? {
            return Err(RequestError::SignInCode);
        }
        let new = NewToken {
            name: "browser".to_owned(),
            scope: Scope::Admin(Rights::ReadWrite),
            expires_at: Some(sign_in_ends(now, made_from.and_then(|(_, expires_at)| expires_at))),
            owner: Some(OWNER.to_owned()),
            plan: None,
        };
        let (secret, _) = self.token_mint(&partition, new, parent).await?;
        Ok(SignedIn { csrf: secret.csrf(), secret })
    }

    /// Signs a browser in for somebody who showed a token: it may do what that token may, until it ends by itself or the
    /// token does. Shown a token that is a sign-in itself, it makes one that ends no later.
    ///
    /// # Errors
    /// When the token was revoked meanwhile, or the tokens cannot be written.
    pub async fn sign_in_as(&self, identity: &Identity) -> Result<SignedIn, RequestError> {
        self.tokens_sweep(&identity.partition).await?;
        if !self.is_there(&identity.partition, Some(identity.token_id)).await? {
            return Err(RequestError::Revoked);
        }
        let new = NewToken {
            name: identity.name.clone(),
            scope: identity.scope,
            expires_at: Some(sign_in_ends(self.env.now(), identity.expires_at)),
            owner: Some(identity.owner.clone()),
            plan: identity.plan,
        };
        let (secret, _) = self.token_mint(&identity.partition, new, Some(identity.token_id)).await?;
        Ok(SignedIn { csrf: secret.csrf(), secret })
    }

    /// Ends a sign-in: the token behind the cookie stops working.
    ///
    /// # Errors
    /// When the tokens cannot be written.
    pub async fn sign_out(&self, identity: &Identity) -> Result<(), RequestError> {
        self.token_remove(&identity.partition, identity.token_id).await
    }

    /// Whether a token has not been revoked, asking the store: another node may have done it a moment ago.
    async fn is_there(&self, partition: &Partition, token: Option<TokenId>) -> Result<bool, RequestError> {
        let Some(token) = token else { return Ok(true) };
        Ok(self.tokens_of(partition).await?.iter().any(|known| known.token_id == token))
    }

    fn link_into(
        &self,
        partition: Partition,
        made_from: Option<(TokenId, Option<Timestamp>)>,
    ) -> Result<Link, RequestError> {
        let code = secret::random_hex(&self.env).map_err(RequestError::Randomness)?;
        let expires_at = self.env.now().plus_millis(LINK_LIFETIME_MILLIS);
        self.codes.put(secret::hash(&code), OpenLink { partition, expires_at, made_from });
        Ok(Link { code, expires_at })
    }
}

impl Codes {
    fn put(&self, hash: String, link: OpenLink) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MOST_OPEN_LINKS {
            let oldest = open.iter().min_by_key(|(_, link)| link.expires_at).map(|(hash, _)| hash.clone());
            oldest.map(|hash| open.remove(&hash));
        }
        open.insert(hash, link);
    }

    /// Takes a code out, whether it is still good or not: it is never tried twice.
    fn take(&self, hash: &str, now: Timestamp) -> Option<OpenLink> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let link = open.remove(hash)?;
        (now < link.expires_at).then_some(link)
    }
}

/// When a sign-in made now from a token ends: in a month, or with the token if that is sooner.
fn sign_in_ends(now: Timestamp, parent_expires: Option<Timestamp>) -> Timestamp {
    let month = now.plus_millis(SIGN_IN_LIFETIME_MILLIS);
    parent_expires.map_or(month, |expires| expires.min(month))
}

#[cfg(test)]
mod tests;
