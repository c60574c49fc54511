//! Looking into a tree without restoring it.

use std::{fs, io::Read, os::unix::fs::symlink};

use warren_domain::Partition;
use warren_snapshots::{Change, ItemKind, ReadTreeError, hash_content};

use crate::ground::{Ground, look};

#[tokio::test]
async fn a_directory_is_listed_and_a_file_is_read_in_parts() {
    let ground = Ground::new();
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| ((u64::from(n) * u64::from(n)) >> 9) as u8).collect();
    ground.write("src/big", &content);
    symlink("../../etc", ground.workspace().join("src/link")).expect("links");
    let taken = ground.take(None).await;
    let items = ground.snapshots.list(&ground.partition, taken.tree, "workspace/src").await.expect("lists");
    let [big, link] = &items[..] else { panic!("{items:?}") };
    assert_eq!(
        (big.kind, big.size_bytes, big.hash),
        (ItemKind::File, 3_000_000, Some(hash_content(&content)))
    );
    assert_eq!((link.kind, link.target.as_deref()), (ItemKind::Symlink, Some("../../etc")));
    for range in [0..10, 1_000_000..2_000_001, 2_999_999..9_999_999, 5..5, 9_000_000..9_000_001] {
        let read =
            ground.snapshots.read(&ground.partition, taken.tree, "workspace/src/big", Some(range.clone()));
        let mut reader = read.await.expect("opens");
        let mut read = Vec::new();
        while let Some(bytes) = reader.next().await.expect("reads") {
            read.extend_from_slice(&bytes);
        }
        let expect =
            content.get(range.start as usize..(range.end as usize).min(content.len())).unwrap_or_default();
        assert!(read == expect, "{range:?}: {} of {}", read.len(), expect.len());
    }
}

#[tokio::test]
async fn what_is_not_there_or_is_something_else_is_said() {
    let ground = Ground::new();
    ground.write("src/a", "x");
    let taken = ground.take(None).await;
    let read = async |path| ground.snapshots.read(&ground.partition, taken.tree, path, None).await.map(drop);
    for path in ["", "workspace/b", "workspace/src/a/b", "nowhere/a", "workspace/../x", "\\q"] {
        assert!(matches!(read(path).await, Err(ReadTreeError::NotFound { .. })), "{path}");
    }
    assert!(matches!(read("workspace/src").await, Err(ReadTreeError::WrongKind { .. })));
    let list = ground.snapshots.list(&ground.partition, taken.tree, "workspace/src/a").await;
    assert!(matches!(list, Err(ReadTreeError::WrongKind { .. })));
}

#[tokio::test]
async fn another_partition_has_nothing_of_it() {
    let ground = Ground::new();
    ground.write("secret", "x");
    let taken = ground.take(None).await;
    let other = Partition("other".to_owned());
    let list = ground.snapshots.list(&other, taken.tree, "").await;
    assert!(matches!(list, Err(ReadTreeError::Missing { .. })), "{list:?}");
}

#[tokio::test]
async fn two_trees_are_compared_by_content() {
    let ground = Ground::new();
    for path in ["same/1", "changed/1", "gone/1", "becomes-a-directory"] {
        ground.write(path, path);
    }
    let first = ground.take(None).await;
    ground.write("changed/1", "other");
    ground.write("new/1", "x");
    fs::remove_dir_all(ground.workspace().join("gone")).expect("removes");
    fs::remove_file(ground.workspace().join("becomes-a-directory")).expect("removes");
    ground.write("becomes-a-directory/1", "y");
    let second = ground.take(Some(first.tree)).await;
    let diff =
        ground.snapshots.diff(&ground.partition, first.tree, second.tree, 100).await.expect("compares");
    let found: Vec<_> = diff.differences.iter().map(|it| (it.path.as_str(), it.change)).collect();
    let expect = [
        ("workspace/becomes-a-directory", Change::Removed),
        ("workspace/becomes-a-directory/1", Change::Added),
        ("workspace/changed/1", Change::Changed),
        ("workspace/gone/1", Change::Removed),
        ("workspace/new/1", Change::Added),
    ];
    assert_eq!(found, expect);
    assert_eq!(diff.changes, second.changes);
    let changed = &diff.differences[2];
    let sizes =
        (changed.before.as_ref().map(|it| it.size_bytes), changed.after.as_ref().map(|it| it.size_bytes));
    assert_eq!(sizes, (Some(9), Some(5)));
    let few = ground.snapshots.diff(&ground.partition, first.tree, second.tree, 2).await.expect("compares");
    assert_eq!((few.differences.len(), few.changes), (2, diff.changes));
}

#[tokio::test]
async fn an_archive_unpacks_to_the_same_files() {
    let ground = Ground::new();
    let long = format!("{}/{}", "d".repeat(200), "f".repeat(200));
    ground.write(&long, vec![9; 100_000]);
    ground.write("empty", "");
    fs::create_dir(ground.workspace().join("nothing")).expect("makes");
    symlink("x".repeat(300), ground.workspace().join("link")).expect("links");
    let taken = ground.take(None).await;
    let archive = ground.snapshots.archive(&ground.partition, taken.tree, "workspace").await;
    let mut archive = archive.expect("opens");
    let mut bytes = Vec::new();
    while let Some(more) = archive.next().await.expect("reads") {
        bytes.extend_from_slice(&more);
    }
    let unpacked = ground.directory.path().join("unpacked");
    let mut archive = tar::Archive::new(&bytes[..]);
    archive.set_preserve_mtime(true);
    archive.unpack(&unpacked).expect("unpacks");
    let content = |root: &std::path::Path| {
        look(root).into_iter().map(|(path, _, _, content)| (path, content)).collect::<Vec<_>>()
    };
    assert_eq!(content(&unpacked), content(&ground.workspace()));
    let mut rest = Vec::new();
    archive.into_inner().read_to_end(&mut rest).expect("an end");
    assert!(rest.iter().all(|byte| *byte == 0));
}
