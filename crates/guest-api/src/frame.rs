//! The pieces a stream is made of after its header: one byte for the kind, four for the length, then the payload.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{ErrorCode, Exit, GuestError, Output};

/// The longest payload. Senders of data keep to a quarter of it.
pub const MAX_FRAME: usize = 256 * 1024;

const HEADER: usize = 5;

/// One piece of a stream. Which come when is said at [`crate::Request`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// An answer, as JSON.
    Reply(Bytes),
    /// A failure: the last frame of its stream.
    Error(GuestError),
    /// Bytes of a file.
    Data(Bytes),
    /// All bytes or entries were sent. May carry JSON. A stream that ends without it was cut.
    End(Bytes),
    /// Bytes for a program.
    Stdin(Bytes),
    /// The program's stdin ends.
    StdinEnd,
    /// A signal for the program's whole process group.
    Signal(u8),
    /// The host has made room for this many more bytes of an output.
    Credit(Output, u32),
    /// Bytes a program wrote.
    Output(Output, Bytes),
    /// An output of a program has ended, before the program itself.
    OutputEnd(Output),
    /// The guest has made room for this many more bytes of stdin.
    StdinCredit(u32),
    /// The program has ended: the last frame of its stream.
    Exit(Exit),
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream broke.
    #[error("failed to send or receive a frame")]
    Io(#[source] io::Error),
    /// The stream ended within a frame, or where another was due.
    #[error("the stream ended too early")]
    Cut,
    /// The peer does not speak this protocol.
    #[error("a frame of kind {kind} and {len} bytes is invalid")]
    Malformed {
        /// Its first byte.
        kind: u8,
        /// What it said of its length.
        len: usize,
    },
    /// A value could not be written as, or read from, JSON.
    #[error("failed to convert a reply")]
    Json(#[source] serde_json::Error),
    /// Another frame was due here.
    #[error("received an unexpected frame")]
    Unexpected,
}

impl Frame {
    /// A reply of any value.
    pub fn reply(value: &impl Serialize) -> Result<Self, FrameError> {
        Ok(Frame::Reply(serde_json::to_vec(value).map_err(FrameError::Json)?.into()))
    }

    /// An error reply.
    pub fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Frame::Error(GuestError::new(code, message))
    }

    /// Reads the JSON of a reply or an end.
    pub fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, FrameError> {
        serde_json::from_slice(json).map_err(FrameError::Json)
    }

    /// The bytes of the frame.
    pub fn encode(&self) -> Result<Bytes, FrameError> {
        let (kind, payload) = self.parts()?;
        let len = u32::try_from(payload.len()).ok().filter(|len| *len as usize <= MAX_FRAME);
        let len = len.ok_or(FrameError::Malformed { kind, len: payload.len() })?;
        let mut bytes = BytesMut::with_capacity(HEADER + payload.len());
        bytes.put_u8(kind);
        bytes.put_u32(len);
        bytes.put_slice(&payload);
        Ok(bytes.freeze())
    }

    fn parts(&self) -> Result<(u8, Bytes), FrameError> {
        let json =
            |value: Result<Vec<u8>, serde_json::Error>| value.map(Bytes::from).map_err(FrameError::Json);
        Ok(match self {
            Frame::Reply(json) => (1, json.clone()),
            Frame::Error(error) => (2, json(serde_json::to_vec(error))?),
            Frame::Data(data) => (3, data.clone()),
            Frame::End(json) => (4, json.clone()),
            Frame::Stdin(data) => (10, data.clone()),
            Frame::StdinEnd => (11, Bytes::new()),
            Frame::Signal(signal) => (12, Bytes::copy_from_slice(&[*signal])),
            Frame::Credit(Output::Stdout, n) => (13, Bytes::copy_from_slice(&n.to_be_bytes())),
            Frame::Credit(Output::Stderr, n) => (14, Bytes::copy_from_slice(&n.to_be_bytes())),
            Frame::Output(Output::Stdout, data) => (20, data.clone()),
            Frame::Output(Output::Stderr, data) => (21, data.clone()),
            Frame::StdinCredit(n) => (22, Bytes::copy_from_slice(&n.to_be_bytes())),
            Frame::OutputEnd(Output::Stdout) => (24, Bytes::new()),
            Frame::OutputEnd(Output::Stderr) => (25, Bytes::new()),
            Frame::Exit(exit) => (23, json(serde_json::to_vec(exit))?),
        })
    }

    fn decode(kind: u8, payload: Bytes) -> Result<Self, FrameError> {
        let malformed = || FrameError::Malformed { kind, len: payload.len() };
        let number = || payload[..].try_into().map(u32::from_be_bytes).map_err(|_| malformed());
        Ok(match kind {
            1 => Frame::Reply(payload),
            2 => Frame::Error(Frame::parse(&payload)?),
            3 => Frame::Data(payload),
            4 => Frame::End(payload),
            10 => Frame::Stdin(payload),
            11 if payload.is_empty() => Frame::StdinEnd,
            12 => match payload[..] {
                [signal] => Frame::Signal(signal),
                _ => return Err(malformed()),
            },
            13 => Frame::Credit(Output::Stdout, number()?),
            14 => Frame::Credit(Output::Stderr, number()?),
            20 => Frame::Output(Output::Stdout, payload),
            21 => Frame::Output(Output::Stderr, payload),
            22 => Frame::StdinCredit(number()?),
            23 => Frame::Exit(Frame::parse(&payload)?),
            24 if payload.is_empty() => Frame::OutputEnd(Output::Stdout),
            25 if payload.is_empty() => Frame::OutputEnd(Output::Stderr),
            _ => return Err(malformed()),
        })
    }
}

