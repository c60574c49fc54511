//! Remembers for a moment whose token it was, so that not every request asks the store.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use warren_domain::Timestamp;
use warren_store::TokenRecord;

/// Another node may have revoked the token: no entry is believed longer than this.
const BELIEVED_MILLIS: i64 = 5_000;
/// More tokens than this in five seconds is not worth being clever about: the cache begins anew.
const MOST: usize = 1024;

/// Tokens by the hash of their secret.
#[derive(Default)]
pub(crate) struct Cache(Mutex<State>);

#[derive(Default)]
struct State {
    entries: HashMap<String, (TokenRecord, Timestamp)>,
    /// Grows with every revocation, so that a look-up that began before one cannot put the token back.
    revocations: u64,
}

/// A look-up that began: what it finds may be kept only if nothing was revoked since.
#[derive(Clone, Copy)]
pub(crate) struct LookUp(u64);

impl Cache {
    /// The token with this hash, or the ticket for putting in what the store says.
    pub(crate) fn get(&self, hash: &str, now: Timestamp) -> Result<TokenRecord, LookUp> {
        let state = self.lock();
        match state.entries.get(hash) {
            Some((token, until)) if now < *until => Ok(token.clone()),
            _ => Err(LookUp(state.revocations)),
        }
    }

    /// Keeps what the store said.
    pub(crate) fn put(&self, look_up: LookUp, token: &TokenRecord, now: Timestamp) {
        let mut state = self.lock();
        if state.revocations != look_up.0 {
            return;
        }
        if state.entries.len() >= MOST {
            state.entries.clear();
        }
        state.entries.insert(token.hash.clone(), (token.clone(), now.plus_millis(BELIEVED_MILLIS)));
    }

    /// Forgets all it knows: a token was revoked, and with it those that were made from it, which only the store can name.
    pub(crate) fn revoke(&self) {
        let mut state = self.lock();
        state.revocations += 1;
        state.entries.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Every critical section leaves the map whole, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;
    use warren_domain::{Partition, Timestamp, TokenId};
    use warren_store::TokenRecord;

    fn token() -> TokenRecord {
        TokenRecord {
            token_id: TokenId(uuid::Uuid::nil()),
            partition: Partition::default_partition(),
            hash: "h".to_owned(),
            scope: "admin".to_owned(),
            name: "n".to_owned(),
            created_at: Timestamp::default(),
            expires_at: None,
            owner: None,
            plan: None,
            parent: None,
        }
    }

    #[test]
    fn a_token_is_believed_for_five_seconds_only() {
        let cache = Cache::default();
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let look_up = cache.get("h", at(0)).expect_err("empty");
        cache.put(look_up, &token(), at(0));
        assert_eq!(cache.get("h", at(4)).ok(), Some(token()));
        assert_eq!(cache.get("h", at(5)).ok(), None);
    }

    #[test]
    fn a_look_up_that_overlaps_a_revocation_is_not_kept() {
        let cache = Cache::default();
        let look_up = cache.get("h", Timestamp::default()).expect_err("empty");
        cache.revoke();
        cache.put(look_up, &token(), Timestamp::default());
        assert_eq!(cache.get("h", Timestamp::default()).ok(), None);
    }
}
