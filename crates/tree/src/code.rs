//! Bytes in and out: numbers as LEB128, texts with their length before them.

use crate::Hash;

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid encoding: {what}")]
pub struct Malformed {
    /// What was expected.
    pub what: &'static str,
}

impl Malformed {
    /// Something was expected that is not there.
    #[must_use]
    pub const fn new(what: &'static str) -> Self {
        Self { what }
    }
}

/// Puts values behind one another.
#[derive(Debug, Default)]
pub struct Encoder(Vec<u8>);

impl Encoder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All that was put.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    /// How much was put.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was put.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// A number.
    pub fn uint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A number that may be negative.
    pub fn int(&mut self, n: i64) {
        self.uint(((n << 1) ^ (n >> 63)) as u64);
    }

    /// Bytes with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.uint(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Bytes whose length is known to the reader.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A hash.
    pub fn hash(&mut self, hash: &Hash) {
        self.raw(hash.as_bytes());
    }
}

/// Takes values one after the other. Every value may come from a stranger.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// From the first byte on.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not taken yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails unless all was taken.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed::new("nothing more")) }
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (byte, rest) = self.rest.split_first().ok_or(Malformed::new("another byte"))?;
        self.rest = rest;
        Ok(*byte)
    }

    /// A number.
    pub fn uint(&mut self) -> Result<u64, Malformed> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Malformed::new("a number of at most 64 bits"))
    }

    /// A number that fits into 32 bits.
    pub fn uint32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.uint()?).map_err(|_| Malformed::new("a number of at most 32 bits"))
    }

    /// How many values follow. Each takes at least a byte, so that a lie cannot make us reserve much.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let n = usize::try_from(self.uint()?).unwrap_or(usize::MAX);
        if n <= self.rest.len() { Ok(n) } else { Err(Malformed::new("as many values as were promised")) }
    }

    /// A number that may be negative.
    pub fn int(&mut self) -> Result<i64, Malformed> {
        let n = self.uint()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// Bytes with their length.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.count()?;
        self.raw(len)
    }

    /// So many bytes.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Malformed::new("more bytes"))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// A hash.
    pub fn hash(&mut self) -> Result<Hash, Malformed> {
        let bytes = self.rest.first_chunk::<32>().ok_or(Malformed::new("a hash"))?;
        self.rest = &self.rest[32..];
        Ok(Hash::from_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::{Decoder, Encoder};

    proptest! {
        #[test]
        fn numbers_come_back(n in any::<u64>(), i in any::<i64>()) {
            let mut encoder = Encoder::new();
            encoder.uint(n);
            encoder.int(i);
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            assert_eq!((decoder.uint(), decoder.int(), decoder.end()), (Ok(n), Ok(i), Ok(())));
        }

        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in any::<Vec<u8>>()) {
            let mut decoder = Decoder::new(&bytes);
            while decoder.bytes().is_ok() && !decoder.rest().is_empty() {}
            while decoder.uint().is_ok() {}
        }
    }
}
