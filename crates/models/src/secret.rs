//! Keys that must not be printed.

use std::fmt;

/// A provider's key. It has no `Display`, and its `Debug` says only that it is there.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes charge of a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Its last characters, by which people tell keys apart: four at most, and none of a key that they would be much of.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        let count = self.0.chars().count();
        (count >= 16).then(|| self.0.chars().skip(count - 4).collect())
    }

    /// Whether a header can carry it.
    #[must_use]
    pub fn is_sendable(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// How long it is, in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.0.len()
    }

    /// The key itself, for the one header it goes into.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn ending_is_four_characters_of_a_long_key_and_nothing_of_a_short_one() {
        assert_eq!(Secret::new("sk-ant-api03-wxyz").ending().as_deref(), Some("wxyz"));
        assert_eq!(Secret::new("sk-ant-api03-€").ending(), None);
        assert_eq!(Secret::new("sk-ant-api03-x€yz").ending().as_deref(), Some("x€yz"));
        assert_eq!(Secret::new("short").ending(), None);
    }

    #[test]
    fn a_secret_is_not_in_its_debug_text() {
        assert_eq!(format!("{:?}", Some(Secret::new("sk-ant-api03-x"))), "Some(Secret(…))");
    }
}
