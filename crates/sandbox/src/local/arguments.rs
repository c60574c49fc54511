//! The arguments of bubblewrap and of the guest in it.

use std::ffi::OsString;

use crate::{CgroupIsolation, Limits, launcher::Mount};

/// Where the files that all sandboxes share appear inside.
pub(crate) const BASE_DIRECTORY: &str = "/warren";
/// The guest's program there.
pub(crate) const GUEST: &str = "/warren/guest";
/// Every program inside runs as this user, whatever the uid outside: one `passwd` fits all.
pub(crate) const INSIDE_UID: u32 = 1000;
/// Shared memory of programs inside.
const SHM_BYTES: u64 = 64 << 20;

const NAMESPACES: &[&str] = &[
    "--unshare-all",
    // Said twice on purpose: `--unshare-all` only tries, and `--disable-userns` insists on it.
    "--unshare-user",
    "--die-with-parent",
    "--new-session",
    "--disable-userns",
    "--as-pid-1",
    "--clearenv",
    "--hostname",
    "warren",
];
#[rustfmt::skip]
const BASE: &[&str] = &[
    "--ro-bind", "/usr", "/usr",
    "--symlink", "usr/bin", "/bin",
    "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64",
    "--symlink", "usr/sbin", "/sbin",
    "--symlink", "/warren/passwd", "/etc/passwd",
    "--symlink", "/warren/group", "/etc/group",
    "--symlink", "/warren/hosts", "/etc/hosts",
    "--symlink", "/warren/nsswitch.conf", "/etc/nsswitch.conf",
    "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
    "--ro-bind-try", "/etc/ssl/certs", "/etc/ssl/certs",
    "--proc", "/proc",
    "--dev", "/dev",
];
/// Last: whatever was not mounted writable can no longer be written, not even in memory.
#[rustfmt::skip]
const SEALED: &[&str] = &[
    "--symlink", "workspace/outputs", "/outputs",
    "--chdir", "/workspace",
    "--remount-ro", "/",
    "--remount-ro", "/dev",
];

/// bubblewrap's arguments, but for the descriptors.
pub(crate) fn sandbox(mounts: &[Mount], limits: &Limits) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = NAMESPACES.iter().chain(BASE).map(OsString::from).collect();
    let mut add = |more: &[&str]| arguments.extend(more.iter().map(OsString::from));
    let inside = INSIDE_UID.to_string();
    add(&["--uid", &inside, "--gid", &inside]);
    // Unsized, each of these would be half of the machine's memory.
    add(&["--size", &limits.tmp_bytes.to_string(), "--tmpfs", "/tmp"]);
    add(&["--size", &SHM_BYTES.to_string(), "--tmpfs", "/dev/shm"]);
    for mount in mounts {
        let bind = if mount.writable { "--bind" } else { "--ro-bind" };
        arguments.extend([bind.into(), mount.source.clone().into_os_string(), mount.target.clone().into()]);
    }
    arguments.extend(SEALED.iter().map(OsString::from));
    arguments
}

/// What bubblewrap runs: the guest, told how to limit what it runs.
pub(crate) fn guest(limits: &Limits, held: &CgroupIsolation, agent_groups: &[String]) -> Vec<String> {
    let mut arguments = vec!["--".into(), GUEST.into()];
    if !held.pids {
        // Counted in the sandbox's own user namespace, so that the server's other processes do not count.
        arguments.extend(["--rlimit".into(), format!("nproc={}", limits.pids)]);
    }
    if !agent_groups.is_empty() {
        arguments.extend(["--cgroup-fds".into(), agent_groups.join(",")]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_arguments_seal_what_the_mounts_have_left_open() {
        let mount =
            |target: &str, writable| Mount { source: "/data/x".into(), target: target.into(), writable };
        let mounts = [mount("/workspace", true), mount("/knowledge", false)];
        let arguments = sandbox(&mounts, &Limits::default());
        let arguments: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
        let expected = "--uid 1000 --gid 1000 --size 268435456 --tmpfs /tmp --size 67108864 --tmpfs /dev/shm \
            --bind /data/x /workspace --ro-bind /data/x /knowledge \
            --symlink workspace/outputs /outputs --chdir /workspace --remount-ro / --remount-ro /dev";
        assert_eq!(arguments[NAMESPACES.len() + BASE.len()..].join(" "), expected);
    }

    #[test]
    fn the_guest_limits_processes_itself_only_where_no_control_group_does() {
        let limits = Limits { pids: 9, ..Limits::default() };
        let nothing = guest(&limits, &CgroupIsolation::default(), &[]);
        assert_eq!(nothing, ["--", "/warren/guest", "--rlimit", "nproc=9"]);
        let held = CgroupIsolation { version: 2, memory: true, cpu: true, pids: true };
        let groups = guest(&limits, &held, &["7".into(), "8".into()]);
        assert_eq!(groups, ["--", "/warren/guest", "--cgroup-fds", "7,8"]);
    }
}
