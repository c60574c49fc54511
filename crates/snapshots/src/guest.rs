//! Taking from, and restoring to, the other end of a stream. Whoever is there is not trusted.
//!
//! Everything that comes is bounded: how long a message is, how long it may take, how many entries, chunks and bytes there are
//! together. Every chunk is hashed here before it is kept, and only chunks that were asked for are taken. A guest is given
//! chunks of the tree it writes, and no others, whatever hash it names.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::Arc,
    time::Duration,
};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split},
    runtime::Handle,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};
use warren_domain::Partition;
use warren_tree::{
    Hash, Index, Malformed, Piece, What,
    scan::{self, Batch, Sink},
    wire::{HEADER, Message, encode_base, parse_header},
    write::Written,
};

use crate::{
    RestoreError, Snapshots, TakeError, TreeId,
    restore::Step,
    take::{Duplex, Taker},
};

/// How long the other end may say nothing.
const PATIENCE: Duration = Duration::from_secs(120);

/// Pieces of work that are done at a time for one stream.
const PARALLEL: usize = 4;

/// Chunks that are asked for or fetched by one message.
const MAX_CHUNKS: usize = 16 * 1024;

/// Bytes that are fetched by one message.
const MAX_FETCH: u64 = 16 * 1024 * 1024;

/// Why a conversation ended early.
enum Broken {
    Stream(io::Error),
    Protocol(String),
    Refused(String),
}

impl From<Malformed> for Broken {
    fn from(error: Malformed) -> Self {
        Broken::Protocol(error.to_string())
    }
}

impl From<Broken> for TakeError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Stream(source) => TakeError::Stream(source),
            Broken::Protocol(what) => TakeError::Protocol { what },
            Broken::Refused(message) => TakeError::Refused { message },
        }
    }
}

impl From<Broken> for RestoreError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Stream(source) => RestoreError::Stream(source),
            Broken::Protocol(what) => RestoreError::Protocol { what },
            Broken::Refused(message) => RestoreError::Refused { message },
        }
    }
}

/// What one scan may still bring.
struct Allowance {
    entries: u64,
    bytes: u64,
    chunks: usize,
}

impl Snapshots {
    /// Lets a guest scan, and hands what it finds to the taker. Says how many bytes of files it sent.
    pub(crate) async fn scan_guest(
        &self,
        stream: Box<dyn Duplex>,
        options: &scan::Options,
        base: Arc<Index>,
        taker: Arc<Taker>,
    ) -> Result<u64, TakeError> {
        let mut line = Line::new(stream);
        let send_all = base.tree().is_none();
        let messages = spawn_blocking(move || encode_base(&base)).await.map_err(|_| TakeError::Cut)?;
        line.say(Message::Scan { excludes: options.excludes.clone(), max_entries: options.max_entries })
            .await?;
        for message in messages {
            line.say(message).await?;
        }
        line.say(Message::Go { send_all }).await?;
        let max_bytes = self.inner.options.max_bytes;
        let chunks = usize::try_from(options.max_entries + max_bytes / 65_536).unwrap_or(usize::MAX);
        let mut allowance = Allowance { entries: options.max_entries, bytes: max_bytes, chunks };
        let mut work: JoinSet<Result<(), TakeError>> = JoinSet::new();
        loop {
            // Both heads are cancel-safe; all work happens in the arms.
            let message = tokio::select! {
                Some(kept) = work.join_next() => {
                    kept.unwrap_or(Err(TakeError::Cut))?;
                    continue;
                }
                message = line.hear(), if work.len() < PARALLEL => message?,
            };
            allowance.charge(&message, &taker)?;
            match message {
                Message::Ask { id, chunks } => {
                    let marks = taker.lacking(&chunks).map_err(|scan::Stop| TakeError::Cut)?;
                    line.say(Message::Lacking { id, marks }).await?;
                }
                Message::Chunks(batch) => {
                    let taker = taker.clone();
                    work.spawn_blocking(move || keep(&taker, batch, send_all));
                }
                Message::Found(found) => taker.directory(found).map_err(|scan::Stop| TakeError::Cut)?,
                Message::Notice(notice) => taker.notice(notice).map_err(|scan::Stop| TakeError::Cut)?,
                Message::Done => break,
                Message::Failed { message } => return Err(Broken::Refused(message).into()),
                _ => return Err(unexpected().into()),
            }
        }
        while let Some(kept) = work.join_next().await {
            kept.unwrap_or(Err(TakeError::Cut))?;
        }
        Ok(max_bytes - allowance.bytes)
    }

