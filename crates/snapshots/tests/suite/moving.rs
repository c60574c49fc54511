//! A restore in place of directories that have much of the tree already.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
};

use warren_snapshots::{Changes, RestoreError, Restored, Target, TreeId};

use crate::ground::{Ground, look};

/// Restores into a new directory, in place of the workspace.
async fn restore(ground: &Ground, tree: TreeId, new: &Path) -> Result<Restored, RestoreError> {
    let roots = |path: &Path| vec![("workspace".to_owned(), path.to_owned())];
    let target = Target::directories(roots(new)).in_place_of(roots(&ground.workspace()));
    ground.snapshots.restore(&ground.partition, tree, target, Some("place")).await
}

/// The same, and the new directory becomes the workspace.
async fn replace(ground: &Ground, tree: TreeId) -> Restored {
    let new = ground.directory.path().join("new");
    fs::create_dir(&new).expect("a directory");
    let restored = restore(ground, tree, &new).await.expect("restores");
    fs::remove_dir_all(ground.workspace()).expect("removes");
    fs::rename(&new, ground.workspace()).expect("renames");
    restored
}

/// A workspace of five files, all of which are known, and its tree.
async fn known(ground: &Ground) -> TreeId {
    for path in ["a/1", "a/2", "a/b/3", "c/4", "5"] {
        ground.write(path, path);
    }
    let tree = ground.take(None).await.tree;
    // What was just written may be too young to be known; what was restored is not.
    replace(ground, tree).await;
    tree
}

fn inode(ground: &Ground, path: &str) -> u64 {
    fs::symlink_metadata(ground.workspace().join(path)).expect("a look").ino()
}

#[tokio::test]
async fn what_is_there_already_is_moved_and_only_the_rest_is_written() {
    let ground = Ground::new();
    let first = known(&ground).await;
    let before = look(&ground.workspace());
    let inodes = ["a/1", "a/2", "a/b/3", "5"].map(|path| inode(&ground, path));
    ground.write("a/2", "changed");
    ground.write("new", "new");
    fs::remove_dir_all(ground.workspace().join("c")).expect("removes");
    let second = ground.take(Some(first)).await;
    assert_eq!(second.changes, Changes { added: 1, changed: 1, removed: 1 });

    let restored = replace(&ground, first).await;
    assert_eq!((restored.n_files, restored.n_moved), (5, 3));
    assert_eq!(look(&ground.workspace()), before);
    let after = ["a/1", "a/2", "a/b/3", "5"].map(|path| inode(&ground, path));
    assert_eq!([0, 2, 3].map(|at| after[at]), [0, 2, 3].map(|at| inodes[at]), "the same files");
    let again = ground.take(Some(first)).await;
    assert_eq!((again.tree, again.changes, again.stored_bytes), (first, Changes::default(), 0));
    // All of them are known once more, those that were moved too.
    assert_eq!(replace(&ground, first).await.n_moved, 5);
    assert_eq!(look(&ground.workspace()), before);
}

#[tokio::test]
async fn a_file_that_was_changed_to_look_the_same_is_written_anew() {
    let ground = Ground::new();
    let tree = known(&ground).await;
    let before = look(&ground.workspace());
    let path = ground.workspace().join("a/1");
    let stat = fs::metadata(&path).expect("a look");
    fs::write(&path, "x/1").expect("writes");
    let file = fs::File::options().write(true).open(&path).expect("opens");
    file.set_modified(stat.modified().expect("a time")).expect("a time");
    assert_eq!(replace(&ground, tree).await.n_moved, 4);
    assert_eq!(look(&ground.workspace()), before);
}

#[tokio::test]
async fn nothing_is_moved_through_a_link() {
    let ground = Ground::new();
    let tree = known(&ground).await;
    let before = look(&ground.workspace());
    // The file itself looks as it did: only the way there is another.
    let elsewhere = ground.directory.path().join("elsewhere");
    fs::rename(ground.workspace().join("a"), &elsewhere).expect("renames");
    symlink(&elsewhere, ground.workspace().join("a")).expect("links");
    assert_eq!(replace(&ground, tree).await.n_moved, 2);
    assert_eq!(look(&ground.workspace()), before);
    assert_eq!(look(&elsewhere).len(), 4, "nothing was taken from there");
}

#[tokio::test]
async fn a_restore_that_fails_takes_nothing_from_what_is_there() {
    let ground = Ground::new();
    let tree = known(&ground).await;
    let before = look(&ground.workspace());
    let new = ground.directory.path().join("half");
    fs::create_dir(&new).expect("a directory");
    // Where the last directory is to be made, something is.
    fs::write(new.join("c"), "in the way").expect("writes");
    let failed = restore(&ground, tree, &new).await;
    assert!(matches!(failed, Err(RestoreError::Write { .. })), "{failed:?}");
    assert_eq!(look(&ground.workspace()), before);
    assert_eq!(replace(&ground, tree).await.n_moved, 5);
}

#[tokio::test]
async fn what_a_guest_says_of_its_files_is_no_reason_to_move_them() {
    let ground = Ground::new();
    let tree = known(&ground).await;
    let before = look(&ground.workspace());
    // All that is known of these files now comes from the other end of a stream.
    fs::rename(ground.workspace(), ground.directory.path().join("theirs")).expect("renames");
    fs::rename(ground.restore(tree, "copy").await, ground.workspace()).expect("renames");
    assert_eq!(crate::stream::take(&ground, Some(tree)).await.tree, tree);
    assert_eq!(replace(&ground, tree).await.n_moved, 0);
    assert_eq!(look(&ground.workspace()), before);
}

#[tokio::test]
async fn what_is_written_is_given_to_its_owner() {
    let ground = Ground::new();
    ground.write("a/1", "x");
    symlink("1", ground.workspace().join("a/link")).expect("links");
    let tree = ground.take(None).await.tree;
    let new = ground.directory.path().join("new");
    fs::create_dir(&new).expect("a directory");
    let owner = fs::metadata(&new).expect("a look").uid();
    // Only root can give something away; everybody else keeps it.
    let wanted = if owner == 0 { 61_234 } else { owner };
    let target = Target::directories(vec![("workspace".to_owned(), new.clone())]).owned_by(wanted);
    ground.snapshots.restore(&ground.partition, tree, target, Some("place")).await.expect("restores");
    let owners = ["a", "a/1", "a/link"].map(|path| {
        let stat = fs::symlink_metadata(new.join(path)).expect("a look");
        (stat.uid(), stat.gid())
    });
    if owner == 0 {
        assert_eq!(owners, [(wanted, wanted); 3]);
    } else {
        assert!(owners.iter().all(|(uid, _)| *uid == wanted), "{owners:?}");
    }
    assert_eq!(look(&new), look(&ground.workspace()));
}
