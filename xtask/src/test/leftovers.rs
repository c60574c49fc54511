//! Finding what the tests left on the machine, and taking it away.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

/// Compilers' caches keep a server on purpose; they belong to whoever configured them.
const BUILD_SERVERS: &[&str] = &["sccache"];
/// How deep a tree of abandoned processes may be.
const N_ROUNDS: usize = 16;
const CGROUP_ROOT: &str = "/sys/fs/cgroup";

/// A process somebody forgot.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// Its command line, or its name if it has none.
    pub(super) command: String,
}

/// The living children of `parent`.
pub(super) fn children_of(parent: Pid) -> Result<Vec<Process>> {
    let entries = fs::read_dir("/proc").context("failed to list processes")?;
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids.filter_map(|pid| child(parent, pid)).collect())
}

/// `None` if it is not a child, is dead, or ends while we look.
fn child(parent: Pid, pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, state, parent_of_it) = parse_stat(&stat)?;
    let is_alive = !matches!(state, "Z" | "X");
    if parent_of_it != parent.as_raw_pid() || !is_alive || BUILD_SERVERS.contains(&name) {
        return None;
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let command = if line.trim().is_empty() { name } else { line.trim() };
    Some(Process { pid: Pid::from_raw(pid)?, command: command.to_owned() })
}

/// `12 (a name) S 1 …`: the name may hold anything, so the last parenthesis ends it.
fn parse_stat(stat: &str) -> Option<(&str, &str, i32)> {
    let (head, tail) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once(" (")?;
    let mut fields = tail.split(' ');
    Some((name, fields.next()?, fields.next()?.parse().ok()?))
}

/// Warren's control groups at one moment.
pub(super) struct Cgroups(BTreeSet<PathBuf>);

impl Cgroups {
    pub(super) fn now() -> Cgroups {
        let mut found = BTreeSet::new();
        collect(Path::new(CGROUP_ROOT), &mut found);
        Cgroups(found)
    }

    /// Groups made since then that hold no process any more: the topmost of each tree.
    pub(super) fn abandoned_since(&self) -> Vec<PathBuf> {
        let Cgroups(now) = Cgroups::now();
        let new = |path: &Path| now.contains(path) && !self.0.contains(path);
        let topmost = now.iter().filter(|path| new(path) && !path.parent().is_some_and(new));
        topmost.filter(|path| is_empty(path, &now)).cloned().collect()
    }
}

fn collect(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        // `warren` itself is shared by all servers of a machine, and stays.
        let is_ours = directory.iter().any(|part| part == "warren");
        collect(&path, found);
        if is_ours {
            found.insert(path);
        }
    }
}

fn is_empty(path: &Path, now: &BTreeSet<PathBuf>) -> bool {
    now.iter()
        .filter(|other| other.starts_with(path))
        .all(|group| fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|pids| pids.is_empty()))
}

/// Kills the processes, with all that becomes ours when they die, and removes the groups.
pub(super) fn remove(processes: Vec<Process>, cgroups: &[PathBuf]) -> Result<()> {
    kill(processes)?;
    for cgroup in cgroups {
        let mut tree = BTreeSet::from([cgroup.clone()]);
        collect(cgroup, &mut tree);
        for path in tree.iter().rev() {
            // What cannot be removed was reported already.
            let _ = fs::remove_dir(path);
        }
    }
    Ok(())
}

fn kill(mut processes: Vec<Process>) -> Result<()> {
    // Each round can make orphans of the next; a process that cannot be killed must not hold us up.
    for _ in 0..N_ROUNDS {
        let killed = processes.iter().filter(|process| kill_process(process.pid, Signal::KILL).is_ok());
        for process in killed {
            waitpid(Some(process.pid), WaitOptions::empty())
                .context("failed to wait for a killed process")?;
        }
        processes = children_of(getpid())?;
        if processes.is_empty() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_confuse_the_parser() {
        assert_eq!(parse_stat("12 (a) b (c) S 34 12 0"), Some(("a) b (c", "S", 34)));
        assert_eq!(parse_stat("nonsense"), None);
    }

    #[test]
    fn a_living_child_is_found_and_removed() {
        let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let ours = || -> Vec<Process> {
            children_of(getpid()).unwrap().into_iter().filter(|it| it.pid.as_raw_pid() == id).collect()
        };
        assert_eq!(ours().iter().map(|it| it.command.as_str()).collect::<Vec<_>>(), ["cat"]);
        kill_process(ours()[0].pid, Signal::KILL).unwrap();
        drop(child.wait_with_output().unwrap());
        assert!(ours().is_empty());
    }
}
