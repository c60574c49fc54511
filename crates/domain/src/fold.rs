//! Blocks, as the fold of a log.

use std::collections::HashMap;

use crate::{Block, BlockId, ConversationId, Draft, Event, EventBody};

/// All threads of a session, folded from its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversations {
    main: Conversation,
    /// In the order in which they opened.
    subagents: Vec<(ConversationId, Conversation)>,
    places: HashMap<ConversationId, usize>,
}

/// One thread: its blocks in the order in which they began.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    blocks: Vec<Block>,
    places: HashMap<BlockId, usize>,
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        self.blocks == other.blocks
    }
}

impl Conversations {
    /// Threads that are known whole: what folding their blocks one by one would give, without a copy of each. Of
    /// blocks with one id the last counts, at the place of the first.
    #[must_use]
    pub fn of_threads(main: Vec<Block>, subagents: Vec<(ConversationId, Vec<Block>)>) -> Self {
        let mut all = Self { main: Conversation::of_blocks(main), ..Self::default() };
        for (id, blocks) in subagents {
            *all.thread(&id) = Conversation::of_blocks(blocks);
        }
        all
    }

    /// Folds one entry. Entries that say nothing about blocks change nothing.
    pub fn apply(&mut self, event: &Event) {
        self.apply_body(&event.conversation_id, &event.body);
    }

    /// Folds what is about to be recorded.
    pub fn apply_draft(&mut self, draft: &Draft) {
        self.apply_body(&draft.conversation_id, &draft.body);
    }

    /// The session's own thread.
    #[must_use]
    pub fn main(&self) -> &[Block] {
        &self.main.blocks
    }

    /// Subagents' threads, in the order in which they opened.
    pub fn subagents(&self) -> impl Iterator<Item = (&ConversationId, &[Block])> {
        self.subagents.iter().map(|(id, thread)| (id, thread.blocks.as_slice()))
    }

    fn apply_body(&mut self, conversation: &ConversationId, body: &EventBody) {
        match body {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
                self.thread(conversation).put(block.clone());
            }
            EventBody::TextDelta { block_id, delta } => {
                if let Some(block) = self.thread(conversation).get_mut(block_id) {
                    block.grow(delta);
                }
            }
            EventBody::BlockUpdate { block_id, updates } => {
                if let Some(block) = self.thread(conversation).get_mut(block_id)
                    && let Some(updated) = block.updated(updates)
                {
                    *block = updated;
                }
            }
            EventBody::BlockDiscarded { block_id, .. } => self.thread(conversation).remove(block_id),
            EventBody::SubagentStarted(_) => {
                self.thread(conversation);
            }
            EventBody::SessionCreated { .. }
            | EventBody::SessionUpdated { .. }
            | EventBody::SessionStatus { .. }
            | EventBody::SessionEnded { .. }
            | EventBody::RunQueued { .. }
            | EventBody::RunStarted { .. }
            | EventBody::MetadataUpdate { .. }
            | EventBody::ModelCallStarted(_)
            | EventBody::ModelCalled(_)
            | EventBody::Retrying { .. }
            | EventBody::ApprovalRequested(_)
            | EventBody::ApprovalResolved(_)
            | EventBody::ApprovalRuleWithdrawn { .. }
            | EventBody::EgressDecided { .. }
            | EventBody::LimitReached { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::SubagentCompleted { .. }
            | EventBody::FileChanged { .. }
            | EventBody::ArtifactCreated { .. }
            | EventBody::ArtifactUpdated { .. }
            | EventBody::ArtifactDeleted { .. }
            | EventBody::PortOpened { .. }
            | EventBody::PortClosed { .. }
            | EventBody::RunCompleted { .. }
            | EventBody::RunFailed { .. }
            | EventBody::RunInterrupted { .. }
            | EventBody::VersionCommitted { .. }
            | EventBody::LogCompacted { .. }
            | EventBody::Unrecognized { .. } => {}
        }
    }

    fn thread(&mut self, id: &ConversationId) -> &mut Conversation {
        if id.is_main() {
            return &mut self.main;
        }
        let place = self.places.get(id).copied().unwrap_or_else(|| {
            self.places.insert(id.clone(), self.subagents.len());
            self.subagents.push((id.clone(), Conversation::default()));
            self.subagents.len() - 1
        });
        &mut self.subagents[place].1
    }
}

impl Conversation {
    fn of_blocks(blocks: Vec<Block>) -> Self {
        let mut thread =
            Self { blocks: Vec::with_capacity(blocks.len()), places: HashMap::with_capacity(blocks.len()) };
        blocks.into_iter().for_each(|block| thread.put(block));
        thread
    }

    fn put(&mut self, block: Block) {
        match self.places.get(block.id()) {
            Some(place) => self.blocks[*place] = block,
            None => {
                self.places.insert(block.id().clone(), self.blocks.len());
                self.blocks.push(block);
            }
        }
    }

    fn get_mut(&mut self, id: &BlockId) -> Option<&mut Block> {
        self.places.get(id).map(|place| &mut self.blocks[*place])
    }

    fn remove(&mut self, id: &BlockId) {
        let Some(place) = self.places.remove(id) else { return };
        self.blocks.remove(place);
        for later in self.places.values_mut().filter(|later| **later > place) {
            *later -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Conversations;
    use crate::Draft;

    fn folded(lines: &[serde_json::Value]) -> Conversations {
        let mut all = Conversations::default();
        for line in lines {
            all.apply_draft(&serde_json::from_value::<Draft>(line.clone()).expect("a draft"));
        }
        all
    }

    #[test]
    fn deltas_updates_and_discards_make_the_blocks_a_person_sees() {
        let at = "2026-01-01T00:00:00.000Z";
        let all = folded(&[
            json!({"type":"block_start","block":{"type":"assistant_text","id":"a","timestamp":at,"content":""}}),
            json!({"type":"text_delta","blockId":"a","delta":"Hel"}),
            json!({"type":"block_start","block":{"type":"thinking","id":"t","timestamp":at,"content":"no"}}),
            json!({"type":"text_delta","blockId":"a","delta":"lo"}),
            json!({"type":"block_start","block":{"type":"tool_use","id":"u","timestamp":at,"toolName":"bash","toolUseId":"u","input":{},"status":"pending"}}),
            json!({"type":"block_discarded","blockId":"t","reason":"abandoned"}),
            json!({"type":"block_update","blockId":"u","updates":{"status":"running","id":"evil"}}),
            json!({"type":"subagent_started","conversationId":"s1","subagentId":"s1","input":"x","parent":"main"}),
            json!({"type":"text_delta","blockId":"a","delta":"!","conversationId":"s1"}),
        ]);
        let blocks = serde_json::to_value(all.main()).expect("blocks are JSON");
        assert_eq!(
            blocks,
            json!([
                {"type":"assistant_text","id":"a","timestamp":at,"content":"Hello"},
                {"type":"tool_use","id":"u","timestamp":at,"toolName":"bash","toolUseId":"u","input":{},"status":"running"},
            ])
        );
        assert_eq!(all.subagents().map(|(id, b)| (id.as_str(), b.len())).collect::<Vec<_>>(), [("s1", 0)]);
    }
}
