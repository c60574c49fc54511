//! Wire formats: what differs between providers, each in a module of its own.

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use warren_domain::Usage;

use crate::{Feature, Secret, anthropic, refusal::Refusal};

/// The header by which an agent may say which thread of the session calls. Never sent to a provider.
pub const CONVERSATION_HEADER: &str = "x-warren-conversation";

/// How a sandbox talks to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic's Messages API.
    Anthropic,
}

/// One of the exact things that may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The path, which is also the path at the provider.
    pub(crate) path: String,
    /// What of the query goes to the provider.
    pub(crate) query: Option<&'static str>,
}

/// What a request says that the gateway must know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Inspected {
    /// The model it asks for; empty if it names none.
    pub(crate) model: String,
    /// What it makes the provider reach for, each once.
    pub(crate) features: Vec<Feature>,
}

/// What an answer says it used.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Metered {
    /// Tokens; the cost is not known here.
    pub(crate) usage: Usage,
    /// Those of the cache's writes that are kept for long, which cost more.
    pub(crate) long_cache_write_tokens: u64,
    /// Which model answered, if the answer tells.
    pub(crate) model: Option<String>,
}

impl Format {
    /// The format's name, as reports show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Anthropic => "anthropic",
        }
    }

    /// What is called, if it may be called at all.
    pub(crate) fn route(self, method: &Method, uri: &Uri) -> Option<Route> {
        match self {
            Format::Anthropic => anthropic::route(method, uri),
        }
    }

    /// Reads what must be known of a request before it goes out.
    pub(crate) fn inspect(self, body: &[u8]) -> Result<Inspected, Refusal> {
        match self {
            Format::Anthropic => anthropic::inspect(body),
        }
    }

    /// The headers that go to the provider: those of the sandbox that are on the list, and the key.
    pub(crate) fn request_headers(self, sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
        match self {
            Format::Anthropic => anthropic::request_headers(sandbox, key),
        }
    }

    /// The headers that go to the sandbox.
    pub(crate) fn answer_headers(self, provider: &HeaderMap) -> HeaderMap {
        match self {
            Format::Anthropic => anthropic::answer_headers(provider),
        }
    }

    /// A refusal in the format's own words, as JSON.
    pub(crate) fn refusal(self, refusal: &Refusal) -> (StatusCode, Bytes) {
        match self {
            Format::Anthropic => anthropic::refusal(refusal),
        }
    }

    /// Counts the tokens of an answer of this media type.
    pub(crate) fn meter(self, content_type: Option<&str>) -> anthropic::Meter {
        match self {
            Format::Anthropic => anthropic::Meter::new(content_type),
        }
    }
}
