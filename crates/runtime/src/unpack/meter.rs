//! Counts what comes out of an archive, and stops it.

use std::{
    cell::Cell,
    io::{self, Read},
};

use super::{Limits, MAX_FREE_BYTES, MAX_RATIO};

/// What headers and names may take beside the content of files, for each entry.
const OVERHEAD_BYTES: u64 = 2048;

/// What has come out so far.
pub(super) struct Meter {
    limits: Limits,
    archive_bytes: u64,
    n_bytes: Cell<u64>,
}

impl Meter {
    pub(super) fn new(limits: Limits, archive_bytes: u64) -> Self {
        Self { limits, archive_bytes, n_bytes: Cell::new(0) }
    }

    fn count(&self, n: usize) -> io::Result<()> {
        let n_bytes = self.n_bytes.get().saturating_add(n as u64);
        self.n_bytes.set(n_bytes);
        let too_large = |message: String| Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        let Limits { bytes, entries, .. } = self.limits;
        if n_bytes > bytes.saturating_add(entries.saturating_mul(OVERHEAD_BYTES)) {
            return too_large(format!("the archive unpacks to more than {bytes} bytes"));
        }
        if n_bytes > MAX_FREE_BYTES && n_bytes > self.archive_bytes.saturating_mul(MAX_RATIO) {
            return too_large(format!("the archive unpacks to more than {MAX_RATIO} times its size"));
        }
        Ok(())
    }
}

/// A reader whose bytes are counted.
pub(super) struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter,
}

impl<'a, R> Metered<'a, R> {
    pub(super) fn new(inner: R, meter: &'a Meter) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.meter.count(n)?;
        Ok(n)
    }
}
