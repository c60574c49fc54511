//! Notices an agent that says nothing after its start.

use std::time::Duration;

use tokio::time::Instant;
use warren_domain::{Event, EventBody, SandboxStatus};

/// Slower starts are worth a word. Servers note them in the conversation, by default earlier: this is for those that do not.
pub(crate) const LIMIT: Duration = Duration::from_secs(45);

/// Watches the start of one run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    deadline: Option<Instant>,
    /// The agent has answered, or somebody was told that it has not.
    is_over: bool,
}

impl Watch {
    /// Takes an event of the run or of its session.
    pub(crate) fn see(&mut self, event: &Event, now: Instant) {
        match &event.body {
            _ if self.is_over => {}
            EventBody::RunStarted { .. } => self.deadline = Some(now + LIMIT),
            // The time of the sandbox is not the agent's.
            EventBody::SessionStatus { runtime } if self.deadline.is_some() => {
                let is_starting =
                    runtime.sandbox.as_ref().is_some_and(|sandbox| sandbox.status == SandboxStatus::Starting);
                self.deadline = Some(now + if is_starting { 4 * LIMIT } else { LIMIT });
            }
            EventBody::BlockStart { .. }
            | EventBody::BlockComplete { .. }
            | EventBody::TextDelta { .. }
            | EventBody::ModelCallStarted(_)
            | EventBody::ModelCalled(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::Retrying { .. }
            | EventBody::RunCompleted { .. }
            | EventBody::RunFailed { .. }
            | EventBody::RunInterrupted { .. } => *self = Self { deadline: None, is_over: true },
            _ => {}
        }
    }

    /// Waits until the agent has been silent for too long, once. Cancel-safe.
    pub(crate) async fn silence(&mut self) {
        let Some(deadline) = self.deadline else { return std::future::pending().await };
        tokio::time::sleep_until(deadline).await;
        *self = Self { deadline: None, is_over: true };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::time::Instant;
    use warren_domain::Event;

    use super::{LIMIT, Watch};

    fn event(body: Value) -> Event {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        let mut event = json!({"seq": 1, "sessionId": id, "runId": id, "conversationId": "main", "timestamp": "2026-01-01T00:00:00.000Z"});
        event.as_object_mut().expect("an object").extend(body.as_object().cloned().expect("an object"));
        serde_json::from_value(event).expect("an event")
    }

    #[test]
    fn silence_is_counted_from_the_start_of_the_agent_to_its_first_word() {
        let now = Instant::now();
        let mut watch = Watch::default();
        assert_eq!(watch.deadline, None, "nothing has started");
        watch.see(&event(json!({"type": "run_started", "input": "x", "baseVersion": 0})), now);
        assert_eq!(watch.deadline, Some(now + LIMIT));
        watch.see(&event(json!({"type": "text_delta", "blockId": "b", "delta": "hi"})), now);
        assert_eq!(watch.deadline, None, "it answered");
        watch.see(&event(json!({"type": "run_started", "input": "x", "baseVersion": 0})), now);
        assert_eq!(watch.deadline, None, "and that counts for the whole run");
    }
}
