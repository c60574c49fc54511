//! Moves the bytes: the one future in which everything of a link happens.

use std::{
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Sleep, sleep, timeout},
};

use crate::{
    incoming::{Incoming, accept},
    io::{MeteredIo, is_gone},
    meter::Meter,
    open::Opener,
    options::{Options, Role},
    stream::Stream,
};

/// How long the peer may take to read what is left when the link is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a link ended, where the peer did not simply close it.
#[derive(Debug, thiserror::Error)]
#[error("the link broke")]
pub struct LinkError {
    #[source]
    source: yamux::ConnectionError,
}

/// What an [`Opener`] asks of the driver.
#[derive(Debug)]
pub(crate) enum Command {
    Open { place: OwnedSemaphorePermit, reply: oneshot::Sender<Stream> },
    Close,
}

/// Drives a link: nothing moves unless it is polled, and dropping it ends the link. Resolves when the link has ended.
#[must_use = "a link does nothing unless its driver is polled"]
pub struct Driver<T> {
    connection: yamux::Connection<MeteredIo<T>>,
    meter: Arc<Meter>,
    commands: mpsc::Receiver<Command>,
    /// A stream to open that yamux had no room for yet.
    opening: Option<(OwnedSemaphorePermit, oneshot::Sender<Stream>)>,
    /// Streams of the peer whose header has not arrived.
    accepting: FuturesUnordered<Accepting>,
    incoming: mpsc::Sender<(Bytes, Stream)>,
    /// The peer's places for streams. One is held by each stream from its first frame to its drop.
    places: Arc<Semaphore>,
    accept_timeout: Duration,
    /// Set when we are closing: when to stop being polite.
    closing: Option<Pin<Box<Sleep>>>,
}

type Accepting = Pin<Box<dyn Future<Output = io::Result<(Bytes, Stream)>> + Send>>;

/// Makes a link of a byte stream. The caller runs the driver; see [`Driver`].
pub fn start<T>(io: T, role: Role, options: Options) -> (Opener, Incoming, Driver<T>)
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mode = match role {
        Role::Client => yamux::Mode::Client,
        Role::Server => yamux::Mode::Server,
    };
    let meter = Arc::new(Meter::new(options.clone()));
    // When the driver is busy, openers wait in line; their time-out runs meanwhile.
    let (command_sender, commands) = mpsc::channel(16);
    // Never full: it has room for as many streams as the peer may have.
    let (incoming, streams) = mpsc::channel(options.max_streams);
    let driver = Driver {
        connection: yamux::Connection::new(MeteredIo::new(io, meter.clone()), options.yamux(), mode),
        meter,
        commands,
        opening: None,
        accepting: FuturesUnordered::new(),
        incoming,
        places: Arc::new(Semaphore::new(options.max_streams)),
        accept_timeout: options.open_timeout,
        closing: None,
    };
    (Opener::new(command_sender, &options), Incoming { streams }, driver)
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Driver<T> {
    type Output = Result<(), LinkError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            if this.closing.is_none() {
                this.poll_commands(cx)?;
            }
            if let Some(deadline) = &mut this.closing {
                return match this.connection.poll_close(cx) {
                    // What the peer did not take in time is lost, which is what closing means.
                    Poll::Pending => deadline.as_mut().poll(cx).map(Ok),
                    Poll::Ready(_) => Poll::Ready(Ok(())),
                };
            }
            this.poll_accepting(cx);
            match ready!(this.poll_connection(cx)) {
                Some(Ok(stream)) => this.on_inbound(stream),
                Some(Err(source)) => return Poll::Ready(ended(source)),
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Driver<T> {
    /// Opens what openers asked for, as far as yamux has room.
    fn poll_commands(&mut self, cx: &mut Context<'_>) -> Result<(), LinkError> {
        loop {
            if self.opening.is_none() {
                self.opening = match self.commands.poll_recv(cx) {
                    Poll::Ready(Some(Command::Open { place, reply })) => Some((place, reply)),
                    Poll::Ready(Some(Command::Close)) => {
                        self.closing = Some(Box::pin(sleep(CLOSE_TIMEOUT)));
                        return Ok(());
                    }
                    Poll::Ready(None) | Poll::Pending => return Ok(()),
                };
            }
            let Poll::Ready(opened) = self.connection.poll_new_outbound(cx) else { return Ok(()) };
            let stream = opened.map_err(|source| LinkError { source })?;
            if let Some((place, reply)) = self.opening.take() {
                let lane = self.meter.add(stream);
                // An opener that has given up drops the stream here, which resets it.
                _ = reply.send(Stream::new(lane, self.meter.clone(), place));
            }
        }
    }

    /// Hands on the streams whose header has come. One whose header is late or wrong is dropped, which resets it.
    fn poll_accepting(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(accepted)) = self.accepting.poll_next_unpin(cx) {
            match accepted {
                // Fails only when nobody wants streams: the peer then sees them reset.
                Ok(stream) => _ = self.incoming.try_send(stream),
                Err(error) => tracing::debug!(%error, "a stream began badly"),
            }
        }
    }

    fn poll_connection(&mut self, cx: &mut Context<'_>) -> Poll<Option<yamux::Result<yamux::Stream>>> {
        let abandoned = self.meter.abandoned();
        let polled = self.connection.poll_next_inbound(cx);
        if polled.is_pending() {
            self.meter.after_poll(abandoned);
        }
        polled
    }

    /// Takes a stream of the peer, if it has a place. Dropping the stream resets it.
    fn on_inbound(&mut self, stream: yamux::Stream) {
        let lane = self.meter.add(stream);
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.meter.reset(&lane);
            return;
        };
        let stream = Stream::new(lane, self.meter.clone(), place);
        let late = |_| Err(io::ErrorKind::TimedOut.into());
        let limit = self.accept_timeout;
        self.accepting
            .push(Box::pin(async move { timeout(limit, accept(stream)).await.unwrap_or_else(late) }));
    }
}

impl<T> fmt::Debug for Driver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}

/// A peer that just goes away has closed the link, politely or not.
fn ended(source: yamux::ConnectionError) -> Result<(), LinkError> {
    match &source {
        yamux::ConnectionError::Closed => Ok(()),
        yamux::ConnectionError::Io(error) if is_gone(error) => Ok(()),
        _ => Err(LinkError { source }),
    }
}
