//! What is missing or damaged is noticed, named, and never given out.

use std::fs;

use warren_snapshots::{ReadTreeError, RestoreError, Target};

use crate::ground::Ground;

fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(20_000).collect()
}

#[tokio::test]
async fn a_damaged_chunk_is_named_and_nothing_of_it_is_given_out() {
    let ground = Ground::new();
    ground.write("file", noise(1));
    let taken = ground.take(None).await;
    let pack = ground.packs().remove(0);
    let mut bytes = fs::read(&pack).expect("reads");
    // The segment of the file comes first, and cannot be compressed.
    bytes[5_000] ^= 1;
    fs::write(&pack, bytes).expect("writes");
    let reopened = ground.reopened();
    let mut reader =
        reopened.read(&ground.partition, taken.tree, "workspace/file", None).await.expect("opens");
    assert!(matches!(reader.next().await, Err(ReadTreeError::Damaged { .. })));
    let path = ground.directory.path().join("new");
    fs::create_dir(&path).expect("a directory");
    let target = Target::directories(vec![("workspace".to_owned(), path)]);
    let restored = reopened.restore(&ground.partition, taken.tree, target, None).await;
    let read = matches!(restored, Err(RestoreError::Read { source: ReadTreeError::Damaged { .. }, .. }));
    assert!(read, "{restored:?}");
}

#[tokio::test]
async fn a_missing_pack_is_named() {
    let ground = Ground::new();
    ground.write("file", noise(1));
    let taken = ground.take(None).await;
    fs::remove_file(ground.packs().remove(0)).expect("removes");
    for snapshots in [&ground.snapshots, &ground.reopened()] {
        let list = snapshots.list(&ground.partition, taken.tree, "").await;
        assert!(matches!(list, Err(ReadTreeError::Missing { .. })), "{list:?}");
    }
}

#[tokio::test]
async fn a_pack_that_was_cut_short_harms_only_itself() {
    let ground = Ground::new();
    ground.write("file", noise(1));
    let first = ground.take(None).await;
    let before = ground.packs();
    ground.write("other", noise(2));
    let second = ground.take(Some(first.tree)).await;
    let new = ground.packs().into_iter().find(|pack| !before.contains(pack)).expect("a second pack");
    let bytes = fs::read(&new).expect("reads");
    for end in [0, 1, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&new, &bytes[..end]).expect("writes");
        let reopened = ground.reopened();
        let old = reopened.read_all(&ground.partition, first.tree, "workspace/file", 1 << 20).await;
        assert_eq!(old.expect("reads").expect("small"), noise(1), "cut at {end}");
        let cut = reopened.list(&ground.partition, second.tree, "").await;
        assert!(matches!(cut, Err(ReadTreeError::Missing { .. })), "cut at {end}: {cut:?}");
    }
}
