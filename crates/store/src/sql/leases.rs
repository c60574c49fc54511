//! Leases. They live in the row that commits lock, so that taking one over and committing never cross.
//!
//! Their times are the database's: several servers share one, and their own clocks may be far apart.

use std::time::Duration;

use async_trait::async_trait;
use warren_domain::{Fence, NodeId, SessionId, Timestamp};

use super::{
    Sql,
    args::args,
    queries::{
        LEASE_ACQUIRE, LEASE_CURRENT, LEASE_HOLDER, LEASE_MAKE, LEASE_RELEASE, LEASE_RENEW, STORAGE_CLAIM,
        STORAGE_GET,
    },
    while_doing,
};
use crate::{AcquireError, Granted, Leases, ReadError, UPKEEP};

#[async_trait]
impl Leases for Sql {
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        lasts: Duration,
    ) -> Result<Granted, AcquireError> {
        let failed = |source| AcquireError::Backend { session, source: Box::new(source) };
        loop {
            if let Some(granted) = self.take_lease(session, node, lasts).await.map_err(failed)? {
                return Ok(granted);
            }
            match self.last_holder(session).await.map_err(failed)? {
                Some((holder, until)) if !holder.as_str().is_empty() => {
                    return Err(AcquireError::Held { session, holder, until });
                }
                // Given back between the two statements: it can be had.
                Some(_) => {}
                None if session == UPKEEP => {
                    self.db.write(LEASE_MAKE, args![session]).await.map_err(failed)?;
                }
                None => return Err(AcquireError::NoSession(session)),
            }
        }
    }

    async fn renew(&self, node: &NodeId, lasts: Duration) -> Result<Vec<SessionId>, ReadError> {
        let rows = self.db.write_returning(LEASE_RENEW, args![node, millis(lasts)]).await;
        let held = rows.and_then(|rows| rows.iter().map(|row| row.id(0)).collect::<Result<Vec<_>, _>>());
        let mut held = held.map_err(while_doing("renew the leases"))?;
        held.sort_unstable();
        Ok(held)
    }

    async fn holder(&self, session: SessionId) -> Result<Option<NodeId>, ReadError> {
        let row = self.db.read_one(LEASE_CURRENT, args![session]).await;
        row.and_then(|row| row.map(|row| row.text(0).map(NodeId)).transpose())
            .map_err(while_doing("read who holds the lease"))
    }

    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError> {
        let released = self.db.write(LEASE_RELEASE, args![session, node, fence]).await;
        released.map(drop).map_err(while_doing("release the lease"))
    }

    async fn storage(&self) -> Result<Option<String>, ReadError> {
        let row = self.db.read_one(STORAGE_GET, args![]).await;
        row.and_then(|row| row.map(|row| row.text(0)).transpose())
            .map_err(while_doing("read which blob storage was claimed"))
    }

    async fn claim_storage(&self, storage: &str) -> Result<String, ReadError> {
        let claimed = self.db.write(STORAGE_CLAIM, args![storage]).await;
        claimed.map_err(while_doing("claim the blob storage"))?;
        // Whoever was first.
        Ok(self.storage().await?.unwrap_or_else(|| storage.to_owned()))
    }
}

impl Sql {
    async fn take_lease(
        &self,
        session: SessionId,
        node: &NodeId,
        lasts: Duration,
    ) -> Result<Option<Granted>, sqlx::Error> {
        let rows = self.db.write_returning(LEASE_ACQUIRE, args![session, node, millis(lasts)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Granted { fence: Fence(row.number(0)?), until: row.time(1)? }))
    }

    /// As the session's row has it, with an empty name if nobody holds it; `None` if there is no such session.
    async fn last_holder(&self, session: SessionId) -> Result<Option<(NodeId, Timestamp)>, sqlx::Error> {
        let row = self.db.read_one(LEASE_HOLDER, args![session]).await?;
        row.map(|row| Ok((NodeId(row.text(0)?), row.time(1)?))).transpose()
    }
}

fn millis(lasts: Duration) -> u64 {
    // A lease that long never ends, and the sum with the time must not overflow.
    u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX).min(1 << 52)
}
