//! Why the gateway answers by itself, apart from how a wire format says it.

/// An answer that is the gateway's own and not the provider's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    /// For whoever reads the agent's output. Names no address and no key.
    pub(crate) message: String,
}

/// What kind of answer. Each wire format has its own status and words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// Not one of the exact methods and paths.
    NoSuchRoute,
    /// No run is active.
    NoRun,
    /// The request asks for what the run was not granted.
    NotGranted,
    /// The request is not what the format says.
    Invalid,
    /// The sandbox left before its request was whole, so nobody reads this.
    BrokenOff,
    /// The request is too long.
    TooLarge,
    /// The request did not arrive in time.
    Slow,
    /// The gateway holds as much as it may.
    Overloaded,
    /// The provider cannot be reached or talks nonsense.
    Unreachable,
    /// The provider does not answer.
    TimedOut,
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
