//! Chunks of many files, handed over together.

use super::{Sink, Stop};
use crate::Hash;

/// Chunks go to the sink when they take this much,
const FULL: usize = 512 * 1024;
/// or when they are so many.
pub(crate) const MAX_CHUNKS: usize = 4096;

/// Chunks behind one another.
#[derive(Debug, Default)]
pub struct Batch {
    /// Of each, in order.
    pub chunks: Vec<(Hash, u32)>,
    /// All their bytes.
    pub data: Vec<u8>,
}

impl Batch {
    pub(super) fn is_full(&self) -> bool {
        self.data.len() >= FULL || self.chunks.len() >= MAX_CHUNKS
    }

    /// Adds the bytes from `start` on, which are in `data` already, as a chunk.
    pub(super) fn close(&mut self, start: usize) -> Hash {
        let hash = Hash::of(&self.data[start..]);
        self.chunks.push((hash, (self.data.len() - start) as u32));
        hash
    }

    /// Hands over what the sink lacks of it, and is empty then.
    pub(super) fn flush(&mut self, sink: &impl Sink) -> Result<(), Stop> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(self);
        let lacking = sink.lacking(&batch.chunks)?;
        let rest = batch.retain(&lacking);
        if !rest.chunks.is_empty() {
            sink.chunks(rest)?;
        }
        Ok(())
    }

    /// Only those chunks that are marked.
    fn retain(self, marks: &[bool]) -> Self {
        if marks.len() == self.chunks.len() && marks.iter().all(|mark| *mark) {
            return self;
        }
        let mut kept = Batch::default();
        let mut start = 0;
        for ((hash, len), mark) in self.chunks.into_iter().zip(marks) {
            let end = start + len as usize;
            if *mark {
                kept.chunks.push((hash, len));
                kept.data.extend_from_slice(&self.data[start..end]);
            }
            start = end;
        }
        kept
    }
}
