//! An answer of which only the words count: a summary, or what a search found. It is no part of the conversation.

use warren_domain::Usage;

use super::{
    api::{ApiError, ApiEvent, ApiUsage, ContentBlock, Delta},
    request::Request,
    session::Agent,
    thread::Thread,
};

/// Such an answer, as far as it came in.
#[derive(Default)]
pub(super) struct Spoken {
    pub(super) text: String,
    model: Option<String>,
    usage: ApiUsage,
    is_whole: bool,
}

impl Agent {
    /// Sends a request and takes in its answer, to its end.
    pub(super) async fn hear(
        &self,
        thread: &Thread,
        request: Request<'_>,
        spoken: &mut Spoken,
    ) -> Result<(), ApiError> {
        let mut events = self.client.ask(thread.id(), request).await?;
        while !spoken.is_whole {
            match events.next().await? {
                Some(event) => spoken.apply(event)?,
                None => return Err(ApiError::Broken("the stream ended early".to_owned())),
            }
        }
        Ok(())
    }
}

impl Spoken {
    fn apply(&mut self, event: ApiEvent) -> Result<(), ApiError> {
        match event {
            ApiEvent::MessageStart { message } => {
                self.model = Some(message.model).filter(|model| !model.is_empty());
                self.usage.update(&message.usage);
            }
            ApiEvent::ContentBlockStart { content_block: ContentBlock::Text { text }, .. }
            | ApiEvent::ContentBlockDelta { delta: Delta::Text { text }, .. } => self.text.push_str(&text),
            ApiEvent::MessageDelta { usage, .. } => self.usage.update(&usage),
            ApiEvent::MessageStop => self.is_whole = true,
            ApiEvent::Error { error } => return Err(ApiError::Stream(error)),
            ApiEvent::ContentBlockStart { .. }
            | ApiEvent::ContentBlockDelta { .. }
            | ApiEvent::ContentBlockStop { .. }
            | ApiEvent::Other => {}
        }
        Ok(())
    }

    /// What it cost so far.
    pub(super) fn usage(&self, asked: &str) -> Usage {
        self.usage.to_usage(self.model.as_deref().unwrap_or(asked))
    }
}
