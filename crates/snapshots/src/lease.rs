//! Who collects: one at a time, also where several servers share a store.
//!
//! A lease is an object with a number; the highest counts. Taking it over means to create the next number, which the
//! store lets only one do. It keeps two from doing the same work; that nothing is lost does not depend on it.

use futures::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, path::Path as Name};
use warren_domain::Partition;

use crate::objects;

/// How long a collection may take before another may begin.
pub(crate) const LEASE_MS: i64 = 60 * 60 * 1000;

/// The right to collect, until it is given back or ends by itself.
pub(crate) struct Lease {
    name: Name,
}

/// Takes the lease; `None` if somebody else has it.
pub(crate) async fn acquire(
    store: &dyn ObjectStore,
    partition: &Partition,
    now_ms: i64,
) -> Result<Option<Lease>, object_store::Error> {
    let directory = objects::leases(partition);
    let listed: Vec<_> = store.list(Some(&directory)).try_collect().await?;
    let number = |name: &Name| name.filename().and_then(|name| name.parse::<u64>().ok());
    let highest = listed.iter().filter_map(|meta| Some((number(&meta.location)?, &meta.location))).max();
    if let Some((_, name)) = highest {
        let until = match store.get(name).await {
            Ok(got) => got.bytes().await?,
            // Its holder has just taken the next one, or somebody has.
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let until: i64 = std::str::from_utf8(&until).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        if until > now_ms {
            return Ok(None);
        }
    }
    let next = highest.map_or(1, |(number, _)| number + 1);
    // Names of the same length, so that they sort as their numbers do.
    let name = directory.join(format!("{next:020}"));
    let until = (now_ms + LEASE_MS).to_string();
    match store.put_opts(&name, until.into(), PutMode::Create.into()).await {
        Ok(_) => {}
        Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    for old in listed {
        store.delete(&old.location).await?;
    }
    Ok(Some(Lease { name }))
}

impl Lease {
    /// Gives it back.
    pub(crate) async fn release(self, store: &dyn ObjectStore) -> Result<(), object_store::Error> {
        store.put(&self.name, "0".into()).await.map(drop)
    }
}
