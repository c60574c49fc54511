//! Moves everything between one program and the host.

use std::{collections::VecDeque, future::pending, io, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, split},
    sync::oneshot,
    time::{Instant, sleep_until},
};
use warren_guest_api::{EXEC_CREDIT, Exit, Frame, FrameReader, Output, write_frame};
use warren_link::Stream;

use super::{
    spawn::Child,
    stdio::{self, Input},
};
use crate::{failure::Failure, reaper::Reaper};

/// The most output in one frame.
const CHUNK: usize = 32 * 1024;

/// Stdin credit is given back in pieces, not byte by byte.
const CREDIT_STEP: usize = EXEC_CREDIT as usize / 4;

/// How long an output that others still hold open may be silent after the program has ended, and how long it is
/// listened to at most. What the program itself wrote is there before it ends.
const QUIET: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(2);

/// One program's pipes. Dropping it kills the program's group, unless the program has ended.
pub(super) struct Relay<'a> {
    reaper: &'a Reaper,
    pid: Pid,
    stdin: Stdin,
    stdout: Source,
    stderr: Source,
    exit: oneshot::Receiver<Exit>,
    /// Set when the program has ended.
    ended: Option<(Exit, Instant)>,
}

/// One output of the program.
struct Source {
    /// `None` after its end.
    pipe: Option<stdio::Source>,
    /// How much the host has room for.
    credit: usize,
}

/// What the host sent for the program and the program has not read.
struct Stdin {
    /// `None` when the program has no stdin or does not want more.
    pipe: Option<Input>,
    queue: VecDeque<Bytes>,
    queued: usize,
    /// Taken from the queue, but not yet given back as credit.
    consumed: usize,
    /// The host has sent all.
    ending: bool,
}

/// What happens next.
enum Event {
    Frame(Option<Frame>),
    Output(Output, io::Result<Bytes>),
    Written(io::Result<usize>),
    Exit(Exit),
    Quiet,
}

impl<'a> Relay<'a> {
    pub(super) fn new(reaper: &'a Reaper, child: Child) -> Self {
        let source = |pipe| Source { pipe: Some(pipe), credit: EXEC_CREDIT as usize };
        Self {
            reaper,
            pid: child.pid,
            stdin: Stdin { pipe: child.stdin, queue: VecDeque::new(), queued: 0, consumed: 0, ending: false },
            stdout: source(child.stdout),
            stderr: source(child.stderr),
            exit: child.exit,
            ended: None,
        }
    }

    /// Runs until the program has ended and all it wrote is sent, or until the host leaves.
    pub(super) async fn run(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        let (reader, mut writer) = split(stream);
        let mut frames = FrameReader::new(reader);
        loop {
            if let Some((exit, _)) = self.ended
                && self.stdout.pipe.is_none()
                && self.stderr.pipe.is_none()
            {
                return Ok(write_frame(&mut writer, &Frame::Exit(exit)).await?);
            }
            let answer = match self.next(&mut frames).await? {
                Event::Frame(Some(frame)) => self.on_frame(frame)?,
                // A host that ends its side has left the program to itself.
                Event::Frame(None) => return Err(Failure::Gone),
                Event::Output(output, read) => self.on_output(output, read),
                Event::Written(written) => self.on_written(written),
                Event::Exit(exit) => {
                    self.ended = Some((exit, Instant::now()));
                    None
                }
                Event::Quiet => {
                    self.stdout.pipe = None;
                    self.stderr.pipe = None;
                    None
                }
            };
            if let Some(frame) = answer {
                write_frame(&mut writer, &frame).await?;
            }
        }
    }

    /// Waits for whatever comes first. Cancel-safe in each of its parts.
    async fn next<R>(&mut self, frames: &mut FrameReader<R>) -> Result<Event, Failure>
    where
        R: tokio::io::AsyncRead + Unpin,
    {
        let quiet_at = self.quiet_at();
        Ok(tokio::select! {
            frame = frames.next() => Event::Frame(frame?),
            read = self.stdout.read() => Event::Output(Output::Stdout, read),
            read = self.stderr.read() => Event::Output(Output::Stderr, read),
            written = self.stdin.write() => Event::Written(written),
            // The reaper outlives every program, so an error is not to be expected; it would mean the program is gone.
            exit = &mut self.exit, if self.ended.is_none() => Event::Exit(exit.unwrap_or(Exit::Signal(9))),
            () = sleep_until(quiet_at.unwrap_or_else(Instant::now)), if quiet_at.is_some() => Event::Quiet,
        })
    }

