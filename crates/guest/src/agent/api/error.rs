//! Why there is no answer.

use std::time::Duration;

use super::event::ErrorBody;

/// Why there is no answer, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent) enum ApiError {
    #[error("failed to reach the model: {0}")]
    Unreachable(String),
    #[error("the model's provider answered {status}: {}", said(.error))]
    Status { status: u16, error: ErrorBody, retry_after: Option<Duration> },
    #[error("the model's provider broke the answer off: {}", said(.0))]
    Stream(ErrorBody),
    #[error("the model's answer broke off: {0}")]
    Broken(String),
    #[error("the model was silent for {} s", .0.as_secs())]
    Silent(Duration),
}

impl ApiError {
    /// Whether the same request may well succeed a little later.
    pub(in crate::agent) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) | Self::Silent(_) => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529),
            Self::Stream(error) => {
                matches!(
                    error.kind.as_str(),
                    "overloaded_error" | "api_error" | "rate_limit_error" | "timeout_error"
                )
            }
        }
    }

    /// Whether the provider refuses the request because of the thinking it asks for.
    pub(in crate::agent) fn is_about_thinking(&self) -> bool {
        matches!(self, Self::Status { status: 400, error, .. } if error.message.contains("thinking"))
    }

    /// How long the provider asks us to wait.
    pub(in crate::agent) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            Self::Unreachable(_) | Self::Stream(_) | Self::Broken(_) | Self::Silent(_) => None,
        }
    }
}

fn said(error: &ErrorBody) -> &str {
    match (error.message.as_str(), error.kind.as_str()) {
        ("", "") => "no reason given",
        ("", kind) => kind,
        (message, _) => message,
    }
}
