//! What one source has and the other cannot have, by rule.

use serde_json::Value;
use warren_domain::{Block, BlockStatus, Timestamp};

use super::recording::Recording;

/// A chat holds no errors; nothing of what was being said or called when a process was stopped; and no prompt that
/// the model refused.
pub(super) fn is_only_printed(block: &Block, recording: &Recording) -> bool {
    match block {
        Block::Error { .. } => true,
        Block::ToolUse { status, .. } | Block::Subagent { status, .. } => {
            matches!(status, BlockStatus::Pending | BlockStatus::Running)
        }
        Block::AssistantText { .. } => recording.has_unfinished_run(),
        Block::UserMessage { .. } => recording.has_unfinished_run(),
        _ => false,
    }
}

/// An attempt that broke off in the middle stays printed before the one that did not.
pub(super) fn without_broken_attempts(printed: &mut [Value], written: &[Value]) {
    for (printed, written) in printed.iter_mut().zip(written) {
        let (text, kept) = (printed["content"].as_str(), written["content"].as_str());
        if text.zip(kept).is_some_and(|(text, kept)| text.len() > kept.len() && text.ends_with(kept)) {
            printed["content"] = written["content"].clone();
        }
    }
}

/// Whose call was never answered has no name in the chats, and when it ended is not known.
pub(super) fn without_names_of_unanswered_calls(blocks: &[Block]) -> Vec<Block> {
    let mut blocks = blocks.to_vec();
    let is_unanswered = blocks
        .last()
        .is_some_and(|block| matches!(block, Block::System { message, .. } if message.ends_with(" failed")));
    for block in blocks.iter_mut().filter(|_| is_unanswered) {
        if let Block::System { message, timestamp, .. } = block {
            *message = message.replace(" generalist", "");
            *timestamp = Timestamp::default();
        }
    }
    blocks
}

/// Stdout knows no thoughts and no summaries.
pub(super) fn is_only_written(block: &Block) -> bool {
    matches!(block, Block::Thinking { .. } | Block::System { .. })
}

/// Stdout prints a line a moment after, or before, the file gets it; of answers it shows what a screen would; of
/// subagents it knows neither the thread nor the report; and with `auto` it does not say which model spoke.
pub(super) fn as_stdout_has_it(block: &Block) -> Value {
    let mut value = serde_json::to_value(block).expect("JSON");
    let fields = value.as_object_mut().expect("an object");
    for name in ["timestamp", "output", "renderOutputAsMarkdown", "subagentId", "model"] {
        fields.remove(name);
    }
    let is_of_shell = value["toolUseId"].as_str().is_some_and(|id| id.starts_with("run_shell_command"));
    if let (true, Some(fields)) = (is_of_shell, value.as_object_mut()) {
        // A command that failed is a success to stdout.
        fields.retain(|name, _| !["status", "isError"].contains(&name.as_str()));
    }
    as_the_file_has_it(&mut value);
    value
}

/// Newer versions leave invisible characters and HTML comments out of what they write down.
pub(super) fn as_the_file_has_it(block: &mut Value) {
    if block["type"] != "assistant_text" {
        return;
    }
    let invisible = |c: &char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{FEFF}');
    let mut text: String =
        block["content"].as_str().expect("a text").chars().filter(|c| !invisible(c)).collect();
    while let Some((before, (_, after))) =
        text.split_once("<!--").and_then(|(before, rest)| Some((before, rest.split_once("-->")?)))
    {
        text = format!("{before}{after}");
    }
    block["content"] = text.trim().into();
}
