//! How much of requests and answers the gateway holds at once.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The gateway's allowance for buffered bytes, shared by all calls. A permit is a byte.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Semaphore>);

/// Bytes that count against the allowance while they are here.
pub(crate) struct Buffer {
    memory: Memory,
    held: Option<OwnedSemaphorePermit>,
    bytes: BytesMut,
    limit: usize,
}

/// Keeps bytes counted until it is dropped.
#[derive(Default)]
pub(crate) struct Hold(#[expect(dead_code, reason = "held, never looked at")] Option<OwnedSemaphorePermit>);

/// Why a buffer takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// It reached its own limit.
    Limit,
    /// All buffers together reached theirs.
    Memory,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    pub(crate) fn buffer(&self, limit: usize) -> Buffer {
        Buffer { memory: self.clone(), held: None, bytes: BytesMut::new(), limit }
    }
}

impl Buffer {
    /// Makes room for so many bytes, within the limit. They count when they come.
    pub(crate) fn expect(&mut self, n_bytes: u64) {
        self.bytes.reserve(usize::try_from(n_bytes).unwrap_or(usize::MAX).min(self.limit));
    }

    /// Adds all of `chunk`, or nothing.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), Full> {
        if chunk.len() > self.limit - self.bytes.len() {
            return Err(Full::Limit);
        }
        let permits = u32::try_from(chunk.len()).map_err(|_| Full::Limit)?;
        let more = Arc::clone(&self.memory.0).try_acquire_many_owned(permits).map_err(|_| Full::Memory)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// What is in it.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, and what keeps them counted for as long as they are used.
    pub(crate) fn freeze(self) -> (Bytes, Hold) {
        (self.bytes.freeze(), Hold(self.held))
    }

    /// Hands the bytes over; from here on they are somebody else's memory.
    pub(crate) fn take(&mut self) -> Bytes {
        self.held = None;
        std::mem::take(&mut self.bytes).freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, Memory};

    #[test]
    fn buffers_share_one_allowance_and_give_it_back() {
        let memory = Memory::new(10);
        let mut first = memory.buffer(8);
        let mut second = memory.buffer(8);
        assert_eq!(first.push(b"123456"), Ok(()));
        assert_eq!(first.push(b"789"), Err(Full::Limit));
        assert_eq!(second.push(b"12345"), Err(Full::Memory));
        assert_eq!(second.push(b"1234"), Ok(()));
        drop(first);
        assert_eq!(second.push(b"5678"), Ok(()));
        assert_eq!(second.as_slice(), b"12345678");
        assert_eq!(second.take(), "12345678".as_bytes());
    }
}
