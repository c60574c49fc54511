//! What content is known by.

use std::{fmt, str::FromStr};

/// The BLAKE3 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

/// A text that is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 lowercase hexadecimal digits")]
pub struct ParseHashError;

impl Hash {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// One that was made elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits: Vec<u8> = text.bytes().map(digit).collect::<Option<_>>().ok_or(ParseHashError)?;
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair.iter().fold(0, |n, d| n << 4 | d)).collect();
        let is_whole = text.len() == 64;
        bytes.try_into().ok().filter(|_| is_whole).map(Self).ok_or(ParseHashError)
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, ParseHashError};

    #[test]
    fn a_hash_survives_being_text() {
        let hash = Hash::of(b"hello");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for text in ["", "ab", &"g".repeat(64), &"A".repeat(64), &"a".repeat(63), &"a".repeat(66)] {
            assert_eq!(text.parse::<Hash>(), Err(ParseHashError), "{text}");
        }
    }
}
