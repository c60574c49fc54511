//! Why there is no answer.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Why there is no answer, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent) enum ApiError {
    #[error("failed to reach the model: {0}")]
    Unreachable(String),
    /// The host says that the provider cannot be reached, and why.
    #[error("{0}\nhint: check the server's network and the provider's base URL, then send the message again")]
    NoProvider(String),
    /// The host gives up on the provider.
    #[error("{0}")]
    GivenUp(String),
    #[error("the model's provider answered {status}: {}", said(.error))]
    Status { status: u16, error: ErrorBody, retry_after: Option<Duration> },
    #[error("the model's provider ended the response early: {}", said(.0))]
    Stream(ErrorBody),
    #[error("the model's response was interrupted: {0}")]
    Broken(String),
    #[error("no response from the model for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("the sandbox offers no API for the model `{0}`")]
    NoEndpoint(String),
    #[error("the conversation does not fit the model's context window, even after compaction: {0}")]
    TooLong(String),
}

/// An error, in a stream or as an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::agent) struct ErrorBody {
    /// Its names: a type, a code, a status. Which of them there are depends on the provider.
    pub(in crate::agent) kinds: Vec<String>,
    pub(in crate::agent) message: String,
    /// How long the provider asks us to wait, where it says so in the body.
    pub(in crate::agent) retry_after: Option<Duration>,
}

/// How providers, and programs that speak their APIs, say that a request does not fit.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "input length",
    "context limit",
    "context length",
    "context window",
    "context_length",
    "context size",
    "maximum context",
    "maximum number of tokens",
    "input token count",
    "too many tokens",
    "reduce the length",
    "request too large",
    "request_too_large",
    "exceeds the maximum size",
];

/// Errors that do not pass, whatever their status.
const LASTING: &[&str] = &["insufficient_quota", "billing_hard_limit_reached"];

impl ApiError {
    /// Whether the same request may well succeed a little later.
    pub(in crate::agent) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::NoProvider(_) | Self::Broken(_) | Self::Silent(_) => true,
            Self::Status { error, .. } if error.is_any(LASTING) => false,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529),
            Self::Stream(error) => error.is_any(&[
                "overloaded_error",
                "api_error",
                "rate_limit_error",
                "timeout_error",
                "server_error",
                "rate_limit_exceeded",
                "internal_error",
                "UNAVAILABLE",
                "INTERNAL",
                "RESOURCE_EXHAUSTED",
                "DEADLINE_EXCEEDED",
            ]),
            Self::NoEndpoint(_) | Self::GivenUp(_) | Self::TooLong(_) => false,
        }
    }

    /// Whether the provider refuses the request because it is longer than the model's window.
    pub(in crate::agent) fn is_too_long(&self) -> bool {
        let error = match self {
            Self::Status { status: 400 | 413 | 422, error, .. } | Self::Stream(error) => error,
            // A limit of tokens a minute that one request alone exceeds.
            Self::Status { status: 429, error, .. } => return error.message.contains("Request too large"),
            _ => return false,
        };
        let message = error.message.to_lowercase();
        let is_named = |name: &&str| message.contains(*name) || error.kinds.iter().any(|kind| kind == *name);
        TOO_LONG.iter().any(is_named) || error.is_any(&["context_length_exceeded"])
    }

    /// Whether the provider refuses the request because of the thinking it asks for.
    pub(in crate::agent) fn is_about_thinking(&self) -> bool {
        let is_named = |message: &str| {
            let message = message.to_lowercase();
            ["thinking", "reasoning", "effort", "output_config", "encrypted content"]
                .iter()
                .any(|name| message.contains(name))
        };
        matches!(self, Self::Status { status: 400, error, .. } if is_named(&error.message))
    }

    /// Whether the provider refuses the request because of a picture or a document in it.
    pub(in crate::agent) fn is_about_media(&self) -> bool {
        let is_named = |message: &str| {
            let message = message.to_lowercase();
            ["image", "picture", "pdf", "document", "media", "inline_data", "file"]
                .iter()
                .any(|name| message.contains(name))
        };
        matches!(self, Self::Status { status: 400 | 404 | 413 | 415 | 422, error, .. } if is_named(&error.message))
    }

    /// Whether the provider refuses this very request, and might take another.
    pub(in crate::agent) fn is_about_the_request(&self) -> bool {
        matches!(self, Self::Status { status: 400 | 413 | 422, .. }) || self.is_too_long()
    }

    /// How long the provider asks us to wait.
    pub(in crate::agent) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, error, .. } => retry_after.or(error.retry_after),
            _ => None,
        }
    }

    /// Whether there is nobody to answer, which passes less often than overload does.
    pub(in crate::agent) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::NoProvider(_))
    }

    /// What the matter is, in a few words.
    pub(in crate::agent) fn in_short(&self) -> &str {
        match self {
            Self::NoProvider(message) => message,
            Self::Status { status: 429, .. } => "The provider limits the rate of requests",
            Self::Status { status: 503 | 529, .. } => "The provider is overloaded",
            Self::Stream(error) if error.is_any(&["overloaded_error", "UNAVAILABLE"]) => {
                "The provider is overloaded"
            }
            Self::Unreachable(_) => "The model cannot be reached",
            Self::Silent(_) => "The model does not answer",
            _ => "The provider cannot answer now",
        }
    }

    /// What the provider said.
    pub(in crate::agent) fn message(&self) -> &str {
        match self {
            Self::Status { error, .. } | Self::Stream(error) => &error.message,
            Self::Unreachable(message)
            | Self::NoProvider(message)
            | Self::GivenUp(message)
            | Self::Broken(message)
            | Self::NoEndpoint(message)
            | Self::TooLong(message) => message,
            Self::Silent(_) => "",
        }
    }
}

