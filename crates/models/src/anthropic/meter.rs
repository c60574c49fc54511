//! Counts what an answer used, while it goes by.

use serde::Deserialize;
use warren_domain::Usage;

use crate::{
    format::Metered,
    sse::{Event, Reader},
};

/// Reads the usage of one answer. Unreadable answers have used nothing, as far as anyone can tell.
pub(crate) struct Meter {
    /// `None` when the answer is one JSON object, which is read from the recording at the end.
    events: Option<Reader>,
    model: Option<String>,
    usage: WireUsage,
    whole: bool,
}

/// Usage as the provider writes it. In a stream each number is a running total, so the latest counts.
#[derive(Debug, Default, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
}

#[derive(Debug, Default, Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
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

impl Meter {
    pub(crate) fn new(content_type: Option<&str>) -> Self {
        let streamed = content_type.is_some_and(|text| text.starts_with("text/event-stream"));
        Self { events: streamed.then(Reader::new), model: None, usage: WireUsage::default(), whole: false }
    }

    /// Looks at the next piece of the answer.
    pub(crate) fn saw(&mut self, piece: &[u8]) {
        let Some(mut reader) = self.events.take() else { return };
        reader.feed(piece, |event| self.on_event(&event));
        self.events = Some(reader);
    }

    /// Whether the answer said that it is at its end. Agents go when they have read that, and do not wait for the
    /// stream's own end.
    pub(crate) fn saw_end(&self) -> bool {
        self.whole
    }

    /// What was used in all. `recorded` is the answer as far as it was recorded.
    pub(crate) fn total(mut self, recorded: &[u8]) -> Metered {
        if self.events.is_none()
            && let Ok(message) = serde_json::from_slice(recorded)
        {
            self.on_message(message);
        }
        let usage = Usage {
            input_tokens: self.usage.input_tokens.unwrap_or_default(),
            output_tokens: self.usage.output_tokens.unwrap_or_default(),
            cache_read_tokens: self.usage.cache_read_input_tokens.unwrap_or_default(),
            cache_write_tokens: self.usage.cache_creation_input_tokens.unwrap_or_default(),
            ..Usage::default()
        };
        let long = self.usage.cache_creation.and_then(|created| created.ephemeral_1h_input_tokens);
        Metered {
            long_cache_write_tokens: long.unwrap_or_default().min(usage.cache_write_tokens),
            usage: usage.totalled(),
            model: self.model,
        }
    }

    fn on_event(&mut self, event: &Event) {
        self.whole |= event.name == "message_stop";
        if !matches!(event.name.as_str(), "" | "message_start" | "message_delta") {
            return;
        }
        let Ok(event) = serde_json::from_slice::<StreamEvent>(&event.data) else { return };
        if let Some(message) = event.message {
            self.on_message(message);
        }
        self.usage.replace_by(event.usage);
    }

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
    }
}

#[cfg(test)]
mod tests;
