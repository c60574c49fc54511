//! Opening streams to the peer.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{Semaphore, mpsc, oneshot},
    time::timeout,
};

use crate::{
    driver::Command,
    incoming::ACCEPTED,
    options::{MAX_HEADER, Options},
    stream::Stream,
};

/// Why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The link has ended; no stream will ever open again.
    #[error("the link has ended")]
    Ended,
    /// This side has as many streams open as it may.
    #[error("{max} streams are open, which is the limit")]
    TooMany {
        /// The limit, of [`Options::max_streams`].
        max: usize,
    },
    /// The peer reset the stream instead of accepting it: it has too many open, or is about to end.
    #[error("the peer refused the stream")]
    Refused,
    /// The peer did not accept the stream in time.
    #[error("the peer did not accept a stream within {timeout:?}")]
    TimedOut {
        /// How long it had, of [`Options::open_timeout`].
        timeout: Duration,
    },
    /// The header is longer than [`MAX_HEADER`].
    #[error("a header of {len} bytes is too long, the limit is {MAX_HEADER}")]
    HeaderTooLong {
        /// Its length.
        len: usize,
    },
}

/// Opens streams. Cheap to clone; all clones share the limit of this side.
#[derive(Debug, Clone)]
pub struct Opener {
    commands: mpsc::Sender<Command>,
    places: Arc<Semaphore>,
    max_streams: usize,
    open_timeout: Duration,
}

impl Opener {
    pub(crate) fn new(commands: mpsc::Sender<Command>, options: &Options) -> Self {
        Self {
            commands,
            places: Arc::new(Semaphore::new(options.max_streams)),
            max_streams: options.max_streams,
            open_timeout: options.open_timeout,
        }
    }

    /// Opens a stream that begins with `header`. Takes one round trip; never longer than the time-out.
    ///
    /// Cancel-safe: a stream that nobody waits for any more is reset.
    pub async fn open(&self, header: &[u8]) -> Result<Stream, OpenError> {
        if header.len() > MAX_HEADER {
            return Err(OpenError::HeaderTooLong { len: header.len() });
        }
        let timed_out = || OpenError::TimedOut { timeout: self.open_timeout };
        timeout(self.open_timeout, self.handshake(header)).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Ends the link after what is already written; streams that are open are cut.
    pub async fn close(&self) {
        // A driver that is gone has ended the link already.
        _ = self.commands.send(Command::Close).await;
    }

    /// Whether the link has ended.
    pub fn is_closed(&self) -> bool {
        self.commands.is_closed()
    }

    /// Waits until the link has ended.
    pub async fn closed(&self) {
        self.commands.closed().await;
    }

    async fn handshake(&self, header: &[u8]) -> Result<Stream, OpenError> {
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_| OpenError::TooMany { max: self.max_streams })?;
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Open { place, reply }).await.map_err(|_| OpenError::Ended)?;
        let mut stream = answer.await.map_err(|_| OpenError::Ended)?;
        match exchange(&mut stream, header).await {
            Ok(()) => Ok(stream),
            Err(_) if self.commands.is_closed() => Err(OpenError::Ended),
            Err(_) => Err(OpenError::Refused),
        }
    }
}

/// The opening side's part: the header goes out at once, the accept byte comes back.
async fn exchange(stream: &mut Stream, header: &[u8]) -> io::Result<()> {
    let len = u32::try_from(header.len()).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(4 + header.len());
    message.extend_from_slice(&len.to_be_bytes());
    message.extend_from_slice(header);
    stream.write_all(&message).await?;
    stream.flush().await?;
    match stream.read_u8().await? {
        ACCEPTED => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
