//! Finds out what this machine gives, by trying; and the bare command that speed is measured against.

use std::{
    fs::File,
    io::{self, Seek, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use rustix::{
    fd::{AsRawFd, OwnedFd},
    fs::MemfdFlags,
};

use super::{Local, arguments, directories, disk};
use crate::{Hint, Isolation, Layer, Limits, Mounts, Probe, launcher, seccomp};

/// Who tries bubblewrap when the server is root.
const NOBODY: u32 = 65534;

/// bubblewrap with a sandbox's flags around another program.
pub struct Bare {
    command: Command,
    /// The system-call filter it inherits, by number.
    seccomp: OwnedFd,
}

impl Bare {
    /// Runs it and waits for its end.
    pub fn run(mut self) -> io::Result<Output> {
        let output = self.command.output();
        drop(self.seccomp);
        output
    }
}

/// A bare bubblewrap with the flags, mounts and uid that a sandbox of `local` would have, around `/bin/true`. What
/// the start of a sandbox is compared with. The directories must be such that the uid can reach them.
pub fn bare(local: &Local, mounts: &Mounts, uid: u32) -> io::Result<Bare> {
    let mut all = local.base.mounts.clone();
    all.extend(directories::mounts(mounts));
    command(local, &all, uid)
}

fn command(local: &Local, mounts: &[launcher::Mount], uid: u32) -> io::Result<Bare> {
    let program = local.bwrap.as_deref().unwrap_or(Path::new("bwrap"));
    // Inherited on purpose, hence not closed on exec.
    let mut filter = File::from(rustix::fs::memfd_create("seccomp", MemfdFlags::empty())?);
    filter.write_all(&seccomp::program().map_err(io::Error::other)?)?;
    filter.rewind()?;
    let mut command = Command::new(program);
    command.env_clear().args(arguments::sandbox(mounts, &Limits::default()));
    command.args(["--seccomp", &filter.as_raw_fd().to_string(), "--", "/bin/true"]);
    command.stdin(Stdio::null());
    if local.is_root {
        command.uid(uid).gid(uid);
    }
    Ok(Bare { command, seccomp: filter.into() })
}

pub(super) async fn probe(local: &Local) -> Probe {
    let version = match &local.bwrap {
        Some(bwrap) => version(bwrap).await,
        None => None,
    };
    let mut isolation = local.isolation(NOBODY);
    if local.is_root && disk::has_quotas(&local.options.directory) {
        isolation.disk.how = "quota".into();
    }
    isolation.landlock = Some(launcher::landlock_abi()).filter(|abi| *abi > 0);
    let mut hints = Vec::new();
    let tried = try_bare(local).await;
    if let Err(problem) = &tried {
        isolation = Isolation { userns: false, pidns: false, netns: false, seccomp: false, ..isolation };
        hints.push(hint(Layer::Namespaces, problem.clone()));
    }
    let optional = [Layer::Landlock, Layer::OwnUid, Layer::MemoryLimit, Layer::CpuLimit, Layer::PidsLimit];
    let missing = isolation.missing(&optional);
    hints.extend(
        missing.into_iter().map(|layer| hint(layer, format!("this machine does not provide `{layer}`"))),
    );
    Probe { backend: "local".into(), version, usable: tried.is_ok(), isolation, hints }
}

fn hint(layer: Layer, problem: String) -> Hint {
    Hint { layer, problem, hint: layer.hint().into() }
}

async fn version(bwrap: &Path) -> Option<String> {
    let output = tokio::process::Command::new(bwrap).arg("--version").output().await.ok()?;
    String::from_utf8(output.stdout).ok().map(|version| version.trim().to_owned())
}

/// Starts a bubblewrap that mounts nothing of ours, so that nothing but the machine is tried.
async fn try_bare(local: &Local) -> Result<(), String> {
    if local.bwrap.is_none() {
        return Err("bubblewrap is not installed".into());
    }
    let workspace = launcher::Mount { source: "/usr".into(), target: "/workspace".into(), writable: false };
    let bare = command(local, &[workspace], NOBODY).map_err(|error| error.to_string())?;
    let output = match tokio::task::spawn_blocking(move || bare.run()).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(panicked) => return Err(panicked.to_string()),
    };
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
