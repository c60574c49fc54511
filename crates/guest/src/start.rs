//! From the first instruction to the first request.

use std::{
    error::Error,
    io::{self, Write},
    os::unix::net::UnixStream as StdUnixStream,
    process::ExitCode,
};

use rustix::process::{DumpableBehavior, set_child_subreaper, set_dumpable_behavior};
use tokio::net::UnixStream;

use crate::{
    args::{Args, ArgsError},
    confine::Confinement,
    exec::Spawner,
    files::Roots,
    reaper::Reaper,
    serve::serve,
    sys,
};

/// Why the guest could not start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("failed to understand the command line")]
    Args(#[source] ArgsError),
    #[error("failed to prepare the process")]
    Process(#[source] io::Error),
    #[error("failed to take over a cgroup descriptor")]
    Cgroup(#[source] io::Error),
    #[error("failed to create Landlock rules")]
    Confine(#[source] landlock::RulesetError),
    #[error("failed to start to serve")]
    Serve(#[source] io::Error),
}

/// Runs as the guest.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(if matches!(error, StartError::Args(_)) { 2 } else { 1 })
        }
    }
}

fn run() -> Result<(), StartError> {
    // First of all: from here on no program of the same uid can look into this process or take its descriptors.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(process)?;
    let mut args = Args::parse(std::env::args_os().skip(1)).map_err(StartError::Args)?;
    args.cgroup_fds.sort_unstable();
    args.cgroup_fds.dedup();
    // In this order: nothing may be open, or become open, that is neither ours nor named.
    sys::close_all_but(&args.cgroup_fds).map_err(StartError::Process)?;
    let cgroups: Result<Vec<_>, _> = args.cgroup_fds.iter().map(|fd| sys::adopt(*fd)).collect();
    let link = take_link().map_err(StartError::Process)?;
    sys::ignore_file_size_signal();
    // As PID 1 this changes nothing; as an ordinary process the guest then gets its orphans too.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(process)?;

    let spawner = Spawner {
        cgroups: cgroups.map_err(StartError::Cgroup)?,
        rlimits: args.rlimits.clone(),
        confinement: Confinement::new(&args).map_err(StartError::Confine)?,
        reaper: Reaper::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .and_then(|runtime| {
            runtime
                .block_on(async { serve(UnixStream::from_std(link)?, spawner, Roots::new(args.roots)).await })
        })
        .map_err(StartError::Serve)
}

/// Moves the link away from descriptor 0 and leaves nothing to read there.
fn take_link() -> io::Result<StdUnixStream> {
    let link = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    let link = StdUnixStream::from(link);
    link.set_nonblocking(true)?;
    Ok(link)
}

fn process(errno: rustix::io::Errno) -> StartError {
    StartError::Process(errno.into())
}

fn complain(error: &dyn Error) {
    let mut message = format!("warren-guest: {error}");
    let mut source = error.source();
    while let Some(error) = source {
        message.push_str(&format!(": {error}"));
        source = error.source();
    }
    // There is nobody to tell that nobody can be told.
    _ = writeln!(io::stderr(), "{message}");
}
