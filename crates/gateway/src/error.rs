//! Why the gateway did not do what was asked.

use warren_domain::ErrorCode;
use warren_env::RandomError;
use warren_store::ReadError;

use crate::{Denied, ScopeError};

/// Why a secret is nobody's.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateError {
    /// No token has it.
    #[error("the token is unknown")]
    Unknown,
    /// The token has stopped working.
    #[error("the token has expired")]
    Expired,
    /// The tokens cannot be read now.
    #[error("failed to look up a token")]
    Backend(#[source] ReadError),
}

/// Why a request to the gateway was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The identity may not.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// There is no such thing, or not for this identity.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// What kind of thing.
        kind: &'static str,
        /// The name that was asked for.
        id: String,
    },
    /// The request contradicts itself or breaks a rule.
    #[error("{message}")]
    Invalid {
        /// What is wrong.
        message: String,
        /// What would be right.
        hint: &'static str,
    },
    /// The scope is none.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The token was revoked while it was used.
    #[error("the token has been revoked")]
    Revoked,
    /// The code of a sign-in link is wrong, used or too old.
    #[error("the sign-in code is unknown, used or expired")]
    SignInCode,
    /// There is no randomness for a secret.
    #[error("failed to generate a secret")]
    Randomness(#[source] RandomError),
    /// The records cannot be read or written now.
    #[error("failed to access the gateway's records")]
    Backend(#[source] ReadError),
}

impl RequestError {
    /// The code a client sees.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            RequestError::Denied(denied) => denied.code(),
            RequestError::NotFound { .. } => ErrorCode::NotFound,
            RequestError::Invalid { .. } | RequestError::Scope(_) => ErrorCode::BadRequest,
            RequestError::SignInCode | RequestError::Revoked => ErrorCode::Unauthorized,
            RequestError::Randomness(_) | RequestError::Backend(_) => ErrorCode::Internal,
        }
    }

    /// What the client can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RequestError::Invalid { hint, .. } => Some(hint),
            RequestError::Scope(_) => Some("use `admin`, `admin:ro`, `project:<id>` or `project:<id>:ro`"),
            RequestError::SignInCode => {
                Some("links work once, within five minutes; `warren open` creates a new one")
            }
            RequestError::Denied(denied) => denied.hint(),
            RequestError::NotFound { .. }
            | RequestError::Revoked
            | RequestError::Randomness(_)
            | RequestError::Backend(_) => None,
        }
    }
}
