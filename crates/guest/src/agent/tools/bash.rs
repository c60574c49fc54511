//! Runs a command in a shell, with a process group of its own.

use std::{io, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use rustix::io::{read, retry_on_intr};
use serde::Deserialize;
use serde_json::Value;
use tokio::{io::AsyncReadExt, net::unix::pipe::Receiver, time::Instant};

use super::{Context, Output, capture::Capture, input};
use crate::agent::shells::Shell;

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

pub(super) async fn run(value: Value, context: &Context<'_>) -> Output {
    let input: Input = match input(value) {
        Ok(input) => input,
        Err(problem) => return Output::failed(problem),
    };
    let seconds = input.timeout.unwrap_or(USUAL_SECONDS).clamp(1, MAX_SECONDS);
    let (mut shell, mut pipe) = match context.shells.run(&input.command, context.cwd).await {
        Ok(started) => started,
        Err(error) => return Output::failed(format!("failed to start the shell: {error}")),
    };
    let mut capture = Capture::default();
    let end = follow(&mut shell, &mut pipe, &mut capture, seconds, context).await;
    shell.end().await;
    drain(&pipe, &mut capture, context);
    match end {
        Ok(end) => report(&end, capture.finish()),
        Err(error) => Output::failed(format!("{}\n[lost the command: {error}]", capture.finish())),
    }
}

/// Shows and collects the output until the shell ends, even if something it left behind keeps the pipe open.
async fn follow(
    shell: &mut Shell,
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
            status = shell.ended() => return Ok(End::Exited(status?)),
        }
    }
}

/// What the shell wrote before it ended is in the pipe; what others write later is not waited for.
///
/// Reads the descriptor itself: `try_read` finds nothing until the runtime has noticed that there is something.
fn drain(pipe: &Receiver, capture: &mut Capture, context: &Context<'_>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n_read @ 1..) = retry_on_intr(|| read(pipe, &mut buffer)) {
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
    Output { text, is_error, media: Vec::new() }
}
