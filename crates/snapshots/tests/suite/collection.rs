//! What nobody needs goes, and nothing else.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use warren_snapshots::{Collected, Options, ReadTreeError, TreeId};

use crate::ground::{Ground, on_every_storage};

on_every_storage! {
    what_no_tree_needs_goes_after_the_grace_period_and_not_before
    a_tree_that_is_held_or_needed_again_is_kept
    a_pack_that_is_mostly_not_needed_is_written_anew
    only_one_collects_at_a_time
}

async fn collect(ground: &Ground, live: &[TreeId]) -> Collected {
    let live = live.to_vec();
    ground.snapshots.collect(&ground.partition, async move || Ok(live)).await.expect("collects")
}

const HOUR_MS: i64 = 3_600_000;

async fn what_no_tree_needs_goes_after_the_grace_period_and_not_before(ground: Ground) {
    ground.write("old", "gone soon");
    let first = ground.take(None).await.tree;
    fs::remove_file(ground.workspace().join("old")).expect("removes");
    ground.write("new", "stays");
    let second = ground.take(Some(first)).await.tree;
    let now = collect(&ground, &[second]).await;
    assert_eq!((now.condemned_packs, now.removed_packs), (1, 0));
    let soon = collect(&ground, &[second]).await;
    assert_eq!((soon.condemned_packs, soon.removed_packs), (1, 0));
    ground.clock.advance_millis(HOUR_MS + 1);
    let later = collect(&ground, &[second]).await;
    assert_eq!((later.condemned_packs, later.removed_packs), (0, 1));
    assert!(ground.snapshots.list(&ground.partition, second, "workspace").await.is_ok());
    let gone = ground.snapshots.list(&ground.partition, first, "workspace").await;
    assert!(matches!(gone, Err(ReadTreeError::Missing { .. })), "{gone:?}");
}

async fn a_tree_that_is_held_or_needed_again_is_kept(ground: Ground) {
    ground.write("file", "content");
    let taken = ground.take(None).await;
    let tree = taken.tree;
    collect(&ground, &[]).await;
    ground.clock.advance_millis(HOUR_MS + 1);
    assert_eq!(collect(&ground, &[]).await.removed_packs, 0, "it is held");
    drop(taken);
    let condemned = collect(&ground, &[]).await;
    assert_eq!(condemned.condemned_packs, 1);
    // The same content comes again: it must not rely on what is condemned.
    let again = ground.take(None).await;
    assert!(again.stored_bytes > 0, "stored once more");
    ground.clock.advance_millis(HOUR_MS + 1);
    drop(again);
    assert_eq!(collect(&ground, &[tree]).await.removed_packs, 1);
    assert!(ground.reopened().list(&ground.partition, tree, "workspace").await.is_ok());
}

async fn a_pack_that_is_mostly_not_needed_is_written_anew(ground: Ground) {
    for n in 0..10_u8 {
        ground.write(
            &format!("file-{n}"),
            (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> (n + 3)) as u8).collect::<Vec<_>>(),
        );
    }
    let first = ground.take(None).await.tree;
    for n in 1..10 {
        fs::remove_file(ground.workspace().join(format!("file-{n}"))).expect("removes");
    }
    let second = ground.take(Some(first)).await.tree;
    let collected = collect(&ground, &[second]).await;
    assert_eq!((collected.rewritten_packs, collected.condemned_packs), (1, 1));
    ground.clock.advance_millis(HOUR_MS + 1);
    let later = collect(&ground, &[second]).await;
    assert_eq!((later.removed_packs, later.rewritten_packs), (1, 0));
    for snapshots in [&ground.snapshots, &ground.reopened()] {
        let read = snapshots.read_all(&ground.partition, second, "workspace/file-0", 1 << 20).await;
        assert_eq!(read.expect("reads").expect("small").len(), 20_000);
    }
}

async fn only_one_collects_at_a_time(ground: Ground) {
    ground.write("file", "x");
    let tree = ground.take(None).await.tree;
    let (snapshots, partition) = (ground.reopened(), ground.partition.clone());
    let outer = ground.snapshots.collect(&ground.partition, async || {
        let inner = snapshots.collect(&partition, async || Ok(vec![tree])).await.expect("says so");
        assert!(inner.busy);
        Ok(vec![tree])
    });
    assert!(!outer.await.expect("collects").busy);
    assert!(!collect(&ground, &[tree]).await.busy, "the lease was given back");
}

/// Takes, restores, forgets and collects at the same time, without any grace: whatever is committed must be whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn takes_restores_and_collections_race_and_nothing_that_is_needed_is_lost() {
    let ground = Arc::new(Ground::with(|options: &mut Options| options.grace = std::time::Duration::ZERO));
    let live: Arc<Mutex<Vec<TreeId>>> = Arc::default();
    let n_rounds = 60;
    let taker = {
        let (ground, live) = (ground.clone(), live.clone());
        async move {
            let mut base = None;
            for n in 0..n_rounds {
                // Content that comes and goes, so that it is wanted again after it was condemned.
                ground.write(&format!("file-{}", n % 3), vec![(n % 5) as u8; 10_000 + n % 7]);
                ground.write("always", "x");
                let taken = ground.take(base).await;
                let mut live = live.lock().expect("no panic");
                live.push(taken.tree);
                // Only the last two versions are kept.
                let n_old = live.len().saturating_sub(2);
                live.drain(..n_old);
                base = Some(taken.tree);
                drop(taken.hold);
            }
        }
    };
    let collector = {
        let (ground, live) = (ground.clone(), live.clone());
        async move {
            let mut removed = 0;
            for _ in 0..n_rounds {
                let live = live.clone();
                let asked = async move || Ok(live.lock().expect("no panic").clone());
                removed +=
                    ground.snapshots.collect(&ground.partition, asked).await.expect("collects").removed_packs;
            }
            removed
        }
    };
    let reader = {
        let (ground, live) = (ground.clone(), live.clone());
        async move {
            for n in 0..n_rounds {
                let hold = ground.snapshots.hold(&ground.partition);
                let newest = live.lock().expect("no panic").last().copied();
                if let Some(tree) = newest {
                    ground.restore(tree, &format!("restored-{n}")).await;
                }
                drop(hold);
                tokio::task::yield_now().await;
            }
        }
    };
    let tasks = warren_env::Tasks::new();
    let [takes, reads] = [
        tasks.spawn(warren_env::TaskKind::Session, taker),
        tasks.spawn(warren_env::TaskKind::Session, reader),
    ];
    let removed = collector.await;
    takes.await.expect("no panic");
    reads.await.expect("no panic");
    assert!(removed > 0, "the race was one");
    let live = live.lock().expect("no panic").clone();
    for (n, tree) in live.into_iter().enumerate() {
        ground.restore(tree, &format!("last-{n}")).await;
    }
}
