//! Prints how long a sandbox takes to start beside a bare bubblewrap, in the same run.
//!
//! `cargo run --release -p warren-sandbox --example start-speed`

use std::{
    error::Error,
    path::Path,
    time::{Duration, Instant},
};

use warren_env::Tasks;
use warren_sandbox::{
    Backend, Layer, Limits, Mounts, SandboxId, Spec,
    local::{Local, Options, bare},
};

const ROUNDS: usize = 100;
const PAUSED_ROUNDS: usize = 15;
const BURST: usize = 50;
const UID: u32 = 61_000;

type Times = Vec<Duration>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir_in("/tmp")?;
    let launcher = std::env::current_exe()?.with_file_name("../warren-launcher").into_os_string();
    // Bare bubblewrap, unlike ours, must be able to walk there under its own uid.
    std::os::unix::fs::chown(directory.path(), Some(UID), Some(UID))?;
    let local = Local::open(Options::new(vec![launcher], directory.path().join("shared")), Tasks::new())?;
    local.sweep().await?;
    sandbox(&local, directory.path()).await?;
    report("back to back", ROUNDS, Duration::ZERO, &local, directory.path()).await?;
    report("1 s pauses", PAUSED_ROUNDS, Duration::from_secs(1), &local, directory.path()).await?;
    let (ours, theirs) = (burst(&local, directory.path()).await?, bare_burst(&local, directory.path())?);
    show(&format!("burst of {BURST}"), ours, theirs);
    local.close().await;
    Ok(())
}

async fn report(
    name: &str,
    n: usize,
    pause: Duration,
    local: &Local,
    at: &Path,
) -> Result<(), Box<dyn Error>> {
    let (mut ours, mut theirs) = (Times::new(), Times::new());
    for _ in 0..n {
        tokio::time::sleep(pause).await;
        theirs.push(bare_once(local, at)?);
        tokio::time::sleep(pause).await;
        ours.push(sandbox(local, at).await?);
    }
    show(name, ours, theirs);
    Ok(())
}

async fn sandbox(local: &Local, at: &Path) -> Result<Duration, Box<dyn Error>> {
    let begin = Instant::now();
    let sandbox = local.start(spec(at)).await?;
    let took = begin.elapsed();
    sandbox.terminate().await?;
    Ok(took)
}

fn bare_once(local: &Local, at: &Path) -> Result<Duration, Box<dyn Error>> {
    let bare = bare(local, &spec(at).mounts, UID)?;
    let begin = Instant::now();
    let output = bare.run()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(begin.elapsed())
}

async fn burst(local: &Local, at: &Path) -> Result<Times, Box<dyn Error>> {
    let futures = (0..BURST).map(|_| async {
        let begin = Instant::now();
        let sandbox = local.start(spec(at)).await?;
        Ok::<_, warren_sandbox::StartError>((begin.elapsed(), sandbox))
    });
    let mut times = Times::new();
    for result in futures::future::join_all(futures).await {
        let (took, sandbox) = result?;
        times.push(took);
        drop(sandbox);
    }
    Ok(times)
}

fn bare_burst(local: &Local, at: &Path) -> Result<Times, Box<dyn Error>> {
    let mut commands = Vec::new();
    for _ in 0..BURST {
        commands.push(bare(local, &spec(at).mounts, UID)?);
    }
    let begin = Instant::now();
    let threads: Vec<_> = commands
        .into_iter()
        .map(|bare| std::thread::spawn(move || bare.run().map(|_| begin.elapsed())))
        .collect();
    let mut times = Times::new();
    for thread in threads {
        times.push(thread.join().map_err(|_| "a thread panicked")??);
    }
    Ok(times)
}

fn spec(at: &Path) -> Spec {
    let mounts = Mounts { workspace: at.join("workspace"), home: at.join("home"), ..Mounts::default() };
    Spec {
        id: SandboxId("speed".into()),
        mounts,
        uid: UID,
        env: Default::default(),
        limits: Limits::default(),
        required: Layer::BASIC.into(),
    }
}

#[allow(clippy::print_stdout, reason = "printing is what it is for")]
fn show(name: &str, mut ours: Times, mut theirs: Times) {
    ours.sort();
    theirs.sort();
    let at = |times: &Times, percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1000.0;
    println!(
        "{name:<14} sandbox p50 {:6.2} ms p99 {:6.2} ms   bare p50 {:6.2} ms p99 {:6.2} ms   p50 x{:.2} p99 x{:.2}",
        at(&ours, 50),
        at(&ours, 99),
        at(&theirs, 50),
        at(&theirs, 99),
        at(&ours, 50) / at(&theirs, 50),
        at(&ours, 99) / at(&theirs, 99),
    );
}
