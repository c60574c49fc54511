//! How long a tree takes to be kept and given back, beside tar, zstd, git, restic and a bare walk over the same files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use warren_domain::Partition;
use warren_env::{Env, Tasks};
use warren_sandbox::{
    Backend, Layer, Limits, Mounts, SandboxId, Spec,
    local::{Local, Options as LocalOptions},
};
use warren_snapshots::{Options, Snapshots, Source, TakeRequest, Target, TreeId};

use super::{
    stats::Times,
    table::{Table, millis},
};

const FILES: usize = 50_000;
const FILES_PER_DIRECTORY: usize = 20;
/// About a gigabyte together.
const MEAN_BYTES: usize = 21_000;
const ROUNDS: usize = 15;
const UID: u32 = 61_500;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let at = directory.path();
    let workspace = at.join("workspace");
    make_tree(&workspace);
    let snapshots = Snapshots::open(Options::in_directory(at.join("store")), Env::system()).unwrap();
    let tree = first(table, &snapshots, &workspace, at).await;
    let tree = again(table, &snapshots, &workspace, tree).await;
    restored(table, &snapshots, tree, at).await;
    others(table, &workspace, at);
    through_guest(table, &snapshots, &workspace, at).await;
}

/// Text that compresses about as well as source code: words of a small vocabulary, and some that are new.
fn make_tree(at: &Path) {
    let mut state = 1_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: Vec<String> = (0..4_000).map(|_| format!("{:x} ", random() >> (24 + random() % 32))).collect();
    for n in 0..FILES {
        let directory = n / FILES_PER_DIRECTORY;
        let directory = at.join(format!("d{}/e{}/f{}", directory / 500, directory / 25 % 20, directory % 25));
        if n % FILES_PER_DIRECTORY == 0 {
            fs::create_dir_all(&directory).unwrap();
        }
        // Many small ones and a few large ones, as in a repository.
        let size = MEAN_BYTES / 8 * (1 + (random() % 8) as usize * (random() % 8) as usize * 7 / 12);
        let mut text = String::with_capacity(size + 32);
        while text.len() < size {
            match random() % 16 {
                0 => text.push_str(&format!("{:016x}", random())),
                n => text.push_str(&words[(random() % (250 * n)) as usize]),
            }
        }
        fs::write(directory.join(format!("file{n}.txt")), text).unwrap();
    }
}

async fn take(snapshots: &Snapshots, workspace: &Path, base: Option<TreeId>) -> (Duration, TreeId, u64) {
    let source = Source::directories(vec![("workspace".to_owned(), workspace.to_owned())]);
    let begin = Instant::now();
    let taken =
        snapshots.take(&Partition::default_partition(), source, TakeRequest::new("bench", base)).await;
    let taken = taken.unwrap();
    (begin.elapsed(), taken.tree, taken.stored_bytes)
}

async fn first(table: &mut Table, snapshots: &Snapshots, workspace: &Path, at: &Path) -> TreeId {
    // Once, so that the files are in memory for all that follow.
    shell(&format!("tar -C {} -c . | cat >/dev/null", workspace.display()));
    let tar = || {
        let (from, to) = (workspace.display(), at.join("tree.tar.zst"));
        shell(&format!("tar -C {from} -c . | zstd -q -3 -T2 -f -o {}", to.display()))
    };
    let mut theirs = Vec::new();
    theirs.push(tar());
    let (took, tree, stored) = take(snapshots, workspace, None).await;
    let mut ours = vec![took];
    for n in 0..2 {
        theirs.push(tar());
        let other =
            Snapshots::open(Options::in_directory(at.join(format!("store-{n}"))), Env::system()).unwrap();
        ours.push(take(&other, workspace, None).await.0);
        fs::remove_dir_all(at.join(format!("store-{n}"))).unwrap();
    }
    let size = fs::metadata(at.join("tree.tar.zst")).unwrap().len();
    let (ours, theirs) = (Times::of(ours).at(50), Times::of(theirs).at(50));
    let factor = theirs.as_secs_f64() / ours.as_secs_f64();
    table.row(
        "first snapshot, 50,000 files, 1 GB, synced, median of 3",
        format!("{}, {} MB", millis(ours), stored / 1_000_000),
        format!(
            "{}, {} MB, not synced: `tar | zstd -3 -T2` (we × {factor:.2} as fast)",
            millis(theirs),
            size / 1_000_000
        ),
        "≥ 1.5 × as fast",
    );
    tree
}

