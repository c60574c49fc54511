//! Trees that somebody made to annoy.

use std::{
    fs,
    os::unix::fs::{FileExt, symlink},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};
use warren_snapshots::{ItemKind, Skipped, Why};

use crate::ground::{Ground, look};

#[tokio::test]
async fn links_are_kept_as_links_and_never_followed() {
    let ground = Ground::new();
    for (name, target) in
        [("root", "/"), ("up", "../../.."), ("self", "self"), ("dot", "."), ("gone", "/nowhere")]
    {
        symlink(target, ground.workspace().join(name)).expect("links");
    }
    let taken = ground.take(None).await;
    assert_eq!((taken.n_files, taken.size_bytes), (5, 0));
    let restored = ground.restore(taken.tree, "restored").await;
    assert_eq!(look(&restored), look(&ground.workspace()));
}

#[tokio::test]
async fn devices_pipes_and_sockets_are_skipped_and_listed() {
    let ground = Ground::new();
    ground.write("file", "x");
    let directory =
        openat(CWD, ground.workspace(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("opens");
    mknodat(&directory, "fifo", FileType::Fifo, Mode::RUSR, 0).expect("a fifo");
    let has_device =
        mknodat(&directory, "null", FileType::CharacterDevice, Mode::RUSR, rustix::fs::makedev(1, 3)).is_ok();
    let _socket =
        std::os::unix::net::UnixListener::bind(ground.workspace().join("socket")).expect("a socket");
    let taken = ground.take(None).await;
    let special = |name: &str| Skipped { path: format!("workspace/{name}"), why: Why::Special };
    let mut expect = vec![special("fifo"), special("socket")];
    if has_device {
        expect.insert(1, special("null"));
    }
    assert_eq!((taken.skipped, taken.n_files), (expect, 1));
}

#[tokio::test]
async fn excluded_directories_and_tagged_caches_are_left_out_and_listed() {
    let ground = Ground::new();
    ground.write("web/node_modules/x/index.js", "x");
    ground.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# cargo\n");
    ground.write("target/debug/big", "x");
    ground.write("other/CACHEDIR.TAG", "no signature");
    ground.write("other/kept", "x");
    let taken = ground.take(None).await;
    assert_eq!(taken.excluded, ["workspace/target", "workspace/web/node_modules"]);
    let restored = ground.restore(taken.tree, "restored").await;
    let paths: Vec<_> = look(&restored).into_iter().map(|(path, ..)| path.display().to_string()).collect();
    let expect = ["other", "other/CACHEDIR.TAG", "other/kept", "target", "target/CACHEDIR.TAG", "web"];
    assert_eq!(paths, expect);
}

#[tokio::test]
async fn a_path_of_4000_bytes_is_kept_and_one_beyond_the_kernels_limit_is_listed() {
    let ground = Ground::new();
    let mut directory =
        openat(CWD, ground.workspace(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("opens");
    let name = "x".repeat(99);
    for level in 0..45 {
        mkdirat(&directory, &name, Mode::RWXU).expect("makes");
        directory =
            openat(&directory, &name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("opens");
        if level == 38 {
            let file =
                openat(&directory, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).expect("makes");
            rustix::io::write(file, b"deep").expect("writes");
        }
    }
    let taken = ground.take(None).await;
    let [skipped] = &taken.skipped[..] else { panic!("{:?}", taken.skipped) };
    assert_eq!(skipped.why, Why::TooLong);
    let path = format!("workspace/{}file", format!("{name}/").repeat(39));
    assert!(path.len() > 3_900, "{}", path.len());
    let item = ground.snapshots.stat(&ground.partition, taken.tree, &path).await.expect("is there");
    assert_eq!((item.kind, item.size_bytes), (ItemKind::File, 4));
    let restored = ground.restore(taken.tree, "r").await;
    let deep = restored.join(path.strip_prefix("workspace/").expect("a prefix"));
    assert_eq!(fs::read(deep).expect("reads"), b"deep");
}

#[tokio::test]
async fn a_sparse_file_of_5_gb_costs_next_to_nothing() {
    let ground = Ground::new();
    let file = fs::File::create(ground.workspace().join("sparse")).expect("makes");
    file.set_len(5 << 30).expect("a size");
    file.write_all_at(b"data", 3 << 30).expect("writes");
    let taken = ground.take(None).await;
    assert_eq!(taken.size_bytes, 5 << 30);
    assert!(taken.stored_bytes < 100_000, "{}", taken.stored_bytes);
    let restored = ground.restore(taken.tree, "restored").await.join("sparse");
    let stat = fs::metadata(&restored).expect("a look");
    assert_eq!(stat.len(), 5 << 30);
    assert!(std::os::unix::fs::MetadataExt::blocks(&stat) < 1_000);
    let range = (3 << 30) - 5..(3 << 30) + 5;
    let read = ground.snapshots.read(&ground.partition, taken.tree, "workspace/sparse", Some(range));
    let mut reader = read.await.expect("opens");
    let mut bytes = Vec::new();
    while let Some(more) = reader.next().await.expect("reads") {
        bytes.extend_from_slice(&more);
    }
    assert_eq!(bytes, b"\0\0\0\0\0data\0");
}

#[tokio::test]
async fn a_hundred_thousand_files_in_one_directory_come_back() {
    let ground = Ground::in_memory();
    for n in 0..100_000 {
        fs::write(ground.workspace().join(format!("file-{n}")), n.to_string()).expect("writes");
    }
    let taken = ground.take(None).await;
    assert_eq!(taken.n_files, 100_000);
    let restored = ground.restore(taken.tree, "restored").await;
    assert_eq!(fs::read_dir(&restored).expect("lists").count(), 100_000);
    assert_eq!(fs::read(restored.join("file-99999")).expect("reads"), b"99999");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_that_changes_while_it_is_read_is_never_corrupt() {
    let ground = Ground::new();
    for n in 0..20 {
        ground.write(&format!("d{n}/file"), vec![0; 200_000]);
    }
    let stop = AtomicBool::new(false);
    let workspace = ground.workspace();
    let trees = thread::scope(|scope| {
        scope.spawn(|| {
            let mut n: u8 = 0;
            while !stop.load(Ordering::Relaxed) {
                n = n.wrapping_add(1);
                let directory = workspace.join(format!("d{}", n % 20));
                fs::write(directory.join("file"), vec![n; 100_000 + usize::from(n) * 1_000]).expect("writes");
                fs::create_dir_all(workspace.join(format!("moving-{}", n % 4)).join("a/b")).expect("makes");
                // Whether it was there is of no interest.
                _ = fs::remove_dir_all(workspace.join(format!("moving-{}", n.wrapping_add(2) % 4)));
            }
        });
        let mut trees = Vec::new();
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            let mut base = None;
            for _ in 0..10 {
                let taken = handle.block_on(ground.take(base));
                base = Some(taken.tree);
                trees.push(taken);
            }
        });
        stop.store(true, Ordering::Relaxed);
        trees
    });
    for (n, taken) in trees.iter().enumerate() {
        let restored = ground.restore(taken.tree, &format!("restored-{n}")).await;
        assert!(look(&restored).len() >= 40);
    }
    // Once it stands still, the tree is what is there.
    let last = ground.take(Some(trees[9].tree)).await;
    assert!(last.unstable.is_empty());
    assert_eq!(look(&ground.restore(last.tree, "last").await), look(&ground.workspace()));
}
