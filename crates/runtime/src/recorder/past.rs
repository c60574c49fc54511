//! What was said before a session went back is history: nothing that is said later changes it.
//!
//! Some agents name what they say by its place in the conversation. One that is given back an older memory gives the
//! same names once more, to other blocks, and a fold would put them over those that are there.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use warren_domain::{BlockId, ConversationId, Draft, Event, EventBody, Head, VersionCause};

/// Which blocks a log has, and from which stretch of it.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// How often what the agent remembers became something else than what was said last.
    n_returns: u32,
    /// The stretch each block is of, by a hash of its thread and its id: all of a session's ids would be much to keep.
    blocks: HashMap<u64, u32>,
}

impl Past {
    /// Folds one entry. `head` is that of the session before it.
    pub(super) fn apply(&mut self, event: &Event, head: Head) {
        match &event.body {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.blocks.entry(key(&event.conversation_id, block.id())).or_insert(self.n_returns);
            }
            EventBody::VersionCommitted { cause: VersionCause::Restore | VersionCause::Fork, .. } => {
                self.n_returns += 1;
            }
            // Every run starts from exactly a version: what an earlier one left in none was given up.
            EventBody::RunStarted { .. } if head == Head::Cut => self.n_returns += 1,
            _ => {}
        }
    }

    /// Gives what is said now a name of its own, if its name is one of the past's.
    pub(super) fn keep(&self, draft: &mut Draft) {
        let thread = &draft.conversation_id;
        match &mut draft.body {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.rename(thread, block.id_mut());
            }
            EventBody::TextDelta { block_id, .. }
            | EventBody::BlockUpdate { block_id, .. }
            | EventBody::BlockDiscarded { block_id, .. } => self.rename(thread, block_id),
            _ => {}
        }
    }

    fn rename(&self, thread: &ConversationId, id: &mut BlockId) {
        let of = self.blocks.get(&key(thread, id)).copied();
        if of.is_some_and(|stretch| stretch < self.n_returns) {
            *id = BlockId(format!("{}~{}", id.0, self.n_returns));
        }
    }
}

fn key(thread: &ConversationId, id: &BlockId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (thread.as_str(), id.0.as_str()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::{Conversations, Draft, Head, Seq, SessionId, Timestamp};

    use super::Past;

    /// A log that is written as a session's is, and what it says in the end.
    fn said(lines: &[(Head, Value)]) -> Vec<(String, String)> {
        let (mut past, mut all) = (Past::default(), Conversations::default());
        for (head, line) in lines {
            let mut draft: Draft = serde_json::from_value(line.clone()).expect("a draft");
            past.keep(&mut draft);
            let event = draft.numbered(Seq(1), SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0));
            past.apply(&event, *head);
            all.apply(&event);
        }
        let text = |block| serde_json::to_value(block).expect("JSON");
        let told =
            |block: Value| [&block["id"], &block["content"]].map(|it| it.as_str().expect("text").to_owned());
        all.main().iter().map(|block| told(text(block)).into()).collect()
    }

    fn text(of: &str, id: &str, content: &str) -> (Head, Value) {
        let at = "2026-01-01T00:00:00.000Z";
        let block = json!({"type":"assistant_text","id":id,"timestamp":at,"content":content});
        (Head::Clean, json!({"type":of,"block":block}))
    }

    fn delta(id: &str, delta: &str) -> (Head, Value) {
        (Head::Clean, json!({"type":"text_delta","blockId":id,"delta":delta}))
    }

    fn committed(cause: &str) -> (Head, Value) {
        let files = json!({"added":0,"changed":0,"removed":0});
        (
            Head::Clean,
            json!({"type":"version_committed","version":2,"base":1,"cause":cause,"files":files,"blocks":1}),
        )
    }

    fn started(head: Head) -> (Head, Value) {
        (head, json!({"type":"run_started","input":"x","baseVersion":1}))
    }

    fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
        expect.iter().map(|(id, content)| ((*id).to_owned(), (*content).to_owned())).collect()
    }

    #[test]
    fn what_is_said_after_going_back_stands_beside_what_was_said_before_under_the_same_name() {
        for back in [committed("restore"), committed("fork"), started(Head::Cut)] {
            let before = [text("block_start", "p2", ""), delta("p2", "first"), back.clone()];
            let after = [text("block_start", "p2", ""), delta("p2", "sec"), delta("p2", "ond")];
            let again = [back.clone(), text("block_complete", "p2", "third")];
            let all: Vec<_> = before.into_iter().chain(after).chain(again).collect();
            assert_eq!(
                said(&all),
                pairs(&[("p2", "first"), ("p2~1", "second"), ("p2~2", "third")]),
                "{back:?}"
            );
        }
    }

    #[test]
    fn what_is_said_of_a_block_goes_on_over_runs_and_versions_as_long_as_nobody_goes_back() {
        let all = [
            text("block_start", "p1", "one"),
            committed("run"),
            started(Head::Clean),
            started(Head::Touched),
            committed("recovered"),
            delta("p1", " more"),
            text("block_complete", "p2", "two"),
        ];
        assert_eq!(said(&all), pairs(&[("p1", "one more"), ("p2", "two")]));
    }
}
