//! What a child of the launcher does between fork and exec: wait, then become bubblewrap.

use std::{
    convert::Infallible,
    fs::{self, File},
    io::{self, Seek, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    fs::{MemfdFlags, Mode},
    io::FdFlags,
    process::{Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};

use super::{
    COMPLAINT,
    message::{Configure, Mount, Request, Start},
    socket::{MAX_MESSAGE, receive},
    stage::Stage,
};
use crate::{
    CgroupIsolation, Limits,
    cgroup::{Group, Layout},
    local::arguments,
};

/// Exit code of a child that could not become bubblewrap.
const FAILED: i32 = 125;

/// The umask of programs inside: the usual one.
const PROGRAMS_UMASK: u32 = 0o022;

/// What a child is forked with.
pub(super) struct Parked<'a> {
    pub(super) configure: &'a Configure,
    pub(super) launcher: Pid,
    pub(super) group: Option<&'a Group>,
    /// Files of the agent's control groups, for the guest.
    pub(super) agent_groups: Vec<File>,
    pub(super) seccomp: &'a [u8],
    /// Where bubblewrap writes its process ids.
    pub(super) status: OwnedFd,
    /// Where it is told what to become.
    pub(super) inbox: OwnedFd,
}

/// What was done in advance.
struct Prepared {
    stage: Option<Stage>,
    base: Vec<Mount>,
    seccomp: OwnedFd,
}

/// Waits for orders, and follows them. Never returns to the launcher's code.
pub(super) fn run(parked: Parked<'_>) -> ! {
    // Preparing may fail, but only the server of a sandbox has somewhere to say so.
    let prepared = prepare(&parked);
    let mut buffer = vec![0; MAX_MESSAGE];
    let (length, fds) = match receive(&parked.inbox, &mut buffer) {
        Ok((length, fds)) if length > 0 => (length, fds),
        // The launcher is gone, or wants fewer children.
        Ok(_) | Err(_) => std::process::exit(0),
    };
    let mut fds = fds.into_iter();
    let (Some(link), Some(complaints)) = (fds.next(), fds.next()) else { std::process::exit(FAILED) };
    let complaints = File::from(complaints);
    let Err(error) =
        prepared.and_then(|prepared| become_sandbox(parked, prepared, &buffer[..length], link, &complaints));
    // If nobody listens any more, nobody wants to know.
    let _ = writeln!(&complaints, "{COMPLAINT}: {error}");
    std::process::exit(FAILED)
}

fn prepare(parked: &Parked<'_>) -> io::Result<Prepared> {
    die_with(parked.launcher)?;
    // If the whole machine runs out of memory, sandboxes go before the server. A kernel that refuses changes nothing.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    if let Some(group) = parked.group {
        group.join_guest().map_err(during("join the guest's control group"))?;
    }
    let seccomp = in_memory(parked.seccomp).map_err(during("write the system-call filter"))?;
    let mut stage = None;
    let mut base = parked.configure.base.clone();
    if parked.configure.own_uid {
        let mut set_up = Stage::set_up().map_err(during("make a mount namespace"))?;
        base = put_all(&mut set_up, &base)?;
        stage = Some(set_up);
    }
    Ok(Prepared { stage, base, seccomp })
}

fn become_sandbox(
    parked: Parked<'_>,
    prepared: Prepared,
    order: &[u8],
    link: OwnedFd,
    complaints: &File,
) -> io::Result<Infallible> {
    let Ok(Request::Start(start)) = serde_json::from_slice(order) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the order to start cannot be read"));
    };
    let mut mounts = prepared.base;
    match prepared.stage {
        Some(mut stage) => mounts.extend(put_all(&mut stage, &start.mounts)?),
        None => mounts.extend(start.mounts.iter().cloned()),
    }
    let held = parked.configure.cgroups.as_ref().map(Layout::isolation).unwrap_or_default();
    set_limits(&start.limits, &held).map_err(during("set resource limits"))?;
    if parked.configure.own_uid {
        drop_to(start.uid).map_err(during("change to the workspace's uid"))?;
    }
    // The server's own mask is for the server's own files.
    rustix::process::umask(Mode::from_raw_mode(PROGRAMS_UMASK));
    // Changing the uid forgot it.
    die_with(parked.launcher)?;
    let inherited =
        Inherited { seccomp: &prepared.seccomp, status: &parked.status, agent_groups: &parked.agent_groups };
    let mut command = bubblewrap(&parked.configure.bwrap, &mounts, &start, &held, &inherited)?;
    command.stdin(Stdio::from(link)).stdout(Stdio::null()).stderr(complaints.try_clone()?);
    Err(during("run bubblewrap")(command.exec()))
}

/// Descriptors that bubblewrap and the guest are told about by number.
struct Inherited<'a> {
    seccomp: &'a OwnedFd,
    status: &'a OwnedFd,
    agent_groups: &'a [File],
}

/// The command that becomes the sandbox; its descriptors are made to survive the exec.
fn bubblewrap(
    program: &Path,
    mounts: &[Mount],
    start: &Start,
    held: &CgroupIsolation,
    inherited: &Inherited<'_>,
) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.env_clear().args(arguments::sandbox(mounts, &start.limits));
    command.args(["--seccomp", &inherit(inherited.seccomp)?]);
    command.args(["--json-status-fd", &inherit(inherited.status)?]);
    let groups = inherited.agent_groups.iter().map(inherit).collect::<io::Result<Vec<_>>>()?;
    command.args(arguments::guest(&start.limits, held, &groups));
    Ok(command)
}

fn inherit(fd: &impl AsFd) -> io::Result<String> {
    let fd = fd.as_fd();
    rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
    Ok(fd.as_raw_fd().to_string())
}

fn put_all(stage: &mut Stage, mounts: &[Mount]) -> io::Result<Vec<Mount>> {
    mounts
        .iter()
        .map(|mount| stage.put(mount).map_err(during(&format!("mount `{}`", mount.source.display()))))
        .collect()
}

/// Limits that hold for every process inside, the guest's included. Those that control groups hold better are set
/// only where there are none.
fn set_limits(limits: &Limits, held: &CgroupIsolation) -> io::Result<()> {
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, limits.file_bytes)?;
    if !held.memory {
        limit(Resource::Data, limits.memory_bytes)?;
    }
    Ok(())
}

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?)
}

fn drop_to(uid: u32) -> io::Result<()> {
    let (uid, gid) = (rustix::process::Uid::from_raw(uid), rustix::process::Gid::from_raw(uid));
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}

fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == Some(parent) { Ok(()) } else { std::process::exit(0) }
}

fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("seccomp", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Says what was being done when an error came.
fn during(action: &str) -> impl Fn(io::Error) -> io::Error {
    let action = action.to_owned();
    move |error| io::Error::new(error.kind(), format!("failed to {action}: {error}"))
}