    /// When to stop listening to outputs after the program's end. Not while it is the host that keeps us waiting.
    fn quiet_at(&self) -> Option<Instant> {
        let (_, ended_at) = self.ended?;
        let waits_for_host = |source: &Source| source.pipe.is_some() && source.credit == 0;
        if waits_for_host(&self.stdout) || waits_for_host(&self.stderr) {
            return None;
        }
        Some((Instant::now() + QUIET).min(ended_at + PATIENCE))
    }

    fn on_frame(&mut self, frame: Frame) -> Result<Option<Frame>, Failure> {
        match frame {
            Frame::Stdin(data) => self.stdin.push(data)?,
            Frame::StdinEnd => self.stdin.end(),
            Frame::Signal(number) => {
                if let Some(signal) = Signal::from_named_raw(i32::from(number)) {
                    self.reaper.signal(self.pid, signal);
                }
            }
            Frame::Credit(Output::Stdout, n) => self.stdout.credit += n as usize,
            Frame::Credit(Output::Stderr, n) => self.stderr.credit += n as usize,
            _ => return Err(Failure::Gone),
        }
        Ok(self.stdin.take_credit())
    }

    fn on_output(&mut self, output: Output, read: io::Result<Bytes>) -> Option<Frame> {
        let source = match output {
            Output::Stdout => &mut self.stdout,
            Output::Stderr => &mut self.stderr,
        };
        match read {
            Ok(data) if !data.is_empty() => {
                source.credit = source.credit.saturating_sub(data.len());
                Some(Frame::Output(output, data))
            }
            // A pipe that cannot be read any more has ended.
            Ok(_) | Err(_) => {
                source.pipe = None;
                Some(Frame::OutputEnd(output))
            }
        }
    }

    fn on_written(&mut self, written: io::Result<usize>) -> Option<Frame> {
        match written {
            Ok(n) => self.stdin.consume(n),
            // The program does not want to read: what comes is thrown away, as a shell would.
            Err(_) => self.stdin.abandon(),
        }
        self.stdin.take_credit()
    }
}

impl Drop for Relay<'_> {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.reaper.signal(self.pid, Signal::KILL);
        }
    }
}

impl Source {
    /// Reads what there is, as far as the host has room; nothing is the end.
    async fn read(&mut self) -> io::Result<Bytes> {
        match &mut self.pipe {
            Some(pipe) if self.credit > 0 => {
                let mut data = BytesMut::with_capacity(self.credit.min(CHUNK));
                pipe.take(self.credit.min(CHUNK) as u64).read_buf(&mut data).await?;
                Ok(data.freeze())
            }
            _ => pending().await,
        }
    }
}

impl Stdin {
    /// Fails if the host sends more than it has credit for.
    fn push(&mut self, data: Bytes) -> Result<(), Failure> {
        if self.queued + self.consumed + data.len() > EXEC_CREDIT as usize || self.ending {
            return Err(Failure::Gone);
        }
        self.queued += data.len();
        if self.pipe.is_none() {
            self.consume(data.len());
        } else if !data.is_empty() {
            self.queue.push_back(data);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.ending = true;
        if self.queue.is_empty() {
            self.pipe = None;
        }
    }

    /// Writes the next piece as far as it goes.
    async fn write(&mut self) -> io::Result<usize> {
        match (&mut self.pipe, self.queue.front()) {
            (Some(pipe), Some(data)) => pipe.write(data).await,
            _ => pending().await,
        }
    }

    fn consume(&mut self, n: usize) {
        self.queued = self.queued.saturating_sub(n);
        self.consumed += n;
        if let Some(front) = self.queue.front_mut() {
            front.advance(n.min(front.len()));
            if front.is_empty() {
                self.queue.pop_front();
            }
        }
        if self.ending && self.queue.is_empty() {
            self.pipe = None;
        }
    }

    fn abandon(&mut self) {
        self.pipe = None;
        self.queue.clear();
        self.consumed += std::mem::take(&mut self.queued);
    }

    fn take_credit(&mut self) -> Option<Frame> {
        if self.consumed < CREDIT_STEP {
            return None;
        }
        u32::try_from(std::mem::take(&mut self.consumed)).ok().map(Frame::StdinCredit)
    }
}
