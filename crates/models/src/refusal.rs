//! Why the gateway answers by itself, apart from how a wire format says it.

use hyper::StatusCode;
use serde::{Deserialize, Serialize};

/// An answer that is the gateway's own and not the provider's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    /// For whoever reads the agent's output. Names no address and no key.
    pub(crate) message: String,
}

/// What kind of answer the gateway gave by itself. Each wire format has its own words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalKind {
    /// Not one of the exact methods and paths.
    NoSuchRoute,
    /// No run is active.
    NoRun,
    /// The request asks for what the run was not granted.
    NotGranted,
    /// The request names a model that is not on the list.
    ModelNotAllowed,
    /// Somebody chose a model whose provider has no key.
    NoKey,
    /// The request is not what the format says.
    Invalid,
    /// The sandbox left before its request was whole, so nobody reads this.
    BrokenOff,
    /// The request is too long.
    TooLarge,
    /// The request did not arrive in time.
    Slow,
    /// The budget is spent, or what is left does not even pay for reading the request.
    BudgetSpent,
    /// Calls in flight have set aside what is left of the budget; it may be enough when they have ended.
    BudgetHeld,
    /// There is a budget in dollars, and nobody knows what the model costs.
    NoPrice,
    /// The gateway holds as much as it may.
    Overloaded,
    /// The provider cannot be reached or talks nonsense.
    Unreachable,
    /// The provider cannot be reached, again and again: there is no use in a further attempt.
    GivenUp,
    /// The provider does not answer.
    TimedOut,
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl RefusalKind {
    /// Whether the request may have reached the provider before the gateway answered by itself.
    pub(crate) fn went_out(self) -> bool {
        matches!(self, RefusalKind::Unreachable | RefusalKind::GivenUp | RefusalKind::TimedOut)
    }

    /// What the built-in agent knows it by, where a format has a place for it.
    pub(crate) fn reason(self) -> Option<&'static str> {
        matches!(self, RefusalKind::Unreachable | RefusalKind::GivenUp).then_some("provider_unreachable")
    }

    /// The HTTP status, where a format has no other of its own. What agents try again by themselves (408, 429, 5xx) is
    /// only what may be answered another time.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            RefusalKind::NoSuchRoute => StatusCode::NOT_FOUND,
            RefusalKind::NoRun => StatusCode::FORBIDDEN,
            // Not 404: agents take that for a model that is gone, and hide the message that says which option allows it.
            RefusalKind::NotGranted
            | RefusalKind::ModelNotAllowed
            | RefusalKind::NoKey
            | RefusalKind::Invalid
            | RefusalKind::GivenUp
            | RefusalKind::BrokenOff => StatusCode::BAD_REQUEST,
            RefusalKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            RefusalKind::Slow => StatusCode::REQUEST_TIMEOUT,
            RefusalKind::BudgetSpent | RefusalKind::NoPrice => StatusCode::PAYMENT_REQUIRED,
            RefusalKind::BudgetHeld => StatusCode::TOO_MANY_REQUESTS,
            RefusalKind::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            RefusalKind::Unreachable => StatusCode::BAD_GATEWAY,
            RefusalKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}
