//! A package's hash, as npm writes it.

use std::{
    fmt,
    io::{self, Read},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{Context, SHA512, SHA512_OUTPUT_LEN};

/// The SHA-512 of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integrity([u8; SHA512_OUTPUT_LEN]);

impl Integrity {
    /// Reads `sha512-…`. A list of hashes is taken by its SHA-512; weaker ones alone are not enough.
    pub(crate) fn parse(text: &str) -> Option<Integrity> {
        let encoded = text.split_ascii_whitespace().find_map(|hash| hash.strip_prefix("sha512-"))?;
        // Options may follow behind a question mark.
        let encoded = encoded.split('?').next()?;
        STANDARD.decode(encoded).ok()?.try_into().ok().map(Integrity)
    }

    /// A name for a file that holds what has this hash.
    pub(crate) fn file_name(&self) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}.tgz")
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha512-{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hashes what passes.
#[derive(Clone)]
pub(crate) struct Hasher(Context);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(Context::new(&SHA512))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Option<Integrity> {
        self.0.finish().as_ref().try_into().ok().map(Integrity)
    }
}

/// A reader that hashes and counts what is read from it.
pub(crate) struct Hashing<R> {
    inner: R,
    hasher: Hasher,
    passed: Box<dyn FnMut(u64) + Send>,
    n_bytes: u64,
}

impl<R: Read> Hashing<R> {
    pub(crate) fn new(inner: R, passed: Box<dyn FnMut(u64) + Send>) -> Self {
        Self { inner, hasher: Hasher::new(), passed, n_bytes: 0 }
    }

    /// Reads what is left, and says what all of it hashes to.
    pub(crate) fn finish(mut self) -> io::Result<Option<Integrity>> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(self.hasher.finish())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        self.n_bytes += u64::try_from(n).unwrap_or(0);
        (self.passed)(self.n_bytes);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hasher, Integrity};

    const EMPTY: &str =
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==";

    #[test]
    fn the_strong_hash_of_a_list_is_the_one_that_counts() {
        let empty = Hasher::new().finish();
        for text in
            [EMPTY.to_owned(), format!("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= {EMPTY}"), format!("{EMPTY}?x")]
        {
            assert_eq!(Integrity::parse(&text), empty, "{text}");
        }
        assert_eq!(empty.map(|hash| hash.to_string()).as_deref(), Some(EMPTY));
    }

    #[test]
    fn what_is_weak_or_broken_is_no_hash() {
        for text in ["", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha512-", "sha512-AAAA", "sha512-%%%"] {
            assert_eq!(Integrity::parse(text), None, "{text}");
        }
    }
}