/// In turns, so that a busy machine slows all of them down.
async fn again(table: &mut Table, snapshots: &Snapshots, workspace: &Path, tree: TreeId) -> TreeId {
    let (mut ours, mut walks, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    let mut tree = tree;
    for n in 0..ROUNDS {
        // What has just changed is too young to be known, and is read once more by the next one.
        tokio::time::sleep(Duration::from_millis(40)).await;
        tree = take(snapshots, workspace, Some(tree)).await.1;
        walks.push(bare_walk(workspace));
        ours.push(take(snapshots, workspace, Some(tree)).await.0);
        fs::write(workspace.join("d1/e1/f1/changed.txt"), format!("{n:01000}")).unwrap();
        let (took, new, _) = take(snapshots, workspace, Some(tree)).await;
        changed.push(took);
        tree = new;
    }
    let (ours, walks) = (Times::of(ours), Times::of(walks));
    table.compare("unchanged tree, beside a bare parallel stat walk", 50, &ours, &walks, "≤ 1.3 ×");
    let changed = Times::of(changed).at(50);
    let more = changed.as_secs_f64() - ours.at(50).as_secs_f64();
    table.row(
        "one changed file of 1 KB, p50",
        millis(changed),
        format!("{} unchanged ({:+.2} ms)", millis(ours.at(50)), more * 1e3),
        "≤ that + 5 ms",
    );
    tree
}

async fn restored(table: &mut Table, snapshots: &Snapshots, tree: TreeId, at: &Path) {
    let tar = at.join("tree.tar");
    shell(&format!("tar -C {} -cf {} .", at.join("workspace").display(), tar.display()));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..3 {
        let to = at.join(format!("untar-{n}"));
        fs::create_dir(&to).unwrap();
        theirs.push(shell(&format!("tar -C {} -xf {}", to.display(), tar.display())));
        fs::remove_dir_all(to).unwrap();
        let to = at.join(format!("restored-{n}"));
        fs::create_dir(&to).unwrap();
        let target = Target::directories(vec![("workspace".to_owned(), to.clone())]);
        let begin = Instant::now();
        snapshots.restore(&Partition::default_partition(), tree, target, None).await.unwrap();
        ours.push(begin.elapsed());
        fs::remove_dir_all(to).unwrap();
    }
    let (ours, theirs) = (Times::of(ours).at(50), Times::of(theirs).at(50));
    let factor = theirs.as_secs_f64() / ours.as_secs_f64();
    table.row(
        "restore, decompressed and verified, median of 3",
        millis(ours),
        format!("{}: `tar -x`, uncompressed (we × {factor:.2} as fast)", millis(theirs)),
        "≥ the speed of `tar -x`",
    );
    let ours = in_place(snapshots, tree, at).await;
    let factor = theirs.as_secs_f64() / ours.as_secs_f64();
    table.row(
        "restore in place of the tree with one changed file, old one removed, median of 3",
        millis(ours),
        format!("{}: `tar -x` into a new directory (we × {factor:.2} as fast)", millis(theirs)),
        "",
    );
}

/// Going back to a tree of which nearly everything is still there.
async fn in_place(snapshots: &Snapshots, tree: TreeId, at: &Path) -> Duration {
    let (old, new) = (at.join("old"), at.join("new"));
    let roots = |path: &Path| vec![("workspace".to_owned(), path.to_owned())];
    let partition = Partition::default_partition();
    let mut times = Vec::new();
    for n in 0..4 {
        fs::create_dir(&new).unwrap();
        let begin = Instant::now();
        let target = Target::directories(roots(&new)).in_place_of(roots(&old));
        let restored = snapshots.restore(&partition, tree, target, Some("in place")).await.unwrap();
        // The first has nothing to move.
        if n > 0 {
            assert!(restored.n_moved + 1 == restored.n_files, "{restored:?}");
            fs::remove_dir_all(&old).unwrap();
        }
        fs::rename(&new, &old).unwrap();
        times.push(begin.elapsed());
        fs::write(old.join("d1/e1/f1/changed.txt"), "something else").unwrap();
    }
    fs::remove_dir_all(&old).unwrap();
    Times::of(times[1..].to_vec()).at(50)
}

/// Other programs that keep trees, where they are there.
fn others(table: &mut Table, workspace: &Path, at: &Path) {
    let (workspace, git) = (workspace.display(), at.join("git"));
    let git = format!("git --git-dir={} --work-tree={workspace}", git.display());
    shell(&format!("{git} init -q"));
    let add = shell(&format!("{git} add -A"));
    let status = shell(&format!("{git} status --porcelain >/dev/null"));
    table.row(
        "the same in git: `add -A`, then `status` of the unchanged tree",
        "",
        format!("{}, {}", millis(add), millis(status)),
        "",
    );
    let has_restic =
        Command::new("restic").arg("version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !has_restic {
        table.row("the same in restic: first, unchanged", "", "not installed here", "");
        return;
    }
    let restic = format!("RESTIC_PASSWORD=x restic -q -r {}", at.join("restic").display());
    shell(&format!("{restic} init"));
    let first = shell(&format!("{restic} backup {workspace}"));
    let second = shell(&format!("{restic} backup {workspace}"));
    table.row(
        "the same in restic: first, unchanged",
        "",
        format!("{}, {}", millis(first), millis(second)),
        "",
    );
}

/// The whole way: out of a real sandbox and into one, over its one stream.
async fn through_guest(table: &mut Table, snapshots: &Snapshots, workspace: &Path, at: &Path) {
    let launcher = vec![warren_testkit::program().into_os_string(), "__launcher".into()];
    let local = Local::open(LocalOptions::new(launcher, at.join("shared")), Tasks::new()).unwrap();
    local.sweep().await.unwrap();
    let partition = Partition("guest".to_owned());
    shell(&format!("chown -R {UID}:{UID} {}", workspace.display()));
    let sandbox = local.start(spec(at, "workspace")).await.unwrap();
    let mut base = None;
    let mut times = Vec::new();
    for _ in 0..4 {
        let begin = Instant::now();
        let stream = sandbox.guest.scan_tree().await.unwrap();
        let request = TakeRequest::new("guest", base);
        let taken = snapshots.take(&partition, Source::guest(stream), request).await.unwrap();
        base = Some(taken.tree);
        times.push(begin.elapsed());
    }
    sandbox.terminate().await.unwrap();
    let unchanged = Times::of(times[2..].to_vec()).at(50);
    table.row(
        "out of a sandbox: first, unchanged",
        format!("{}, {}", millis(times[0]), millis(unchanged)),
        "",
        "",
    );
    let begin = Instant::now();
    let sandbox = local.start(spec(at, "incoming")).await.unwrap();
    let stream = sandbox.guest.write_tree().await.unwrap();
    let tree = base.unwrap();
    snapshots.restore(&partition, tree, Target::guest(stream), None).await.unwrap();
    table.row("into a new sandbox, its start included", millis(begin.elapsed()), "", "");
    sandbox.terminate().await.unwrap();
    local.close().await;
}

fn spec(at: &Path, workspace: &str) -> Spec {
    let mounts = Mounts {
        workspace: at.join(workspace),
        home: at.join(format!("{workspace}-home")),
        user_input: Some(at.join(format!("{workspace}-input"))),
        ..Mounts::default()
    };
    // As much as the rest of this bench has, so that the figures can be compared.
    let limits = Limits { cpu_millis: 2000, ..Limits::default() };
    Spec {
        id: SandboxId("bench".into()),
        mounts,
        uid: UID,
        env: Default::default(),
        limits,
        required: Layer::BASIC.into(),
    }
}

/// Looks at every file with two threads and does nothing else.
fn bare_walk(at: &Path) -> Duration {
    let begin = Instant::now();
    let waiting = std::sync::Mutex::new((vec![at.to_owned()], 0_usize));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| walk(&waiting));
        }
    });
    begin.elapsed()
}

fn walk(waiting: &std::sync::Mutex<(Vec<PathBuf>, usize)>) {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};
    let mut buffer = Vec::with_capacity(64 * 1024);
    loop {
        let next = {
            let mut waiting = waiting.lock().unwrap();
            let next = waiting.0.pop();
            waiting.1 += usize::from(next.is_some());
            if next.is_none() && waiting.1 == 0 {
                return;
            }
            next
        };
        let Some(path) = next else {
            std::thread::yield_now();
            continue;
        };
        let directory = openat(CWD, &path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let mut entries = RawDir::new(&directory, buffer.spare_capacity_mut());
        let mut found = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).unwrap();
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                found.push(path.join(name.to_str().unwrap()));
            }
        }
        let mut waiting = waiting.lock().unwrap();
        waiting.0.extend(found);
        waiting.1 -= 1;
    }
}

fn shell(script: &str) -> Duration {
    let begin = Instant::now();
    let status = Command::new("/bin/sh").args(["-c", script]).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{script}");
    begin.elapsed()
}
