//! The process that runs commands: `warren-guest shells`, with the line to the agent as descriptor 0.

use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream as StdUnixStream, process::ExitStatusExt},
    },
    process::{ExitCode, Stdio},
};

use landlock::{Ruleset, RulesetAttr, RulesetError, Scope};
use rustix::process::{DumpableBehavior, Pid, Signal, kill_process_group, set_dumpable_behavior};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest, unix::AsyncFd},
    net::UnixStream,
    process::{Child, Command},
    task::LocalSet,
};

use super::{Report, Request, packet};
use crate::sys;

/// The longest request. The kernel takes no argument of an eighth of this.
const MAX_REQUEST: u64 = 1024 * 1024;

/// Runs commands until the agent is gone.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The agent sees its line end: there is nobody else to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    enter_domain().map_err(io::Error::other)?;
    let line = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(line))
}

/// What is in this domain can signal only what is in it too. A kernel that cannot do that yet has at least its other walls.
fn enter_domain() -> Result<(), RulesetError> {
    Ruleset::default().scope(Scope::Signal)?.create()?.restrict_self()?;
    Ok(())
}

async fn serve(line: OwnedFd) -> io::Result<()> {
    let line = sys::register(line)?;
    while let Some([stream, output]) = receive(&line).await? {
        tokio::task::spawn_local(async move {
            // A stream that breaks is that of an agent that is gone.
            let _ = answer(stream, output).await;
        });
    }
    Ok(())
}

async fn receive(line: &AsyncFd<OwnedFd>) -> io::Result<Option<[OwnedFd; 2]>> {
    line.async_io(Interest::READABLE, |line| packet::receive(line)).await
}

/// Runs one command. The end of the stream, or of the agent's half of it, kills the command and its group.
async fn answer(stream: OwnedFd, output: OwnedFd) -> io::Result<()> {
    let stream = StdUnixStream::from(stream);
    stream.set_nonblocking(true)?;
    let mut stream = BufReader::new(UnixStream::from_std(stream)?);
    let request = read_request(&mut stream).await?;
    tell(&mut stream, &Report::Taken).await?;
    let mut child = match start(&request, output) {
        Ok(child) => child,
        Err(error) => return tell(&mut stream, &Report::Failed(error.to_string())).await,
    };
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let pid = group.map_or(0, |group| group.as_raw_nonzero().get());
    let told = tell(&mut stream, &Report::Started(pid)).await;
    let mut byte = [0; 1];
    let status = tokio::select! {
        status = child.wait(), if told.is_ok() => status?,
        // Nothing more is said on it: whatever comes is its end.
        _ = stream.read(&mut byte) => {
            if let Some(group) = group {
                // It was not waited for, so the number is still its own. It may be out of reach by its own doing.
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait().await?
        }
    };
    tell(&mut stream, &Report::Exited(status.into_raw())).await
}

async fn read_request(stream: &mut BufReader<UnixStream>) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    stream.take(MAX_REQUEST).read_until(b'\n', &mut line).await?;
    Ok(line)
}

/// Starts a command, which ends with this process.
fn start(request: &[u8], output: OwnedFd) -> io::Result<Child> {
    if request.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is too long"));
    }
    let request: Request = serde_json::from_slice(request)?;
    let mut command = Command::new(request.shell);
    command
        .arg("-c")
        .arg(request.command)
        .current_dir(request.cwd)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    sys::die_with_parent(command.as_std_mut());
    command.spawn()
}

async fn tell(stream: &mut BufReader<UnixStream>, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    stream.write_all(&line).await
}
