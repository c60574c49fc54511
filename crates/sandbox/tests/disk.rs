//! Disk space: what a sandbox takes is counted however it is taken, and whoever fills the host's disk is stopped.
//!
//! Each test has a small file system of its own, on a loop device, which needs root.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod ground;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use futures::FutureExt as _;
use ground::LocalGround;
use tempfile::TempDir;
use warren_sandbox::{
    LimitHit, Limits, Sandbox,
    conformance::{Ground, in_time, said, shell, start},
};

const MIB: u64 = 1 << 20;
/// The size of the file system, and what must stay free of it.
const DISK: u64 = 256 * MIB;
const FLOOR: u64 = 64 * MIB;
const FOUND: usize = 32 << 20;
/// What an attacker takes: more than is left above the floor.
const TAKEN: u64 = 176 * MIB;

/// A small ext4 file system. Unmounted, and its loop device released, when it is dropped.
struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// Makes one; `None`, with a word about it, if this user may not mount.
    fn make() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can mount a file system");
            return None;
        }
        let disk = Self { directory: tempfile::tempdir().expect("a temporary directory") };
        let image = disk.directory.path().join("image");
        File::create(&image).and_then(|file| file.set_len(DISK)).expect("an image");
        fs::create_dir(disk.path()).expect("a directory");
        command("mkfs.ext4", &["-q".as_ref(), "-m0".as_ref(), &image]);
        command("mount", &["-o".as_ref(), "loop".as_ref(), &image, &disk.path()]);
        Some(disk)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("disk")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazy: a sandbox may still be ending.
        command("umount", &["-l".as_ref(), &self.path()]);
    }
}

fn command(program: &str, arguments: &[&Path]) {
    let run = std::process::Command::new(program).args(arguments).output().expect("the program runs");
    assert!(run.status.success(), "{program}: {}", String::from_utf8_lossy(&run.stderr));
}

async fn ground(disk: &SmallDisk) -> LocalGround {
    LocalGround::below(&disk.path(), |options| {
        options.disk_interval = Duration::from_millis(100);
        options.disk_floor_bytes = FLOOR;
    })
    .await
}

/// Starts a program that takes disk space, and waits until it has, or is refused.
async fn take(sandbox: &Sandbox, way: &str, amount: u64) {
    let command = format!(
        "(/opt/agents/hostile take {way} {amount} > /tmp/said 2>&1 &) ; until [ -s /tmp/said ]; do sleep 0.05; done; cat /tmp/said"
    );
    let said = shell(sandbox, &command).await.stdout;
    assert_eq!(said, "taken\n", "{way}");
}

#[tokio::test]
async fn whoever_fills_the_disk_is_stopped_and_the_other_sandbox_goes_on() {
    let ways = ["plain", "rewrite", "unlinked", "tmpfile", "mapped", "fallocate", "in-flight"];
    for way in ways {
        let Some(disk) = SmallDisk::make() else { return };
        let ground = ground(&disk).await;
        let found = ground.directory.path().join("greedy/workspace/found");
        fs::create_dir_all(found.parent().expect("a directory")).expect("made");
        fs::write(found, vec![1; FOUND]).expect("a file that is there before the sandbox");
        let (quiet, greedy) = (start(&ground, "quiet").await, start(&ground, "greedy").await);
        let work = "head -c 4M /dev/zero > mine; echo done";
        assert_eq!(shell(&quiet, work).await, said("done\n"));
        take(&greedy, way, TAKEN).await;
        let hit = in_time("the report", greedy.limit_hit()).await;
        assert!(
            matches!(hit, LimitHit::HostDisk { free_bytes, floor_bytes: FLOOR } if free_bytes < FLOOR),
            "{way}: {hit:?}"
        );
        assert_eq!(shell(&quiet, work).await, said("done\n"), "{way}");
        greedy.terminate().await.expect("it ends");
        assert_eq!(shell(&quiet, work).await, said("done\n"), "{way}");
        assert_eq!(quiet.limit_hit().now_or_never(), None, "{way}: the other was reported too");
        ground.local.close().await;
    }
}

#[tokio::test]
async fn whoever_uses_up_the_inodes_is_stopped_and_the_other_sandbox_goes_on() {
    let Some(disk) = SmallDisk::make() else { return };
    let ground = ground(&disk).await;
    let (quiet, greedy) = (start(&ground, "quiet").await, start(&ground, "greedy").await);
    assert_eq!(shell(&quiet, "touch 1 2 3").await, said(""));
    let free = rustix::fs::statvfs(disk.path()).expect("a file system").f_favail;
    take(&greedy, "empty", free - 100).await;
    let hit = in_time("the report", greedy.limit_hit()).await;
    assert!(matches!(hit, LimitHit::HostInodes { .. }), "{hit:?}");
    assert_eq!(shell(&quiet, "touch 4; echo done").await, said("done\n"));
    assert_eq!(quiet.limit_hit().now_or_never(), None, "the other was reported too");
    ground.local.close().await;
}

#[tokio::test]
async fn files_without_a_name_count_towards_the_disk_limit() {
    for way in ["unlinked", "tmpfile", "mapped"] {
        let Some(disk) = SmallDisk::make() else { return };
        let ground = ground(&disk).await;
        let mut spec = ground.spec("hidden");
        spec.limits = Limits { disk_bytes: 32 * MIB, ..Limits::default() };
        let sandbox = ground.backend().start(spec).await.expect("it starts");
        take(&sandbox, way, 40 * MIB).await;
        let hit = in_time("the report", sandbox.limit_hit()).await;
        assert!(matches!(hit, LimitHit::Disk { used_bytes, .. } if used_bytes > 32 * MIB), "{way}: {hit:?}");
        let shown = sandbox.stats().await.expect("there are numbers").disk_bytes;
        assert!(shown > 32 * MIB, "{way}: {shown}");
        ground.local.close().await;
    }
}

#[tokio::test]
async fn empty_files_count_towards_the_inode_limit() {
    let Some(disk) = SmallDisk::make() else { return };
    let ground = ground(&disk).await;
    let mut spec = ground.spec("empty");
    spec.limits = Limits { inodes: 1000, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("it starts");
    take(&sandbox, "empty", 1500).await;
    let hit = in_time("the report", sandbox.limit_hit()).await;
    assert!(matches!(hit, LimitHit::Inodes { used_inodes: 1001.., limit_inodes: 1000 }), "{hit:?}");
    ground.local.close().await;
}
