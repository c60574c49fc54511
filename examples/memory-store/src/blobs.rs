//! Blobs. Memory does not rot, so nothing is verified when it is read.

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, Partition};
use warren_store::{Blobs, ReadError};

use crate::Memory;

#[async_trait]
impl Blobs for Memory {
    async fn put_blob(&self, partition: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError> {
        let hash = BlobHash(blake3::hash(&bytes).to_hex().to_string());
        self.state().blobs.insert((partition.clone(), hash.clone()), bytes);
        Ok(hash)
    }

    async fn blob(&self, partition: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
        Ok(self.state().blobs.get(&(partition.clone(), hash.clone())).cloned())
    }
}
