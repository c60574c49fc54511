//! How long a sandbox takes to start, beside a bare bubblewrap with the same arguments and the same user.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use warren_env::Tasks;
use warren_sandbox::{
    Backend, Layer, Limits, Mounts, SandboxId, Spec,
    local::{Local, Options, bare},
};

use super::{stats::Times, table::Table};

const ROUNDS: usize = 200;
const PAUSED_ROUNDS: usize = 15;
const BURST: usize = 50;
const BURSTS: usize = 3;
const UID: u32 = 61_000;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    // Bare bubblewrap, unlike ours, must be able to walk there under its own uid.
    std::os::unix::fs::chown(directory.path(), Some(UID), Some(UID)).unwrap();
    let launcher = vec![warren_testkit::program().into_os_string(), "__launcher".into()];
    let local = Local::open(Options::new(launcher, directory.path().join("shared")), Tasks::new()).unwrap();
    local.sweep().await.unwrap();
    once(&local, directory.path()).await;

    let (ours, theirs) = alternate(ROUNDS, Duration::ZERO, &local, directory.path()).await;
    table.compare("sandbox ready, back to back", 50, &ours, &theirs, "≤ 2 × bare bwrap");
    table.compare("sandbox ready, back to back", 99, &ours, &theirs, "");
    let (ours, theirs) = alternate(PAUSED_ROUNDS, Duration::from_secs(1), &local, directory.path()).await;
    table.compare("sandbox ready, 1 s pauses", 50, &ours, &theirs, "≤ 2 × bare bwrap");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..BURSTS {
        theirs.extend(bare_burst(&local, directory.path()));
        ours.extend(burst(&local, directory.path()).await);
    }
    let (ours, theirs) = (Times::of(ours), Times::of(theirs));
    table.compare("sandbox ready, burst of 50", 99, &ours, &theirs, "≤ 3 × bare bwrap");
    local.close().await;
}

async fn alternate(n: usize, pause: Duration, local: &Local, at: &Path) -> (Times, Times) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..n {
        tokio::time::sleep(pause).await;
        theirs.push(bare_once(local, at));
        tokio::time::sleep(pause).await;
        ours.push(once(local, at).await);
    }
    (Times::of(ours), Times::of(theirs))
}

async fn once(local: &Local, at: &Path) -> Duration {
    let begin = Instant::now();
    let sandbox = local.start(spec(at)).await.unwrap();
    let took = begin.elapsed();
    sandbox.terminate().await.unwrap();
    took
}

fn bare_once(local: &Local, at: &Path) -> Duration {
    let bare = bare(local, &spec(at).mounts, UID).unwrap();
    let begin = Instant::now();
    let output = bare.run().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    begin.elapsed()
}

/// All from one common start, as the bare ones are.
async fn burst(local: &Local, at: &Path) -> Vec<Duration> {
    let begin = Instant::now();
    let starts = (0..BURST).map(|_| async move {
        let sandbox = local.start(spec(at)).await.unwrap();
        (begin.elapsed(), sandbox)
    });
    let started = futures::future::join_all(starts).await;
    let times = started.iter().map(|(took, _)| *took).collect();
    for (_, sandbox) in started {
        sandbox.terminate().await.unwrap();
    }
    times
}

fn bare_burst(local: &Local, at: &Path) -> Vec<Duration> {
    let commands: Vec<_> = (0..BURST).map(|_| bare(local, &spec(at).mounts, UID).unwrap()).collect();
    let begin = Instant::now();
    let threads: Vec<_> = commands
        .into_iter()
        .map(|bare| std::thread::spawn(move || bare.run().map(|_| begin.elapsed()).unwrap()))
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// A sandbox with its directories in `at`.
pub(crate) fn spec(at: &Path) -> Spec {
    let mounts = Mounts { workspace: at.join("workspace"), home: at.join("home"), ..Mounts::default() };
    Spec {
        id: SandboxId("bench".into()),
        mounts,
        uid: UID,
        env: Default::default(),
        limits: Limits::default(),
        required: Layer::BASIC.into(),
    }
}
