//! How a subagent's thread opens and closes, in the same words whichever agent runs it.

use serde_json::Value;
use warren_domain::{
    Block, BlockId, BlockStatus, Content, ConversationId, Draft, EventBody, SubagentStarted, SystemSubtype,
    Timestamp, Usage,
};

/// A subagent's thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Thread {
    /// Its name in the log.
    pub(crate) id: ConversationId,
    /// The kind of subagent, or what else the agent calls it.
    pub(crate) name: Option<String>,
}

impl Thread {
    /// The first block: the thread begins.
    pub(crate) fn start(&self, at: Timestamp) -> Block {
        self.said("start", SystemSubtype::SessionStart, "started", at)
    }

    /// The second block: what it was told to do.
    pub(crate) fn task(&self, content: Content, at: Timestamp) -> Block {
        Block::UserMessage { id: self.task_id(), timestamp: at, content }
    }

    /// The name of the second block.
    pub(crate) fn task_id(&self) -> BlockId {
        BlockId(format!("{}-task", self.id))
    }

    /// The last block: the thread ended.
    pub(crate) fn end(&self, status: BlockStatus, at: Timestamp) -> Block {
        let word = if status == BlockStatus::Success { "completed" } else { "failed" };
        self.said("end", SystemSubtype::SessionEnd, word, at)
    }

    /// What to record when it opens: `call` is the tool call that made it, `parent` the thread that called it.
    pub(crate) fn opened(
        &self,
        task: &str,
        call: Option<String>,
        parent: ConversationId,
        at: Timestamp,
    ) -> [Draft; 3] {
        let started = SubagentStarted {
            subagent_id: self.id.0.clone(),
            name: self.name.clone(),
            input: Value::String(task.to_owned()),
            tool_use_id: call,
            parent,
        };
        [
            self.draft(EventBody::SubagentStarted(started)),
            self.draft(EventBody::BlockComplete { block: self.start(at) }),
            self.draft(EventBody::BlockComplete { block: self.task(Content::Text(task.to_owned()), at) }),
        ]
    }

    /// What to record when it closes. `output` is what it told its caller.
    pub(crate) fn closed(
        &self,
        status: BlockStatus,
        output: Option<Value>,
        usage: Option<Usage>,
        at: Timestamp,
    ) -> [Draft; 2] {
        let completed =
            EventBody::SubagentCompleted { subagent_id: self.id.0.clone(), status, output, usage };
        [self.draft(EventBody::BlockComplete { block: self.end(status, at) }), self.draft(completed)]
    }

    fn said(&self, suffix: &str, subtype: SystemSubtype, word: &str, at: Timestamp) -> Block {
        let message = match &self.name {
            Some(name) => format!("Subagent {name} {word}"),
            None => format!("Subagent {word}"),
        };
        let id = BlockId(format!("{}-{suffix}", self.id));
        Block::System { id, timestamp: at, subtype, message, metadata: None }
    }

    fn draft(&self, body: EventBody) -> Draft {
        Draft::of_session(body).within(self.id.clone())
    }
}
