//! Leases. They live in the row that commits lock, so that taking one over and committing never cross.

use async_trait::async_trait;
use warren_domain::{Fence, NodeId, SessionId, Timestamp};

use super::{
    Sql,
    args::args,
    queries::{LEASE_ACQUIRE, LEASE_HOLDER, LEASE_RELEASE, LEASE_RENEW},
    while_doing,
};
use crate::{AcquireError, Granted, Leases, ReadError};

#[async_trait]
impl Leases for Sql {
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Granted, AcquireError> {
        let failed = |source| AcquireError::Backend { session, source: Box::new(source) };
        loop {
            if let Some(fence) = self.take_lease(session, node, now, until).await.map_err(failed)? {
                return Ok(Granted { fence, until });
            }
            // Given back, or erased, between the two statements: then there is no holder to name and it can be had.
            if let Some((holder, until)) = self.holder(session).await.map_err(failed)? {
                return Err(AcquireError::Held { session, holder, until });
            }
        }
    }

    async fn renew(&self, node: &NodeId, until: Timestamp) -> Result<Vec<SessionId>, ReadError> {
        let rows = self.db.write_returning(LEASE_RENEW, args![node, until]).await;
        let held = rows.and_then(|rows| rows.iter().map(|row| row.id(0)).collect::<Result<Vec<_>, _>>());
        let mut held = held.map_err(while_doing("renew the leases"))?;
        held.sort_unstable();
        Ok(held)
    }

    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError> {
        let released = self.db.write(LEASE_RELEASE, args![session, node, fence]).await;
        released.map(drop).map_err(while_doing("release the lease"))
    }
}

impl Sql {
    async fn take_lease(
        &self,
        session: SessionId,
        node: &NodeId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Fence>, sqlx::Error> {
        let rows = self.db.write_returning(LEASE_ACQUIRE, args![session, node, now, until]).await?;
        rows.first().map(|row| row.number(0).map(Fence)).transpose()
    }

    async fn holder(&self, session: SessionId) -> Result<Option<(NodeId, Timestamp)>, sqlx::Error> {
        let row = self.db.read_one(LEASE_HOLDER, args![session]).await?;
        let Some(row) = row else { return Ok(None) };
        let holder = row.text(0)?;
        let until = row.time(1)?;
        Ok((!holder.is_empty()).then_some((NodeId(holder), until)))
    }
}
