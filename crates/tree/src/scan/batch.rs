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
        let lacking = sink.lacking(&self.chunks)?;
        self.retain(&lacking);
        if !self.chunks.is_empty() {
            sink.chunks(self)?;
        }
        // Its room stays: the next ones need as much.
        self.chunks.clear();
        self.data.clear();
        Ok(())
    }

    /// Only those chunks that are marked.
    fn retain(&mut self, marks: &[bool]) {
        if marks.len() == self.chunks.len() && marks.iter().all(|mark| *mark) {
            return;
        }
        let (mut start, mut end_of_kept) = (0, 0);
        let mut marks = marks.iter();
        self.chunks.retain(|(_, len)| {
            let end = start + *len as usize;
            let is_kept = marks.next().copied().unwrap_or(false);
            if is_kept {
                self.data.copy_within(start..end, end_of_kept);
                end_of_kept += *len as usize;
            }
            start = end;
            is_kept
        });
        self.data.truncate(end_of_kept);
    }
}
