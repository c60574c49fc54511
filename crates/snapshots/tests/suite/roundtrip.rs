//! Any tree comes back as it was.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileExt, PermissionsExt, symlink},
    },
    path::Path,
};

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
    test_runner::{Config, TestRunner},
};
use warren_snapshots::{Changes, Source, TakeRequest, Target, TreeId};

use crate::ground::{Ground, look};

/// Something in a directory.
#[derive(Debug, Clone)]
enum Thing {
    File(Vec<u8>, u32),
    Big(usize),
    Sparse(u64),
    Link(Vec<u8>),
    Directory(Vec<(Vec<u8>, Thing)>, u32),
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let plain = vec(any::<u8>().prop_filter("legal", |b| !matches!(b, 0 | b'/')), 1..20);
    plain.prop_filter("a name", |name| !matches!(&name[..], b"." | b"..") && *name != b"CACHEDIR.TAG"[..])
}

fn thing() -> impl Strategy<Value = Thing> {
    let leaf = prop_oneof![
        4 => (vec(any::<u8>(), 0..500), 0o400_u32..0o777).prop_map(|(content, mode)| Thing::File(content, mode | 0o400)),
        1 => (60_000_usize..400_000).prop_map(Thing::Big),
        1 => (100_000_u64..1 << 24).prop_map(Thing::Sparse),
        1 => vec(1_u8..255, 1..60).prop_map(Thing::Link),
        1 => Just(Thing::Directory(Vec::new(), 0o755)),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        (vec((name(), inner), 0..8), 0o700_u32..0o777)
            .prop_map(|(things, mode)| Thing::Directory(things, mode | 0o700))
    })
}

fn make(path: &Path, thing: &Thing) {
    match thing {
        Thing::File(content, mode) => {
            fs::write(path, content).expect("writes");
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("a mode");
        }
        Thing::Big(len) => {
            fs::write(path, (0..*len).map(|n| ((n * n) >> 7) as u8).collect::<Vec<_>>()).expect("writes")
        }
        Thing::Sparse(size) => {
            let file = fs::File::create(path).expect("makes");
            file.write_all_at(b"in the middle", size / 2).expect("writes");
            file.set_len(*size).expect("a size");
        }
        Thing::Link(target) => symlink(OsStr::from_bytes(target), path).expect("links"),
        Thing::Directory(things, mode) => {
            fs::create_dir(path).expect("makes");
            for (name, thing) in things {
                let path = path.join(OsStr::from_bytes(name));
                if fs::symlink_metadata(&path).is_err() {
                    make(&path, thing);
                }
            }
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("a mode");
        }
    }
}

#[test]
fn any_tree_comes_back_byte_for_byte() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let tree = vec((name(), thing()), 0..12);
    let run = runner.run(&tree, |things| {
        let ground = Ground::new();
        for (name, thing) in &things {
            let path = ground.workspace().join(OsStr::from_bytes(name));
            if fs::symlink_metadata(&path).is_err() {
                make(&path, thing);
            }
        }
        let before = look(&ground.workspace());
        let restored = runtime.block_on(async {
            let taken = ground.take(None).await;
            assert!(taken.skipped.is_empty() && taken.unstable.is_empty(), "{taken:?}");
            ground.restore(taken.tree, "restored").await
        });
        assert_eq!(look(&restored), before);
        Ok(())
    });
    run.expect("every tree");
}

#[tokio::test]
async fn the_same_files_have_the_same_id_wherever_they_are() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    ground.write("big", vec![7; 3_000_000]);
    let taken = ground.take(None).await;
    let restored = ground.restore(taken.tree, "restored").await;
    let source = Source::directories(vec![("workspace".to_owned(), restored)]);
    let again =
        ground.snapshots.take(&ground.partition, source, TakeRequest::default()).await.expect("takes");
    assert_eq!((again.tree, again.stored_bytes), (taken.tree, 0));
}

