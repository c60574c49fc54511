//! The outermost process of a test run: whatever the tests abandon becomes its child, and so is seen.
//!
//! Names and process groups would not do: a sandbox changes both, and other people's sandboxes on the same machine
//! have the same names. Who inherits an orphan is decided by the kernel, and never wrong.

use std::{
    env,
    process::{self, Command},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, set_parent_process_death_signal, wait,
};

use super::leftovers::{self, Cgroups};

/// How long what is on its way out may take: the server promises one second after a crash.
const GRACE: Duration = Duration::from_secs(3);

/// Runs the same command again, supervised; then looks at what is left.
pub(super) fn run() -> Result<()> {
    set_child_subreaper(Some(getpid())).context("failed to become the parent of orphans")?;
    let cgroups = Cgroups::now();
    let passed = run_steps()?;
    check_leftovers(&cgroups)?;
    if !passed {
        // They said why.
        process::exit(1);
    }
    Ok(())
}

/// Called by the supervised process: a supervisor that is killed takes the steps along.
pub(super) fn end_with_supervisor() -> Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM)).context("failed to tie ourselves to the supervisor")
}

fn run_steps() -> Result<bool> {
    let program = env::current_exe().context("failed to find our own program")?;
    let mut steps = Command::new(program);
    let steps = steps.args(env::args_os().skip(1)).arg("--supervised").spawn();
    let steps = steps.context("failed to start the steps")?;
    let pid =
        i32::try_from(steps.id()).ok().and_then(Pid::from_raw).context("the steps have no process id")?;
    Ok(wait_for(pid)?.exit_status() == Some(0))
}

/// Waits for `wanted`, and meanwhile reaps orphans as they end: a test that looks whether a process is gone must
/// not find it as a zombie.
fn wait_for(wanted: Pid) -> Result<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == wanted => return Ok(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("failed to wait for the steps"),
        }
    }
}

fn check_leftovers(before: &Cgroups) -> Result<()> {
    let started = Instant::now();
    let (mut processes, mut cgroups);
    loop {
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        processes = leftovers::children_of(getpid())?;
        cgroups = before.abandoned_since();
        if (processes.is_empty() && cgroups.is_empty()) || started.elapsed() > GRACE {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    if processes.is_empty() && cgroups.is_empty() {
        println!("nothing was left behind");
        return Ok(());
    }
    for process in &processes {
        println!("left behind: process {} `{}`", process.pid.as_raw_pid(), process.command);
    }
    for cgroup in &cgroups {
        println!("left behind: cgroup {}", cgroup.display());
    }
    leftovers::remove(processes, &cgroups)?;
    bail!("the tests left something behind")
}
