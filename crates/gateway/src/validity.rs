//! How long a token stays good. A request is over in a moment; a stream is not, and holds a [`Validity`] to end with.
//!
//! What is revoked here ends at once. What is revoked on another server that shares the records, and what expires, ends
//! within a second: [`Gateway::watch_tokens`] looks that often, and only while something is held.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::Instant,
};
use warren_domain::{Timestamp, TokenId};
use warren_store::ReadError;

use crate::{Gateway, Identity};

/// Between two looks at the tokens that are held.
const LOOK: Duration = Duration::from_secs(1);
/// A token that could not be looked up for this long is not believed any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a token is not good any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// Somebody revoked it, or the one that it was made from.
    #[error("the token has been revoked")]
    Revoked,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// For a long time nobody could say whether it was still good.
    #[error("the token could not be checked")]
    Unchecked,
}

/// That a token is good, for as long as it is. A cheap clone.
#[derive(Debug, Clone)]
pub struct Validity(Arc<Held>);

#[derive(Debug)]
struct Held {
    expires_at: Option<Timestamp>,
    ended: watch::Sender<Option<Ended>>,
}

/// The tokens that something holds, each once.
#[derive(Default)]
pub(crate) struct Watched {
    held: Mutex<HashMap<TokenId, Weak<Held>>>,
    /// There is something to look at again.
    came: Notify,
}

impl Validity {
    /// Why the token is not good any more, if it is not.
    #[must_use]
    pub fn has_ended(&self) -> Option<Ended> {
        *self.0.ended.borrow()
    }

    /// Waits until the token is not good any more.
    pub async fn ended(self) -> Ended {
        let mut ended = self.0.ended.subscribe();
        loop {
            if let Some(why) = *ended.borrow_and_update() {
                return why;
            }
            // The sender lives as long as `self`.
            if ended.changed().await.is_err() {
                return Ended::Unchecked;
            }
        }
    }
}

impl Held {
    fn end(&self, why: Ended) {
        // The first reason stays.
        self.ended.send_if_modified(|ended| ended.is_none() && ended.replace(why).is_none());
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

impl Watched {
    fn hold(&self, token: TokenId, expires_at: Option<Timestamp>) -> Validity {
        let mut held = self.lock();
        // One that has ended is not handed out again: whoever comes now was let in by what the store says now.
        let known = held.get(&token).and_then(Weak::upgrade).filter(|held| held.ended.borrow().is_none());
        if let Some(known) = known {
            return Validity(known);
        }
        let new = Arc::new(Held { expires_at, ended: watch::Sender::new(None) });
        held.insert(token, Arc::downgrade(&new));
        self.came.notify_one();
        Validity(new)
    }

    /// Those that are still held and still good; the others are forgotten.
    fn live(&self) -> Vec<(TokenId, Arc<Held>)> {
        let mut live = Vec::new();
        self.lock().retain(|token, held| match held.upgrade() {
            Some(held) if held.ended.borrow().is_none() => {
                live.push((*token, held));
                true
            }
            _ => false,
        });
        live
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TokenId, Weak<Held>>> {
        // Every critical section leaves the map whole, so a panic elsewhere does not spoil it.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// What a request of this identity holds if it goes on for longer than a moment.
    #[must_use]
    pub fn validity(&self, identity: &Identity) -> Validity {
        self.watched.hold(identity.token_id, identity.expires_at)
    }

    /// Ends what holds a token that expired, or that was revoked wherever that was. Runs until it is dropped.
    pub async fn watch_tokens(&self) -> Infallible {
        let mut believed = Instant::now();
        loop {
            if self.watched.live().is_empty() {
                self.watched.came.notified().await;
                believed = Instant::now();
            }
            tokio::time::sleep(self.next_look()).await;
            match self.recheck().await {
                Ok(()) => believed = Instant::now(),
                Err(error) if believed.elapsed() < PATIENCE => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "tokens cannot be checked");
                }
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "tokens cannot be checked: what holds them ends"
                    );
                    self.watched.live().iter().for_each(|(_, held)| held.end(Ended::Unchecked));
                }
            }
        }
    }

    /// Looks at every token that is held, now.
    pub(crate) async fn recheck(&self) -> Result<(), ReadError> {
        let now = self.env.now();
        let (over, live): (Vec<_>, Vec<_>) =
            self.watched.live().into_iter().partition(|(_, held)| held.is_over(now));
        over.iter().for_each(|(_, held)| held.end(Ended::Expired));
        if live.is_empty() {
            return Ok(());
        }
        let asked: Vec<_> = live.iter().map(|(token, _)| *token).collect();
        let found = self.records.tokens.tokens_present(&asked).await?;
        let gone: Vec<_> = live.iter().filter(|(token, _)| !found.contains(token)).collect();
        if !gone.is_empty() {
            // Perhaps another server revoked it: then the cache does not know yet.
            self.cache.revoke();
        }
        gone.iter().for_each(|(_, held)| held.end(Ended::Revoked));
        Ok(())
    }

    /// Until a token that is held expires, if that is soon.
    fn next_look(&self) -> Duration {
        let now = self.env.now();
        let live = self.watched.live();
        let soonest = live.iter().filter_map(|(_, held)| held.expires_at).min();
        let left = soonest.map(|at| u64::try_from(at.as_millis() - now.as_millis()).unwrap_or(0));
        left.map_or(LOOK, |left| Duration::from_millis(left).min(LOOK))
    }
}

#[cfg(test)]
mod tests;
