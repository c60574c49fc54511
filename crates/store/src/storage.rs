//! Records and blobs belong together: a blob storage has an id, and the database knows which one it belongs with.
//!
//! Without that a second server with packs on its own disk, or one with the wrong bucket, would find out session by session
//! that what its records name is not there.

use std::sync::Arc;

use bytes::Bytes;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, path::Path as Name};

use crate::{ReadError, Store};

/// The object that holds a storage's id, beside the partitions of blobs. Never renamed: it is how a storage is known.
const NAME: &str = "storage-id";

/// Why a blob storage cannot be used with a database.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The database belongs with another one.
    #[error("the database expects blob storage `{expected}`, but this one {}", named(found.as_deref()))]
    Other {
        /// The id that the database has recorded.
        expected: String,
        /// The id of the storage, if it has one.
        found: Option<String>,
    },
    /// One of the two could not be read or written.
    #[error(transparent)]
    Failed(#[from] ReadError),
}

fn named(found: Option<&str>) -> String {
    found.map_or_else(|| "has no id".to_owned(), |found| format!("is `{found}`"))
}

/// Checks that a blob storage is the one that belongs with the records. The first one that is checked becomes that one; if
/// it has no id yet, it gets `fresh`.
///
/// # Errors
/// When the records belong with another storage, or one of the two cannot be reached.
pub async fn claim_storage(
    store: &Store,
    objects: &Arc<dyn ObjectStore>,
    fresh: &str,
) -> Result<(), StorageError> {
    // The records first: a server that starts at the same moment gives the storage its id before it claims it.
    if let Some(expected) = store.leases.storage().await? {
        return compare(expected, read(objects).await?);
    }
    let id = match read(objects).await? {
        Some(found) => found,
        None => give(objects, fresh).await?,
    };
    compare(store.leases.claim_storage(&id).await?, Some(id))
}

fn compare(expected: String, found: Option<String>) -> Result<(), StorageError> {
    if found.as_ref() == Some(&expected) { Ok(()) } else { Err(StorageError::Other { expected, found }) }
}

async fn read(objects: &Arc<dyn ObjectStore>) -> Result<Option<String>, ReadError> {
    let failed = |source| ReadError { doing: "read the id of the blob storage", source: Box::new(source) };
    let bytes = match objects.get(&Name::from(NAME)).await {
        Ok(found) => found.bytes().await.map_err(failed)?,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

/// Gives a storage an id, unless another server was faster. Returns the one it has.
async fn give(objects: &Arc<dyn ObjectStore>, fresh: &str) -> Result<String, ReadError> {
    let bytes = Bytes::from(format!("{fresh}\n"));
    match objects.put_opts(&Name::from(NAME), bytes.into(), PutMode::Create.into()).await {
        Ok(_) => Ok(fresh.to_owned()),
        Err(object_store::Error::AlreadyExists { .. }) => {
            Ok(read(objects).await?.unwrap_or_else(|| fresh.to_owned()))
        }
        Err(source) => Err(ReadError { doing: "give the blob storage an id", source: Box::new(source) }),
    }
}

#[cfg(test)]
mod tests;
