//! The byte stream below yamux: buffered, and with every incoming data frame shown to the meter first.
//!
//! yamux reads and writes frame by frame, so what passes here is exactly what it sees. Bodies are passed through
//! untouched; only headers are read. Coming in, frames of streams that are gone are left out; going out, the resets are put
//! in that yamux does not send.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::{Buf, BytesMut};
use futures::io::{AsyncRead as FuturesRead, AsyncWrite as FuturesWrite};
use tokio::io::{AsyncRead, AsyncWrite, BufStream, ReadBuf};

use crate::meter::{DataFrame, Ending, Meter, Verdict};

const HEADER: usize = 12;
const TAG_DATA: u8 = 0;
const FLAG_SYN: u16 = 1;
const FLAG_FIN: u16 = 4;
const FLAG_RST: u16 = 8;

/// A read buffer for many small frames, and a write buffer that joins a frame's header and body (16 KiB) in one write.
const READ_BUFFER: usize = 64 * 1024;
const WRITE_BUFFER: usize = 32 * 1024;

pub(crate) struct MeteredIo<T> {
    inner: BufStream<T>,
    meter: Arc<Meter>,
    state: State,
    out: Outgoing,
    /// Set when the peer takes no more bytes because it is gone. What it wrote before is still to be read, so what yamux
    /// writes is thrown away, and reading finds the end.
    deaf: bool,
}

/// Where we are in what yamux writes.
#[derive(Default)]
struct Outgoing {
    /// The header it is writing.
    header: [u8; HEADER],
    filled: usize,
    /// How much of the body behind that header is still to come.
    body: usize,
    /// Whole headers on their way out.
    pending: BytesMut,
}

enum State {
    /// Gathering a header.
    Header { buffer: [u8; HEADER], filled: usize },
    /// Handing a header to yamux.
    HandOver { buffer: [u8; HEADER], given: usize, body: usize },
    /// Passing a body on.
    Body { left: usize },
    /// Leaving a body out.
    Discard { left: usize },
}

const NEXT_HEADER: State = State::Header { buffer: [0; HEADER], filled: 0 };

