//! The side that has the files.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc,
    },
    thread,
};

use super::{HEADER, Message, RemoteBase, parse_header};
use crate::{
    Hash, Node,
    scan::{self, Batch, FoundDir, Notice, Shut, Sink},
    write::{self, Content, WriteError},
};

/// Roots by name.
type Roots = Vec<(String, PathBuf)>;

/// Scans the roots for whoever is at the other end. Returns when that one has ended the stream.
pub fn serve_scan(roots: Roots, mut input: impl Read + Send, output: impl Write + Send) -> io::Result<()> {
    let mut options = scan::Options { roots, shut: Shut::Opened, ..scan::Options::default() };
    let mut base = RemoteBase::default();
    let send_all = loop {
        match read(&mut input)? {
            Message::Scan { excludes, max_entries } => {
                options.excludes = excludes;
                options.max_entries = max_entries;
            }
            Message::Base(part) => base.add(part).map_err(io::Error::other)?,
            Message::Go { send_all } => break send_all,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    };
    let line = Line {
        output: Mutex::new(output),
        waiting: Mutex::default(),
        next: AtomicU32::new(0),
        ended: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        scope.spawn(|| line.listen(&mut input, |_| {}));
        let scanned = scan::scan(&options, &base, &Remote { line: &line, send_all });
        line.end(scanned.err().map(|error| chain(&error)))
    })
}

/// Writes a tree into the roots for whoever is at the other end. Returns when that one has ended the stream.
pub fn serve_write(roots: Roots, mut input: impl Read + Send, output: impl Write + Send) -> io::Result<()> {
    let Message::Write = read(&mut input)? else { return Err(io::ErrorKind::InvalidData.into()) };
    let options = write::Options { roots, ..write::Options::default() };
    let line = Line {
        output: Mutex::new(output),
        waiting: Mutex::default(),
        next: AtomicU32::new(0),
        ended: AtomicBool::new(false),
    };
    // Without a bound: the answers to our questions come behind the plan, and a plan is much smaller than its tree.
    let (plan, steps) = mpsc::channel();
    thread::scope(|scope| {
        let line = &line;
        scope.spawn(move || {
            let mut plan = Some(plan);
            line.listen(&mut input, |message| match message {
                Message::PlanEnd => plan = None,
                // Nobody takes it only if the writing has failed, which is told.
                step => _ = plan.as_ref().map(|plan| plan.send(step)),
            });
        });
        let written = write::write(&options, line, |feed| {
            // A plan without an end is one whose sender is gone: then nobody wants the tree either.
            steps.iter().try_for_each(|step| feed_step(feed, step))
        });
        match written {
            Ok(written) => {
                for (number, seen) in (0..).zip(written.seen) {
                    line.say(&Message::Seen { number, seen })?;
                }
                line.end(None)
            }
            Err(error) => line.end(Some(chain(&error))),
        }
    })
}

fn feed_step(feed: &mut write::Feed<'_>, step: Message) -> Result<(), WriteError> {
    let Message::Directory { root, path, mode, mtime_ns, node } = step else {
        return Err(WriteError::Unusable { what: "something else than a directory came" });
    };
    let node = Node::decode(&node).map_err(|error| WriteError::Unusable { what: error.what })?;
    if path.is_empty() {
        feed.root(&root, &node, &[])
    } else {
        feed.directory(&root, &path, (mode, mtime_ns), &node, &[])
    }
}

/// The stream, as many threads use it.
struct Line<W> {
    output: Mutex<W>,
    /// Who waits for the answer to which question.
    waiting: Mutex<HashMap<u32, mpsc::SyncSender<Answer>>>,
    next: AtomicU32,
    /// Nobody answers any more.
    ended: AtomicBool,
}

enum Answer {
    Lacking(Vec<bool>),
    Content(Vec<u8>),
}

