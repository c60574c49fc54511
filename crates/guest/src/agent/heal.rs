//! Closes what a killed process left open, so that the thread can go on.

use std::io;

use warren_domain::{Block, BlockStatus, ConversationId, Conversations, EventBody};

use super::{
    block,
    history::NO_RESULT,
    session::Agent,
    subagent::{close_cut_thread, with_report},
    thread::Thread,
};

impl Agent {
    /// Ends every call of the thread that has no result, with its subagents' threads.
    pub(super) fn heal(&self, thread: &Thread, kept: &Conversations) -> io::Result<()> {
        for open in kept.main().iter().filter(|block| block.cut_short().is_some()) {
            match open {
                Block::Subagent { subagent_id, name, .. } => {
                    self.heal_subagent(
                        &ConversationId(subagent_id.clone()),
                        name.as_deref().unwrap_or_default(),
                    )?;
                    let block =
                        with_report(block::ended(open, BlockStatus::Error), NO_RESULT.to_owned(), None);
                    thread.record(EventBody::BlockComplete { block });
                }
                Block::ToolUse { tool_use_id, .. } => close_call(thread, open, tool_use_id, NO_RESULT, kept),
                _ => {}
            }
        }
        Ok(())
    }

    fn heal_subagent(&self, id: &ConversationId, name: &str) -> io::Result<()> {
        let (thread, kept) = self.open_thread(id)?;
        self.heal(&thread, &kept)?;
        let is_begun = !kept.main().is_empty();
        let is_closed = thread.has(&format!("{id}-end"));
        if is_begun && !is_closed {
            close_cut_thread(&thread, name, NO_RESULT);
        }
        Ok(())
    }
}

/// Ends a call, with a result unless it has one.
fn close_call(thread: &Thread, call: &Block, tool_use_id: &str, reason: &str, kept: &Conversations) {
    let result = block::tool_result(tool_use_id, reason.to_owned(), true, None);
    let answered = kept.main().iter().find(|block| block.id() == result.id());
    let failed = match answered {
        Some(Block::ToolResult { is_error, .. }) => *is_error,
        _ => {
            thread.record(EventBody::BlockComplete { block: result });
            true
        }
    };
    let status = if failed { BlockStatus::Error } else { BlockStatus::Success };
    thread.record(EventBody::BlockComplete { block: block::ended(call, status) });
}
