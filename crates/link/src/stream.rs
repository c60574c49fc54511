//! One stream of a link, as its user sees it.

use std::{
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::io::{AsyncRead as FuturesRead, AsyncWrite as FuturesWrite};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::OwnedSemaphorePermit,
};

use crate::meter::{Lane, Meter};

/// A stream of bytes in both directions, with flow control of its own.
///
/// `shutdown` ends our half only; the peer can go on sending. Dropping a stream whose halves are not both ended
/// resets it. Reading gives an end of file if, and only if, the peer ended its half; if it reset the stream, or the link
/// was lost, that is [`io::ErrorKind::ConnectionReset`], after the data that did arrive.
pub struct Stream {
    lane: Arc<Lane>,
    meter: Arc<Meter>,
    /// Whether our half is ended: yamux would tell the peer again each time it is asked.
    shut: bool,
    /// Its place among the streams of the side that opened it.
    _place: OwnedSemaphorePermit,
}

impl Stream {
    pub(crate) fn new(lane: Arc<Lane>, meter: Arc<Meter>, place: OwnedSemaphorePermit) -> Self {
        Self { lane, meter, shut: false, _place: place }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let read = this.lane.with(|stream| Pin::new(stream).poll_read(cx, buf.initialize_unfilled()));
        match ready!(read.unwrap_or(Poll::Ready(Ok(0)))) {
            Ok(0) if this.lane.finished() => Poll::Ready(Ok(())),
            // yamux says "end of file" for a reset, and has no better word for a lost link.
            Ok(0) | Err(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            Ok(n) => {
                this.meter.on_read(&this.lane, n);
                buf.advance(n);
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0)); // yamux would send an empty frame.
        }
        let written = self.lane.with(|stream| Pin::new(stream).poll_write(cx, buf));
        Poll::Ready(ready!(written.unwrap_or(Poll::Ready(Ok(0)))).map_err(|_| broken()).and_then(
            |n| match n {
                0 => Err(broken()),
                n => Ok(n),
            },
        ))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.lane.with(|stream| Pin::new(stream).poll_flush(cx));
        flushed.unwrap_or_else(|| Poll::Ready(Err(broken()))).map_err(|_| broken())
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.shut {
            return Poll::Ready(Ok(()));
        }
        let closed = this.lane.with(|stream| Pin::new(stream).poll_close(cx));
        ready!(closed.unwrap_or_else(|| Poll::Ready(Err(broken()))).map_err(|_| broken()))?;
        this.shut = true;
        this.lane.shut();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.meter.reset(&self.lane);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

fn broken() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}
