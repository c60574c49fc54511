//! Counts what a response used.

use serde::Deserialize;
use warren_domain::Usage;

use crate::{
    format::Metered,
    meter::{Progress, Tally},
    price::web_searches,
    sse::Event,
};

/// The usage of one response. A stream tells it in its last event, which holds the whole response.
#[derive(Default)]
pub(crate) struct ResponseTally {
    model: Option<String>,
    usage: WireUsage,
    n_searches: u64,
}

/// A response, whole or as far as it is.
#[derive(Deserialize)]
struct Response {
    model: Option<String>,
    usage: Option<WireUsage>,
    #[serde(default)]
    output: Vec<Item>,
}

/// Something in the output of a response.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    action: Option<Action>,
}

/// What a search did. Opening a page that was found and looking in it cost nothing.
#[derive(Deserialize)]
struct Action {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type")]
    kind: String,
    response: Option<Response>,
    item: Option<Item>,
}

#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    /// With what came from the cache.
    #[serde(default)]
    input_tokens: u64,
    /// With reasoning.
    #[serde(default)]
    output_tokens: u64,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

/// The event that holds a finished piece of a response.
const DONE: &str = "response.output_item.done";

/// The events that hold a response, all others being pieces of it; the last three end the stream.
const TELLING: [&str; 6] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
];

impl Tally for ResponseTally {
    fn on_event(&mut self, event: &Event) -> Progress {
        if !event.name.is_empty() && event.name != DONE && !TELLING.contains(&event.name.as_str()) {
            return Progress::Going;
        }
        let Ok(event) = serde_json::from_slice::<StreamEvent>(&event.data) else { return Progress::Going };
        if event.kind == DONE && event.item.is_some_and(|item| item.is_search()) {
            self.n_searches += 1;
        }
        if let Some(response) = event.response {
            self.on_response(response);
        }
        if TELLING[3..].contains(&event.kind.as_str()) { Progress::Over } else { Progress::Going }
    }

    fn on_whole(&mut self, body: &[u8]) {
        if let Ok(response) = serde_json::from_slice(body) {
            self.on_response(response);
        }
    }

    fn total(&self) -> Metered {
        let WireUsage { input_tokens, output_tokens, .. } = self.usage;
        let cached = self.usage.input_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        let thinking = self.usage.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        let cached = cached.unwrap_or_default().min(input_tokens);
        let usage = Usage {
            input_tokens: input_tokens - cached,
            output_tokens,
            cache_read_tokens: cached,
            thinking_tokens: thinking.unwrap_or_default(),
            ..Usage::default()
        };
        Metered {
            usage: usage.totalled(),
            tools_usd: web_searches(Some(self.n_searches)),
            model: self.model.clone(),
            ..Metered::default()
        }
    }
}

impl ResponseTally {
    fn on_response(&mut self, response: Response) {
        self.model = response.model.or(self.model.take());
        if let Some(usage) = response.usage {
            self.usage = usage;
        }
        // The whole response repeats what its pieces told, but some servers leave that out.
        let searches = response.output.iter().filter(|item| item.is_search()).count() as u64;
        self.n_searches = self.n_searches.max(searches);
    }
}

impl Item {
    fn is_search(&self) -> bool {
        let action = self.action.as_ref().and_then(|action| action.kind.as_deref());
        self.kind.as_deref() == Some("web_search_call") && action.is_none_or(|kind| kind == "search")
    }
}

#[cfg(test)]
mod tests;
