//! What the app server's notices and errors mean.

use serde_json::Value;
use warren_domain::ErrorCode;

use super::scribe::Growing;
use crate::fields::number;

/// What grows by a notification.
pub(super) fn growing(method: &str, params: &Value) -> Option<Growing> {
    Some(match method {
        "item/agentMessage/delta" | "item/plan/delta" => Growing::Text,
        "item/reasoning/summaryTextDelta" => Growing::Thinking(number(params, "summaryIndex")),
        "item/reasoning/textDelta" => Growing::Thinking(0),
        "item/commandExecution/outputDelta" => Growing::Output,
        _ => return None,
    })
}

/// Whether a notification is known to say nothing about the conversation.
pub(super) fn is_silent(method: &str) -> bool {
    const TOPICS: &str = "account app authStatusChange autoApprovalReview codex command configWarning deprecationNotice \
        externalAgentConfig fs fuzzyFileSearch hook mcpServer model modelProvider process project rawResponse \
        rawResponseItem remoteControl sessionConfigured skills thread warning windows windowsSandbox";
    const METHODS: &str = "item/reasoning/summaryPartAdded item/commandExecution/terminalInteraction \
        item/fileChange/outputDelta item/fileChange/patchUpdated item/mcpToolCall/progress \
        item/autoApprovalReview/started item/autoApprovalReview/completed turn/diff/updated \
        turn/moderationMetadata";
    let among = |list: &str, name: &str| list.split_whitespace().any(|known| known == name);
    among(TOPICS, method.split('/').next().unwrap_or_default()) || among(METHODS, method)
}

/// How often it was tried, by `Reconnecting... 2/5`.
pub(super) fn attempt(message: &str) -> u32 {
    let digits = message.split("... ").nth(1).and_then(|rest| rest.split('/').next());
    digits.and_then(|digits| digits.trim().parse().ok()).unwrap_or(1)
}

/// What kind of failure Codex tells of. Nearly all are the provider's.
pub(super) fn code(info: Option<&Value>) -> ErrorCode {
    match info.and_then(Value::as_str) {
        Some("sandboxError" | "threadRollbackFailed") => ErrorCode::AgentError,
        _ => ErrorCode::LlmError,
    }
}
