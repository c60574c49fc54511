//! The control groups of one sandbox.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::layout::{Hierarchy, Layout, pass_on};
use crate::Limits;

/// The guest's own limits: it moves bytes and starts programs, no more.
const GUEST: GroupLimits = GroupLimits { memory_bytes: 256 << 20, cpu_millis: 1000, pids: 64 };
/// Over which time a CPU limit is measured.
const CPU_PERIOD_MICROS: u64 = 100_000;

/// Version 1: buffers of sockets may take this part of the memory limit beside it, and at least so many bytes.
const SOCKET_SHARE: u64 = 8;
const SOCKET_BYTES: u64 = 16 << 20;

struct GroupLimits {
    memory_bytes: u64,
    cpu_millis: u32,
    pids: u32,
}

/// The directories of one sandbox, one in every hierarchy.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    layout: Arc<Layout>,
    name: String,
}

/// What the processes of a group used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Usage {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) pids: Option<u64>,
    pub(crate) oom_kills: u64,
}

impl Group {
    /// Names a group; nothing is made.
    pub(crate) fn named(layout: Arc<Layout>, name: String) -> Self {
        Self { layout, name }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the directories, with the guest's limits set.
    pub(crate) fn create(&self) -> io::Result<()> {
        match self.make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.layout.restore()?;
                self.make()
            }
            made => made,
        }
    }

    fn make(&self) -> io::Result<()> {
        for hierarchy in &self.layout.hierarchies {
            let top = self.top(hierarchy);
            make_directory(&top)?;
            if hierarchy.splits() {
                if self.layout.version == 2 {
                    pass_on(hierarchy, &top)?;
                }
                make_directory(&top.join("guest"))?;
                make_directory(&top.join("agent"))?;
                self.write_limits(hierarchy, "guest", &GUEST)?;
            }
        }
        Ok(())
    }

    /// Sets what the agent may use.
    pub(crate) fn limit_agent(&self, limits: &Limits) -> io::Result<()> {
        let agent = GroupLimits {
            memory_bytes: limits.memory_bytes,
            cpu_millis: limits.cpu_millis,
            pids: limits.pids,
        };
        self.layout.hierarchies.iter().try_for_each(|hierarchy| self.write_limits(hierarchy, "agent", &agent))
    }

    /// Returns the processes of the guest and the agent. Empty once the group is gone.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        let Some(hierarchy) = self.layout.hierarchies.iter().find(|hierarchy| hierarchy.splits()) else {
            return Vec::new();
        };
        ["guest", "agent"].iter().flat_map(|member| pids(&self.member(hierarchy, member))).collect()
    }

    /// Returns the CPU time used so far, or `None` where nothing counts it.
    pub(crate) fn cpu_nanos(&self) -> Option<u64> {
        let hierarchy = self.layout.hierarchies.iter().find(|hierarchy| hierarchy.cpuacct)?;
        let top = self.top(hierarchy);
        if self.layout.version == 2 {
            let text = fs::read_to_string(top.join("cpu.stat")).ok()?;
            return keyed(&text, "usage_usec").map(|micros| micros * 1000);
        }
        number(&top.join("cpuacct.usage"))
    }

    /// Moves the calling process in, as the guest.
    pub(crate) fn join_guest(&self) -> io::Result<()> {
        for hierarchy in &self.layout.hierarchies {
            fs::write(self.member(hierarchy, "guest").join("cgroup.procs"), "0")?;
        }
        Ok(())
    }

    /// Opens the files into which a process writes `0` to become part of the agent. The kernel checks the
    /// credentials of who opened them, so the guest can use them without privilege.
    pub(crate) fn open_agent(&self) -> io::Result<Vec<File>> {
        self.layout
            .hierarchies
            .iter()
            .filter(|hierarchy| hierarchy.splits())
            .map(|hierarchy| {
                OpenOptions::new().write(true).open(self.member(hierarchy, "agent").join("cgroup.procs"))
            })
            .collect()
    }

    /// What the guest and the agent use together. A file that cannot be read is a number that is not known.
    pub(crate) fn usage(&self) -> Usage {
        let cpu_seconds = self.cpu_nanos().map(|nanos| nanos as f64 / 1e9);
        let mut usage = Usage { cpu_seconds, ..Usage::default() };
        for hierarchy in &self.layout.hierarchies {
            let top = self.top(hierarchy);
            if hierarchy.memory {
                usage.memory_bytes =
                    number(&top.join(self.either("memory.usage_in_bytes", "memory.current")));
                usage.oom_kills = self.oom_kills(hierarchy);
            }
            if hierarchy.pids {
                usage.pids = number(&top.join("pids.current"));
            }
        }
        usage
    }

    /// Ends every process in the group and removes its directories. Returns how many processes there were.
    ///
    /// Freezing first leaves no process time to fork; and only a thawed process can die.
    pub(crate) fn destroy(&self, patience: Duration) -> io::Result<u64> {
        let deadline = Instant::now() + patience;
        let mut killed = 0;
        while self.is_populated() {
            self.freeze(true);
            killed += self.kill_all();
            self.freeze(false);
            if Instant::now() > deadline {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("group `{}` is not empty", self.name),
                ));
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.remove(deadline)?;
        Ok(killed)
    }

    fn remove(&self, deadline: Instant) -> io::Result<()> {
        for hierarchy in &self.layout.hierarchies {
            for member in ["guest", "agent", ""] {
                remove_directory(&self.top(hierarchy).join(member), deadline)?;
            }
        }
        Ok(())
    }

    fn is_populated(&self) -> bool {
        self.members().iter().any(|member| !pids(member).is_empty())
    }

    fn kill_all(&self) -> u64 {
        let mut all: Vec<Pid> = self.members().iter().flat_map(|member| pids(member)).collect();
        all.sort_by_key(|pid| pid.as_raw_nonzero());
        all.dedup();
        // A process that is already gone cannot be killed, and need not be.
        all.iter().filter(|pid| kill_process(**pid, Signal::KILL).is_ok()).count() as u64
    }

    fn freeze(&self, frozen: bool) {
        for hierarchy in self.layout.hierarchies.iter().filter(|hierarchy| hierarchy.freezer) {
            let (file, value) = match (self.layout.version, frozen) {
                (2, true) => ("cgroup.freeze", "1"),
                (2, false) => ("cgroup.freeze", "0"),
                (_, true) => ("freezer.state", "FROZEN"),
                (_, false) => ("freezer.state", "THAWED"),
            };
            // Best effort: without a freezer the loop that kills simply runs more often.
            let _ = fs::write(self.top(hierarchy).join(file), value);
        }
    }

    fn members(&self) -> Vec<PathBuf> {
        let tops = self.layout.hierarchies.iter().map(|hierarchy| self.top(hierarchy));
        tops.flat_map(|top| [top.join("guest"), top.join("agent"), top]).collect()
    }

    fn top(&self, hierarchy: &Hierarchy) -> PathBuf {
        hierarchy.base.join(&self.name)
    }

    fn member(&self, hierarchy: &Hierarchy, member: &str) -> PathBuf {
        if hierarchy.splits() { self.top(hierarchy).join(member) } else { self.top(hierarchy) }
    }

    fn either(&self, v1: &'static str, v2: &'static str) -> &'static str {
        if self.layout.version == 2 { v2 } else { v1 }
    }

    fn write_limits(&self, hierarchy: &Hierarchy, member: &str, limits: &GroupLimits) -> io::Result<()> {
        let directory = self.member(hierarchy, member);
        let quota = u64::from(limits.cpu_millis.max(10)) * CPU_PERIOD_MICROS / 1000;
        if hierarchy.memory {
            match self.layout.version {
                2 => write_memory_v2(&directory, limits.memory_bytes)?,
                _ => write_memory_v1(&directory, limits.memory_bytes)?,
            }
        }
        if hierarchy.cpu && self.layout.version == 2 {
            write(&directory, "cpu.max", &format!("{quota} {CPU_PERIOD_MICROS}"))?;
        } else if hierarchy.cpu {
            write(&directory, "cpu.cfs_quota_us", &quota.to_string())?;
        }
        if hierarchy.pids {
            write(&directory, "pids.max", &limits.pids.to_string())?;
        }
        Ok(())
    }

    fn oom_kills(&self, hierarchy: &Hierarchy) -> u64 {
        ["guest", "agent"]
            .iter()
            .map(|member| {
                let file = self.either("memory.oom_control", "memory.events");
                let text = fs::read_to_string(self.member(hierarchy, member).join(file)).unwrap_or_default();
                keyed(&text, "oom_kill").unwrap_or(0)
            })
            .sum()
    }
}

