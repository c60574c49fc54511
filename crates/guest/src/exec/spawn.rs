//! From a request to a process.

use std::{
    ffi::OsString,
    fs, io,
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Resource, getrlimit};
use tokio::sync::oneshot;
use warren_guest_api::{ErrorCode, ExecRequest, Exit, GuestError, Leftovers, Limit};

use super::{
    Spawner,
    stdio::{self, Input, Source},
};
use crate::{
    failure::exec_error,
    sys::{BeforeExec, number},
};

/// A program that runs.
pub(super) struct Child {
    pub(super) pid: Pid,
    /// `None` if it has none.
    pub(super) stdin: Option<Input>,
    pub(super) stdout: Source,
    pub(super) stderr: Source,
    pub(super) exit: oneshot::Receiver<Exit>,
}

impl Spawner {
    pub(super) fn spawn(&self, request: &ExecRequest) -> Result<Child, GuestError> {
        let [program, arguments @ ..] = &request.argv[..] else {
            return Err(GuestError::new(ErrorCode::InvalidRequest, "there is no program to run"));
        };
        let cwd = request.cwd.as_deref().unwrap_or("/");
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&request.env).current_dir(cwd);
        let failed = |error: io::Error| exec_error(program, &error);
        let mut stdin = None;
        command.stdin(Stdio::null());
        if request.stdin {
            let (ours, theirs) = stdio::input(request.stdio).map_err(failed)?;
            stdin = Some(ours);
            command.stdin(theirs);
        }
        let (stdout, theirs) = stdio::output(request.stdio).map_err(failed)?;
        command.stdout(theirs);
        let (stderr, theirs) = stdio::output(request.stdio).map_err(failed)?;
        command.stderr(theirs);
        self.before_exec(&request.limits).attach(&mut command);
        let spawned = command.spawn();
        // No `await` between the spawn and this: see [`crate::reaper`].
        let spawned =
            spawned.map_err(|error| missing_directory(cwd, &error).unwrap_or_else(|| failed(error)))?;
        let pid = Pid::from_child(&spawned);
        let exit = self.reaper.expect(pid, request.leftovers);
        Ok(Child { pid, stdin, stdout, stderr, exit })
    }

    /// Starts this program once more, with `line` as its only descriptor. Under the same limits as any other, but not under
    /// Landlock: it opens nothing but beneath the roots, and the guest itself could do no less.
    pub(crate) fn spawn_self(&self, arguments: &[OsString], line: OwnedFd) -> io::Result<Pid> {
        let mut command = Command::new("/proc/self/exe");
        command.args(arguments).env_clear().current_dir("/");
        command.stdin(line).stdout(Stdio::null()).stderr(Stdio::null());
        BeforeExec { landlock: None, ..self.before_exec(&[]) }.attach(&mut command);
        let pid = Pid::from_child(&command.spawn()?);
        // Whoever wants to know how it ended learns it from the line.
        drop(self.reaper.expect(pid, Leftovers::Kill));
        Ok(pid)
    }

    fn before_exec(&self, limits: &[Limit]) -> BeforeExec {
        let general = self.rlimits.iter().map(|limit| (limit.resource, limit.value));
        let own = limits.iter().map(|limit| match *limit {
            Limit::Nofile(n) => (Resource::Nofile, Some(n)),
            Limit::Fsize(n) => (Resource::Fsize, Some(n)),
            Limit::As(n) => (Resource::As, Some(n)),
            Limit::Cpu(n) => (Resource::Cpu, Some(n)),
        });
        BeforeExec {
            cgroups: self.cgroups.iter().map(number).collect(),
            rlimits: general
                .chain(own)
                .map(|(resource, value)| (resource, lowered(resource, value)))
                .collect(),
            landlock: self.confinement.ruleset.as_ref().map(number),
        }
    }
}

/// A limit no higher than the one we are under ourselves, which without privilege cannot be raised.
fn lowered(resource: Resource, value: Option<u64>) -> rustix::process::Rlimit {
    let ours = getrlimit(resource).maximum;
    let value = match (value, ours) {
        (Some(value), Some(ours)) => Some(value.min(ours)),
        (value, ours) => value.or(ours),
    };
    rustix::process::Rlimit { current: value, maximum: value }
}

/// A missing directory and a missing program look the same; who asked should know which it was.
fn missing_directory(cwd: &str, error: &io::Error) -> Option<GuestError> {
    let missing = error.kind() == io::ErrorKind::NotFound && !fs::metadata(cwd).is_ok_and(|at| at.is_dir());
    missing.then(|| GuestError::new(ErrorCode::NotFound, format!("there is no directory `{cwd}`")))
}