impl ErrorBody {
    /// Reads an error of any provider.
    pub(in crate::agent) fn of(error: &Value) -> Self {
        let names = ["type", "code", "status", "reason"].iter().filter_map(|name| error[*name].as_str());
        let delay = error["details"].as_array().into_iter().flatten();
        let delay = delay.filter_map(|detail| detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok());
        let seconds: Option<f64> = delay.max_by(f64::total_cmp);
        Self {
            kinds: names.map(str::to_owned).collect(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            retry_after: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        }
    }

    /// What the host says by itself when it cannot reach the provider, instead of an answer.
    pub(in crate::agent) fn is_host_without_provider(&self) -> bool {
        self.is_any(&["provider_unreachable"])
    }

    fn is_any(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }
}

impl<'de> Deserialize<'de> for ErrorBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Value::deserialize(deserializer)?))
    }
}

fn said(error: &ErrorBody) -> &str {
    match (error.message.as_str(), error.kinds.first()) {
        ("", None) => "no reason given",
        ("", Some(kind)) => kind,
        (message, _) => message,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{ApiError, ErrorBody};

    fn refused(status: u16, error: &Value) -> ApiError {
        ApiError::Status { status, error: ErrorBody::of(error), retry_after: None }
    }

    #[test]
    fn refusals_of_long_requests_are_known_in_every_providers_words() {
        for (status, error) in [
            (
                400,
                json!({"type": "invalid_request_error", "message": "prompt is too long: 212345 tokens > 200000 maximum"}),
            ),
            (
                400,
                json!({"message": "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000"}),
            ),
            (413, json!({"type": "request_too_large", "message": "Request exceeds the maximum size"})),
            (
                400,
                json!({"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}),
            ),
            (
                400,
                json!({"message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."}),
            ),
            (
                400,
                json!({"code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}),
            ),
            (
                429,
                json!({"code": "rate_limit_exceeded", "message": "Request too large for gpt-5 on tokens per min"}),
            ),
        ] {
            assert!(refused(status, &error).is_too_long(), "{error}");
        }
        for (status, error) in [
            (400, json!({"message": "messages: text content blocks must be non-empty"})),
            (400, json!({"message": "tools.0.name: String should have at most 64 characters"})),
            (401, json!({"message": "invalid x-api-key"})),
            (429, json!({"message": "Rate limit reached: too many tokens"})),
        ] {
            assert!(!refused(status, &error).is_too_long(), "{error}");
        }
    }

    #[test]
    fn spent_quota_is_not_waited_for() {
        assert!(
            !refused(429, &json!({"code": "insufficient_quota", "message": "You exceeded"})).is_passing()
        );
        assert!(refused(429, &json!({"code": "rate_limit_exceeded"})).is_passing());
    }

    #[test]
    fn pause_that_the_body_asks_for_is_read() {
        let error = json!({"code": 429, "details": [{"retryDelay": "34.5s"}], "message": "quota"});
        assert_eq!(refused(429, &error).retry_after(), Some(Duration::from_millis(34_500)));
    }
}
