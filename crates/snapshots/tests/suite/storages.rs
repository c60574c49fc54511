//! What every storage must do: the same tests for a directory and for a bucket.

use std::fs;

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::{ObjectStore as _, ObjectStoreExt as _, PutMode, path::Path as Name};
use warren_snapshots::{Changes, Hash, ReadTreeError, S3, Storage, TreeId};

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
    let Some(bucket) = Bucket::open() else { return };
    contract(Ground::in_bucket(&bucket)).await;
    let names = bucket.names().await;
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("a/b/trees/p-default/")),
        "{names:?}"
    );
}

/// S3 lists 1,000 names at a time.
#[tokio::test]
async fn packs_beyond_the_first_page_of_a_listing_are_found() {
    let Some(bucket) = Bucket::open() else { return };
    let ground = Ground::in_bucket(&bucket);
    ground.write("file", "content");
    let tree = ground.take(None).await.tree;
    // Packs that were cut short, with names that come before that of the whole one.
    let objects = ground.objects();
    let put = |n: u32| {
        let (objects, name) = (objects.clone(), Name::from(format!("packs/000000000000-{n:04}")));
        async move { objects.put(&name, "WRNPACK1".into()).await }
    };
    let puts: Vec<_> = (0..1100).map(put).collect();
    futures::stream::iter(puts).buffer_unordered(16).try_collect::<Vec<_>>().await.expect("puts");
    let read = ground.reopened().read_all(&ground.partition, tree, "workspace/file", 100).await;
    assert_eq!(read.expect("reads").as_deref(), Some(&b"content"[..]));
}

#[tokio::test]
async fn only_the_first_of_two_creations_of_an_object_succeeds() {
    let Some(bucket) = Bucket::open() else { return };
    let objects = Storage::S3(bucket.s3.clone()).beside("leases").expect("opens");
    let create = async |content: &'static str| {
        objects.put_opts(&Name::from("1"), content.into(), PutMode::Create.into()).await
    };
    create("first").await.expect("is created");
    let second = create("second").await;
    assert!(matches!(second, Err(object_store::Error::AlreadyExists { .. })), "{second:?}");
    let kept = objects.get(&Name::from("1")).await.expect("is there").bytes().await.expect("reads");
    assert_eq!(&kept[..], b"first");
}

#[tokio::test]
async fn a_bucket_refuses_a_wrong_key() {
    let Some(bucket) = Bucket::open() else { return };
    let s3 = S3 { secret_access_key: "wrong".to_owned(), ..bucket.s3.clone() };
    let ground = Ground::with(|options| options.storage = Storage::S3(s3));
    let listed = ground.snapshots.list(&ground.partition, TreeId(Hash::of(b"a tree")), "workspace").await;
    assert!(matches!(listed, Err(ReadTreeError::Store { .. })), "{listed:?}");
}
