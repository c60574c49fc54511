//! What the gateway is told when it is made.

use std::time::Duration;

use crate::{ModelLists, PriceTable, Secret};

const MIB: usize = 1024 * 1024;

/// Everything the gateway needs to know.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Who answers calls in the Anthropic Messages format.
    pub anthropic: UpstreamOptions,
    /// Who answers calls in Gemini's format.
    pub gemini: UpstreamOptions,
    /// Who answers OpenAI's chat completions.
    pub openai_chat: UpstreamOptions,
    /// Who answers OpenAI's responses.
    pub openai_responses: UpstreamOptions,
    /// Which models may be asked for.
    pub models: ModelLists,
    /// What tokens cost.
    pub prices: PriceTable,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// How much to take.
    pub limits: Limits,
    /// How fast the demo model writes.
    pub pace: Pace,
}

/// Who answers calls of one wire format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum UpstreamOptions {
    /// The scripted model, offline.
    #[default]
    Demo,
    /// A provider.
    Http {
        /// Where its API begins, such as `https://api.anthropic.com`; for OpenAI's formats by custom with the version,
        /// such as `https://api.openai.com/v1`.
        base_url: String,
        /// What it knows us by; a provider on the own network may need none.
        api_key: Option<Secret>,
    },
}

/// How long the gateway waits.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// For a connection to the provider.
    pub connect: Duration,
    /// For the whole of a request to arrive from the sandbox.
    pub request: Duration,
    /// For the provider's answer to begin; an answer that is not streamed begins when it is finished.
    pub answer: Duration,
    /// Between two pieces of an answer; providers send pings more often than this.
    pub silence: Duration,
}

/// How much the gateway takes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest request; a longer one is refused.
    pub request_bytes: usize,
    /// The longest recording of an answer; a longer answer goes on, its recording is cut and says so.
    pub recording_bytes: usize,
    /// All requests and recordings of calls in flight together. Requests beyond it are refused as overload, recordings
    /// are cut: many sandboxes with large calls must not take the server's memory.
    pub buffered_bytes: usize,
}

/// How fast the demo model writes. Zero for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Before each piece of an answer.
    pub delta: Duration,
    /// Before each piece of an answer that is asked to be slow, so that there is time to interrupt it.
    pub slow: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_mins(1),
            answer: Duration::from_mins(10),
            silence: Duration::from_mins(3),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { request_bytes: 32 * MIB, recording_bytes: 64 * MIB, buffered_bytes: 512 * MIB }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self { delta: Duration::from_millis(4), slow: Duration::from_millis(20) }
    }
}

impl Pace {
    /// Everything at once.
    pub const NONE: Pace = Pace { delta: Duration::ZERO, slow: Duration::ZERO };
}
