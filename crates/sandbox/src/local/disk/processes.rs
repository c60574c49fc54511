//! The processes of a sandbox, as the host sees them: what they keep open, and what they have written.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
    sync::Arc,
};

use rustix::{
    fs::{FileType, Stat, stat},
    process::Pid,
};
use tokio::sync::watch;

use super::{held::Held, measure::blocks};
use crate::{
    cgroup::{Group, Layout},
    local::client::State,
};

/// Finds the processes of one sandbox.
pub(in crate::local) struct Processes {
    pub(in crate::local) cgroups: Option<Arc<Layout>>,
    pub(in crate::local) state: watch::Receiver<State>,
}

impl Processes {
    /// Returns the CPU time of all processes so far. Unchanged, nothing has run, and so nothing has grown. `None` where no
    /// control group counts it.
    pub(super) fn cpu_nanos(&self) -> Option<u64> {
        self.group()?.cpu_nanos()
    }

    /// Returns the bytes of files that the processes have dirtied so far, those of exited processes included: the kernel
    /// adds them to the parent that reaps them. 0 on a file system in memory.
    pub(super) fn written_bytes(&self) -> u64 {
        let written = |pid: Pid| {
            let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
            text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse::<u64>().ok())
        };
        self.pids().into_iter().filter_map(written).sum()
    }

    /// Returns what files on `device` take that have no name any more, but are open or mapped.
    pub(super) fn unlinked(&self, device: u64) -> Held {
        let mut unlinked = Unlinked { device, seen: HashSet::new(), total: Held::default() };
        for pid in self.pids() {
            unlinked.add_open(pid);
            unlinked.add_mapped(pid);
        }
        unlinked.total
    }

    fn pids(&self) -> Vec<Pid> {
        match self.group() {
            Some(group) => group.pids(),
            None => self.state.borrow().pid.map(descendants).unwrap_or_default(),
        }
    }

    fn group(&self) -> Option<Group> {
        let name = self.state.borrow().group.clone()?;
        Some(Group::named(Arc::clone(self.cgroups.as_ref()?), name))
    }
}

struct Unlinked {
    device: u64,
    /// Inodes that are counted: many processes can have the same file open.
    seen: HashSet<u64>,
    total: Held,
}

impl Unlinked {
    fn add_open(&mut self, pid: Pid) {
        // A process that is gone, or has closed its file since, holds nothing.
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return };
        for descriptor in open.filter_map(Result::ok) {
            self.add_file(&descriptor.path());
        }
    }

    /// A mapping keeps its file after the descriptor is closed.
    fn add_mapped(&mut self, pid: Pid) {
        let Ok(maps) = fs::read_to_string(format!("/proc/{pid}/maps")) else { return };
        for mapping in maps.lines().filter(|line| line.ends_with(" (deleted)")) {
            let mut words = mapping.split_ascii_whitespace();
            let Some(range) = words.next() else { continue };
            if self.add_file(Path::new(&format!("/proc/{pid}/map_files/{range}"))) {
                continue;
            }
            // Only root may look through a mapping. Its length stands for the size of the file.
            let place = (words.nth(2).and_then(device), words.next().and_then(|inode| inode.parse().ok()));
            if let (Some(device), Some(inode)) = place
                && let Some(length) = length(range)
            {
                self.add(device, inode, length);
            }
        }
    }

    /// Returns whether the file could be looked at.
    fn add_file(&mut self, path: &Path) -> bool {
        let Ok(found) = stat(path) else { return false };
        if found.st_nlink == 0 && is_file(&found) {
            self.add(found.st_dev, found.st_ino, blocks(&found));
        }
        true
    }

    fn add(&mut self, device: u64, inode: u64, bytes: u64) {
        if device == self.device && self.seen.insert(inode) {
            self.total = self.total + Held { bytes, inodes: 1 };
        }
    }
}

fn is_file(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
}

/// `fe:00`, as a device number.
fn device(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    let part = |text| u32::from_str_radix(text, 16).ok();
    Some(rustix::fs::makedev(part(major)?, part(minor)?))
}

/// The length of `7f00-7f10`.
fn length(range: &str) -> Option<u64> {
    let (start, end) = range.split_once('-')?;
    u64::from_str_radix(end, 16).ok()?.checked_sub(u64::from_str_radix(start, 16).ok()?)
}

/// A process and all below it.
fn descendants(top: Pid) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.filter_map(Result::ok) {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid
            && let Some(parent) = parent(pid)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![top];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything.
    let (_, after) = stat.rsplit_once(')')?;
    Pid::from_raw(after.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_fields_are_parsed() {
        assert_eq!(length("7f0000000000-7f0000200000"), Some(2 << 20));
        assert_eq!(device("fe:01"), Some(rustix::fs::makedev(0xfe, 1)));
        assert_eq!((length("7f00"), device("fe")), (None, None));
    }

    #[test]
    fn this_process_is_among_the_descendants_of_its_parent() {
        let own = rustix::process::getpid();
        let parent = parent(own).expect("a parent");
        assert!(descendants(parent).contains(&own));
        assert!(!descendants(own).contains(&parent));
    }
}