impl<W: Write> Line<W> {
    /// Takes what comes until the stream ends: answers go to who asked, the rest to `other`.
    fn listen(&self, input: &mut impl Read, mut other: impl FnMut(Message)) {
        while let Ok(message) = read(input) {
            let (id, answer) = match message {
                Message::Lacking { id, marks } => (id, Answer::Lacking(marks)),
                Message::Content { id, data } => (id, Answer::Content(data)),
                message => {
                    other(message);
                    continue;
                }
            };
            if let Some(waiting) = lock(&self.waiting).remove(&id) {
                // There is room for exactly one answer.
                _ = waiting.send(answer);
            }
        }
        // Whoever waits learns it, and whoever asks from now on.
        self.ended.store(true, Ordering::SeqCst);
        lock(&self.waiting).clear();
    }

    fn say(&self, message: &Message) -> io::Result<()> {
        let bytes = message.encode().map_err(io::Error::other)?;
        let mut output = lock(&self.output);
        output.write_all(&bytes)?;
        output.flush()
    }

    /// Asks, and waits for the answer.
    fn ask(&self, question: impl FnOnce(u32) -> Message) -> Option<Answer> {
        // Full when there is an answer, and there is only one.
        let (sender, answer) = mpsc::sync_channel(1);
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.waiting).insert(id, sender);
        self.say(&question(id)).ok()?;
        // The stream may have ended between the two steps above, after which nobody would take us off the list.
        if self.ended.load(Ordering::SeqCst) {
            lock(&self.waiting).remove(&id);
        }
        answer.recv().ok()
    }

    fn end(&self, failure: Option<String>) -> io::Result<()> {
        self.say(&failure.map_or(Message::Done, |message| Message::Failed { message }))
    }
}

/// Sends what a scan finds.
struct Remote<'a, W> {
    line: &'a Line<W>,
    send_all: bool,
}

impl<W: Write + Send> Sink for Remote<'_, W> {
    fn lacking(&self, chunks: &[(Hash, u32)]) -> Result<Vec<bool>, scan::Stop> {
        if self.send_all {
            return Ok(vec![true; chunks.len()]);
        }
        match self.line.ask(|id| Message::Ask { id, chunks: chunks.to_vec() }) {
            Some(Answer::Lacking(marks)) if marks.len() == chunks.len() => Ok(marks),
            _ => Err(scan::Stop),
        }
    }

    fn chunks(&self, batch: &mut Batch) -> Result<(), scan::Stop> {
        self.line.say(&Message::Chunks(std::mem::take(batch))).map_err(|_| scan::Stop)
    }

    fn directory(&self, found: FoundDir) -> Result<(), scan::Stop> {
        self.line.say(&Message::Found(found)).map_err(|_| scan::Stop)
    }

    fn notice(&self, notice: Notice) -> Result<(), scan::Stop> {
        self.line.say(&Message::Notice(notice)).map_err(|_| scan::Stop)
    }
}

impl<W: Write + Send> Content for Line<W> {
    type Chunk = Vec<u8>;

    fn fetch(&self, chunks: &[(Hash, u32)]) -> Result<Vec<Vec<u8>>, write::Stop> {
        let Some(Answer::Content(data)) = self.ask(|id| Message::Fetch { id, chunks: chunks.to_vec() })
        else {
            return Err(write::Stop);
        };
        let mut rest = &data[..];
        let cut = chunks.iter().map(|(_, len)| {
            let (chunk, more) = rest.split_at_checked(*len as usize).ok_or(write::Stop)?;
            rest = more;
            Ok(chunk.to_vec())
        });
        cut.collect()
    }
}

fn read(input: &mut impl Read) -> io::Result<Message> {
    let mut header = [0; HEADER];
    input.read_exact(&mut header)?;
    let (kind, length) = parse_header(header).map_err(io::Error::other)?;
    let mut payload = vec![0; length];
    input.read_exact(&mut payload)?;
    Message::decode(kind, payload).map_err(io::Error::other)
}

/// An error with all its causes, for somebody who sees only the text.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
