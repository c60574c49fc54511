//! Who calls, and what they are told afterwards.

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{ModelCallStarted, ModelCalled, RunId};

use crate::{Charge, Format, Quote, RefusalKind, Settlement, Unaffordable};

/// One sandbox, as the gateway sees it.
#[async_trait]
pub trait Caller: Send + Sync {
    /// The run that a call belongs to. `None` refuses the call: no run is active.
    ///
    /// **Invariant:** each `Some` is followed by exactly one [`Caller::ended`], whatever becomes of the call; so a caller
    /// can count the calls in flight.
    fn admit(&self) -> Option<RunId>;

    /// Whether the run may make the provider do this. Nothing unless granted.
    fn granted(&self, _feature: Feature) -> bool {
        false
    }

    /// The models that the run was told to use, which may be asked for unless the operator has a list of models.
    fn own_models(&self) -> Vec<String> {
        Vec::new()
    }

    /// The model that somebody chose for the run's calls of this format; `None` if the agent uses its own default. Where its
    /// provider has no key, such calls are refused: the demo model must not answer in its place.
    fn chosen(&self, _format: Format) -> Option<String> {
        None
    }

    /// Sets aside what a call may use, before it goes out; [`Exchange::settlement`] then tells what it did use. `None`: no
    /// budget limits this run. A [`Budget`](crate::Budget) answers just this question.
    ///
    /// # Errors
    /// When the call must not go out; the sandbox is told why.
    fn reserve(&self, _run: RunId, _quote: &Quote) -> Result<Option<Charge>, Unaffordable> {
        Ok(None)
    }

    /// Records that a call is about to be sent to a provider. The gateway waits for this, so that no request goes out that is
    /// not recorded: if the server is killed, the recorded start is all that is left of the call.
    ///
    /// # Errors
    /// When it cannot be recorded; then the call is refused and nothing is sent.
    async fn starting(&self, _starting: Starting) -> Result<(), NotRecorded> {
        Ok(())
    }

    /// Told after each call: answered, refused, failed or given up. Calls of one connection come in the order of their
    /// end, and the next call of that connection waits for this; connections are independent of each other.
    async fn ended(&self, exchange: Exchange);
}

/// A call that is about to be sent. Its end, in [`Exchange::called`], has the same `call_id`.
#[derive(Debug, Clone, PartialEq)]
pub struct Starting {
    /// The run that it belongs to.
    pub run: RunId,
    /// Which thread of the session makes it, as [`Exchange::conversation`].
    pub conversation: Option<String>,
    /// What the log says of it.
    pub started: ModelCallStarted,
}

/// The start of a call could not be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run that made this call has ended, or its log cannot be written")]
pub struct NotRecorded;

/// What a request can make the provider reach for beyond the request itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Tools that the provider carries out: web search, web fetch, maps, pictures, code execution.
    ServerTools,
    /// MCP servers that the provider connects to.
    RemoteMcp,
    /// Containers and skills on the provider's side.
    Containers,
    /// Images and documents that the provider gets by URL.
    UrlSources,
    /// Files and other content stored at the provider under the server's account.
    StoredFiles,
    /// Answers, conversations and prompts that the provider keeps under the server's account, and work that it does while
    /// nobody listens: whoever may name one could read another's.
    StoredState,
    /// A service that costs more than the price table says: priority, fast mode, a chosen region.
    DearerService,
}

/// One call and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The run that was active when the call came.
    pub run: RunId,
    /// What the log says of it; `recording` is left to whoever stores the exchange.
    pub called: ModelCalled,
    /// How it ended.
    pub ending: Ending,
    /// Why the gateway answered by itself; `None` if the provider did, or nobody.
    pub refusal: Option<RefusalKind>,
    /// What becomes of the reservation that was made for it; `None` if none was.
    pub settlement: Option<Settlement>,
    /// What was asked for, such as `/v1/messages`.
    pub path: String,
    /// The request's body; empty if it never arrived whole.
    pub request: Bytes,
    /// The answer's media type.
    pub content_type: Option<String>,
    /// The answer's body as it was sent to the sandbox.
    pub response: Bytes,
    /// Bytes of the answer that were sent but not recorded, because the recording grew too long. 0: it is whole.
    pub response_omitted: u64,
    /// Which thread of the session made the call, as far as the agent told. From the sandbox, hence only a hint.
    pub conversation: Option<String>,
}

/// How a call ended. What the answer said is in its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The answer went out whole, be it an error.
    Complete,
    /// The sandbox closed the connection first; the call to the provider was dropped. The status is 499.
    CallerLeft,
    /// The provider's answer broke off or fell silent; the sandbox saw it break off too. The status is 502.
    Broken,
}
