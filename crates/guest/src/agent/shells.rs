//! Runs commands for the agent through a process apart, which commands cannot use to reach the agent.
//!
//! Everything a command starts is in the Landlock domain of that process, below the agent's own: it can neither signal the
//! agent nor look into it, but commands can still stop what earlier ones left behind, because all share that domain.
//! A command may kill the process itself; the next one then gets another.
//! Start with [`Shells::run`]; the process is [`serve`].

mod packet;
mod serve;

pub(crate) use serve::main;

use std::{
    cell::RefCell,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream as StdUnixStream, process::ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    rc::Rc,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixStream, unix::pipe::Receiver},
    process::Command,
    time::timeout,
};

/// How long the process may take to kill a command. One that was stopped or killed itself never answers.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest report of the process.
const MAX_REPORT: u64 = 64 * 1024;

/// What is asked of the process.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    shell: PathBuf,
    command: String,
    cwd: PathBuf,
}

/// What becomes of it: it is taken, then fails to start, or starts and exits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    /// Sent before the command starts: a request without this report had no effect and can be sent again.
    Taken,
    Failed(String),
    Started(i32),
    /// The status as the kernel has it.
    Exited(i32),
}

/// Starts commands.
#[derive(Debug, Default)]
pub(super) struct Shells {
    /// The line to the process, once it was needed. The process ends with it.
    line: RefCell<Option<Rc<OwnedFd>>>,
}

/// A command that runs. Dropping it kills the command with its group, unless it has ended.
#[derive(Debug)]
pub(super) struct Shell {
    reports: BufReader<UnixStream>,
    /// What was read of the report that comes next.
    partial: Vec<u8>,
    /// The command's group, from when it is known to have started until it is known to have ended.
    group: Option<Pid>,
    /// The last report has come.
    is_over: bool,
}

impl Shells {
    /// Runs a command in a shell. Both of its outputs go to one pipe, so that their lines stay in order.
    pub(super) async fn run(&self, command: &str, cwd: &Path) -> io::Result<(Shell, Receiver)> {
        let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
        let request = Request { shell: shell.into(), command: command.to_owned(), cwd: cwd.to_owned() };
        let mut request = serde_json::to_vec(&request)?;
        request.push(b'\n');
        let earlier = self.line.borrow().clone();
        if let Some(line) = earlier {
            if let Ok(started) = ask(&line, &request).await {
                return Ok(started);
            }
            // The process was killed before it took the request, possibly by an earlier command.
            self.forget(&line);
        }
        let line = self.line.borrow().clone();
        let line = match line {
            // Another command has replaced the process meanwhile.
            Some(line) => line,
            None => Rc::clone(self.line.borrow_mut().insert(Rc::new(start()?))),
        };
        ask(&line, &request).await
    }

    /// Other commands may use a newer line already: that one stays.
    fn forget(&self, lost: &Rc<OwnedFd>) {
        let mut line = self.line.borrow_mut();
        if line.as_ref().is_some_and(|line| Rc::ptr_eq(line, lost)) {
            *line = None;
        }
    }
}

/// Asks the process for a command. An error means that the command has not run and will not.
async fn ask(line: &OwnedFd, request: &[u8]) -> io::Result<(Shell, Receiver)> {
    let (reader, writer) = io::pipe()?;
    let (ours, theirs) = StdUnixStream::pair()?;
    packet::send(line, [theirs.as_fd(), writer.as_fd()])?;
    drop((theirs, writer));
    ours.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(ours)?;
    stream.write_all(request).await?;
    let mut shell =
        Shell { reports: BufReader::new(stream), partial: Vec::new(), group: None, is_over: false };
    match shell.report().await? {
        Report::Taken => Ok((shell, Receiver::from_owned_fd(OwnedFd::from(reader))?)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Starts the process: this program once more, with the line to it as descriptor 0.
fn start() -> io::Result<OwnedFd> {
    let (ours, theirs) = packet::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg("shells").stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    // It ends with the line, and the runtime waits for it then. That it ended before is seen by its commands.
    drop(command.spawn()?);
    Ok(ours)
}

impl Shell {
    /// Waits for the command's end. An error means that it did not start, or that nobody knows how it ended. Cancel-safe.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        loop {
            match self.report().await? {
                Report::Taken => {}
                Report::Started(pid) => self.group = Pid::from_raw(pid),
                Report::Failed(message) => {
                    self.is_over = true;
                    return Err(io::Error::other(message));
                }
                Report::Exited(status) => {
                    self.is_over = true;
                    self.group = None;
                    return Ok(ExitStatus::from_raw(status));
                }
            }
        }
    }

    /// Ends the command and its group, unless it has ended.
    pub(super) async fn end(&mut self) {
        if self.is_over {
            return;
        }
        // The end of our half is the order to kill. Who does not answer is killed from here, by `kill`.
        let _ = self.reports.get_mut().shutdown().await;
        let _ = timeout(KILL_TIMEOUT, self.ended()).await;
        self.kill();
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // A group that is gone already needs no killing.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    async fn report(&mut self) -> io::Result<Report> {
        let room = MAX_REPORT.saturating_sub(self.partial.len() as u64);
        (&mut self.reports).take(room).read_until(b'\n', &mut self.partial).await?;
        if self.partial.last() != Some(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the process that ran it was killed"));
        }
        Ok(serde_json::from_slice(&std::mem::take(&mut self.partial))?)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.kill();
    }
}