#[tokio::test]
async fn an_unchanged_tree_is_the_same_and_stores_nothing() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    let first = ground.take(None).await;
    assert_eq!(first.changes, Changes { added: 1, changed: 0, removed: 0 });
    let second = ground.take(Some(first.tree)).await;
    assert_eq!((second.tree, second.changes, second.stored_bytes), (first.tree, Changes::default(), 0));
    assert_eq!(ground.packs().len(), 1);
}

#[tokio::test]
async fn what_changed_is_counted_and_kept() {
    let ground = Ground::new();
    for path in ["a/1", "a/2", "b/1", "b/2", "c"] {
        ground.write(path, path);
    }
    let first = ground.take(None).await;
    ground.write("a/1", "other");
    ground.write("d/e/f", "new");
    fs::remove_dir_all(ground.workspace().join("b")).expect("removes");
    let second = ground.take(Some(first.tree)).await;
    assert_eq!(second.changes, Changes { added: 1, changed: 1, removed: 2 });
    let (now, before) = (look(&ground.workspace()), ground.restore(second.tree, "second").await);
    assert_eq!(look(&before), now);
    let old = ground.restore(first.tree, "first").await;
    assert_eq!(fs::read(old.join("a/1")).expect("reads"), b"a/1");
}

#[tokio::test]
async fn a_change_that_keeps_size_and_time_is_seen() {
    let ground = Ground::new();
    let path = ground.write("file", "one");
    let stat = fs::metadata(&path).expect("a look");
    let first = ground.take(None).await;
    fs::write(&path, "two").expect("writes");
    let file = fs::File::options().write(true).open(&path).expect("opens");
    file.set_modified(stat.modified().expect("a time")).expect("a time");
    let second = ground.take(Some(first.tree)).await;
    assert_eq!(second.changes.changed, 1);
}

#[tokio::test]
async fn what_was_restored_is_not_read_again_by_the_next_take() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    let taken = ground.take(None).await;
    let path = ground.directory.path().join("new");
    fs::create_dir(&path).expect("a directory");
    let roots = vec![("workspace".to_owned(), path.clone())];
    let target = Target::directories(roots.clone());
    ground.snapshots.restore(&ground.partition, taken.tree, target, Some("other")).await.expect("restores");
    // Were it read, it would be found to be unreadable: root reads everything, so a file that is gone must do.
    let request = TakeRequest::new("other", Some(taken.tree));
    let again =
        ground.snapshots.take(&ground.partition, Source::directories(roots), request).await.expect("takes");
    assert_eq!((again.tree, again.changes, again.stored_bytes), (taken.tree, Changes::default(), 0));
}

#[tokio::test]
async fn several_roots_make_one_tree() {
    let ground = Ground::new();
    ground.write("a", "in the workspace");
    let home = ground.directory.path().join("home");
    fs::create_dir(&home).expect("a home");
    fs::write(home.join("b"), "at home").expect("writes");
    let roots = vec![
        ("workspace".to_owned(), ground.workspace()),
        ("home".to_owned(), home),
        ("user-input".to_owned(), ground.directory.path().join("not there")),
    ];
    let source = Source::directories(roots);
    let taken =
        ground.snapshots.take(&ground.partition, source, TakeRequest::default()).await.expect("takes");
    let list = async |path: &str| {
        let items = ground.snapshots.list(&ground.partition, taken.tree, path).await.expect("lists");
        items.into_iter().map(|item| item.path).collect::<Vec<_>>()
    };
    assert_eq!(list("").await, ["home", "user-input", "workspace"]);
    assert_eq!(list("home").await, ["home/b"]);
    assert_eq!(list("user-input").await, [""; 0]);
    assert_ne!(taken.tree, TreeId::empty());
}

#[tokio::test]
async fn a_server_that_was_restarted_knows_the_place_again() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    let first = ground.take(None).await;
    let reopened = ground.reopened();
    let source = || Source::directories(vec![("workspace".to_owned(), ground.workspace())]);
    let request = TakeRequest::new("place", Some(first.tree));
    let second = reopened.take(&ground.partition, source(), request).await.expect("takes");
    assert_eq!((second.tree, second.stored_bytes), (first.tree, 0));
}
