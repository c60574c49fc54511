//! Runs a command in a shell, with a process group of its own.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe::Receiver,
    process::{Child, Command},
    time::Instant,
};

use super::{Context, Output, capture::Capture, input};

const USUAL_SECONDS: u64 = 120;
const MAX_SECONDS: u64 = 600;

#[derive(Deserialize)]
struct Input {
    command: String,
    #[serde(default)]
    timeout: Option<u64>,
}

/// How a command ended.
enum End {
    Exited(ExitStatus),
    TimedOut(u64),
    Interrupted,
}

/// A shell and all it started, which do not outlive the call unless the shell left them behind on purpose.
struct Group {
    shell: Child,
    /// The group's id, until the shell has ended by itself.
    id: Option<Pid>,
}

pub(super) async fn run(value: Value, context: &Context<'_>) -> Output {
    let input: Input = match input(value) {
        Ok(input) => input,
        Err(problem) => return Output::failed(problem),
    };
    let seconds = input.timeout.unwrap_or(USUAL_SECONDS).clamp(1, MAX_SECONDS);
    let (mut group, mut pipe) = match start(&input.command, context.cwd) {
        Ok(started) => started,
        Err(error) => return Output::failed(format!("failed to start the shell: {error}")),
    };
    let mut capture = Capture::default();
    let end = follow(&mut group, &mut pipe, &mut capture, seconds, context).await;
    group.end().await;
    drain(&pipe, &mut capture, context);
    match end {
        Ok(end) => report(&end, capture.finish()),
        Err(error) => Output::failed(format!("{}\n[lost the command: {error}]", capture.finish())),
    }
}

/// One pipe for both streams, so that their lines stay in order.
fn start(command: &str, cwd: &Path) -> io::Result<(Group, Receiver)> {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let (reader, writer) = io::pipe()?;
    let child = Command::new(shell)
        .arg("-c")
        .arg(command)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    Ok((Group { shell: child, id }, Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

/// Shows and collects the output until the shell ends, even if something it left behind keeps the pipe open.
async fn follow(
    group: &mut Group,
    pipe: &mut Receiver,
    capture: &mut Capture,
    seconds: u64,
    context: &Context<'_>,
) -> io::Result<End> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut buffer = vec![0; 16 * 1024];
    let mut is_open = true;
    loop {
        tokio::select! {
            biased;
            () = context.control.interrupted() => return Ok(End::Interrupted),
            () = tokio::time::sleep_until(deadline) => return Ok(End::TimedOut(seconds)),
            n_read = pipe.read(&mut buffer), if is_open => match n_read? {
                0 => is_open = false,
                n_read => show(&capture.push(&buffer[..n_read]), context),
            },
            status = group.shell.wait() => {
                group.id = None;
                return Ok(End::Exited(status?));
            }
        }
    }
}

/// What the shell wrote before it ended is in the pipe; what others write later is not waited for.
fn drain(pipe: &Receiver, capture: &mut Capture, context: &Context<'_>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n_read @ 1..) = pipe.try_read(&mut buffer) {
        show(&capture.push(&buffer[..n_read]), context);
    }
}

fn show(text: &str, context: &Context<'_>) {
    if !text.is_empty() {
        (context.live)(text);
    }
}

fn report(end: &End, mut text: String) -> Output {
    let (note, is_error) = match end {
        End::Exited(status) if status.success() => {
            let note = text.is_empty().then(|| "(no output)".to_owned());
            (note, false)
        }
        End::Exited(status) => match status.signal() {
            Some(signal) => (Some(format!("[killed by signal {signal}]")), true),
            None => (Some(format!("[exit code {}]", status.code().unwrap_or(-1))), true),
        },
        End::TimedOut(seconds) => (Some(format!("[timed out after {seconds} s and was killed]")), true),
        End::Interrupted => (Some(Output::INTERRUPTED.to_owned()), true),
    };
    if let Some(note) = note {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    Output { text, is_error }
}

impl Group {
    /// Ends all of it, if the shell did not end by itself.
    async fn end(&mut self) {
        if self.id.is_some() {
            self.kill();
            // The shell is gone or about to be; how it ended is known.
            let _ = self.shell.wait().await;
        }
    }

    fn kill(&mut self) {
        if let Some(id) = self.id.take() {
            // A group that is gone already needs no killing.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
