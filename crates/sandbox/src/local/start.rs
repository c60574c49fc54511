//! Starts one local sandbox: directories, order, link, hello.

use std::{collections::BTreeMap, io, os::unix::net::UnixStream as StdStream, sync::Arc};

use rustix::{
    fd::OwnedFd,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    pipe::{PipeFlags, pipe_with},
};
use tokio::net::UnixStream;
use warren_guest_api::Landlock;

use super::{
    Local,
    client::Client,
    directories,
    disk::{self, Held, Processes, Quota},
    running::LocalSandbox,
};
use crate::{
    BoxError, Guest, Isolation, Layer, Running, Sandbox, SandboxId, Spec, StartError, launcher::Start,
};

/// What programs inside start from, whatever the spec adds.
const ENV: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/home/agent"),
    ("USER", "agent"),
    ("LOGNAME", "agent"),
    ("LANG", "C.UTF-8"),
    ("TMPDIR", "/tmp"),
];

pub(super) async fn start(local: &Local, spec: Spec) -> Result<Sandbox, StartError> {
    let mut isolation = local.isolation(spec.uid);
    check(local, &spec, &isolation)?;
    let quota = prepare(local, &spec).await?;
    if quota.is_some() {
        isolation.disk.how = "quota".into();
    }
    refuse(&spec, missing(&spec, &isolation, &[Layer::Landlock]))?;
    let launcher_failed = |source| StartError::Launcher { id: spec.id.clone(), source };
    let client = local.client().await.map_err(launcher_failed)?;
    let (running, link) = order(local, client, &spec, quota).await.map_err(launcher_failed)?;
    let guest = connect(local, &spec.id, &running, link).await?;
    isolation.landlock = landlock(&guest);
    refuse(&spec, isolation.missing(&spec.required))?;
    let mut env: BTreeMap<String, String> = ENV.map(|(name, value)| (name.into(), value.into())).into();
    env.extend(spec.env);
    Ok(Sandbox::new(spec.id, isolation, env, guest, Arc::new(running)))
}

/// Refuses what cannot work before anything is made.
fn check(local: &Local, spec: &Spec, isolation: &Isolation) -> Result<(), StartError> {
    let wrong = |problem: String| Err(StartError::Spec { id: spec.id.clone(), problem });
    if local.is_root && spec.uid < 1000 {
        return wrong(format!("uid {} belongs to the system", spec.uid));
    }
    if let Some(name) = spec.mounts.agents.keys().find(|name| !is_file_name(name)) {
        return wrong(format!("`{name}` cannot name an agent's programs"));
    }
    if let Some(target) = spec.mounts.read_only.keys().find(|target| !is_readable_place(target)) {
        return wrong(format!("nothing can be mounted at `{target}`: only beneath `/etc` and `/opt`"));
    }
    // Landlock is known only once the guest has tried it, a quota once the directories have one.
    refuse(spec, missing(spec, isolation, &[Layer::Landlock, Layer::DiskQuota]))
}

/// The required layers that are not there, but for those that are not known yet.
fn missing(spec: &Spec, isolation: &Isolation, unknown: &[Layer]) -> Vec<Layer> {
    let mut missing = isolation.missing(&spec.required);
    missing.retain(|layer| !unknown.contains(layer));
    missing
}

