//! Signing a browser in: a link that works once becomes a token that the browser keeps in a cookie.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use warren_domain::{Partition, Timestamp};

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
}

impl Gateway {
    /// Makes a link for the owner of the server, as it is printed at the start.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn sign_in_link(&self) -> Result<Link, RequestError> {
        self.link_into(Partition::default_partition())
    }

    /// Makes a link into the identity's partition. The caller has been authorised as an administrator.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn sign_in_link_for(&self, identity: &Identity) -> Result<Link, RequestError> {
        self.link_into(identity.partition.clone())
    }

    /// Uses a link up and signs the browser in, as an administrator.
    ///
    /// # Errors
    /// When the code is unknown, used or too old.
    pub async fn sign_in(&self, code: &str) -> Result<SignedIn, RequestError> {
        let now = self.env.now();
        let partition = self.codes.take(&secret::hash(code), now).ok_or(RequestError::SignInCode)?;
        self.tokens_sweep(&partition).await?;
        let new = NewToken {
            name: "browser".to_owned(),
            scope: Scope::Admin(Rights::ReadWrite),
            expires_at: Some(now.plus_millis(SIGN_IN_LIFETIME_MILLIS)),
            owner: Some(OWNER.to_owned()),
            plan: None,
        };
        let (secret, _) = self.token_mint(&partition, new).await?;
        Ok(SignedIn { csrf: secret.csrf(), secret })
    }

    /// Signs a browser in for somebody who showed a token: it may do what that token may, until it ends by itself.
    ///
    /// # Errors
    /// When the tokens cannot be written.
    pub async fn sign_in_as(&self, identity: &Identity) -> Result<SignedIn, RequestError> {
        self.tokens_sweep(&identity.partition).await?;
        let new = NewToken {
            name: identity.name.clone(),
            scope: identity.scope,
            expires_at: Some(self.env.now().plus_millis(SIGN_IN_LIFETIME_MILLIS)),
            owner: Some(identity.owner.clone()),
            plan: identity.plan,
        };
        let (secret, _) = self.token_mint(&identity.partition, new).await?;
        Ok(SignedIn { csrf: secret.csrf(), secret })
    }

    /// Ends a sign-in: the token behind the cookie stops working.
    ///
    /// # Errors
    /// When the tokens cannot be written.
    pub async fn sign_out(&self, identity: &Identity) -> Result<(), RequestError> {
        self.token_remove(identity.token_id).await
    }

    fn link_into(&self, partition: Partition) -> Result<Link, RequestError> {
        let code = secret::random_hex(&self.env).map_err(RequestError::Randomness)?;
        let expires_at = self.env.now().plus_millis(LINK_LIFETIME_MILLIS);
        self.codes.put(secret::hash(&code), OpenLink { partition, expires_at });
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
    fn take(&self, hash: &str, now: Timestamp) -> Option<Partition> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let link = open.remove(hash)?;
        (now < link.expires_at).then_some(link.partition)
    }
}

#[cfg(test)]
mod tests;