impl<T: AsyncRead + AsyncWrite> MeteredIo<T> {
    pub(crate) fn new(io: T, meter: Arc<Meter>) -> Self {
        let inner = BufStream::with_capacity(READ_BUFFER, WRITE_BUFFER, io);
        Self { inner, meter, state: NEXT_HEADER, out: Outgoing::default(), deaf: false }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> MeteredIo<T> {
    /// Decides on a complete header.
    fn on_header(&mut self, buffer: [u8; HEADER]) -> io::Result<State> {
        let [_version, tag, f0, f1, s0, s1, s2, s3, l0, l1, l2, l3] = buffer;
        if tag != TAG_DATA {
            return Ok(State::HandOver { buffer, given: 0, body: 0 });
        }
        let flags = u16::from_be_bytes([f0, f1]);
        let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        let frame =
            DataFrame { stream: u32::from_be_bytes([s0, s1, s2, s3]), len, fin: flags & FLAG_FIN != 0 };
        if flags & FLAG_SYN != 0 {
            self.meter.on_opening(frame);
            return Ok(State::HandOver { buffer, given: 0, body: len });
        }
        match self.meter.on_frame(frame) {
            Verdict::Deliver => Ok(State::HandOver { buffer, given: 0, body: len }),
            Verdict::Discard => Ok(State::Discard { left: len }),
            Verdict::EndLink => Err(io::Error::other("the peer sent too much that it would not let go of")),
        }
    }

    /// Takes bytes of yamux: a header is gathered and looked at before it goes out, a body goes straight through.
    fn poll_outgoing(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_pending(cx))?;
        if self.out.body > 0 {
            let n = buf.len().min(self.out.body);
            let n = ready!(self.poll_inner_write(cx, &buf[..n]))?;
            self.out.body -= n;
            return Poll::Ready(Ok(n));
        }
        let n = buf.len().min(HEADER - self.out.filled);
        self.out.header[self.out.filled..self.out.filled + n].copy_from_slice(&buf[..n]);
        self.out.filled += n;
        if self.out.filled == HEADER {
            self.on_outgoing_header();
        }
        Poll::Ready(Ok(n))
    }

    fn on_outgoing_header(&mut self) {
        let header = std::mem::take(&mut self.out.header);
        self.out.filled = 0;
        let [_version, tag, f0, f1, s0, s1, s2, s3, l0, l1, l2, l3] = header;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]);
        self.out.body = if tag == TAG_DATA { u32::from_be_bytes([l0, l1, l2, l3]) as usize } else { 0 };
        // yamux ends a half with a frame of its own, without data.
        let fin = tag == TAG_DATA && self.out.body == 0 && u16::from_be_bytes([f0, f1]) & FLAG_FIN != 0;
        let ending = if fin { self.meter.on_fin_written(stream) } else { Ending::Fin };
        if ending != Ending::Reset {
            self.out.pending.extend_from_slice(&header);
        }
        if ending != Ending::Fin {
            self.out.pending.extend_from_slice(&reset_frame(stream));
        }
    }

    /// Writes the headers that are on their way.
    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.out.pending.has_remaining() {
            let pending = self.out.pending.split();
            let written = self.poll_inner_write(cx, &pending);
            self.out.pending = pending;
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.out.pending.advance(n),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_inner_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if !self.deaf {
            match ready!(Pin::new(&mut self.inner).poll_write(cx, buf)) {
                Err(error) if is_gone(&error) => self.deaf = true,
                result => return Poll::Ready(result),
            }
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_inner_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.deaf {
            match ready!(Pin::new(&mut self.inner).poll_flush(cx)) {
                Err(error) if is_gone(&error) => self.deaf = true,
                result => return Poll::Ready(result),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads into `buf`; zero bytes are an end of file.
    fn poll_inner(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(buf);
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buf))?;
        Poll::Ready(Ok(buf.filled().len()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> FuturesRead for MeteredIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Header { buffer, filled } => {
                    let (mut read, at) = (*buffer, *filled);
                    let n = ready!(this.poll_inner(cx, &mut read[at..]))?;
                    if n == 0 {
                        let clean = at == 0;
                        return Poll::Ready(if clean {
                            Ok(0)
                        } else {
                            Err(io::ErrorKind::UnexpectedEof.into())
                        });
                    }
                    this.state = if at + n == HEADER {
                        this.on_header(read)?
                    } else {
                        State::Header { buffer: read, filled: at + n }
                    };
                }
                State::HandOver { buffer, given, body } => {
                    let n = out.len().min(HEADER - *given);
                    out[..n].copy_from_slice(&buffer[*given..*given + n]);
                    *given += n;
                    if *given == HEADER {
                        this.state = if *body == 0 { NEXT_HEADER } else { State::Body { left: *body } };
                    }
                    return Poll::Ready(Ok(n));
                }
                State::Body { left } => {
                    let left = *left;
                    let n = out.len().min(left);
                    let n = ready!(this.poll_inner(cx, &mut out[..n]))?;
                    this.state = if n == left { NEXT_HEADER } else { State::Body { left: left - n } };
                    return Poll::Ready(Ok(n));
                }
                State::Discard { left: 0 } => this.state = NEXT_HEADER,
                State::Discard { left } => {
                    let left = *left;
                    let mut waste = [0; 4096];
                    let n = ready!(this.poll_inner(cx, &mut waste[..left.min(4096)]))?;
                    if n == 0 {
                        return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                    }
                    this.state = State::Discard { left: left - n };
                }
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> FuturesWrite for MeteredIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = this.poll_outgoing(cx, buf);
        this.meter.on_write(result.is_pending());
        result
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.out.filled == 0 && this.out.body == 0 {
            for stream in this.meter.take_resets() {
                this.out.pending.extend_from_slice(&reset_frame(stream));
            }
        }
        ready!(this.poll_pending(cx))?;
        this.poll_inner_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}

/// Whether an error says that the peer has gone, politely or not.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

fn reset_frame(stream: u32) -> [u8; HEADER] {
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    let [f0, f1] = FLAG_RST.to_be_bytes();
    [0, TAG_DATA, f0, f1, s0, s1, s2, s3, 0, 0, 0, 0]
}
