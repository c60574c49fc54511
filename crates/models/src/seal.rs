//! Secrets at rest: encrypted with a key that is in a file and nowhere else.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use warren_env::{Env, RandomError};

use crate::Secret;

/// What every sealed text begins with, so that another way of sealing can follow.
const VERSION: &str = "1";

/// How many bytes of a key's hash name it. Nobody can guess 256 random bits from them.
const ID_BYTES: usize = 8;

/// Seals and opens secrets. Whoever has a sealed text and not this key learns its length and nothing else.
pub struct SealingKey {
    key: LessSafeKey,
    id: String,
}

/// Why a secret was not sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// There is no randomness.
    #[error("failed to get randomness")]
    Randomness(#[source] RandomError),
    /// It is too long.
    #[error("the secret is too long")]
    TooLong,
}

/// Why a sealed text was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenSealError {
    /// It was sealed with another key.
    #[error("it was sealed with another key file")]
    OtherKey,
    /// It, or what it belongs to, is not what was sealed.
    #[error("it was changed after it was sealed")]
    Changed,
}

impl SealingKey {
    /// How many random bytes make a key.
    pub const LEN: usize = 32;

    /// The key of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; Self::LEN]) -> Option<Self> {
        let id = blake3::derive_key("warren 2026-11 name of a sealing key", &bytes);
        let id = BASE64.encode(&id[..ID_BYTES]);
        let key = UnboundKey::new(&AES_256_GCM, &bytes).ok()?;
        Some(Self { key: LessSafeKey::new(key), id })
    }

    /// Seals a secret for one place: it can be opened there and nowhere else.
    ///
    /// # Errors
    /// When the operating system gives no randomness, or the secret is many gigabytes long.
    pub fn seal(&self, secret: &Secret, place: &str, env: &Env) -> Result<String, SealError> {
        // 96 random bits: a key file seals a few secrets in its life, so no two are alike.
        let nonce = env.random::<NONCE_LEN>().map_err(SealError::Randomness)?;
        let mut bytes = secret.expose().as_bytes().to_vec();
        let place = Aad::from(place.as_bytes());
        let sealed =
            self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), place, &mut bytes);
        sealed.map_err(|_| SealError::TooLong)?;
        Ok(format!("{VERSION}:{}:{}:{}", self.id, BASE64.encode(nonce), BASE64.encode(bytes)))
    }

    /// Opens what was sealed for a place.
    ///
    /// # Errors
    /// When another key sealed it, or it is not what was sealed for this place.
    pub fn open(&self, sealed: &str, place: &str) -> Result<Secret, OpenSealError> {
        let mut parts = sealed.split(':');
        let (version, id, nonce, text) = (parts.next(), parts.next(), parts.next(), parts.next());
        if version != Some(VERSION) || id != Some(self.id.as_str()) {
            return Err(OpenSealError::OtherKey);
        }
        let decode = |part: Option<&str>| part.and_then(|part| BASE64.decode(part).ok());
        let nonce = decode(nonce).and_then(|nonce| Nonce::try_assume_unique_for_key(&nonce).ok());
        let (Some(nonce), Some(mut bytes)) = (nonce, decode(text)) else {
            return Err(OpenSealError::Changed);
        };
        let opened = self.key.open_in_place(nonce, Aad::from(place.as_bytes()), &mut bytes);
        let opened = opened.map_err(|_| OpenSealError::Changed)?;
        String::from_utf8(opened.to_vec()).map(Secret::new).map_err(|_| OpenSealError::Changed)
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use warren_env::Env;

    use super::{OpenSealError, SealingKey};
    use crate::Secret;

    fn key(byte: u8) -> SealingKey {
        SealingKey::new([byte; SealingKey::LEN]).expect("a key")
    }

    #[test]
    fn sealed_secret_is_opened_by_its_key_at_its_place_only() {
        let secret = Secret::new("sk-ant-0123456789");
        let sealed = key(1).seal(&secret, "anthropic", &Env::system()).expect("randomness");
        assert_eq!(key(1).open(&sealed, "anthropic"), Ok(secret));
        assert_eq!(key(1).open(&sealed, "openai"), Err(OpenSealError::Changed));
        assert_eq!(key(2).open(&sealed, "anthropic"), Err(OpenSealError::OtherKey));
    }

    #[test]
    fn sealed_text_has_nothing_of_the_secret_and_differs_each_time() {
        let secret = Secret::new("sk-ant-0123456789");
        let seal = || key(1).seal(&secret, "p", &Env::system()).expect("randomness");
        let (one, other) = (seal(), seal());
        assert_ne!(one, other);
        assert!(!one.contains("sk-ant") && !one.contains("0123"), "{one}");
        assert_eq!(format!("{:?}", key(1)), "SealingKey(…)");
    }

    #[test]
    fn any_change_of_a_sealed_text_is_noticed() {
        let sealed = key(1).seal(&Secret::new("secret"), "p", &Env::system()).expect("randomness");
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("text");
            assert!(key(1).open(&changed, "p").is_err(), "{changed}");
        }
        for text in ["", "1", ":::", "1:::", "nonsense"] {
            assert!(key(1).open(text, "p").is_err(), "{text}");
        }
    }
}
