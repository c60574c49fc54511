use std::{error::Error as _, path::PathBuf};

use bytes::Bytes;
use warren_domain::{BlobHash, Partition};

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