fn landlock(guest: &Guest) -> Option<u32> {
    match guest.hello().landlock {
        Landlock::Off => None,
        Landlock::Enforced { abi, .. } => Some(abi),
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

/// Whether a directory can be mounted here for programs to read.
fn is_readable_place(target: &str) -> bool {
    let below = target.strip_prefix("/etc/").or_else(|| target.strip_prefix("/opt/"));
    below.is_some_and(|below| below.split('/').all(is_file_name))
}

fn refuse(spec: &Spec, missing: Vec<Layer>) -> Result<(), StartError> {
    if missing.is_empty() {
        Ok(())
    } else {
        Err(StartError::MissingIsolation { id: spec.id.clone(), missing })
    }
}

/// Makes the directories ready, with a quota where there can be one.
async fn prepare(local: &Local, spec: &Spec) -> Result<Option<Quota>, StartError> {
    let owner = local.is_root.then_some(spec.uid);
    let (mounts, limit) = (spec.mounts.clone(), disk_limit(spec));
    let prepare = move || {
        if let (Some(owner), Some(parent)) = (owner, mounts.workspace.parent()) {
            // The limit of an earlier sandbox could refuse even the directories. Where it cannot be removed, none can be set.
            _ = disk::release(parent, owner);
        }
        directories::prepare(&mounts, owner)?;
        Ok(owner.and_then(|owner| Quota::claim(&directories::writable(&mounts), owner, limit)))
    };
    match tokio::task::spawn_blocking(prepare).await {
        Ok(Ok(quota)) => Ok(quota),
        Ok(Err(directories::Unready { path, source })) => {
            Err(StartError::Directory { id: spec.id.clone(), path, source })
        }
        Err(panicked) => Err(StartError::Launcher { id: spec.id.clone(), source: panicked.into() }),
    }
}

/// Has the launcher start the sandbox; returns our end of the link.
async fn order(
    local: &Local,
    client: Arc<Client>,
    spec: &Spec,
    quota: Option<Quota>,
) -> Result<(LocalSandbox, UnixStream), BoxError> {
    let (ours, theirs) = link()?;
    // Not blocking: whoever complains too much is not waited for.
    let complaints = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let ticket = client.ticket();
    let mounts = directories::mounts(&spec.mounts);
    let start = Start { ticket, uid: spec.uid, limits: spec.limits.clone(), mounts };
    let state = client.start(start, theirs, complaints).await?;
    let processes = Processes { cgroups: local.cgroups.clone(), state: state.clone() };
    let roots = directories::writable(&spec.mounts);
    let running = LocalSandbox {
        id: spec.id.clone(),
        ticket,
        client,
        state,
        cgroups: local.cgroups.clone(),
        disk: local.watcher.watch(roots, processes, disk_limit(spec), quota),
    };
    Ok((running, ours))
}

fn disk_limit(spec: &Spec) -> Held {
    Held { bytes: spec.limits.disk_bytes, inodes: spec.limits.inodes }
}

fn link() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let ours = StdStream::from(ours);
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs))
}

/// Waits for the guest's hello, the sandbox's end, or the end of patience.
async fn connect(
    local: &Local,
    id: &SandboxId,
    running: &LocalSandbox,
    link: UnixStream,
) -> Result<Guest, StartError> {
    let patience = local.options.start_timeout;
    let hello = async {
        match Guest::attach(link, &local.tasks).await {
            Ok(guest) => Ok(guest),
            // A link that breaks is mostly a sandbox that ended, and that has the better story to tell.
            Err(source) => match tokio::time::timeout(patience / 10, running.exited()).await {
                Ok(exit) => Err(ended(id, exit.complaint)),
                Err(_) => Err(StartError::Guest { id: id.clone(), source: source.into() }),
            },
        }
    };
    tokio::select! {
        guest = hello => guest,
        exit = running.exited() => Err(ended(id, exit.complaint)),
        () = tokio::time::sleep(patience) => Err(StartError::TimedOut { id: id.clone(), after: patience }),
    }
}

fn ended(id: &SandboxId, complaint: String) -> StartError {
    let complaint = if complaint.is_empty() { "no output".into() } else { complaint };
    StartError::Ended { id: id.clone(), complaint }
}

#[cfg(test)]
mod tests {
    use super::is_readable_place;

    #[test]
    fn read_only_directories_are_mounted_beneath_etc_and_opt_alone() {
        for target in ["/etc/fonts", "/opt/document", "/opt/a/b"] {
            assert!(is_readable_place(target), "{target}");
        }
        for target in
            ["", "/", "/etc", "/etc/", "/usr/x", "/etc/../usr", "/opt//x", "/workspace", "opt/x", "/optx"]
        {
            assert!(!is_readable_place(target), "{target}");
        }
    }
}
