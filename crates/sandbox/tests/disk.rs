//! Disk space: what a sandbox takes is counted however it is taken, and whoever fills the host's disk is stopped.
//!
//! Each test has a small file system of its own, on a loop device, which needs root.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod ground;

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::FutureExt as _;
use ground::LocalGround;
use tempfile::TempDir;
use warren_sandbox::{
    Layer, LimitHit, Limits, Sandbox,
    conformance::{Ground, in_time, said, shell, start},
    quota::{self, Project, Usage},
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
        let disk = Self::format(&[])?;
        disk.mount("loop").expect("it is mounted");
        Some(disk)
    }

    /// One whose files have projects, without quotas for them; `None`, with a word about it, if this kernel has none.
    fn with_projects() -> Option<Self> {
        Self::format(&["-O", "project"])?.mount_if_possible("loop")
    }

    /// One that enforces quotas; `None`, with a word about it, if this kernel has none.
    fn with_quotas() -> Option<Self> {
        let options = ["-O", "quota,project", "-E", "quotatype=prjquota"];
        Self::format(&options)?.mount_if_possible("loop,prjquota")
    }

    fn mount_if_possible(self, options: &str) -> Option<Self> {
        match self.mount(options) {
            Ok(()) => Some(self),
            Err(error) => {
                eprintln!("skipped: this kernel cannot mount a file system with project quotas: {error}");
                None
            }
        }
    }

    fn format(options: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can mount a file system");
            return None;
        }
        let disk = Self { directory: tempfile::tempdir().expect("a temporary directory") };
        let image = disk.directory.path().join("image");
        File::create(&image).and_then(|file| file.set_len(DISK)).expect("an image");
        fs::create_dir(disk.path()).expect("a directory");
        let mut arguments: Vec<&Path> = vec!["-q".as_ref(), "-m0".as_ref()];
        arguments.extend(options.iter().map(Path::new));
        command("mkfs.ext4", &[&arguments[..], &[&image]].concat()).expect("a file system");
        Some(disk)
    }

    fn mount(&self, options: &str) -> Result<(), String> {
        let image = self.directory.path().join("image");
        command("mount", &["-o".as_ref(), options.as_ref(), &image, &self.path()])
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("disk")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazy: a sandbox may still be ending. One that was never mounted need not be unmounted.
        _ = command("umount", &["-l".as_ref(), &self.path()]);
    }
}

fn command(program: &str, arguments: &[&Path]) -> Result<(), String> {
    let run = std::process::Command::new(program).args(arguments).output().expect("the program runs");
    if run.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&run.stderr).trim().to_owned()) }
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

#[tokio::test]
async fn sandbox_on_a_file_system_without_quotas_says_so_and_its_files_have_no_project() {
    let Some(disk) = SmallDisk::with_projects() else { return };
    let ground = ground(&disk).await;
    let spec = ground.spec("plain");
    let workspace = spec.mounts.workspace.clone();
    ground.backend().adopt(&disk.path(), spec.uid);
    let sandbox = ground.backend().start(spec.clone()).await.expect("it starts");
    assert_eq!(
        (sandbox.isolation.disk.how.as_str(), sandbox.isolation.has(Layer::DiskQuota)),
        ("best effort", false)
    );
    for directory in [disk.path(), workspace] {
        let project = quota::project(open(&directory)).expect("a project");
        assert_eq!(project, Project { id: 0, is_inherited: false }, "{}", directory.display());
    }
    ground.local.close().await;
}

#[test]
fn files_get_the_project_of_their_directory_and_those_of_others_cannot_be_moved_there() {
    let Some(disk) = SmallDisk::with_projects() else { return };
    let directory = disk.path().join("project");
    fs::create_dir(&directory).expect("a directory");
    assert!(!quota::is_enforced(open(&directory)), "a file system with projects and without quotas");
    let project = Project { id: 200_000, is_inherited: true };
    quota::set_project(open(&directory), project).expect("the project is set");
    fs::create_dir(directory.join("below")).expect("a directory");
    fs::write(directory.join("below/file"), "x").expect("a file");
    assert_eq!(quota::project(open(&directory.join("below"))).expect("a project"), project);
    let file = quota::project(open(&directory.join("below/file"))).expect("a project");
    assert_eq!(file.id, project.id);
    let stranger = disk.path().join("stranger");
    fs::write(&stranger, "x").expect("a file");
    let moved = fs::rename(&stranger, directory.join("stranger")).expect_err("it is refused");
    assert_eq!(moved.kind(), std::io::ErrorKind::CrossesDevices);
    fs::rename(directory.join("below/file"), disk.path().join("out")).expect("it can be moved out");
}

