//! Blocks as this agent writes them.

use serde_json::{Map, Value, json};
use warren_domain::{Block, BlockId, BlockStatus, EventBody, SystemSubtype};

use super::clock::now;

/// The block of a call's result.
pub(super) fn result_id(tool_use_id: &str) -> BlockId {
    BlockId(format!("{tool_use_id}-result"))
}

/// A tool's result, with as much of its output as there is.
pub(super) fn tool_result(
    tool_use_id: &str,
    output: String,
    is_error: bool,
    duration_ms: Option<u64>,
) -> Block {
    Block::ToolResult {
        id: result_id(tool_use_id),
        timestamp: now(),
        tool_use_id: tool_use_id.to_owned(),
        output: Value::String(output),
        is_error,
        duration_ms,
        render_output_as_markdown: None,
    }
}

/// Something the system says about a thread.
pub(super) fn system(id: String, subtype: SystemSubtype, message: String) -> Block {
    Block::System { id: BlockId(id), timestamp: now(), subtype, message, metadata: None }
}

/// Changes how far a call is.
pub(super) fn status_update(block_id: &BlockId, status: BlockStatus) -> EventBody {
    update(block_id, json!({ "status": status }))
}

/// Changes fields of a block.
pub(super) fn update(block_id: &BlockId, updates: Value) -> EventBody {
    let updates = match updates {
        Value::Object(updates) => updates,
        _ => Map::new(),
    };
    EventBody::BlockUpdate { block_id: block_id.clone(), updates }
}

/// The same call or subagent, ended.
pub(super) fn ended(block: &Block, ended_as: BlockStatus) -> Block {
    let mut block = block.clone();
    if let Block::ToolUse { status, .. } | Block::Subagent { status, .. } = &mut block {
        *status = ended_as;
    }
    block
}
