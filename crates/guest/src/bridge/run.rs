//! The bridge at work: everything that may happen, one thing at a time.

use std::{
    io,
    pin::{Pin, pin},
    process::ExitCode,
    rc::Rc,
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::FusedFuture, stream::FuturesUnordered};
use rustix::process::Signal;
use tokio::{
    signal::unix::{Signal as Signals, SignalKind, signal},
    sync::mpsc,
    time::{Instant, interval, timeout},
};

use super::{
    call::{CallError, Server},
    events::{Told, follow},
    lines::{Writer, read_lines},
    options::Options,
    processes,
    program::{Program, ProgramError, exit_code, ready_url},
    request::{Means, carry_out},
};

/// How many requests may be under way. While there are so many, stdin is not read.
const MAX_REQUESTS: usize = 32;

/// How long a program that was signalled may go on.
const GRACE: Duration = Duration::from_secs(3);

/// How long the last of what a program printed is waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Why the bridge ended by itself.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error("failed to listen for signals")]
    Signals(#[source] io::Error),
    #[error("failed to get random bytes")]
    Random(#[source] rustix::io::Errno),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("failed to find the server")]
    Server(#[source] CallError),
    #[error("failed to write to stdout")]
    Write(#[source] io::Error),
}

/// How the bridge ends.
enum End {
    /// The program did.
    Program(ExitCode),
    /// Whoever uses it wants no more.
    Stdin,
}

/// Runs the bridge until its stdin or its program ends.
pub(super) async fn run(options: Options) -> Result<ExitCode, RunError> {
    processes::adopt_orphans();
    let password = password()?;
    let (mut program, stdout) = Program::start(&options, &password)?;
    let end = serve(&options, &password, &mut program, stdout).await;
    program.stop().await;
    Ok(match end? {
        End::Program(code) => code,
        End::Stdin => ExitCode::SUCCESS,
    })
}

async fn serve(
    options: &Options,
    password: &str,
    program: &mut Program,
    stdout: tokio::net::UnixStream,
) -> Result<End, RunError> {
    let mut signals = HostSignals::new()?;
    // Lines wait here until they are looked at; while there are so many, the program waits with its next.
    let (lines, mut printed) = mpsc::channel(16);
    let mut printing = pin!(read_lines(stdout, lines).fuse());
    let found = {
        let mut ready = pin!(ready_url(options, &mut printed));
        loop {
            tokio::select! {
                found = &mut ready => break found?,
                () = &mut printing => {}
                signal = signals.next() => program.signal(signal),
            }
        }
    };
    let Some(url) = found else {
        return Ok(End::Program(exit_code(program.ended().await?)));
    };
    let password = options.password.is_some().then_some(password);
    let server = Rc::new(Server::new(&url, &options.user, password).map_err(RunError::Server)?);
    let means = Rc::new(Means { server: Rc::clone(&server), home: options.home.clone() });
    // Events wait here until they are written; while there are so many, the server waits with its next.
    let (told, events) = mpsc::channel(64);
    let work = Work { means, events, printed, requests: FuturesUnordered::new(), writer: Writer::new() };
    let following = follow(server, options.events.clone(), told).fuse();
    work.go_on(program, pin!(following), printing, signals).await
}

type Answering = Pin<Box<dyn Future<Output = Option<Vec<u8>>>>>;

/// What goes on while the server runs.
struct Work {
    means: Rc<Means>,
    events: mpsc::Receiver<Told>,
    printed: mpsc::Receiver<Vec<u8>>,
    requests: FuturesUnordered<Answering>,
    writer: Writer,
}

impl Work {
    async fn go_on(
        mut self,
        program: &mut Program,
        mut following: Pin<&mut impl FusedFuture<Output = ()>>,
        mut printing: Pin<&mut impl FusedFuture<Output = ()>>,
        mut signals: HostSignals,
    ) -> Result<End, RunError> {
        // Requests wait here until there is room for them; while there are so many, stdin is not read.
        let (lines, mut asked) = mpsc::channel(1);
        let mut asking = pin!(read_lines(tokio::io::stdin(), lines).fuse());
        let (mut is_closed, mut n_opened) = (false, 0_u32);
        let mut reaping = interval(Duration::from_secs(1));
        let mut deadline = None;
        loop {
            tokio::select! {
                () = &mut following => {}
                () = &mut asking => is_closed = true,
                () = &mut printing => {}
                Some(told) = self.events.recv() => match told {
                    Told::Opened => {
                        n_opened += 1;
                        if n_opened > 1 {
                            self.write(br#"{"type":"warren.reconnected"}"#.to_vec()).await?;
                        }
                    }
                    Told::Event(event) => self.write(event).await?,
                },
                Some(reply) = self.requests.next() => if let Some(reply) = reply {
                    self.write(reply).await?;
                },
                // Nobody is asked before the first event can be heard.
                line = asked.recv(), if (n_opened > 0 || is_closed) && self.requests.len() < MAX_REQUESTS => match line {
                    Some(line) if line.iter().all(u8::is_ascii_whitespace) => {}
                    Some(line) => self.requests.push(Box::pin(carry_out(line, Rc::clone(&self.means)))),
                    None => return Ok(End::Stdin),
                },
                Some(line) = self.printed.recv() => super::warn(format_args!("{}", String::from_utf8_lossy(&line))),
                status = program.ended() => {
                    let code = exit_code(status?);
                    // What it left behind may keep its pipe open; nobody waits for that.
                    let _ = timeout(LAST_WORDS, self.listen_to_the_end(printing.as_mut())).await;
                    self.drain().await?;
                    return Ok(End::Program(code));
                }
                signal = signals.next() => {
                    program.signal(signal);
                    deadline = Some(Instant::now() + GRACE);
                }
                now = reaping.tick() => {
                    processes::reap_orphans(program.pid());
                    if deadline.is_some_and(|deadline| now > deadline) {
                        program.signal(Signal::KILL);
                    }
                }
            }
        }
    }

    /// Passes on the last that the program printed.
    async fn listen_to_the_end(&mut self, printing: Pin<&mut impl FusedFuture<Output = ()>>) {
        let mut printing = printing;
        loop {
            tokio::select! {
                () = &mut printing => {}
                line = self.printed.recv() => match line {
                    Some(line) => super::warn(format_args!("{}", String::from_utf8_lossy(&line))),
                    None => return,
                },
            }
        }
    }

    /// Writes what was read before the end.
    async fn drain(&mut self) -> Result<(), RunError> {
        while let Ok(told) = self.events.try_recv() {
            if let Told::Event(event) = told {
                self.write(event).await?;
            }
        }
        Ok(())
    }

    async fn write(&mut self, line: Vec<u8>) -> Result<(), RunError> {
        self.writer.line(line).await.map_err(RunError::Write)
    }
}

/// The signals that are passed on.
struct HostSignals {
    term: Signals,
    int: Signals,
    hup: Signals,
}

impl HostSignals {
    fn new() -> Result<Self, RunError> {
        let listen = |kind| signal(kind).map_err(RunError::Signals);
        Ok(Self {
            term: listen(SignalKind::terminate())?,
            int: listen(SignalKind::interrupt())?,
            hup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.term.recv() => Signal::TERM,
            _ = self.int.recv() => Signal::INT,
            _ = self.hup.recv() => Signal::HUP,
        }
    }
}

/// 128 random bits as hexadecimal digits.
fn password() -> Result<String, RunError> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(RunError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
