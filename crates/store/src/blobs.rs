//! Blobs on an object store, each under its partition and its hash.

use std::{collections::HashSet, path::Path, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::{
    ObjectMeta, ObjectStore, ObjectStoreExt as _, local::LocalFileSystem, path::Path as Name,
};
use percent_encoding::percent_decode_str;
use warren_domain::{BlobHash, Partition, Timestamp};

use crate::{Blobs, ReadError};

/// Blobs in any object store.
pub(crate) struct ObjectBlobs {
    objects: Arc<dyn ObjectStore>,
}

/// The object store that blobs under a directory are in. The directory is made if it is absent.
///
/// # Errors
/// When the directory cannot be used.
pub fn local_objects(directory: &Path) -> Result<Arc<dyn ObjectStore>, object_store::Error> {
    std::fs::create_dir_all(directory)
        .map_err(|source| object_store::Error::Generic { store: "blobs", source: Box::new(source) })?;
    // Sessions come and go, each with directories of its own.
    let objects = LocalFileSystem::new_with_prefix(directory)?.with_fsync(true).with_automatic_cleanup(true);
    Ok(Arc::new(objects))
}

/// Blobs in an object store that somebody else opened, in place of those of a directory.
#[must_use]
pub fn blobs_on(objects: Arc<dyn ObjectStore>) -> Arc<dyn Blobs> {
    Arc::new(ObjectBlobs { objects })
}

/// The source of a [`ReadError`]: what is kept under a hash is not what was put there.
#[derive(Debug, thiserror::Error)]
#[error("blob `{expected}` is damaged: its bytes hash to `{found}`")]
pub struct DamagedBlob {
    expected: BlobHash,
    found: BlobHash,
}

impl ObjectBlobs {
    /// Under a directory, which is made if it is absent. A put is on disk when it returns.
    pub(crate) fn in_directory(directory: &Path) -> Result<Self, object_store::Error> {
        Ok(Self { objects: local_objects(directory)? })
    }

    /// Looks once more before it removes: the list may be minutes old, and the blob put again since.
    async fn remove_if(
        &self,
        name: &Name,
        is_old: impl Fn(&ObjectMeta) -> bool,
    ) -> Result<bool, object_store::Error> {
        let removed = match self.objects.head(name).await {
            Ok(meta) if is_old(&meta) => self.objects.delete(name).await,
            Ok(_) => return Ok(false),
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) => Ok(true),
            // Somebody was faster.
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn get(&self, name: &Name) -> Result<Option<Bytes>, object_store::Error> {
        match self.objects.get(name).await {
            Ok(found) => found.bytes().await.map(Some),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Blobs for ObjectBlobs {
    async fn put_blob(&self, partition: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError> {
        let failed = |source| ReadError { doing: "keep the blob", source: Box::new(source) };
        let hash = hash_of(&bytes);
        let name = name_of(partition, &hash);
        // Always written, also when it is there: its age counts from the last put, and a damaged copy is repaired.
        self.objects.put(&name, bytes.into()).await.map_err(failed)?;
        Ok(hash)
    }

    async fn blob(&self, partition: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
        if !is_hash(hash.as_str()) {
            return Ok(None);
        }
        let doing = "read the blob";
        let kept = self.get(&name_of(partition, hash)).await;
        let kept = kept.map_err(|source| ReadError { doing, source: Box::new(source) })?;
        let Some(bytes) = kept else { return Ok(None) };
        let found = hash_of(&bytes);
        if found == *hash {
            return Ok(Some(bytes));
        }
        let source = Box::new(DamagedBlob { expected: hash.clone(), found });
        Err(ReadError { doing, source })
    }

    async fn sweep_blobs(
        &self,
        partition: &Partition,
        keep: &HashSet<BlobHash>,
        since: Timestamp,
    ) -> Result<u64, ReadError> {
        let failed = |source| ReadError { doing: "sweep the blobs", source: Box::new(source) };
        let below = Name::from_iter([format!("p-{partition}")]);
        let all: Vec<_> = self.objects.list(Some(&below)).try_collect().await.map_err(failed)?;
        let is_old = |meta: &ObjectMeta| meta.last_modified.timestamp_millis() <= since.as_millis();
        let mut n_swept = 0;
        for found in all.iter().filter(|found| is_old(found)) {
            let hash = BlobHash::from(found.location.filename().unwrap_or_default());
            if is_hash(hash.as_str()) && !keep.contains(&hash) {
                n_swept += u64::from(self.remove_if(&found.location, is_old).await.map_err(failed)?);
            }
        }
        Ok(n_swept)
    }

    async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError> {
        let failed = |source| ReadError { doing: "list the blobs", source: Box::new(source) };
        let listed = self.objects.list_with_delimiter(None).await.map_err(failed)?;
        let name = |space: &Name| {
            let encoded = space.filename()?.strip_prefix("p-")?;
            Some(Partition(percent_decode_str(encoded).decode_utf8().ok()?.into_owned()))
        };
        Ok(listed.common_prefixes.iter().filter_map(name).collect())
    }
}

fn hash_of(bytes: &[u8]) -> BlobHash {
    BlobHash(blake3::hash(bytes).to_hex().to_string())
}

/// A hash comes from outside; only one that could be ours becomes part of a path.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// `p-<partition>/<first two digits>/<hash>`. A partition is any text: it is one part of the path, encoded.
fn name_of(partition: &Partition, hash: &BlobHash) -> Name {
    let partition = format!("p-{partition}");
    Name::from_iter([partition.as_str(), &hash.as_str()[..2], hash.as_str()])
}

#[cfg(test)]
mod tests;
