//! The fold that finds calls to models whose end is not recorded.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, Draft, Event, EventBody, ModelCallStarted, RunId};

/// Calls that were started and have not ended, as the log says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenCalls(Vec<OpenCall>);

/// A call that was started and has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The run that made it. It may have ended since.
    pub run: RunId,
    /// The thread that made it.
    pub conversation: ConversationId,
    /// Its start.
    pub started: ModelCallStarted,
}

impl OpenCalls {
    /// Folds one entry.
    pub fn apply(&mut self, event: &Event) {
        match (&event.body, event.run_id) {
            (EventBody::ModelCallStarted(started), Some(run)) => {
                let (conversation, started) = (event.conversation_id.clone(), started.clone());
                self.0.push(OpenCall { run, conversation, started });
            }
            // By its id alone: a refused call has the same request, attempt and run as one in flight.
            (EventBody::ModelCalled(called), _) if called.call_id.is_some() => {
                self.0.retain(|open| Some(open.started.call_id) != called.call_id);
            }
            _ => {}
        }
    }

    /// The calls, oldest first.
    #[must_use]
    pub fn all(&self) -> &[OpenCall] {
        &self.0
    }

    /// Whether every call has ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl OpenCall {
    /// The entry that ends it if nobody saw its end.
    #[must_use]
    pub fn ended_unseen(self) -> Draft {
        let called = self.started.ended_unseen();
        Draft::of_run(self.run, EventBody::ModelCalled(called)).within(self.conversation)
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenCall, OpenCalls};
    use crate::{
        BlobHash, ConversationId, Draft, Event, EventBody, ModelCallId, ModelCallStarted, ModelCalled, RunId,
        Seq, SessionId, Timestamp,
    };

    const RUN: RunId = RunId(uuid::Uuid::from_u128(1));

    /// Every call has the same request: only ids tell them apart.
    fn start(n: u128) -> ModelCallStarted {
        ModelCallStarted {
            call_id: ModelCallId(uuid::Uuid::from_u128(n)),
            model: "m".to_owned(),
            request_hash: BlobHash("same".to_owned()),
            attempt: 1,
            max_tokens: 100,
            max_cost_usd: 0.25,
        }
    }

    fn end(n: u128) -> EventBody {
        EventBody::ModelCalled(ModelCalled { status: 200, ..start(n).ended_unseen() })
    }

    fn refused() -> EventBody {
        EventBody::ModelCalled(ModelCalled { call_id: None, status: 429, ..start(0).ended_unseen() })
    }

    fn event(body: EventBody) -> Event {
        let (session, at) = (SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0));
        Draft::of_run(RUN, body).within(ConversationId::from("t")).numbered(Seq(1), session, at)
    }

    fn open(bodies: Vec<EventBody>) -> OpenCalls {
        let mut calls = OpenCalls::default();
        bodies.into_iter().for_each(|body| calls.apply(&event(body)));
        calls
    }

    fn ids(calls: &OpenCalls) -> Vec<u128> {
        calls.all().iter().map(|open| open.started.call_id.0.as_u128()).collect()
    }

    #[test]
    fn calls_without_an_end_are_open_in_the_order_of_their_start() {
        let started = |n| EventBody::ModelCallStarted(start(n));
        assert_eq!(ids(&open(vec![started(1), started(2), started(3), end(2)])), [1, 3]);
        assert!(open(vec![started(1), started(2), end(2), end(1)]).is_empty());
    }

    #[test]
    fn refused_call_with_the_same_request_does_not_end_a_call_in_flight() {
        assert_eq!(ids(&open(vec![EventBody::ModelCallStarted(start(1)), refused()])), [1]);
    }

    #[test]
    fn end_without_a_start_changes_nothing() {
        assert!(open(vec![end(1), refused()]).is_empty());
    }

    #[test]
    fn unseen_end_settles_the_call_once_with_all_it_can_have_used() {
        let mut calls = open(vec![EventBody::ModelCallStarted(start(1))]);
        let draft = calls.all()[0].clone().ended_unseen();
        assert_eq!((draft.run_id, draft.conversation_id.as_str()), (Some(RUN), "t"));
        let EventBody::ModelCalled(called) = &draft.body else { panic!("{draft:?}") };
        assert!(called.is_ended_unseen());
        assert_eq!((called.usage.estimated_tokens, called.usage.total_tokens), (100, 100));
        assert_eq!((called.cost_usd, called.usage.cost_usd), (0.25, 0.25));
        calls.apply(&event(draft.body));
        assert!(calls.is_empty());
    }

    #[test]
    fn open_calls_read_back_as_they_were_written() {
        let calls = open(vec![EventBody::ModelCallStarted(start(1))]);
        let text = serde_json::to_string(&calls).expect("JSON");
        assert_eq!(serde_json::from_str::<OpenCalls>(&text).expect("reads back"), calls);
        let _: &[OpenCall] = calls.all();
    }
}
