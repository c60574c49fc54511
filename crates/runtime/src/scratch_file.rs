//! A temporary file without a name: bytes go in at its end, and are read back by where they are.
//!
//! It is gone with its holder, however that ends. A short one stays in memory.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use tempfile::SpooledTempFile;

/// A shorter file stays in memory.
const MAX_HELD_BYTES: usize = 4 << 20;

pub(crate) struct ScratchFile {
    file: SpooledTempFile,
    end: u64,
}

/// A part of a [`ScratchFile`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    start: u64,
    pub(crate) bytes: usize,
}

impl ScratchFile {
    /// A file in `directory`, made there once it is too long for memory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { file: SpooledTempFile::new_in(MAX_HELD_BYTES, directory), end: 0 }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<Span> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        let span = Span { start: self.end, bytes: bytes.len() };
        self.end += bytes.len() as u64;
        Ok(span)
    }

    pub(crate) fn read(&mut self, span: Span) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(span.start))?;
        let mut bytes = vec![0; span.bytes];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_HELD_BYTES, ScratchFile};

    #[test]
    fn parts_are_read_back_in_any_order_from_memory_and_from_the_disk() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut file = ScratchFile::new(directory.path());
        let text = |n: usize| format!("{n}").repeat(1000 * n).into_bytes();
        let mut spans = Vec::new();
        let mut n_bytes = 0;
        for n in 0..50 {
            spans.push(file.append(&text(n)).expect("written"));
            n_bytes += spans[n].bytes;
            assert_eq!(file.read(spans[n / 2]).expect("read"), text(n / 2));
        }
        // Nothing of the test is left out by staying in memory, and the file has no name.
        assert!(n_bytes > MAX_HELD_BYTES / 2, "{n_bytes}");
        file.append(&vec![7; MAX_HELD_BYTES]).expect("written");
        assert_eq!(file.read(spans[49]).expect("read"), text(49));
        assert_eq!(std::fs::read_dir(directory.path()).expect("listed").count(), 0);
    }
}