/// Writes one frame. Not cancel-safe: a frame half written spoils the stream.
pub async fn write_frame(io: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> Result<(), FrameError> {
    io.write_all(&frame.encode()?).await.map_err(FrameError::Io)?;
    io.flush().await.map_err(FrameError::Io)
}

/// Reads one frame and not a byte more. Not cancel-safe: for streams that are no longer frames afterwards.
pub async fn read_frame(io: &mut (impl AsyncRead + Unpin)) -> Result<Frame, FrameError> {
    let mut header = [0; HEADER];
    io.read_exact(&mut header).await.map_err(cut)?;
    let (kind, len) = parse_header(header)?;
    let mut payload = vec![0; len];
    io.read_exact(&mut payload).await.map_err(cut)?;
    Frame::decode(kind, payload.into())
}

/// Reads frames one after the other.
#[derive(Debug)]
pub struct FrameReader<R> {
    io: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `io`, which nobody else may read any more.
    pub fn new(io: R) -> Self {
        Self { io, buffer: BytesMut::new() }
    }

    /// What it reads from, for those who write to the same stream.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.io
    }

    /// The next frame, or `None` where the stream ended between two. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(Some(frame));
            }
            self.buffer.reserve(16 * 1024);
            if self.io.read_buf(&mut self.buffer).await.map_err(FrameError::Io)? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(FrameError::Cut) };
            }
        }
    }

    /// The next frame, where there has to be one.
    pub async fn expect(&mut self) -> Result<Frame, FrameError> {
        self.next().await?.ok_or(FrameError::Cut)
    }

    fn take_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(header) = self.buffer.first_chunk::<HEADER>() else { return Ok(None) };
        let (kind, len) = parse_header(*header)?;
        if self.buffer.len() < HEADER + len {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        Frame::decode(kind, self.buffer.split_to(len).freeze()).map(Some)
    }
}

fn parse_header(header: [u8; HEADER]) -> Result<(u8, usize), FrameError> {
    let [kind, l0, l1, l2, l3] = header;
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    if len > MAX_FRAME { Err(FrameError::Malformed { kind, len }) } else { Ok((kind, len)) }
}

fn cut(error: io::Error) -> FrameError {
    if error.kind() == io::ErrorKind::UnexpectedEof { FrameError::Cut } else { FrameError::Io(error) }
}

#[cfg(test)]
mod tests;