/// Version 2 charges buffers of sockets as memory.
fn write_memory_v2(directory: &Path, bytes: u64) -> io::Result<()> {
    write(directory, "memory.max", &bytes.to_string())?;
    write_if_there(directory, "memory.swap.max", "0")
}

/// Memory and swap together must never be limited to less than memory alone, whether the limit is raised or lowered.
/// Buffers of TCP and UDP sockets are charged to a counter of their own, and only once it has a limit.
fn write_memory_v1(directory: &Path, bytes: u64) -> io::Result<()> {
    const WITH_SWAP: &str = "memory.memsw.limit_in_bytes";
    let limit = bytes.to_string();
    if number(&directory.join(WITH_SWAP)).is_some_and(|now| now < bytes) {
        write(directory, WITH_SWAP, &limit)?;
    }
    write(directory, "memory.limit_in_bytes", &limit)?;
    write_if_there(directory, WITH_SWAP, &limit)?;
    let sockets = (bytes / SOCKET_SHARE).max(SOCKET_BYTES);
    write_if_there(directory, "memory.kmem.tcp.limit_in_bytes", &sockets.to_string())
}

/// Not every kernel accounts swap and sockets. A kernel that does must take the limit.
fn write_if_there(directory: &Path, file: &str, value: &str) -> io::Result<()> {
    match write(directory, file, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

fn write(directory: &Path, file: &str, value: &str) -> io::Result<()> {
    // Not `fs::write`: control files are never created or truncated.
    OpenOptions::new().write(true).open(directory.join(file))?.write_all(value.as_bytes())
}

fn pids(directory: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| i32::from_str(line).ok()).filter_map(Pid::from_raw).collect()
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// One that is there was made by the attempt before.
fn make_directory(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// A group whose last process has just died can be busy for a moment.
fn remove_directory(directory: &Path, deadline: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}

#[cfg(test)]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
mod tests {
    use serde_json::json;

    use super::*;

    const GIB: u64 = 1 << 30;

    /// A layout with one hierarchy that limits memory alone, below `base`.
    fn memory_only(version: u8, base: &Path) -> Arc<Layout> {
        let hierarchy = json!({
            "base": base, "memory": true, "cpu": false, "cpuacct": false, "pids": false, "freezer": false,
        });
        let layout = serde_json::from_value(json!({ "version": version, "hierarchies": [hierarchy] }));
        Arc::new(layout.expect("a layout"))
    }

    fn limits(memory_bytes: u64) -> Limits {
        Limits { memory_bytes, ..Limits::default() }
    }

    #[test]
    fn v2_memory_limits_are_written_as_they_are() {
        let base = tempfile::tempdir().expect("a directory");
        let agent = base.path().join("one/agent");
        fs::create_dir_all(&agent).expect("made");
        for file in ["memory.max", "memory.swap.max"] {
            fs::write(agent.join(file), "").expect("a file");
        }
        let group = Group::named(memory_only(2, base.path()), "one".into());
        for bytes in [2 * GIB, 8 * GIB, GIB] {
            group.limit_agent(&limits(bytes)).expect("written");
            let read = |file| fs::read_to_string(agent.join(file)).expect("a file");
            assert!(read("memory.max").starts_with(&bytes.to_string()));
            assert_eq!(read("memory.swap.max"), "0");
        }
    }

    #[test]
    fn v1_memory_limits_are_raised_lowered_and_repeated() {
        let Some(layout) = Layout::detect(&format!("test-{}", std::process::id())).expect("a mount table")
        else {
            eprintln!("skipped: no control groups");
            return;
        };
        let layout = Arc::new(layout);
        let Some(memory) =
            layout.hierarchies.iter().find(|hierarchy| hierarchy.memory && layout.version == 1)
        else {
            eprintln!("skipped: no version 1 of the memory controller");
            return;
        };
        let group = Group::named(Arc::clone(&layout), "limits".into());
        group.create().expect("made");
        let agent = memory.base.join("limits/agent");
        let mut found = Vec::new();
        let wanted = [2 * GIB, 8 * GIB, 8 * GIB, GIB];
        for bytes in wanted {
            let written = group.limit_agent(&limits(bytes)).map_err(|error| error.to_string());
            let read = |file| number(&agent.join(file));
            found.push((
                written,
                read("memory.limit_in_bytes"),
                read("memory.memsw.limit_in_bytes"),
                read("memory.kmem.tcp.limit_in_bytes"),
            ));
        }
        group.destroy(Duration::from_secs(2)).expect("removed");
        layout.remove();
        assert_eq!(found, wanted.map(|bytes| (Ok(()), Some(bytes), Some(bytes), Some(bytes / 8))));
    }
}
