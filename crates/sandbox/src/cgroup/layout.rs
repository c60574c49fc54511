//! Which hierarchies this machine has, and what they can limit.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::CgroupIsolation;

/// The hierarchies to use, and where in them this server's groups lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    /// 1 or 2.
    pub(crate) version: u8,
    /// One for version 2; one per mounted set of controllers for version 1.
    pub(crate) hierarchies: Vec<Hierarchy>,
}

/// One mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hierarchy {
    /// This server's directory in it.
    pub(crate) base: PathBuf,
    pub(crate) memory: bool,
    pub(crate) cpu: bool,
    pub(crate) cpuacct: bool,
    pub(crate) pids: bool,
    pub(crate) freezer: bool,
}

impl Hierarchy {
    /// Whether guest and agent need groups of their own here. Accounting and freezing want them together.
    pub(crate) fn splits(&self) -> bool {
        self.memory || self.cpu || self.pids
    }

    fn is_useful(&self) -> bool {
        self.splits() || self.cpuacct || self.freezer
    }
}

impl Layout {
    /// Finds the mounted hierarchies and makes this server's directory in each; `None` where there is nothing to
    /// write to. `key` tells this server's groups from others'.
    pub(crate) fn detect(key: &str) -> io::Result<Option<Self>> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let Some(layout) = Self::parse(&mounts, key, |root| {
            fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default()
        }) else {
            return Ok(None);
        };
        Ok(layout.prepare())
    }

    /// Reads the mount table. Version 2 is taken if it can limit memory or processes, else version 1.
    fn parse(mounts: &str, key: &str, controllers: impl Fn(&Path) -> String) -> Option<Self> {
        let mut v1 = Vec::new();
        for line in mounts.lines() {
            let Some((mount, tail)) = line.split_once(" - ") else { continue };
            let Some(root) = mount.split(' ').nth(4).map(PathBuf::from) else { continue };
            let mut tail = tail.split(' ');
            match tail.next() {
                Some("cgroup2") => {
                    let found = hierarchy(&root, key, &controllers(&root), ' ');
                    if found.memory || found.pids {
                        // A v2 hierarchy can always freeze and always accounts CPU time.
                        let hierarchies = vec![Hierarchy { freezer: true, cpuacct: true, ..found }];
                        return Some(Self { version: 2, hierarchies });
                    }
                }
                Some("cgroup") => v1.push(hierarchy(&root, key, tail.nth(1).unwrap_or_default(), ',')),
                _ => {}
            }
        }
        v1.retain(Hierarchy::is_useful);
        v1.iter().any(Hierarchy::splits).then_some(Self { version: 1, hierarchies: v1 })
    }

    /// Makes this server's directory in each hierarchy, and drops hierarchies that refuse.
    fn prepare(mut self) -> Option<Self> {
        let version = self.version;
        self.hierarchies.retain(|hierarchy| match make(hierarchy, version) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(base = %hierarchy.base.display(), %error, "control group hierarchy not usable");
                false
            }
        });
        self.hierarchies.iter().any(Hierarchy::splits).then_some(self)
    }

    /// Makes this server's directories again: an earlier server that ends late removes them as its own.
    pub(super) fn restore(&self) -> io::Result<()> {
        self.hierarchies.iter().try_for_each(|hierarchy| make(hierarchy, self.version))
    }

    /// What these hierarchies enforce.
    pub(crate) fn isolation(&self) -> CgroupIsolation {
        CgroupIsolation {
            version: self.version,
            memory: self.hierarchies.iter().any(|hierarchy| hierarchy.memory),
            cpu: self.hierarchies.iter().any(|hierarchy| hierarchy.cpu),
            pids: self.hierarchies.iter().any(|hierarchy| hierarchy.pids),
        }
    }

    /// Names of all groups that exist under this server's directories.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .hierarchies
            .iter()
            .filter_map(|hierarchy| fs::read_dir(&hierarchy.base).ok())
            .flat_map(|entries| entries.filter_map(Result::ok))
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Removes this server's own directories, if nothing is left in them.
    pub(crate) fn remove(&self) {
        for hierarchy in &self.hierarchies {
            // A directory that is still used stays; the next sweep removes it. `warren` itself goes with the last.
            let _ = fs::remove_dir(&hierarchy.base);
            let _ = hierarchy.base.parent().map(fs::remove_dir);
        }
    }
}

fn hierarchy(root: &Path, key: &str, controllers: &str, separator: char) -> Hierarchy {
    let has = |name| controllers.trim().split(separator).any(|controller| controller == name);
    Hierarchy {
        base: root.join("warren").join(key),
        memory: has("memory"),
        cpu: has("cpu"),
        cpuacct: has("cpuacct"),
        pids: has("pids"),
        freezer: has("freezer"),
    }
}

fn make(hierarchy: &Hierarchy, version: u8) -> io::Result<()> {
    fs::create_dir_all(&hierarchy.base)?;
    if version == 2 { delegate(hierarchy) } else { Ok(()) }
}

/// Version 2: children get a controller only if every directory above passes it on.
fn delegate(hierarchy: &Hierarchy) -> io::Result<()> {
    let above: Vec<&Path> = hierarchy.base.ancestors().take(3).collect();
    for directory in above.into_iter().rev() {
        pass_on(hierarchy, directory)?;
    }
    Ok(())
}

/// Version 2: lets the children of `directory` have the controllers.
pub(super) fn pass_on(hierarchy: &Hierarchy, directory: &Path) -> io::Result<()> {
    for (has, name) in [(hierarchy.memory, "+memory"), (hierarchy.cpu, "+cpu"), (hierarchy.pids, "+pids")] {
        if has {
            fs::write(directory.join("cgroup.subtree_control"), name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1(base: &str) -> Hierarchy {
        let base = PathBuf::from(base);
        Hierarchy { base, memory: false, cpu: false, cpuacct: false, pids: false, freezer: false }
    }

    #[test]
    fn a_v2_hierarchy_with_the_memory_controller_is_taken() {
        let mounts = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = Layout::parse(mounts, "k", |_| "cpuset cpu io memory pids\n".into());
        let hierarchy = Hierarchy {
            memory: true,
            cpu: true,
            cpuacct: true,
            pids: true,
            freezer: true,
            ..v1("/sys/fs/cgroup/warren/k")
        };
        assert_eq!(found, Some(Layout { version: 2, hierarchies: vec![hierarchy] }));
    }

    #[test]
    fn v1_hierarchies_are_taken_when_v2_has_no_useful_controller() {
        let mounts = "1 0 0:1 / /cg/mem rw - cgroup cgroup rw,memory\n\
                      2 0 0:2 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      3 0 0:3 / /cg/blk rw - cgroup cgroup rw,blkio\n\
                      4 0 0:4 / /cg/uni rw - cgroup2 cgroup2 rw\n";
        let found = Layout::parse(mounts, "k", |_| "hugetlb\n".into());
        let hierarchies = vec![
            Hierarchy { memory: true, ..v1("/cg/mem/warren/k") },
            Hierarchy { cpu: true, cpuacct: true, ..v1("/cg/cpu/warren/k") },
        ];
        assert_eq!(found, Some(Layout { version: 1, hierarchies }));
    }

    #[test]
    fn a_machine_without_controllers_has_no_layout() {
        let mounts = "1 0 0:1 / / rw - ext4 /dev/vda rw\n4 0 0:4 / /cg/uni rw - cgroup2 cgroup2 rw\n";
        assert_eq!(Layout::parse(mounts, "k", |_| "hugetlb\n".into()), None);
    }
}
