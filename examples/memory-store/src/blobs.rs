//! Blobs. Memory does not rot, so nothing is verified when it is read.

use std::collections::HashSet;

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, Partition, Timestamp};
use warren_store::{Blobs, ReadError};

use crate::Memory;

#[async_trait]
impl Blobs for Memory {
    async fn put_blob(&self, partition: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError> {
        let hash = BlobHash(blake3::hash(&bytes).to_hex().to_string());
        let now = self.env.now();
        // Also when it is there: a blob is as old as its last put.
        self.state().blobs.insert((partition.clone(), hash.clone()), (bytes, now));
        Ok(hash)
    }

    async fn blob(&self, partition: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
        Ok(self.state().blobs.get(&(partition.clone(), hash.clone())).map(|(bytes, _)| bytes.clone()))
    }

    async fn sweep_blobs(
        &self,
        partition: &Partition,
        keep: &HashSet<BlobHash>,
        since: Timestamp,
    ) -> Result<u64, ReadError> {
        let mut state = self.state();
        let before = state.blobs.len();
        state
            .blobs
            .retain(|(owner, hash), (_, put)| owner != partition || keep.contains(hash) || *put > since);
        Ok((before - state.blobs.len()) as u64)
    }

    async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError> {
        let state = self.state();
        let spaces: HashSet<&Partition> = state.blobs.keys().map(|(partition, _)| partition).collect();
        Ok(spaces.into_iter().cloned().collect())
    }
}
