//! How a subagent's thread opens and closes, in the same words whichever agent runs it.

use serde_json::Value;
use warren_domain::{
    Block, BlockId, BlockStatus, Content, ConversationId, Draft, EventBody, SubagentStarted, SystemSubtype,
    Timestamp, Usage,
};

/// A subagent's thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubagentThread {
    /// The thread.
    pub(crate) thread: ConversationId,
    /// The kind of subagent, or what else the agent calls it.
    pub(crate) name: Option<String>,
    /// The task it was given.
    pub(crate) task: String,
    /// The tool call that made it.
    pub(crate) tool_use_id: Option<String>,
    /// The thread that called it.
    pub(crate) parent: ConversationId,
}

impl SubagentThread {
    /// What opens the thread: the event, a system block and the task.
    pub(crate) fn opened(&self, at: Timestamp) -> [Draft; 3] {
        let start = SubagentStarted {
            subagent_id: self.thread.0.clone(),
            name: self.name.clone(),
            input: Value::String(self.task.clone()),
            tool_use_id: self.tool_use_id.clone(),
            parent: self.parent.clone(),
        };
        let task = Block::UserMessage {
            id: BlockId(format!("{}-task", self.thread)),
            timestamp: at,
            content: Content::Text(self.task.clone()),
        };
        [
            self.draft(EventBody::SubagentStarted(start)),
            self.said("start", SystemSubtype::SessionStart, "started", at),
            self.draft(EventBody::BlockComplete { block: task }),
        ]
    }

    /// What closes it. `report` is what it told its caller.
    pub(crate) fn closed(
        &self,
        status: BlockStatus,
        report: Option<&str>,
        usage: Option<Usage>,
        at: Timestamp,
    ) -> [Draft; 2] {
        let word = if status == BlockStatus::Success { "completed" } else { "failed" };
        let completed = EventBody::SubagentCompleted {
            subagent_id: self.thread.0.clone(),
            status,
            output: report.map(|text| Value::String(text.to_owned())),
            usage,
        };
        [self.said("end", SystemSubtype::SessionEnd, word, at), self.draft(completed)]
    }

    fn said(&self, suffix: &str, subtype: SystemSubtype, word: &str, at: Timestamp) -> Draft {
        let message = match &self.name {
            Some(name) => format!("Subagent {name} {word}"),
            None => format!("Subagent {word}"),
        };
        let id = BlockId(format!("{}-{suffix}", self.thread));
        let block = Block::System { id, timestamp: at, subtype, message, metadata: None };
        self.draft(EventBody::BlockComplete { block })
    }

    fn draft(&self, body: EventBody) -> Draft {
        Draft::of_session(body).within(self.thread.clone())
    }
}
