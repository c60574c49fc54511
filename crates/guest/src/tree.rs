//! Reading and writing whole trees, in a process of its own.
//!
//! The guest has one thread, so that forking is always safe; a tree wants several. So it starts itself once more, as a program
//! like any other but for what it may open, and carries the bytes between that and the host.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::PathBuf,
    process::ExitCode,
};

use rustix::process::{DumpableBehavior, Pid, Signal, set_dumpable_behavior};
use tokio::{io::copy_bidirectional_with_sizes, net::UnixStream};
use warren_guest_api::GuestError;
use warren_link::Stream;
use warren_tree::wire::{serve_scan, serve_write};

use crate::{
    exec::Spawner,
    failure::{Failure, exec_error},
    files::Roots,
    reaper::Reaper,
    serve::reply,
};

const BUFFER: usize = 256 * 1024;

/// What is to be done with the roots.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verb {
    Scan,
    Write,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Verb::Scan => "scan",
            Verb::Write => "write",
        }
    }
}

/// Starts the process, and carries bytes until the host or the process has ended.
pub(crate) async fn serve(
    spawner: &Spawner,
    roots: &Roots,
    verb: Verb,
    stream: &mut Stream,
) -> Result<(), Failure> {
    let (process, mut line) = start(spawner, roots, verb)?;
    reply(stream, &()).await?;
    // How it ends makes no difference here: the two ends tell each other.
    _ = copy_bidirectional_with_sizes(&mut line, stream, BUFFER, BUFFER).await;
    drop(process);
    Ok(())
}

/// Killed when dropped.
struct Process {
    reaper: Reaper,
    pid: Pid,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reaper.signal(self.pid, Signal::KILL);
    }
}

fn start(spawner: &Spawner, roots: &Roots, verb: Verb) -> Result<(Process, UnixStream), GuestError> {
    let failed = |error: io::Error| exec_error("the guest itself", &error);
    let (ours, theirs) = StdUnixStream::pair().map_err(failed)?;
    ours.set_nonblocking(true).map_err(failed)?;
    let line = UnixStream::from_std(ours).map_err(failed)?;
    let mut arguments = vec!["tree".into(), verb.name().into()];
    for (name, path) in roots.named() {
        arguments.extend([name.into(), path.into_os_string()]);
    }
    let pid = spawner.spawn_self(&arguments, OwnedFd::from(theirs)).map_err(failed)?;
    Ok((Process { reaper: spawner.reaper.clone(), pid }, line))
}

/// Runs as that process: `tree scan|write NAME PATH …`, with the line to the host as descriptor 0.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The line has ended early: there is nobody to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    // As in the guest: no program of the same uid can look into this process.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    crate::sys::ignore_file_size_signal();
    let mut arguments = std::env::args_os().skip(2);
    let verb = arguments.next().unwrap_or_default();
    let mut roots = Vec::new();
    while let (Some(name), Some(path)) = (arguments.next(), arguments.next()) {
        roots.push((name.to_string_lossy().into_owned(), PathBuf::from(path)));
    }
    let input = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let output = input.try_clone()?;
    match verb.to_str() {
        Some("scan") => serve_scan(roots, input, output),
        Some("write") => serve_write(roots, input, output),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}
