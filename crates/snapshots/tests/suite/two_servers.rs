//! Two servers on one storage: each has its own map of the packs, and learns late what the other did.

use std::fs;

use object_store::{ObjectStoreExt as _, path::Path as Name};
use warren_snapshots::{
    CollectError, Collected, ReadTreeError, Snapshots, Source, TakeError, TakeRequest, Taken, TreeId,
};

use crate::ground::{Ground, on_every_storage};

on_every_storage! {
    take_does_not_rely_on_packs_removed_since_the_server_last_read
    take_after_a_failed_refresh_refreshes_again
    object_in_two_packs_survives_the_removal_of_either
    collection_fails_and_removes_nothing_when_a_needed_chunk_is_missing
    grace_period_starts_when_the_list_of_condemned_packs_is_written
}

const MINUTE_MS: i64 = 60_000;
/// The grace period of the tests' options, and a little.
const GRACE_MS: i64 = 60 * MINUTE_MS + 1;
/// After this long, a take reads which packs there are.
const REFRESH_MS: i64 = 16 * MINUTE_MS;

/// Without a place: what to store is decided by the map of packs alone.
async fn try_take(ground: &Ground, server: &Snapshots) -> Result<Taken, TakeError> {
    let source = Source::directories(vec![("workspace".to_owned(), ground.workspace())]);
    server.take(&ground.partition, source, TakeRequest::default()).await
}

/// The tree, without a hold on it.
async fn take(ground: &Ground, server: &Snapshots) -> TreeId {
    try_take(ground, server).await.expect("takes").tree
}

async fn collect(ground: &Ground, server: &Snapshots, live: &[TreeId]) -> Collected {
    let live = live.to_vec();
    server.collect(&ground.partition, async move || Ok(live)).await.expect("collects")
}

/// Condemns, waits for the end of the grace period, and removes.
async fn collect_twice(ground: &Ground, server: &Snapshots, live: &[TreeId]) -> Collected {
    collect(ground, server, live).await;
    ground.clock.advance_millis(GRACE_MS);
    collect(ground, server, live).await
}

async fn content(
    ground: &Ground,
    server: &Snapshots,
    tree: TreeId,
    path: &str,
) -> Result<Vec<u8>, ReadTreeError> {
    let read = server.read_all(&ground.partition, tree, path, 1 << 20).await?;
    Ok(read.expect("small").to_vec())
}

async fn take_does_not_rely_on_packs_removed_since_the_server_last_read(ground: Ground) {
    let other = ground.reopened();
    ground.write("file", "content");
    let tree = take(&ground, &ground.snapshots).await;
    // The other server reads, and so loads its map of the packs.
    other.list(&ground.partition, tree, "workspace").await.expect("lists");
    assert_eq!(collect_twice(&ground, &ground.snapshots, &[]).await.removed_packs, 1);

    let tree = take(&ground, &other).await;
    let read = content(&ground, &ground.reopened(), tree, "workspace/file").await;
    assert_eq!(read.expect("the version is whole"), b"content");
}

async fn take_after_a_failed_refresh_refreshes_again(ground: Ground) {
    let other = ground.reopened();
    ground.write("file", "content");
    let tree = take(&ground, &ground.snapshots).await;
    assert_eq!(take(&ground, &other).await, tree, "the other server has looked");
    assert_eq!(collect_twice(&ground, &ground.snapshots, &[]).await.removed_packs, 1);

    let (objects, list) = (ground.objects(), Name::from("condemned"));
    let readable = objects.get(&list).await.expect("is there").bytes().await.expect("reads");
    objects.put(&list, "no list of packs".into()).await.expect("writes");
    let refused = try_take(&ground, &other).await.err();
    assert!(matches!(refused, Some(TakeError::Partition(_))), "{refused:?}");

    objects.put(&list, readable.into()).await.expect("writes");
    let tree = take(&ground, &other).await;
    let read = content(&ground, &ground.reopened(), tree, "workspace/file").await;
    assert_eq!(read.expect("the version is whole"), b"content");
}

async fn object_in_two_packs_survives_the_removal_of_either(ground: Ground) {
    let servers = [ground.reopened(), ground.reopened()];
    for (round, collector) in servers.iter().enumerate() {
        for server in &servers {
            take(&ground, server).await;
        }
        // Neither knows what the other has just put: both put the same objects.
        ground.write(&format!("file-{round}"), format!("content {round}"));
        let packs_before = ground.pack_names().await.len();
        for server in &servers {
            take(&ground, server).await;
        }
        assert_eq!(ground.pack_names().await.len(), packs_before + 2, "every object is in two packs");
        // Each learns of the other's pack.
        ground.clock.advance_millis(REFRESH_MS);
        let mut tree = None;
        for server in &servers {
            tree = Some(take(&ground, server).await);
        }
        let tree = tree.expect("a tree");

        let removed = collect_twice(&ground, collector, &[tree]).await;
        assert!(removed.removed_packs > 0, "round {round}: {removed:?}");
        for server in servers.iter().chain([&ground.reopened()]) {
            for n in 0..=round {
                let read = content(&ground, server, tree, &format!("workspace/file-{n}")).await;
                assert_eq!(read.expect("reads"), format!("content {n}").as_bytes(), "round {round}");
            }
        }
    }
}

async fn collection_fails_and_removes_nothing_when_a_needed_chunk_is_missing(ground: Ground) {
    ground.write("useless", "content that no version needs");
    take(&ground, &ground.snapshots).await;
    let useless = ground.pack_names().await;
    fs::remove_file(ground.workspace().join("useless")).expect("removes");
    ground.write("a", "a chunk that will be missing".repeat(100));
    take(&ground, &ground.snapshots).await;
    let lost = ground.pack_names().await.into_iter().find(|pack| !useless.contains(pack)).expect("a pack");
    // All directories of this tree are in a pack of their own, and only the content of `a` is not.
    ground.write("b", "another file");
    let tree = take(&ground, &ground.snapshots).await;
    assert!(collect(&ground, &ground.snapshots, &[tree]).await.condemned_packs > 0);
    ground.clock.advance_millis(GRACE_MS);

    ground.objects().delete(&lost).await.expect("removes");
    let packs = ground.pack_names().await;
    for server in [&ground.snapshots, &ground.reopened()] {
        let refused = server.collect(&ground.partition, async || Ok(vec![tree])).await;
        assert!(matches!(refused, Err(CollectError::Read(_))), "{refused:?}");
        assert_eq!(ground.pack_names().await, packs);
    }
}

async fn grace_period_starts_when_the_list_of_condemned_packs_is_written(ground: Ground) {
    ground.write("file", "content");
    let tree = take(&ground, &ground.snapshots).await;
    let slow = ground.snapshots.collect(&ground.partition, async || {
        ground.clock.advance_millis(40 * MINUTE_MS);
        Ok(vec![])
    });
    assert_eq!(slow.await.expect("collects").condemned_packs, 1);
    ground.clock.advance_millis(40 * MINUTE_MS);
    let early = collect(&ground, &ground.snapshots, &[]).await;
    assert_eq!(early.removed_packs, 0, "80 minutes after the start, 40 after the list");
    ground.reopened().list(&ground.partition, tree, "workspace").await.expect("lists");
    ground.clock.advance_millis(20 * MINUTE_MS);
    assert_eq!(collect(&ground, &ground.snapshots, &[]).await.removed_packs, 1);
}
