//! What was said before a session went back is history: nothing that is said later changes it.
//!
//! Some agents name what they say by its place in the conversation. One that is given back an older memory gives the
//! same names once more, to other blocks, and a fold would put them over those that are there.

use std::collections::HashMap;

use warren_domain::{BlockId, Draft, Event, EventBody, Head, Returns, Seq, SessionId, View, block_key};

use super::RecordError;
use crate::views::{self, Source, TRIES};

/// Which blocks a log has, and since when.
#[derive(Debug, Default)]
pub(super) struct Past {
    returns: Returns,
    /// The first entry of each block that the session's view may not have yet, or that was looked up there, by key.
    recent: HashMap<String, Seq>,
    /// What the view has up to here is not in `recent`.
    base: Seq,
}

impl Past {
    /// The past of a session whose checkpoint is at `base`.
    pub(super) fn of(view: &View, base: Seq) -> Self {
        let recent = view.changes().map(|(key, item)| (key.to_owned(), item.first)).collect();
        Self { returns: view.state.returns, recent, base }
    }

    /// Folds one entry. `head` is that of the session before it.
    pub(super) fn apply(&mut self, event: &Event, head: Head) {
        self.returns.apply(event, head);
        if let EventBody::BlockStart { block } | EventBody::BlockComplete { block } = &event.body {
            self.recent.entry(block_key(&event.conversation_id, block.id())).or_insert(event.seq);
        }
    }

    /// The view has everything up to `base` by now.
    pub(super) fn forget(&mut self, base: Seq) {
        self.base = base;
        self.recent.retain(|_, first| *first > base);
    }

    /// Gives what is said now a name of its own, if its name is one of the past's.
    pub(super) async fn keep(
        &mut self,
        draft: &mut Draft,
        parts: Source<'_>,
        session: SessionId,
    ) -> Result<(), RecordError> {
        // Nothing is of the past as long as nobody went back.
        if self.returns.count == 0 {
            return Ok(());
        }
        let Some(id) = block_id(&mut draft.body) else { return Ok(()) };
        let key = block_key(&draft.conversation_id, id);
        if !self.recent.contains_key(&key)
            && let Some(first) = self.look_up(&key, parts, session).await?
        {
            self.recent.insert(key.clone(), first);
        }
        self.rename(&key, id);
        Ok(())
    }

    fn rename(&self, key: &str, id: &mut BlockId) {
        if self.recent.get(key).is_some_and(|first| *first < self.returns.last) {
            *id = BlockId(format!("{}~{}", id.0, self.returns.count));
        }
    }

    /// The first entry of a block that is not a recent one.
    async fn look_up(
        &self,
        key: &str,
        parts: Source<'_>,
        session: SessionId,
    ) -> Result<Option<Seq>, RecordError> {
        for _ in 0..TRIES {
            let checkpoint = parts.store.views.checkpoint(session).await.map_err(RecordError::Read)?;
            let at = checkpoint.map_or(Seq(0), |checkpoint| checkpoint.seq);
            if at < self.base {
                // It was dropped: made again, it has all that it had.
                let current = views::current(parts, session).await?;
                if let Some(found) = current.item(parts, key).await? {
                    return Ok(found.map(|item| item.first));
                }
            } else if at == Seq(0) {
                return Ok(None);
            } else {
                let found = parts.store.views.view_items(session, at, &[key.to_owned()]).await;
                if let Some(found) = found.map_err(RecordError::Read)? {
                    return Ok(found.first().map(|item| item.first));
                }
            }
        }
        Err(RecordError::Restless(session))
    }
}

/// The block an event names.
fn block_id(body: &mut EventBody) -> Option<&mut BlockId> {
    match body {
        EventBody::BlockStart { block } | EventBody::BlockComplete { block } => Some(block.id_mut()),
        EventBody::TextDelta { block_id, .. }
        | EventBody::BlockUpdate { block_id, .. }
        | EventBody::BlockDiscarded { block_id, .. } => Some(block_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::{Conversations, Draft, Head, Seq, SessionId, Timestamp, block_key};

    use super::{Past, block_id};

    /// A log that is written as a session's is, and what it says in the end.
    fn said(lines: &[(Head, Value)]) -> Vec<(String, String)> {
        let (mut past, mut all) = (Past::default(), Conversations::default());
        let mut seq = Seq(0);
        for (head, line) in lines {
            let mut draft: Draft = serde_json::from_value(line.clone()).expect("a draft");
            if let Some(id) = block_id(&mut draft.body) {
                let key = block_key(&draft.conversation_id, id);
                past.rename(&key, id);
            }
            seq = seq.next();
            let event = draft.numbered(seq, SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0));
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
