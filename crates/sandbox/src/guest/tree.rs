//! Whole trees, in and out of a sandbox.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use warren_guest_api::{Frame, Request, read_frame};
use warren_link::Stream;

use super::{
    CallError, Guest,
    call::{refusal, step},
};

/// The line to the process that reads or writes a tree inside. Dropping it ends that process.
#[derive(Debug)]
pub struct TreeStream {
    stream: Stream,
    /// Keeps the link up.
    _guest: Guest,
}

impl Guest {
    /// Has the roots read as a tree. What is said over the stream is for `warren_snapshots`: `Source::guest`.
    pub async fn scan_tree(&self) -> Result<TreeStream, CallError> {
        self.tree(&Request::ScanTree).await
    }

    /// Has a tree written into the roots, which are to be empty but for what the tree does not have. What is said over the
    /// stream is for `warren_snapshots`: `Target::guest`.
    pub async fn write_tree(&self) -> Result<TreeStream, CallError> {
        self.tree(&Request::WriteTree).await
    }

    async fn tree(&self, request: &Request) -> Result<TreeStream, CallError> {
        let mut stream = self.open(request).await?;
        match step(read_frame(&mut stream)).await? {
            Frame::Reply(_) => Ok(TreeStream { stream, _guest: self.clone() }),
            frame => Err(refusal(frame)),
        }
    }
}

impl AsyncRead for TreeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for TreeStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
