//! What every storage must do: the same tests for a directory and for a bucket.

use std::fs;

use warren_snapshots::{Changes, ReadTreeError, Storage};

use crate::{
    bucket::Bucket,
    ground::{Ground, look},
};

async fn contract(ground: Ground) {
    ground.write("a/b", "hello");
    ground.write("big", (0..3_000_000_u64).map(|n| ((n * n) >> 9) as u8).collect::<Vec<_>>());
    let first = ground.take(None).await.tree;
    let unchanged = ground.take(Some(first)).await;
    assert_eq!((unchanged.tree, unchanged.stored_bytes), (first, 0));
    drop(unchanged);
    ground.write("a/b", "other");
    let second = ground.take(Some(first)).await;
    assert_eq!(second.changes, Changes { added: 0, changed: 1, removed: 0 });
    let second = {
        // What is held is not collected.
        drop(second.hold);
        second.tree
    };

    // Another server on the same storage sees what this one has put.
    let other = ground.reopened();
    let read = other.read_all(&ground.partition, first, "workspace/a/b", 100).await.expect("reads");
    assert_eq!(read.as_deref(), Some(&b"hello"[..]));
    let restored = ground.restore(second, "restored").await;
    assert_eq!(look(&restored), look(&ground.workspace()));

    // And what it puts afterwards is found when it is needed.
    fs::write(ground.workspace().join("late"), "late").expect("writes");
    let third = ground.take(Some(second)).await.tree;
    other.list(&ground.partition, third, "workspace").await.expect("lists");

    let collect = async |live| {
        let live = vec![live];
        ground.snapshots.collect(&ground.partition, async move || Ok(live)).await.expect("collects")
    };
    // The pack of the big file is needed still; that of `a/b` as it was in the second tree is not.
    let condemned = collect(first).await;
    assert!(condemned.condemned_packs >= 1, "{condemned:?}");
    ground.clock.advance_millis(3_600_001);
    let removed = collect(first).await;
    assert!(removed.removed_packs >= 1, "{removed:?}");
    let gone = ground.snapshots.list(&ground.partition, third, "workspace").await;
    assert!(matches!(gone, Err(ReadTreeError::Missing { .. })), "{gone:?}");
    let restored = ground.restore(first, "first").await;
    assert_eq!(fs::read(restored.join("a/b")).expect("reads"), b"hello");
    let (snapshots, partition) = (ground.reopened(), ground.partition.clone());
    let outer = ground.snapshots.collect(&ground.partition, async || {
        assert!(snapshots.collect(&partition, async || Ok(vec![first])).await.expect("says so").busy);
        Ok(vec![first])
    });
    assert!(!outer.await.expect("collects").busy);
}

#[tokio::test]
async fn a_directory_keeps_the_contract() {
    contract(Ground::new()).await;
}

#[tokio::test]
async fn a_bucket_keeps_the_contract() {
    let bucket = Bucket::start().await;
    let s3 = bucket.s3.clone();
    contract(Ground::with(|options| options.storage = Storage::S3(s3))).await;
    let names = bucket.names();
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("some/where/trees/p-default/")),
        "{names:?}"
    );
}
