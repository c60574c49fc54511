//! The program behind the bridge: from its start to its end.

use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitCode, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};

use super::{options::Options, processes};
use crate::{exec::socket, sys};

/// How long a program may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// The program behind the bridge.
pub(super) struct Program {
    child: Child,
    /// Its process group, which is its own.
    group: Option<Pid>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error("failed to start `{}`", .program.display())]
    Start {
        program: OsString,
        #[source]
        source: io::Error,
    },
    #[error("failed to wait for the program")]
    Wait(#[source] io::Error),
    #[error("the program was not ready after {0:?}")]
    NotReady(Duration),
}

impl Program {
    /// Starts it, with a password if it is to have one.
    pub(super) fn start(options: &Options, password: &str) -> Result<(Self, UnixStream), ProgramError> {
        let failed = |source| ProgramError::Start { program: options.command[0].clone(), source };
        let mut command = std::process::Command::new(&options.command[0]);
        command.args(&options.command[1..]);
        if let Some(name) = &options.password {
            command.env(name, password);
        }
        sys::die_with_parent(&mut command);
        let (stdout, their_stdout) = socket().map_err(failed)?;
        let child = Command::from(command)
            .stdin(Stdio::null())
            .stdout(their_stdout)
            .stderr(Stdio::inherit())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok((Self { child, group }, stdout))
    }

    pub(super) fn pid(&self) -> Option<Pid> {
        self.group
    }

    /// Waits for its end. May be asked again.
    pub(super) async fn ended(&mut self) -> Result<ExitStatus, ProgramError> {
        self.child.wait().await.map_err(ProgramError::Wait)
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group.filter(|_| self.child.id().is_some()) {
            // The group may be gone already.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends it, and all it started.
    pub(super) async fn stop(&mut self) {
        self.signal(Signal::TERM);
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            // It was killed: how it ended is known.
            let _ = self.child.wait().await;
        }
        processes::kill_descendants().await;
    }
}

/// The URL that follows the words by which a program says that it is ready; `None` if its output ends before.
pub(super) async fn ready_url(
    options: &Options,
    output: &mut mpsc::Receiver<Vec<u8>>,
) -> Result<Option<String>, ProgramError> {
    let deadline = Instant::now() + options.ready_timeout;
    loop {
        let line = timeout_at(deadline, output.recv()).await;
        let Some(line) = line.map_err(|_| ProgramError::NotReady(options.ready_timeout))? else {
            return Ok(None);
        };
        let line = String::from_utf8_lossy(&line);
        if let Some(url) = line.split_once(&options.ready).and_then(|(_, rest)| url_in(rest)) {
            return Ok(Some(url.to_owned()));
        }
        super::warn(format_args!("{line}"));
    }
}

fn url_in(text: &str) -> Option<&str> {
    text[text.find("http://")?..].split_whitespace().next()
}

/// The code with which the bridge ends if its program ended like this.
pub(super) fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(u8::try_from(code(status)).unwrap_or(u8::MAX))
}

/// The exit code, or 128 and the signal.
pub(super) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}
