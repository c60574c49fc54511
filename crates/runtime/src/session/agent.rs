//! One agent process: its lines, its stdin, its end.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};
use warren_agents::{Answer, Codec, Launch, Output, Prompt};
use warren_domain::{RunId, Timestamp};
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{ExecRequest, Exit, Leftovers, Stdio};
use warren_sandbox::{CallError, Exec, ExecOutput, ExecStdin, Sandbox};

use super::{signal::Signal, tail::Tail};

/// The longest line that is taken.
const MAX_LINE: usize = 8 << 20;

/// How much is kept of one that is longer: no agent's format can be read by half, so it only shows what was lost.
const KEPT_OF_LONGER: usize = 64 << 10;

/// Maximum size of lines queued for the session, at least one line. When it is reached, the agent waits.
const ROOM: usize = 2 * MAX_LINE;

/// Maximum length of stderr in a failure.
const STDERR_TAIL: usize = 8 << 10;

/// Maximum number of chunks queued for an agent that does not read its stdin. When full, the agent counts as unresponsive.
const STDIN_QUEUE: usize = 64;

const SIGTERM: u8 = 15;
const SIGKILL: u8 = 9;

/// A running agent as the session sees it.
pub(super) struct Agent {
    codec: Box<dyn Codec>,
    /// What the codec made of what it was told; taken up with what the agent says next.
    pending: Vec<Output>,
    /// Dropped to end the agent's stdin.
    stdin: Option<mpsc::Sender<Bytes>>,
    signals: mpsc::Sender<u8>,
    said: Tail,
}

/// How an agent exited.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentExit {
    /// `None` if the sandbox was lost with it.
    pub(super) exit: Option<Exit>,
    pub(super) stderr_tail: String,
}

/// A line on its way to the session.
pub(super) struct Line {
    pub(super) text: Bytes,
    /// Given back when the line was looked at.
    _room: OwnedSemaphorePermit,
}

impl Agent {
    /// Starts the process of a run and gives it its prompt.
    pub(super) async fn start(
        run: RunId,
        sandbox: &Sandbox,
        launch: Launch,
        codec: Box<dyn Codec>,
        to: mpsc::Sender<Signal>,
        tasks: &Tasks,
    ) -> Result<Self, CallError> {
        let mut exec = sandbox.guest.exec(request(launch, sandbox.env.clone())).await?;
        // Full: the agent does not read. See `write`.
        let (stdin, input) = mpsc::channel(STDIN_QUEUE);
        if let Some(pipe) = exec.stdin.take() {
            tasks.spawn(TaskKind::Sandbox, feed(pipe, input));
        }
        // A signal that finds it full comes right after others that end the same process.
        let (signals, orders) = mpsc::channel(8);
        tasks.spawn(TaskKind::Sandbox, follow(run, exec, orders, to));
        Ok(Self { codec, pending: Vec::new(), stdin: Some(stdin), signals, said: Tail::default() })
    }

    /// Puts bytes into its stdin. Says whether there was room.
    pub(super) fn write(&self, bytes: Vec<u8>) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| stdin.try_send(Bytes::from(bytes)).is_ok())
    }

    /// Gives it the message of its run.
    pub(super) fn begin(&mut self, prompt: &Prompt, at: Timestamp) {
        self.codec.begin(prompt, at, &mut self.pending);
        self.send_pending();
    }

    /// Reads lines. What follows from them is in the result, after what was pending.
    pub(super) fn decode(&mut self, lines: &[Line], at: Timestamp) -> Vec<Output> {
        let mut out = self.take_pending();
        for line in lines {
            self.said.push(&line.text);
            self.codec.decode(&line.text, at, &mut out);
        }
        out
    }

    /// The last lines it printed, if it printed any.
    pub(super) fn last_lines(&self) -> Option<Bytes> {
        self.said.joined()
    }

    /// Interprets the end of the process.
    pub(super) fn ended(&mut self, exit: &warren_agents::Exit, at: Timestamp) -> Vec<Output> {
        let mut out = self.take_pending();
        self.codec.ended(exit, at, &mut out);
        out
    }

    /// What the codec made of what it was told.
    pub(super) fn take_pending(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.pending)
    }

    /// Tells it something while it works, if it can hear.
    pub(super) fn steer(&mut self, prompt: &Prompt, at: Timestamp) {
        self.codec.steer(prompt, at, &mut self.pending);
        self.send_pending();
    }

    /// Gives it the answer to what it asked. Says whether it waited for one.
    pub(super) fn answer(&mut self, key: &str, answer: &Answer, at: Timestamp) -> bool {
        let waited = self.codec.answer(key, answer, at, &mut self.pending);
        self.send_pending();
        waited
    }

    /// Asks it to stop, in its own language if it has a word for that.
    pub(super) fn interrupt(&mut self) {
        let has_word = self.codec.interrupt(&mut self.pending);
        if !(self.send_pending() && has_word) {
            self.signal(SIGTERM);
        }
    }

    /// Writes what is for its stdin at once, and keeps the rest. Says whether there was room.
    fn send_pending(&mut self) -> bool {
        let mut has_room = true;
        for output in self.take_pending() {
            match output {
                Output::Send(bytes) => has_room &= self.write(bytes),
                other => self.pending.push(other),
            }
        }
        has_room
    }

    /// Whether its stdin still accepts input.
    pub(super) fn is_open(&self) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| !stdin.is_closed())
    }

    /// Ends its stdin: an agent that is done exits.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Ends it and everything it started.
    pub(super) fn kill(&self) {
        self.signal(SIGKILL);
    }

    fn signal(&self, signal: u8) {
        // Closed: it is gone already.
        let _ = self.signals.try_send(signal);
    }
}

