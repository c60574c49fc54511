//! Leases.

use async_trait::async_trait;
use warren_domain::{Fence, NodeId, SessionId, Timestamp};
use warren_store::{AcquireError, Granted, Leases, ReadError};

use crate::Memory;

#[async_trait]
impl Leases for Memory {
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Granted, AcquireError> {
        let mut state = self.state();
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

    async fn renew(&self, node: &NodeId, until: Timestamp) -> Result<Vec<SessionId>, ReadError> {
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

    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError> {
        if let Some(lease) = self.state().leases.get_mut(&session)
            && lease.fence == fence
            && lease.holder.as_ref().is_some_and(|(holder, _)| holder == node)
        {
            lease.holder = None;
        }
        Ok(())
    }
}
