//! One tree over another.

use std::fs;

use warren_snapshots::{Change, OverlayError, TreeId};

use crate::ground::{Ground, look};

#[tokio::test]
async fn overlay_replaces_and_adds_files_and_keeps_the_rest() {
    let ground = Ground::new();
    ground.write("same/deep/a", "old a");
    ground.write("same/deep/b", "b");
    ground.write("only/below", "x");
    let base = ground.take(None).await;
    fs::remove_dir_all(ground.workspace()).expect("removed");
    fs::create_dir(ground.workspace()).expect("made");
    ground.write("same/deep/a", "new a");
    ground.write("above", "y");
    fs::create_dir(ground.workspace().join("empty")).expect("made");
    let over = ground.take(None).await;
    let overlaid = ground.snapshots.overlay(&ground.partition, base.tree, over.tree).await.expect("overlaid");
    assert_eq!(overlaid.size_bytes, 5 + 1 + 1 + 1);
    let restored = ground.restore(overlaid.tree, "overlaid").await;
    let read = |path: &str| fs::read_to_string(restored.join(path)).expect("a file");
    assert_eq!(
        ["same/deep/a", "same/deep/b", "only/below", "above"].map(read),
        ["new a", "b", "x", "y"].map(str::to_owned)
    );
    assert!(restored.join("empty").is_dir(), "{:?}", look(&restored));

    let changes =
        ground.snapshots.changes(&ground.partition, base.tree, overlaid.tree).await.expect("compared");
    let told: Vec<_> = changes.iter().map(|change| (change.path.as_str(), change.change)).collect();
    assert_eq!(
        told,
        [
            ("workspace/above", Change::Added),
            ("workspace/empty", Change::Added),
            ("workspace/same/deep/a", Change::Changed),
        ]
    );
    let nothing = TreeId::empty();
    for (base, over) in [(nothing, over.tree), (over.tree, over.tree), (over.tree, nothing)] {
        let overlaid = ground.snapshots.overlay(&ground.partition, base, over).await.expect("overlaid");
        let expect = if over == nothing { base } else { over };
        assert_eq!(overlaid.tree, expect);
    }
}

#[tokio::test]
async fn file_over_a_directory_is_a_conflict() {
    let ground = Ground::new();
    ground.write("d/a/x", "x");
    let base = ground.take(None).await;
    fs::remove_dir_all(ground.workspace()).expect("removed");
    fs::create_dir(ground.workspace()).expect("made");
    ground.write("d/a", "a file");
    let over = ground.take(None).await;
    for (base, over) in [(base.tree, over.tree), (over.tree, base.tree)] {
        let refused = ground.snapshots.overlay(&ground.partition, base, over).await;
        assert!(
            matches!(&refused, Err(OverlayError::Conflict { path }) if path == "workspace/d/a"),
            "{refused:?}"
        );
    }
}
