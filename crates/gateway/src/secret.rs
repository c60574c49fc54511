//! Secrets: made here, shown once, kept as a hash.

use std::fmt;

use warren_env::{Env, RandomError};

/// What every secret begins with, so that scanners of leaked secrets find it.
const PREFIX: &str = "wrn_";

/// A token's secret: 256 random bits as text. It never shows in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn generate(env: &Env) -> Result<Self, RandomError> {
        Ok(Self(format!("{PREFIX}{}", random_hex(env)?)))
    }

    /// A secret that someone kept, if the text can be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        is_plausible(text).then(|| Self(text.to_owned()))
    }

    /// The text itself, to be handed to its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The value that proves to the server that a page of its own makes the call: only such a page can read it.
    #[must_use]
    pub fn csrf(&self) -> String {
        csrf(&self.0).to_hex().to_string()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is stored of a secret. A plain hash is enough for 256 random bits: there is nothing to guess.
pub(crate) fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

/// Whether a text could be a secret at all; spares the store what cannot.
pub(crate) fn is_plausible(secret: &str) -> bool {
    secret
        .strip_prefix(PREFIX)
        .is_some_and(|rest| rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether `shown` is the value that belongs to `secret`. Takes as long whichever byte differs.
pub(crate) fn csrf_matches(secret: &str, shown: &str) -> bool {
    // `blake3::Hash` compares in constant time.
    blake3::Hash::from_hex(shown).is_ok_and(|shown| shown == csrf(secret))
}

/// 256 random bits.
pub(crate) fn random_hex(env: &Env) -> Result<String, RandomError> {
    Ok(blake3::Hash::from_bytes(env.random::<32>()?).to_hex().to_string())
}

fn csrf(secret: &str) -> blake3::Hash {
    blake3::Hash::from_bytes(blake3::derive_key("warren 2026-11 csrf of a sign-in", secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Secret, csrf_matches, hash, is_plausible};
    use warren_env::Env;

    #[test]
    fn a_secret_is_256_bits_of_text_that_does_not_show() {
        let secret = Secret::generate(&Env::system()).expect("randomness");
        assert!(is_plausible(secret.expose()));
        assert_eq!(secret.expose().len(), 68);
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_ne!(secret, Secret::generate(&Env::system()).expect("randomness"));
    }

    #[test]
    fn the_csrf_value_belongs_to_one_secret_and_is_not_its_hash() {
        let secret = Secret::generate(&Env::system()).expect("randomness");
        let other = Secret::generate(&Env::system()).expect("randomness");
        assert!(csrf_matches(secret.expose(), &secret.csrf()));
        assert!(!csrf_matches(secret.expose(), &other.csrf()));
        assert!(!csrf_matches(secret.expose(), ""));
        assert_ne!(secret.csrf(), hash(secret.expose()));
    }
}
