//! Blobs that a replay makes are its own; what the server has can be read.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, Partition, Timestamp};
use warren_store::{Blobs, ReadError};

/// Reads from the server's blobs, writes to memory.
pub(super) struct OwnBlobs {
    servers: Arc<dyn Blobs>,
    own: Mutex<HashMap<BlobHash, Bytes>>,
}

impl OwnBlobs {
    pub(super) fn over(servers: Arc<dyn Blobs>) -> Self {
        Self { servers, own: Mutex::default() }
    }

    /// What was put under this hash, if the replay did.
    pub(super) fn own(&self, hash: &BlobHash) -> Option<Bytes> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }
}

#[async_trait]
impl Blobs for OwnBlobs {
    async fn put_blob(&self, _partition: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError> {
        let hash = BlobHash(blake3::hash(&bytes).to_hex().to_string());
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(hash.clone(), bytes);
        Ok(hash)
    }

    async fn blob(&self, partition: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
        match self.own(hash) {
            Some(bytes) => Ok(Some(bytes)),
            None => self.servers.blob(partition, hash).await,
        }
    }

    async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError> {
        self.servers.blob_spaces().await
    }

    /// What a replay keeps goes with it; what others keep is not its to remove.
    async fn sweep_blobs(
        &self,
        _partition: &Partition,
        _keep: &HashSet<BlobHash>,
        _since: Timestamp,
    ) -> Result<u64, ReadError> {
        Ok(0)
    }
}
