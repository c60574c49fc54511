//! Counts what a message used.

use serde::Deserialize;
use warren_domain::Usage;

use crate::{
    format::Metered,
    meter::{Progress, Tally},
    price::web_searches,
    sse::Event,
};

/// The usage of one message.
#[derive(Default)]
pub(crate) struct MessageTally {
    model: Option<String>,
    usage: WireUsage,
}

/// Usage as the provider writes it. In a stream each number is a running total, so the latest counts.
#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    server_tool_use: Option<ServerToolUse>,
}

#[derive(Debug, Default, Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

/// What the provider's own tools did. A fetched page costs nothing beside its tokens.
#[derive(Debug, Default, Deserialize)]
struct ServerToolUse {
    web_search_requests: Option<u64>,
}

/// An answer that is not streamed, and the message inside `message_start`.
#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    usage: Option<WireUsage>,
}

/// The two events that have usage.
#[derive(Deserialize)]
struct StreamEvent {
    message: Option<Message>,
    usage: Option<WireUsage>,
}

impl Tally for MessageTally {
    fn on_event(&mut self, event: &Event) -> Progress {
        match event.name.as_str() {
            "message_stop" => return Progress::Over,
            "" | "message_start" | "message_delta" => {}
            _ => return Progress::Going,
        }
        if let Ok(event) = serde_json::from_slice::<StreamEvent>(&event.data) {
            event.message.into_iter().for_each(|message| self.on_message(message));
            self.usage.replace_by(event.usage);
        }
        Progress::Going
    }

    fn on_whole(&mut self, body: &[u8]) {
        if let Ok(message) = serde_json::from_slice(body) {
            self.on_message(message);
        }
    }

    fn total(&self) -> Metered {
        let usage = Usage {
            input_tokens: self.usage.input_tokens.unwrap_or_default(),
            output_tokens: self.usage.output_tokens.unwrap_or_default(),
            cache_read_tokens: self.usage.cache_read_input_tokens.unwrap_or_default(),
            cache_write_tokens: self.usage.cache_creation_input_tokens.unwrap_or_default(),
            ..Usage::default()
        };
        let long = self.usage.cache_creation.as_ref().and_then(|created| created.ephemeral_1h_input_tokens);
        Metered {
            long_cache_write_tokens: long.unwrap_or_default().min(usage.cache_write_tokens),
            usage: usage.totalled(),
            tools_usd: web_searches(
                self.usage.server_tool_use.as_ref().and_then(|it| it.web_search_requests),
            ),
            model: self.model.clone(),
        }
    }
}

impl MessageTally {
    fn on_message(&mut self, message: Message) {
        self.model = message.model.or(self.model.take());
        self.usage.replace_by(message.usage);
    }
}

impl WireUsage {
    fn replace_by(&mut self, later: Option<WireUsage>) {
        let Some(later) = later else { return };
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_creation = later.cache_creation.or(self.cache_creation.take());
        self.server_tool_use = later.server_tool_use.or(self.server_tool_use.take());
    }
}

#[cfg(test)]
mod tests;
