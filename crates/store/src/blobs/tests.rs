use std::{
    collections::HashSet,
    error::Error as _,
    fmt,
    fs::File,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream::BoxStream};
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, path::Path as Name,
};
use warren_domain::{BlobHash, Partition, Timestamp};

use super::ObjectBlobs;
use crate::Blobs as _;

struct Kept {
    directory: tempfile::TempDir,
    blobs: ObjectBlobs,
    hash: BlobHash,
}

const BYTES: Bytes = Bytes::from_static(b"something long enough to be worth keeping");

async fn kept() -> Kept {
    let directory = tempfile::tempdir().expect("a directory");
    let blobs = ObjectBlobs::in_directory(&directory.path().join("blobs")).expect("opens");
    let hash = blobs.put_blob(&Partition::from("p"), BYTES).await.expect("kept");
    Kept { directory, blobs, hash }
}

impl Kept {
    fn path(&self) -> PathBuf {
        self.directory.path().join("blobs/p-p").join(&self.hash.0[..2]).join(&self.hash.0)
    }

    /// Makes the blob two hours old.
    fn age(&self) {
        let then = modified(&self.path()) - Duration::from_secs(7200);
        File::options().write(true).open(self.path()).expect("opens").set_modified(then).expect("ages");
    }

    /// Removes what was put more than an hour before `now`.
    async fn sweep(&self, blobs: &ObjectBlobs, now: SystemTime) -> u64 {
        let since = now - Duration::from_secs(3600);
        let since = since.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis();
        let since = Timestamp::from_millis(i64::try_from(since).expect("fits"));
        blobs.sweep_blobs(&Partition::from("p"), &HashSet::new(), since).await.expect("sweeps")
    }
}

#[tokio::test]
async fn a_damaged_blob_is_an_error_that_names_it() {
    let kept = kept().await;
    std::fs::write(kept.path(), b"something else").expect("damaged");
    let error = kept.blobs.blob(&Partition::from("p"), &kept.hash).await.expect_err("damage is noticed");
    let source = error.source().expect("has a source").to_string();
    assert!(source.contains(kept.hash.as_str()), "{source}");
}

#[tokio::test]
async fn putting_the_same_bytes_again_repairs_a_damaged_blob() {
    let kept = kept().await;
    std::fs::write(kept.path(), b"something else").expect("damaged");
    kept.blobs.put_blob(&Partition::from("p"), BYTES).await.expect("kept again");
    let found = kept.blobs.blob(&Partition::from("p"), &kept.hash).await.expect("reads");
    assert_eq!(found, Some(BYTES));
}

fn modified(path: &std::path::Path) -> SystemTime {
    path.metadata().expect("is there").modified().expect("a time")
}

#[tokio::test]
async fn old_blob_that_is_put_again_gets_a_new_grace_period() {
    let kept = kept().await;
    let now = modified(&kept.path());
    kept.age();
    kept.blobs.put_blob(&Partition::from("p"), BYTES).await.expect("kept again");
    assert_eq!(kept.sweep(&kept.blobs, now).await, 0);
    kept.age();
    assert_eq!(kept.sweep(&kept.blobs, now).await, 1, "an old one is removed");
}

#[tokio::test]
async fn blob_that_is_put_again_while_the_sweep_runs_is_not_removed() {
    let kept = kept().await;
    let now = modified(&kept.path());
    kept.age();
    let (objects, name) = (kept.blobs.objects.clone(), super::name_of(&Partition::from("p"), &kept.hash));
    let blobs = ObjectBlobs { objects: Arc::new(PutAfterList { objects, name }) };
    assert_eq!(kept.sweep(&blobs, now).await, 0);
    let found = kept.blobs.blob(&Partition::from("p"), &kept.hash).await.expect("reads");
    assert_eq!(found, Some(BYTES));
}

/// Puts a blob again as soon as it was listed, as another server may.
#[derive(Debug)]
struct PutAfterList {
    objects: Arc<dyn ObjectStore>,
    name: Name,
}

impl fmt::Display for PutAfterList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for PutAfterList {
    fn list(&self, prefix: Option<&Name>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let (listed, objects, name) = (self.objects.list(prefix), self.objects.clone(), self.name.clone());
        let stale = async move {
            let stale: Vec<_> = listed.collect().await;
            objects.put(&name, BYTES.into()).await.expect("kept again");
            futures::stream::iter(stale)
        };
        stale.flatten_stream().boxed()
    }

    async fn put_opts(
        &self,
        name: &Name,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        self.objects.put_opts(name, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        name: &Name,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.objects.put_multipart_opts(name, options).await
    }

    async fn get_opts(&self, name: &Name, options: GetOptions) -> object_store::Result<GetResult> {
        self.objects.get_opts(name, options).await
    }

    fn delete_stream(
        &self,
        names: BoxStream<'static, object_store::Result<Name>>,
    ) -> BoxStream<'static, object_store::Result<Name>> {
        self.objects.delete_stream(names)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Name>) -> object_store::Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Name, to: &Name, options: CopyOptions) -> object_store::Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}

#[tokio::test]
async fn neither_a_partition_nor_a_hash_can_leave_the_directory() {
    let kept = kept().await;
    std::fs::write(kept.directory.path().join("secret"), b"x").expect("written");
    for hash in ["../../../secret", "secret", "", "..", &"/".repeat(64)] {
        let found = kept.blobs.blob(&Partition::from("p"), &BlobHash::from(hash)).await.expect("reads");
        assert_eq!(found, None, "{hash}");
    }
    let sly = Partition::from("../../up");
    let hash = kept.blobs.put_blob(&sly, BYTES).await.expect("kept");
    assert_eq!(kept.blobs.blob(&sly, &hash).await.expect("reads"), Some(BYTES));
    let beside: Vec<_> = std::fs::read_dir(kept.directory.path()).expect("lists").collect();
    assert_eq!(beside.len(), 2, "only the blobs' own directory and the secret");
}
