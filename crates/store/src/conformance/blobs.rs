//! Rules of [`Blobs`](crate::Blobs).

use bytes::Bytes;
use warren_domain::BlobHash;

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
