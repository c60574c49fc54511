//! Who is alive, and who descends from whom.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// A process, told apart from a later one with the same number by when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    parent: u32,
    /// In the kernel's ticks since boot.
    began: u64,
}

/// All living processes that descend from `pid`, without itself.
#[must_use]
pub fn descendants(pid: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|process| process.parent == parent);
        for child in children.cloned().collect::<Vec<_>>() {
            parents.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// Waits until none of them is alive. Gives those that still are after `patience`.
pub async fn wait_until_gone(processes: &[Process], patience: Duration) -> Vec<Process> {
    let deadline = Instant::now() + patience;
    loop {
        let alive: Vec<Process> = processes.iter().filter(|process| process.is_alive()).cloned().collect();
        if alive.is_empty() || Instant::now() > deadline {
            return alive;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Process {
    /// Sends it a signal. It may have ended by itself.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a process's number");
        let _ = kill_process(pid, signal);
    }

    /// Whether `pid` started it.
    #[must_use]
    pub fn is_child_of(&self, pid: u32) -> bool {
        self.parent == pid
    }

    /// The words it was started with; empty if it is gone.
    #[must_use]
    pub fn command(&self) -> String {
        let words = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&words).replace('\0', " ")
    }

    /// Whether it still runs; one that only waits to be reaped does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        read(self.pid).is_some_and(|now| now.began == self.began)
    }
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("there is a /proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// Reads `/proc/PID/stat`; `None` for the dead.
fn read(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything, so the fields are counted from its end.
    let (head, fields) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let is_dead = matches!(*fields.first()?, "Z" | "X");
    (!is_dead).then_some(())?;
    Some(Process { pid, name, parent: fields.get(1)?.parse().ok()?, began: fields.get(19)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::{process::Command, time::Duration};

    use super::{descendants, wait_until_gone};

    #[tokio::test]
    async fn a_child_is_found_until_it_is_gone() {
        let mut child = Command::new("sleep").arg("100").spawn().expect("started");
        let mine = descendants(std::process::id());
        let found: Vec<_> = mine.into_iter().filter(|process| process.pid == child.id()).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(wait_until_gone(&found, Duration::ZERO).await, found);
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert_eq!(wait_until_gone(&found, Duration::from_secs(5)).await, []);
    }
}
