//! Running programs.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWrite, DuplexStream, ReadHalf, WriteHalf, split},
    sync::{Notify, mpsc, watch},
};
use warren_env::TaskKind;
use warren_guest_api::{
    EXEC_CREDIT, ExecRequest, Exit, Frame, FrameError, FrameReader, Output, Request, Started,
};
use warren_link::Stream;

use super::{
    CallError, ExecError, ExecOutput, Guest,
    call::{refusal, reply, send},
    pipe::{End, Pipe, pipe},
};

/// The most stdin in one frame.
const STDIN_CHUNK: usize = 32 * 1024;

/// A program that runs in a sandbox. Dropping it kills the program's whole process group.
#[derive(Debug)]
pub struct Exec {
    /// Its stdin, if the request asked for one. Dropping it ends the program's stdin.
    pub stdin: Option<ExecStdin>,
    /// Its stdout.
    pub stdout: ExecOutput,
    /// Its stderr.
    pub stderr: ExecOutput,
    pid: u32,
    signals: mpsc::Sender<u8>,
    exit: watch::Receiver<Option<Exit>>,
    /// Keeps the link up.
    _guest: Guest,
}

/// A program's stdin. `shutdown`, or dropping it, is its end of file.
#[derive(Debug)]
pub struct ExecStdin(DuplexStream);

/// Sends signals to a program's whole process group.
#[derive(Debug, Clone, Copy)]
pub struct Signals<'a>(&'a mpsc::Sender<u8>);

impl Signals<'_> {
    /// Sends one. To a program that has ended it does nothing.
    pub async fn send(&self, signal: u8) {
        // The relay is gone once the program has ended.
        _ = self.0.send(signal).await;
    }
}

impl Guest {
    /// Runs a program. Returns when it runs, or when it is known that it cannot.
    pub async fn exec(&self, request: ExecRequest) -> Result<Exec, CallError> {
        let with_stdin = request.stdin;
        let stream = self.open(&Request::Exec(request)).await?;
        let (reader, writer) = split(stream);
        let mut frames = FrameReader::new(reader);
        let started: Started = reply(&mut frames).await?;
        let (stdin, stdin_source) = tokio::io::duplex(STDIN_CHUNK);
        let read = Arc::new(Notify::new());
        let (stdout_pipe, stdout) = pipe(read.clone());
        let (stderr_pipe, stderr) = pipe(read.clone());
        // When signals come faster than the guest takes them, whoever sends them waits.
        let (signals, signal_queue) = mpsc::channel(8);
        let (exit_sender, exit) = watch::channel(None);
        let relay = Relay {
            frames,
            writer,
            stdin: with_stdin.then_some(stdin_source),
            stdin_credit: EXEC_CREDIT as usize,
            stdout: stdout_pipe,
            stderr: stderr_pipe,
            read,
            signals: signal_queue,
            exit: exit_sender,
            deaf: false,
        };
        self.inner.tasks.spawn(TaskKind::Sandbox, relay.run());
        let stdin = with_stdin.then_some(ExecStdin(stdin));
        Ok(Exec { stdin, stdout, stderr, pid: started.pid, signals, exit, _guest: self.clone() })
    }
}

impl Exec {
    /// Its process id, and its process group, inside the sandbox.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal to the whole process group. To a program that has ended it does nothing.
    pub async fn kill(&self, signal: u8) {
        // The relay is gone once the program has ended.
        _ = self.signals.send(signal).await;
    }

    /// Both outputs, and a way to send signals while they are read.
    pub fn split(&mut self) -> (&mut ExecOutput, &mut ExecOutput, Signals<'_>) {
        (&mut self.stdout, &mut self.stderr, Signals(&self.signals))
    }

    /// Waits for the program's end. Cancel-safe, and may be asked again.
    ///
    /// Outputs can be read afterwards, but the program cannot end while it waits for somebody to read them.
    pub async fn wait(&mut self) -> Result<Exit, ExecError> {
        let ended = self.exit.wait_for(Option::is_some).await.map_err(|_| ExecError::Lost)?;
        (*ended).ok_or(ExecError::Lost)
    }
}