#[tokio::test]
async fn disk_quota_refuses_writes_and_the_limit_is_reported_and_the_next_sandbox_can_clean_up() {
    let Some(disk) = SmallDisk::with_quotas() else { return };
    let ground = ground(&disk).await;
    let mut spec = ground.spec("greedy");
    assert!(spec.required.contains(&Layer::DiskQuota), "the probe finds quotas");
    spec.limits = Limits { disk_bytes: 16 * MIB, ..Limits::default() };
    let sandbox = ground.backend().start(spec.clone()).await.expect("it starts");
    assert_eq!(sandbox.isolation.disk.how, "quota");
    let full = shell(&sandbox, "head -c 100M /dev/zero > large").await;
    assert!(full.stderr.contains("quota exceeded"), "{full:?}");
    let hit = in_time("the report", sandbox.limit_hit()).await;
    let LimitHit::Disk { used_bytes, limit_bytes } = hit else { panic!("another limit: {hit:?}") };
    assert!(used_bytes > limit_bytes && used_bytes <= 24 * MIB, "{hit:?}");
    sandbox.terminate().await.expect("it ends");

    let sandbox = ground.backend().start(spec.clone()).await.expect("it starts again");
    assert_eq!(shell(&sandbox, "head -c 1M /dev/zero > more && rm large && echo done").await, said("done\n"));
    assert_eq!(sandbox.limit_hit().now_or_never(), None, "whoever cleans up is left alone");
    ground.local.close().await;
}

#[tokio::test]
async fn disk_quota_refuses_files_beyond_the_inode_limit_and_the_limit_is_reported() {
    let Some(disk) = SmallDisk::with_quotas() else { return };
    let ground = ground(&disk).await;
    let mut spec = ground.spec("empty");
    spec.limits = Limits { inodes: 1000, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("it starts");
    let full = shell(&sandbox, "i=0; while true > file-$i; do i=$((i + 1)); done; echo $i").await;
    let made: u64 = full.stdout.trim().parse().expect("a number");
    assert!((1900..2000).contains(&made), "{made} files");
    let hit = in_time("the report", sandbox.limit_hit()).await;
    assert!(matches!(hit, LimitHit::Inodes { used_inodes: 1001..=2000, limit_inodes: 1000 }), "{hit:?}");
    ground.local.close().await;
}

#[tokio::test]
async fn files_without_a_name_are_refused_beyond_the_disk_quota() {
    for way in ["unlinked", "tmpfile", "in-flight"] {
        let Some(disk) = SmallDisk::with_quotas() else { return };
        let ground = ground(&disk).await;
        let mut spec = ground.spec("hidden");
        spec.limits = Limits { disk_bytes: 16 * MIB, ..Limits::default() };
        let sandbox = ground.backend().start(spec).await.expect("it starts");
        take(&sandbox, way, 20 * MIB).await;
        let hit = in_time("the report", sandbox.limit_hit()).await;
        assert!(matches!(hit, LimitHit::Disk { used_bytes, .. } if used_bytes > 20 * MIB), "{way}: {hit:?}");
        let tried = shell(&sandbox, "head -c 10M /dev/zero > more").await;
        assert!(tried.stderr.contains("quota exceeded"), "{way}: {tried:?}");
        ground.local.close().await;
    }
}

#[tokio::test]
async fn adopted_directory_counts_what_the_host_puts_there_until_it_is_disowned() {
    let Some(disk) = SmallDisk::with_quotas() else { return };
    let ground = ground(&disk).await;
    let spec = ground.spec("restored");
    let workspace = spec.mounts.workspace.clone();
    fs::create_dir_all(&workspace).expect("a directory");
    ground.backend().adopt(&workspace, spec.uid);
    fs::write(workspace.join("file"), vec![1; 1 << 20]).expect("a file");
    symlink("file", workspace.join("link")).expect("a link");
    let used = || quota::usage(open(&workspace), spec.uid).expect("the usage");
    File::open(workspace.join("file")).and_then(|file| file.sync_all()).expect("written out");
    assert!(matches!(used(), Usage { bytes: 0x10_0000..0x20_0000, inodes: 3 }), "{:?}", used());

    // Was there before there were quotas.
    fs::create_dir_all(spec.mounts.home.join("deep")).expect("a directory");
    fs::write(spec.mounts.home.join("deep/file"), vec![1; 1 << 20]).expect("a file");
    let sandbox = ground.backend().start(spec.clone()).await.expect("it starts");
    assert!(matches!(used(), Usage { bytes: 0x20_0000.., inodes: 7..=9 }), "{:?}", used());
    fs::rename(workspace.join("link"), workspace.join("moved"))
        .expect("a link of the same project is renamed");
    assert_eq!(
        shell(&sandbox, "echo x > /user-input/given && mv file new && echo done").await,
        said("done\n")
    );
    sandbox.terminate().await.expect("it ends");
    for directory in [&workspace, &spec.mounts.home, spec.mounts.user_input.as_ref().expect("a directory")] {
        ground.backend().disown(directory);
    }
    ground.backend().release(&disk.path(), spec.uid);
    assert_eq!(used().bytes, 0);
    ground.local.close().await;
}

fn open(path: &Path) -> File {
    File::open(path).expect("it opens")
}