fn request(launch: Launch, mut env: BTreeMap<String, String>) -> ExecRequest {
    env.extend(launch.env);
    ExecRequest {
        argv: launch.argv,
        env,
        cwd: Some(launch.cwd),
        stdin: true,
        limits: Vec::new(),
        leftovers: Leftovers::Keep,
        // What the agent starts could open pipes again through `/proc`: answer its questions, or speak in its name.
        stdio: Stdio::Sockets,
    }
}

async fn feed(mut pipe: ExecStdin, mut input: mpsc::Receiver<Bytes>) {
    while let Some(bytes) = input.recv().await {
        if pipe.write_all(&bytes).await.is_err() || pipe.flush().await.is_err() {
            return;
        }
    }
}

/// Reads both outputs, passes signals on, and reports the end after the last line.
async fn follow(run: RunId, mut exec: Exec, mut orders: mpsc::Receiver<u8>, to: mpsc::Sender<Signal>) {
    let stderr_tail = read_outputs(run, &mut exec, &mut orders, &to).await;
    let exit = loop {
        tokio::select! {
            exit = exec.wait() => break exit.ok(),
            Some(signal) = orders.recv() => exec.kill(signal).await,
        }
    };
    // A session that is gone does not want to know.
    let _ = to.send(Signal::Exited(run, AgentExit { exit, stderr_tail })).await;
}

/// Reads both outputs to their end. Returns the last of stderr.
async fn read_outputs(
    run: RunId,
    exec: &mut Exec,
    orders: &mut mpsc::Receiver<u8>,
    to: &mpsc::Sender<Signal>,
) -> String {
    let (stdout, stderr, signals) = exec.split();
    let reading = async { tokio::join!(send_lines(run, stdout, to), keep_tail(stderr)) };
    tokio::pin!(reading);
    loop {
        tokio::select! {
            ((), tail) = &mut reading => return tail,
            Some(signal) = orders.recv() => signals.send(signal).await,
        }
    }
}

/// Sends each line as a signal. When the session falls behind, this waits, and so does the agent.
async fn send_lines(run: RunId, stdout: &mut ExecOutput, to: &mpsc::Sender<Signal>) {
    let mut lines = Lines::default();
    let room = Arc::new(Semaphore::new(ROOM));
    let mut buffer = BytesMut::with_capacity(64 << 10);
    loop {
        buffer.clear();
        match stdout.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        for line in lines.push(&buffer) {
            if !send_line(run, line, &room, to).await {
                return;
            }
        }
    }
    if let Some(rest) = lines.rest() {
        send_line(run, rest, &room, to).await;
    }
}

/// Says whether anybody still listens.
async fn send_line(run: RunId, text: Bytes, room: &Arc<Semaphore>, to: &mpsc::Sender<Signal>) -> bool {
    let n_bytes = u32::try_from(text.len()).unwrap_or_default();
    match room.clone().acquire_many_owned(n_bytes).await {
        Ok(_room) => to.send(Signal::Line(run, Line { text, _room })).await.is_ok(),
        // Never closed.
        Err(_) => false,
    }
}

async fn keep_tail(stderr: &mut ExecOutput) -> String {
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut buffer = BytesMut::with_capacity(8 << 10);
    loop {
        buffer.clear();
        match stderr.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => tail.extend(&buffer),
        }
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }
    String::from_utf8_lossy(tail.make_contiguous()).into_owned()
}

/// Splits a stream at `\n`. Holds at most one line, and at most [`MAX_LINE`] of it; a longer one is cut.
#[derive(Default)]
struct Lines {
    open: BytesMut,
    /// The open line was cut: what follows up to its end is skipped.
    skipping: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.grow(piece);
            if pieces.peek().is_some() {
                self.skipping = false;
                lines.push(self.open.split().freeze());
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    fn grow(&mut self, piece: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.open.len());
        if !self.skipping {
            self.open.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if !self.skipping && piece.len() > room {
            self.skipping = true;
            self.open = BytesMut::from(&self.open[..KEPT_OF_LONGER]);
        }
    }

    fn rest(mut self) -> Option<Bytes> {
        (!self.open.is_empty()).then(|| self.open.split().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_OF_LONGER, Lines, MAX_LINE};

    #[test]
    fn lines_are_split_at_newlines_only_wherever_the_pieces_end() {
        let mut lines = Lines::default();
        let mut all = Vec::new();
        for piece in ["a\u{2028}b", "c\n\nd", "\ne"] {
            all.extend(lines.push(piece.as_bytes()));
        }
        all.extend(lines.rest());
        assert_eq!(all, ["a\u{2028}bc", "d", "e"]);
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_one_is_whole() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..20 {
            assert_eq!(lines.push(&chunk).len(), 0);
            assert!(lines.open.len() <= MAX_LINE);
        }
        let ended = lines.push(b"tail\nnext\n");
        assert_eq!(ended.iter().map(bytes::Bytes::len).collect::<Vec<_>>(), [KEPT_OF_LONGER, 4]);
    }
}
