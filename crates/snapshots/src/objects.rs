//! The object store, and what things are called in it.

use std::{path::Path, sync::Arc};

use object_store::{
    ObjectStore, aws::AmazonS3Builder, local::LocalFileSystem, path::Path as Name, prefix::PrefixStore,
};
use warren_domain::Partition;

use crate::{OpenError, S3, Storage};

/// Opens what the options name. A put is durable when it returns.
pub(crate) fn open(storage: &Storage) -> Result<Arc<dyn ObjectStore>, OpenError> {
    match storage {
        Storage::Directory(directory) => open_directory(directory),
        Storage::S3(s3) => open_s3(s3),
    }
}

fn open_directory(directory: &Path) -> Result<Arc<dyn ObjectStore>, OpenError> {
    std::fs::create_dir_all(directory)
        .map_err(|source| OpenError::Directory { path: directory.display().to_string(), source })?;
    let store = LocalFileSystem::new_with_prefix(directory).map_err(OpenError::Store)?;
    Ok(Arc::new(store.with_fsync(true)))
}

fn open_s3(s3: &S3) -> Result<Arc<dyn ObjectStore>, OpenError> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&s3.bucket)
        .with_region(&s3.region)
        .with_access_key_id(&s3.access_key_id)
        .with_secret_access_key(&s3.secret_access_key);
    if let Some(endpoint) = &s3.endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    let store = builder.build().map_err(OpenError::Store)?;
    Ok(Arc::new(PrefixStore::new(store, s3.prefix.as_str())))
}

/// All of a partition. A partition is any text: it is one part of the name, encoded.
fn of(partition: &Partition) -> Name {
    Name::from_iter(["trees", &format!("p-{partition}")])
}

pub(crate) fn packs(partition: &Partition) -> Name {
    of(partition).join("packs")
}

pub(crate) fn pack(partition: &Partition, name: &str) -> Name {
    packs(partition).join(name)
}

pub(crate) fn condemned(partition: &Partition) -> Name {
    of(partition).join("condemned")
}

pub(crate) fn leases(partition: &Partition) -> Name {
    of(partition).join("lease")
}
