//! Leases.

use std::time::Duration;

use async_trait::async_trait;
use warren_domain::{Fence, NodeId, SessionId, Timestamp};
use warren_store::{AcquireError, Granted, Leases, ReadError, UPKEEP};

use crate::Memory;

#[async_trait]
impl Leases for Memory {
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        lasts: Duration,
    ) -> Result<Granted, AcquireError> {
        let now = self.env.now();
        let until = after(now, lasts);
        let mut state = self.state();
        if session != UPKEEP && !state.sessions.contains_key(&session) {
            return Err(AcquireError::NoSession(session));
        }
        let lease = state.leases.entry(session).or_default();
        match &lease.holder {
            Some((holder, until)) if holder != node && *until > now => {
                return Err(AcquireError::Held { session, holder: holder.clone(), until: *until });
            }
            _ => {}
        }
        lease.fence = lease.fence.next();
        lease.holder = Some((node.clone(), until));
        Ok(Granted { fence: lease.fence, until })
    }

    async fn renew(&self, node: &NodeId, lasts: Duration) -> Result<Vec<SessionId>, ReadError> {
        let until = after(self.env.now(), lasts);
        let mut renewed = Vec::new();
        for (session, lease) in &mut self.state().leases {
            if let Some((holder, held_until)) = &mut lease.holder
                && holder == node
            {
                *held_until = until;
                renewed.push(*session);
            }
        }
        Ok(renewed)
    }

    async fn holder(&self, session: SessionId) -> Result<Option<NodeId>, ReadError> {
        let (state, now) = (self.state(), self.env.now());
        let holder = state.leases.get(&session).and_then(|lease| lease.holder.as_ref());
        Ok(holder.filter(|(_, until)| *until > now).map(|(holder, _)| holder.clone()))
    }

    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError> {
        if let Some(lease) = self.state().leases.get_mut(&session)
            && lease.fence == fence
            && lease.holder.as_ref().is_some_and(|(holder, _)| holder == node)
        {
            lease.holder = None;
        }
        Ok(())
    }

    async fn storage(&self) -> Result<Option<String>, ReadError> {
        Ok(self.state().storage.clone())
    }

    async fn claim_storage(&self, storage: &str) -> Result<String, ReadError> {
        Ok(self.state().storage.get_or_insert_with(|| storage.to_owned()).clone())
    }
}

fn after(now: Timestamp, lasts: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX))
}
