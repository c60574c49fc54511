//! Rules of [`Blobs`](crate::Blobs).

use std::collections::HashSet;

use bytes::Bytes;
use warren_domain::{BlobHash, Partition, Timestamp};

use super::samples;
use crate::Store;

/// The name is the BLAKE3 of the bytes, and putting them again changes nothing.
pub async fn bytes_are_found_by_their_hash(store: &Store) {
    let partition = samples::session().partition;
    for bytes in [Bytes::new(), Bytes::from_static(b"\0\xff\n"), Bytes::from(vec![7; 3_000_000])] {
        let expected = BlobHash(blake3::hash(&bytes).to_hex().to_string());
        assert_eq!(store.blobs.blob(&partition, &expected).await.expect("it is read"), None);
        for _ in 0..2 {
            let hash = store.blobs.put_blob(&partition, bytes.clone()).await.expect("it is kept");
            assert_eq!(hash, expected);
            let found = store.blobs.blob(&partition, &hash).await.expect("it is read");
            assert_eq!(found.as_ref(), Some(&bytes));
        }
    }
}

/// Knowing a hash is not enough.
pub async fn partitions_do_not_see_each_others_blobs(store: &Store) {
    let partitions = ["", "a", "a/b", "../a", "a%2Fb", "."]
        .map(|text| warren_domain::Partition(format!("{text}{}", samples::session().partition)));
    for (n, partition) in partitions.iter().enumerate() {
        let bytes = Bytes::from(format!("{n} {partition}"));
        let hash = store.blobs.put_blob(partition, bytes.clone()).await.expect("it is kept");
        for other in &partitions {
            let found = store.blobs.blob(other, &hash).await.expect("it is read");
            assert_eq!(found, (other == partition).then(|| bytes.clone()), "{other} looks into {partition}");
        }
    }
}

/// Not an error: it comes from a client.
pub async fn a_hash_that_is_none_finds_nothing(store: &Store) {
    let partition = samples::session().partition;
    let zeros = "0".repeat(64);
    let capitals = "A".repeat(64);
    for hash in ["", "x", "../../etc/passwd", "é", zeros.as_str(), capitals.as_str()] {
        assert_eq!(
            store.blobs.blob(&partition, &BlobHash::from(hash)).await.expect("it is read"),
            None,
            "{hash}"
        );
    }
}

/// Neither what is kept, nor what is new, nor another partition's.
pub async fn what_nobody_keeps_is_swept_once_it_is_old(store: &Store) {
    let (ours, other) = (samples::session().partition, samples::session().partition);
    let put = async |partition, bytes: &'static [u8]| {
        store.blobs.put_blob(partition, Bytes::from_static(bytes)).await.expect("it is kept")
    };
    let (kept, gone) = (put(&ours, b"kept").await, put(&ours, b"gone").await);
    put(&other, b"gone").await;
    let keep = HashSet::from([kept.clone()]);
    let long_ago = Timestamp::from_millis(0);
    let sweep = async |since| store.blobs.sweep_blobs(&ours, &keep, since).await.expect("it is swept");
    assert_eq!(sweep(long_ago).await, 0, "nothing is that old");
    // Far in the future: everything is older.
    assert_eq!(sweep(samples::time(100 * 365 * 86_400_000)).await, 1);
    let found =
        async |partition, hash| store.blobs.blob(partition, hash).await.expect("it is read").is_some();
    assert!(found(&ours, &kept).await && !found(&ours, &gone).await && found(&other, &gone).await);
}

/// Whatever their names are made of, and only for as long as something is there.
pub async fn partitions_with_blobs_are_listed(store: &Store) {
    let partition = samples::session().partition;
    let sly = Partition(format!("{partition}/..#log-é% b"));
    for space in [&partition, &sly] {
        store.blobs.put_blob(space, Bytes::from_static(b"something")).await.expect("it is kept");
    }
    let listed = async || store.blobs.blob_spaces().await.expect("they are listed");
    let count = |all: &[Partition], wanted: &Partition| all.iter().filter(|space| *space == wanted).count();
    let all = listed().await;
    assert_eq!((count(&all, &partition), count(&all, &sly)), (1, 1), "{all:?}");
    let forever = samples::time(100 * 365 * 86_400_000);
    store.blobs.sweep_blobs(&sly, &HashSet::new(), forever).await.expect("it is swept");
    let all = listed().await;
    assert_eq!((count(&all, &partition), count(&all, &sly)), (1, 0), "{all:?}");
}