/// The task that moves everything between one program and its [`Exec`].
struct Relay {
    frames: FrameReader<ReadHalf<Stream>>,
    writer: WriteHalf<Stream>,
    /// Gone once it has ended.
    stdin: Option<DuplexStream>,
    stdin_credit: usize,
    stdout: Arc<Pipe>,
    stderr: Arc<Pipe>,
    read: Arc<Notify>,
    signals: mpsc::Receiver<u8>,
    exit: watch::Sender<Option<Exit>>,
    /// Set when the guest takes no more. It may still have the program's exit to tell, so that is no failure yet.
    deaf: bool,
}

impl Relay {
    /// Ends when the program does, when the guest is lost, or when nobody holds the [`Exec`]: the stream is then dropped,
    /// on which the guest kills the process group.
    async fn run(mut self) {
        match self.until_exit().await {
            Ok(Some(exit)) => {
                self.end(End::Clean);
                self.exit.send_replace(Some(exit));
            }
            Ok(None) => self.end(End::Lost),
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "a program was lost");
                self.end(End::Lost);
            }
        }
    }

    /// The program's exit, or `None` if nobody cares any more.
    async fn until_exit(&mut self) -> Result<Option<Exit>, CallError> {
        let mut chunk = BytesMut::with_capacity(STDIN_CHUNK);
        loop {
            // Every head is cancel-safe; all work happens in the arms.
            tokio::select! {
                frame = self.frames.expect() => {
                    if let Some(exit) = self.on_frame(frame.map_err(CallError::Protocol)?)? {
                        return Ok(Some(exit));
                    }
                }
                signal = self.signals.recv() => match signal {
                    Some(signal) => self.send(&Frame::Signal(signal)).await,
                    None => return Ok(None),
                },
                () = self.read.notified() => self.give_credit().await,
                read = read_stdin(&mut self.stdin, &mut chunk, self.stdin_credit) => {
                    read.map_err(CallError::Source)?;
                    self.send_stdin(&mut chunk).await;
                }
            }
        }
    }

    fn on_frame(&mut self, frame: Frame) -> Result<Option<Exit>, CallError> {
        let overrun = |_| CallError::Protocol(FrameError::Unexpected);
        match frame {
            Frame::Output(Output::Stdout, data) => self.stdout.push(&data).map_err(overrun)?,
            Frame::Output(Output::Stderr, data) => self.stderr.push(&data).map_err(overrun)?,
            Frame::OutputEnd(Output::Stdout) => self.stdout.end(End::Clean),
            Frame::OutputEnd(Output::Stderr) => self.stderr.end(End::Clean),
            Frame::StdinCredit(n) => self.stdin_credit = self.stdin_credit.saturating_add(n as usize),
            Frame::Exit(exit) => return Ok(Some(exit)),
            frame => return Err(refusal(frame)),
        }
        Ok(None)
    }

    async fn give_credit(&mut self) {
        let credits =
            [(Output::Stdout, self.stdout.take_credit()), (Output::Stderr, self.stderr.take_credit())];
        for (output, credit) in credits {
            if let Some(n) = credit {
                self.send(&Frame::Credit(output, n)).await;
            }
        }
    }

    /// Sends what was read of stdin; nothing read is its end.
    async fn send_stdin(&mut self, chunk: &mut BytesMut) {
        let data = chunk.split().freeze();
        if data.is_empty() {
            self.stdin = None;
            return self.send(&Frame::StdinEnd).await;
        }
        self.stdin_credit -= data.len();
        self.send(&Frame::Stdin(data)).await;
    }

    async fn send(&mut self, frame: &Frame) {
        if !self.deaf && send(&mut self.writer, frame).await.is_err() {
            self.deaf = true;
            self.stdin = None;
        }
    }

    fn end(&self, end: End) {
        self.stdout.end(end);
        self.stderr.end(end);
    }
}

/// Reads stdin as far as there is credit; waits for ever where there is none, or nothing to read.
async fn read_stdin(
    stdin: &mut Option<DuplexStream>,
    chunk: &mut BytesMut,
    credit: usize,
) -> io::Result<usize> {
    match stdin {
        Some(stdin) if credit > 0 => {
            chunk.reserve(STDIN_CHUNK);
            stdin.take(credit.min(STDIN_CHUNK) as u64).read_buf(chunk).await
        }
        _ => std::future::pending().await,
    }
}

impl AsyncWrite for ExecStdin {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
