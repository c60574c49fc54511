//! Streams that the peer opened.

use std::io;

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
};

use crate::{options::MAX_HEADER, stream::Stream};

/// What the accepting side answers before it has read anything.
pub(crate) const ACCEPTED: u8 = 1;

/// The streams the peer opens, in the order in which their headers arrived.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) streams: mpsc::Receiver<(Bytes, Stream)>,
}

impl Incoming {
    /// The next stream and the header it began with, or `None` once the link has ended.
    ///
    /// Cancel-safe. A stream nobody asks for keeps its place among the peer's streams.
    pub async fn next(&mut self) -> Option<(Bytes, Stream)> {
        self.streams.recv().await
    }
}

/// The accepting side's part of opening a stream.
pub(crate) async fn accept(mut stream: Stream) -> io::Result<(Bytes, Stream)> {
    stream.write_all(&[ACCEPTED]).await?;
    stream.flush().await?;
    let len = stream.read_u32().await? as usize;
    if len > MAX_HEADER {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut header = vec![0; len];
    stream.read_exact(&mut header).await?;
    Ok((header.into(), stream))
}
