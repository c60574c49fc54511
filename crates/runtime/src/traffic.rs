//! What moves between clients and a session's sandbox. It counts as work of the session for as long as it moves.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

/// When something last moved. Whoever carries bytes says so, and the session's owner looks here before it lets the
/// sandbox sleep: nobody waits for anybody, and what stands still keeps nobody awake.
#[derive(Debug, Clone)]
pub(crate) struct Traffic(Arc<Mutex<Instant>>);

impl Default for Traffic {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Traffic {
    /// Something moved just now.
    pub(crate) fn moved(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// The last moment at which something moved.
    pub(crate) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same stream; whatever is read from it or written to it is traffic.
    pub(crate) fn carried<T>(&self, io: T) -> Carried<T> {
        Carried { io, traffic: self.clone() }
    }
}

/// A stream of a session's traffic.
pub(crate) struct Carried<T> {
    io: T,
    traffic: Traffic,
}

impl<T: AsyncRead + Unpin> AsyncRead for Carried<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.traffic.moved();
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Carried<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write(cx, buf);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.traffic.moved();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::Instant,
    };

    use super::Traffic;

    #[tokio::test]
    async fn what_moves_either_way_is_traffic_and_what_stands_still_is_not() {
        let traffic = Traffic::default();
        let (ours, mut theirs) = duplex(64);
        let mut carried = traffic.carried(ours);
        let began = traffic.last();
        assert!(carried.read_u8().now_or_never().is_none());
        assert_eq!(traffic.last(), began, "an open stream alone is nothing");

        theirs.write_all(b"tick").await.expect("sent");
        let before = Instant::now();
        let mut tick = [0; 4];
        carried.read_exact(&mut tick).await.expect("a tick");
        assert!(traffic.last() >= before);
        let before = Instant::now();
        carried.write_all(b"tock").await.expect("sent");
        assert!(traffic.last() >= before);
    }
}
