//! A failure with something the operator can do about it.

/// A failure with something the operator can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Advised {
    message: String,
    hint: String,
}

impl Advised {
    /// A failure, and what helps.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
