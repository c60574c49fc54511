//! All that a program started, down to the last process.

use std::{collections::HashMap, fs, time::Duration};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, set_child_subreaper, waitpid,
};

/// How often killing is tried: a process may start another between two looks.
const ATTEMPTS: usize = 50;

/// Makes this process the one that inherits what its children leave behind, so that nothing gets away.
pub(super) fn adopt_orphans() {
    // Without it the sandbox's PID 1 inherits them, and ends them with the sandbox.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Waits for orphans that have ended. What is in a process group of ours, or leads one of the program's, is waited for
/// by whoever started it.
pub(super) fn reap_orphans(program: Option<Pid>) {
    let (own, group) = (getpid().as_raw_nonzero().get(), getpgrp().as_raw_nonzero().get());
    for process in processes().filter(|it| it.is_over && it.parent == own && it.group != group) {
        let Some(pid) = Pid::from_raw(process.pid).filter(|pid| Some(*pid) != program) else { continue };
        // Somebody else may have waited for it.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Kills every process beneath this one.
pub(super) async fn kill_descendants() {
    for _ in 0..ATTEMPTS {
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        let alive = descendants(getpid());
        if alive.is_empty() {
            return;
        }
        for pid in alive {
            // What is gone is gone.
            let _ = kill_process(pid, Signal::KILL);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// All processes beneath one, however deep.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in processes() {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let (mut found, mut next) = (Vec::new(), vec![root.as_raw_nonzero().get()]);
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.extend(Pid::from_raw(child));
            next.push(child);
        }
    }
    found
}

struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    /// It has ended, but nobody has waited for it.
    is_over: bool,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?))
}

fn process(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    Some(Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()?, is_over })
}
