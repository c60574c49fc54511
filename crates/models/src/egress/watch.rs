//! Notices when nothing moves any more.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Counts what moved on a connection. A cheap clone.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<AtomicU64>);

/// A connection whose activity is counted.
pub(super) struct Watched<IO> {
    io: IO,
    activity: Activity,
}

impl Activity {
    /// Returns when nothing moved for `period`; it may take up to twice as long to notice.
    pub(super) async fn silence(&self, period: Duration) {
        loop {
            let seen = self.0.load(Ordering::Relaxed);
            tokio::time::sleep(period).await;
            if self.0.load(Ordering::Relaxed) == seen {
                return;
            }
        }
    }

    fn moved<T>(&self, poll: Poll<T>) -> Poll<T> {
        if poll.is_ready() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        poll
    }
}

impl<IO> Watched<IO> {
    pub(super) fn new(io: IO, activity: Activity) -> Self {
        Self { io, activity }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Watched<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.io).poll_read(cx, buf);
        self.activity.moved(poll)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Watched<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write(cx, buf);
        self.activity.moved(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Not counted: a flush with nothing to flush moves nothing.
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::{Activity, Watched};

    #[tokio::test(start_paused = true)]
    async fn silence_is_noticed_and_any_byte_breaks_it() {
        let (mut near, far) = tokio::io::duplex(16);
        let activity = Activity::default();
        let mut far = Watched::new(far, activity.clone());
        let began = tokio::time::Instant::now();
        let chatter = async {
            for _ in 0..5 {
                near.write_all(b"x").await.expect("written");
                assert_eq!(far.read_u8().await.expect("read"), b'x');
                tokio::time::sleep(Duration::from_secs(9)).await;
            }
        };
        let ((), ()) = tokio::join!(chatter, activity.silence(Duration::from_secs(10)));
        assert_eq!(began.elapsed().as_secs(), 50);
    }
}
