//! From the first line of input to the program's exit code.

use std::{
    io::{self, Stdout, Write},
    os::unix::process::ExitStatusExt,
    pin::pin,
    process::ExitStatus,
    time::Duration,
};

use rustix::process::Signal;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    signal::unix::{SignalKind, signal},
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};

use super::{
    files::Files,
    options::Options,
    output::Output,
    process::{Ends, Input, Process, exit_code, kill_descendants},
};

/// How often files are looked at when the program prints nothing.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long the program may take to end after a signal. Whoever sent it waits for that.
const GRACE: Duration = Duration::from_secs(1);

/// How long an output that others still hold open may be silent after the program has ended, and how long it is
/// listened to at most. What the program itself wrote is there before it ends.
const QUIET: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(2);

/// The most of a prompt that is taken.
const MAX_PROMPT: u64 = 64 * 1024 * 1024;

/// Why following came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum FollowError {
    #[error("failed to listen to signals")]
    Signals(#[source] io::Error),
    #[error("failed to remove old files")]
    Clear(#[source] io::Error),
    #[error("failed to read the prompt")]
    Prompt(#[source] io::Error),
    #[error("failed to start `{program}`")]
    Start {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("failed to print")]
    Print(#[source] io::Error),
    #[error("failed to wait for the program")]
    Wait(#[source] io::Error),
}

/// The signals that are passed on.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

/// Whether the program was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    /// It has until then.
    Asked(Instant),
    Forced,
}

/// A program that is being followed.
struct Following<W> {
    process: Process,
    /// `None` after its end.
    stdout: Option<UnixStream>,
    files: Files,
    output: Output<W>,
    ending: Ending,
}

/// Runs the program, prints what it says and writes, and gives its exit code.
pub(super) async fn follow(options: &Options) -> Result<u8, FollowError> {
    let mut signals = Signals::new().map_err(FollowError::Signals)?;
    let mut prompt = None;
    if options.prompt_line {
        tokio::select! {
            read = read_prompt() => prompt = Some(read.map_err(FollowError::Prompt)?),
            signal = signals.next() => return Ok(exit_code(ExitStatus::from_raw(signal.as_raw()))),
        }
    }
    if options.clear {
        Files::clear(&options.dir, &options.suffixes).map_err(FollowError::Clear)?;
    }
    let (mut following, stdin) = Following::start(options)?;
    let followed = following.run(&mut signals, tell(stdin, prompt)).await;
    if followed.is_err() {
        // Nobody hears us any more, or the program is out of reach: it must not go on unseen.
        following.process.signal(Signal::KILL);
        kill_descendants().await;
    }
    followed
}

/// The prompt: one line, a JSON string. Nothing at all is an empty prompt.
async fn read_prompt() -> io::Result<String> {
    let mut line = Vec::new();
    let mut stdin = BufReader::new(tokio::io::stdin()).take(MAX_PROMPT);
    stdin.read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(String::new());
    }
    serde_json::from_slice(&line).map_err(io::Error::from)
}

/// Gives the program all of its input. A program that does not want to read it has its reasons.
async fn tell(stdin: Option<UnixStream>, prompt: Option<String>) {
    if let (Some(mut stdin), Some(prompt)) = (stdin, prompt) {
        // An error means that it reads no more.
        let _ = stdin.write_all(prompt.as_bytes()).await;
    }
}

impl Following<Stdout> {
    fn start(options: &Options) -> Result<(Self, Option<UnixStream>), FollowError> {
        let files = Files::from_now(&options.dir, &options.suffixes);
        let input = if options.prompt_line { Input::Ours } else { Input::Inherited };
        let started = Process::start(options, input);
        let (process, Ends { stdin, stdout }) = started.map_err(|source| FollowError::Start {
            program: options.program.to_string_lossy().into_owned(),
            source,
        })?;
        let output = Output::new(io::stdout());
        Ok((Self { process, stdout: Some(stdout), files, output, ending: Ending::No }, stdin))
    }
}

impl<W: Write> Following<W> {
    async fn run(
        &mut self,
        signals: &mut Signals,
        told: impl Future<Output = ()>,
    ) -> Result<u8, FollowError> {
        let mut told = pin!(told);
        let mut is_told = false;
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut buffer = vec![0; 64 * 1024];
        let status = loop {
            let kill_at = if let Ending::Asked(at) = self.ending { Some(at) } else { None };
            tokio::select! {
                status = self.process.ended() => break status.map_err(FollowError::Wait)?,
                signal = signals.next() => self.pass_on(signal),
                n_read = read(&mut self.stdout, &mut buffer) => self.heard(&buffer[..n_read])?,
                () = &mut told, if !is_told => is_told = true,
                _ = looks.tick() => self.look()?,
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    self.ending = Ending::Forced;
                    self.process.signal(Signal::KILL);
                }
            }
        };
        if self.ending != Ending::No {
            kill_descendants().await;
        }
        self.hear_out(&mut buffer).await?;
        Ok(exit_code(status))
    }

    fn pass_on(&mut self, signal: Signal) {
        self.process.signal(signal);
        if self.ending == Ending::No {
            self.ending = Ending::Asked(Instant::now() + GRACE);
        }
    }

    /// Prints what the program said, after what it wrote before it said so.
    fn heard(&mut self, bytes: &[u8]) -> Result<(), FollowError> {
        self.look()?;
        if bytes.is_empty() {
            self.stdout = None;
            return Ok(());
        }
        self.output.said(bytes).map_err(FollowError::Print)
    }

    fn look(&mut self) -> Result<(), FollowError> {
        self.files.print_new(&mut self.output).map_err(FollowError::Print)
    }

    /// Prints what is left when the program has ended.
    async fn hear_out(&mut self, buffer: &mut [u8]) -> Result<(), FollowError> {
        let at_latest = Instant::now() + PATIENCE;
        while self.stdout.is_some() && Instant::now() < at_latest {
            // Silence means that only others hold it open.
            let Ok(n_read) = timeout(QUIET, read(&mut self.stdout, buffer)).await else { break };
            self.heard(&buffer[..n_read])?;
        }
        self.look()?;
        self.output.finish().map_err(FollowError::Print)?;
        // What was held back while a line was unfinished.
        self.look()
    }
}

/// Reads what the program says next; 0 is its end. Waits for ever after that. Cancel-safe.
async fn read(stdout: &mut Option<UnixStream>, buffer: &mut [u8]) -> usize {
    match stdout {
        // A pipe that cannot be read any more has ended.
        Some(stdout) => stdout.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The next one. Cancel-safe.
    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
        }
    }
}

impl FollowError {
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            FollowError::Start { .. } => 127,
            FollowError::Prompt(_) => 2,
            FollowError::Signals(_)
            | FollowError::Clear(_)
            | FollowError::Print(_)
            | FollowError::Wait(_) => 1,
        }
    }
}
