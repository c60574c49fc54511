//! Calls of a run that began and did not end yet.

use crate::{Block, BlockId, ConversationId, Draft, EventBody, RunId};

/// More calls than this are never under way at once, unless an agent means harm; those beyond are not closed for it.
const MAX_OPEN: usize = 1_024;

/// Tool calls and subagents that are under way, in the order in which they began. Nothing of what was said is kept, so it
/// stays small however much a run says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenBlocks(Vec<(ConversationId, Block)>);

impl OpenBlocks {
    /// Folds one entry. Entries that open or close no call change nothing.
    pub fn apply(&mut self, conversation: &ConversationId, body: &EventBody) {
        match body {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.put(conversation, block.clone());
            }
            EventBody::BlockUpdate { block_id, updates } => {
                let open = self.place(conversation, block_id).map(|place| &self.0[place].1);
                if let Some(updated) = open.and_then(|block| block.updated(updates)) {
                    self.put(conversation, updated);
                }
            }
            EventBody::BlockDiscarded { block_id, .. } => {
                self.place(conversation, block_id).map(|place| self.0.remove(place));
            }
            _ => {}
        }
    }

    /// What to record when whoever was writing is gone: all that is still open ends as an error, the innermost first.
    #[must_use]
    pub fn cut_short(&self, run: RunId) -> Vec<Draft> {
        let cut = self.0.iter().rev().filter_map(|(thread, block)| Some((thread, block.cut_short()?)));
        cut.map(|(thread, block)| {
            Draft::of_run(run, EventBody::BlockComplete { block }).within(thread.clone())
        })
        .collect()
    }

    fn put(&mut self, conversation: &ConversationId, block: Block) {
        let is_open = block.cut_short().is_some();
        match self.place(conversation, block.id()) {
            Some(place) if is_open => self.0[place].1 = block,
            Some(place) => drop(self.0.remove(place)),
            None if is_open && self.0.len() < MAX_OPEN => self.0.push((conversation.clone(), block)),
            None => {}
        }
    }

    fn place(&self, conversation: &ConversationId, id: &BlockId) -> Option<usize> {
        self.0.iter().position(|(thread, block)| block.id() == id && thread == conversation)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::OpenBlocks;
    use crate::{Draft, RunId};

    fn apply(open: &mut OpenBlocks, line: Value) {
        let draft: Draft = serde_json::from_value(line).expect("a draft");
        open.apply(&draft.conversation_id, &draft.body);
    }

    fn call(id: &str, status: &str) -> Value {
        json!({"type":"tool_use","id":id,"timestamp":"2026-01-01T00:00:00.000Z","toolName":"bash","toolUseId":id,"input":{},"status":status})
    }

    #[test]
    fn what_was_open_when_the_agent_died_ends_as_an_error() {
        let (mut open, run) = (OpenBlocks::default(), RunId(uuid::Uuid::nil()));
        for id in ["done", "updated", "discarded", "a", "b"] {
            apply(&mut open, json!({"type":"block_start","block":call(id, "running")}));
        }
        apply(&mut open, json!({"type":"block_complete","block":call("done", "success")}));
        apply(&mut open, json!({"type":"block_update","blockId":"updated","updates":{"status":"success"}}));
        apply(&mut open, json!({"type":"block_discarded","blockId":"discarded","reason":"retried"}));
        let cut = open.cut_short(run);
        let blocks: Vec<_> =
            cut.iter().map(|draft| serde_json::to_value(&draft.body).expect("JSON")).collect();
        let ended = |id| json!({"type":"block_complete","block":call(id, "error")});
        assert_eq!(blocks, [ended("b"), ended("a")]);
        cut.iter().for_each(|draft| open.apply(&draft.conversation_id, &draft.body));
        assert_eq!(open, OpenBlocks::default());
    }

    #[test]
    fn what_a_run_says_is_not_kept() {
        let mut open = OpenBlocks::default();
        let text =
            json!({"type":"assistant_text","id":"t","timestamp":"2026-01-01T00:00:00.000Z","content":"long"});
        apply(&mut open, json!({"type":"block_start","block":text}));
        apply(&mut open, json!({"type":"text_delta","blockId":"t","delta":"longer"}));
        assert_eq!(open, OpenBlocks::default());
    }
}