    /// Lets a guest write a tree, and gives it the content it asks for.
    pub(crate) async fn write_guest(
        &self,
        stream: Box<dyn Duplex>,
        partition: &Partition,
        tree: TreeId,
        steps: Vec<Step>,
    ) -> Result<Written, RestoreError> {
        let mut line = Line::new(stream);
        let allowed: HashSet<(Hash, u32)> = steps.iter().flat_map(chunks).collect();
        let sizes: Vec<usize> = steps.iter().map(|step| step.node.entries.len()).collect();
        line.say(Message::Write).await?;
        for Step { root, path, mode, mtime_ns, node, .. } in steps {
            line.say(Message::Directory { root, path, mode, mtime_ns, node: node.encode() }).await?;
        }
        line.say(Message::PlanEnd).await?;
        let mut written: HashMap<u32, Vec<warren_tree::Seen>> = HashMap::new();
        let mut work: JoinSet<Result<Message, RestoreError>> = JoinSet::new();
        loop {
            // Both heads are cancel-safe; all work happens in the arms.
            let message = tokio::select! {
                Some(fetched) = work.join_next() => {
                    line.say(fetched.unwrap_or(Err(RestoreError::Cut))?).await?;
                    continue;
                }
                message = line.hear(), if work.len() < PARALLEL => message?,
            };
            match message {
                Message::Fetch { id, chunks } => {
                    let bytes: u64 = chunks.iter().map(|(_, len)| u64::from(*len)).sum();
                    let is_allowed = chunks.iter().all(|chunk| allowed.contains(chunk));
                    if !is_allowed || chunks.len() > MAX_CHUNKS || bytes > MAX_FETCH {
                        return Err(Broken::Protocol("it asks for what is not in the tree".to_owned()).into());
                    }
                    let (snapshots, partition, runtime) =
                        (self.clone(), partition.clone(), Handle::current());
                    work.spawn_blocking(move || {
                        let hashes: Vec<Hash> = chunks.iter().map(|(hash, _)| *hash).collect();
                        let shelf = snapshots.shelf(&partition);
                        let read = runtime.block_on(snapshots.objects(&shelf, &hashes));
                        let read = read.map_err(|source| RestoreError::Read { tree, source })?;
                        Ok(Message::Content { id, data: read.concat() })
                    });
                }
                Message::Seen { number, seen } => _ = written.insert(number, seen),
                Message::Done => break,
                Message::Failed { message } => return Err(Broken::Refused(message).into()),
                _ => return Err(unexpected().into()),
            }
        }
        // What it says of a directory that is not its own, or too much of one, is not listened to.
        let of = |(number, size): (u32, &usize)| {
            let seen = written.remove(&number).unwrap_or_default();
            if seen.len() == *size { seen } else { Vec::new() }
        };
        Ok(Written { seen: (0..).zip(&sizes).map(of).collect(), n_moved: 0 })
    }
}

impl Allowance {
    /// Refuses a message that brings more than is allowed.
    fn charge(&mut self, message: &Message, taker: &Taker) -> Result<(), TakeError> {
        let too_much = |what: &str| TakeError::Protocol { what: format!("there are too many {what}") };
        match message {
            Message::Ask { chunks, .. } | Message::Chunks(Batch { chunks, .. })
                if chunks.len() > MAX_CHUNKS || taker.n_claimed() > self.chunks =>
            {
                Err(too_much("chunks"))
            }
            Message::Chunks(batch) => {
                let left = self.bytes.checked_sub(batch.data.len() as u64);
                self.bytes = left.ok_or(too_much("bytes"))?;
                Ok(())
            }
            Message::Found(found) => {
                // A directory counts too: empty ones cost us as much.
                let left = self.entries.checked_sub(found.entries.len() as u64 + 1);
                self.entries = left.ok_or(too_much("entries"))?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Keeps chunks whose hashes are right. Those that nobody asked for are passed over.
fn keep(taker: &Taker, batch: Batch, unasked: bool) -> Result<(), TakeError> {
    let accepted = taker.accept(&batch.chunks, unasked);
    let mut kept = Batch::default();
    let mut rest = &batch.data[..];
    for ((hash, len), accepted) in batch.chunks.into_iter().zip(accepted) {
        let wrong = || TakeError::Protocol { what: "a chunk is not what it is called".to_owned() };
        let (chunk, more) = rest.split_at_checked(len as usize).ok_or_else(wrong)?;
        rest = more;
        if len as usize > warren_tree::MAX_CHUNK || Hash::of(chunk) != hash {
            return Err(wrong());
        }
        if accepted {
            kept.chunks.push((hash, len));
            kept.data.extend_from_slice(chunk);
        }
    }
    if kept.chunks.is_empty() {
        return Ok(());
    }
    taker.chunks(&mut kept).map_err(|scan::Stop| TakeError::Cut)
}

fn chunks(step: &Step) -> impl Iterator<Item = (Hash, u32)> + '_ {
    let pieces = step.node.entries.iter().flat_map(|entry| match &entry.what {
        What::File(file) => &file.pieces[..],
        What::Directory(_) | What::Symlink(_) => &[],
    });
    pieces.filter_map(|piece| match piece {
        Piece::Data { hash, len } => Some((*hash, *len)),
        Piece::Hole { .. } => None,
    })
}

fn unexpected() -> Broken {
    Broken::Protocol("a message came that was not due".to_owned())
}

/// The stream, as messages.
struct Line {
    reader: ReadHalf<Box<dyn Duplex>>,
    writer: WriteHalf<Box<dyn Duplex>>,
    buffer: BytesMut,
}

impl Line {
    fn new(stream: Box<dyn Duplex>) -> Self {
        let (reader, writer) = split(stream);
        Self { reader, writer, buffer: BytesMut::new() }
    }

    async fn say(&mut self, message: Message) -> Result<(), Broken> {
        let bytes = message.encode()?;
        let sent = async {
            self.writer.write_all(&bytes).await?;
            self.writer.flush().await
        };
        in_time(sent).await
    }

    /// The next message. Cancel-safe.
    async fn hear(&mut self) -> Result<Message, Broken> {
        loop {
            if let Some(header) = self.buffer.first_chunk::<HEADER>() {
                let (kind, length) = parse_header(*header)?;
                if self.buffer.len() >= HEADER + length {
                    self.buffer.advance(HEADER);
                    let payload = self.buffer.split_to(length);
                    return Ok(Message::decode(kind, payload.into())?);
                }
            }
            self.buffer.reserve(128 * 1024);
            if in_time(self.reader.read_buf(&mut self.buffer)).await? == 0 {
                return Err(Broken::Stream(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

async fn in_time<T>(step: impl Future<Output = io::Result<T>>) -> Result<T, Broken> {
    let done = timeout(PATIENCE, step).await;
    done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(Broken::Stream)
}
