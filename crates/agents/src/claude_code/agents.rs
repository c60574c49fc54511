//! What comes of the calls that start subagents.

use serde_json::Value;
use warren_domain::{Block, BlockStatus};

use super::{
    blocks::{ToolAnswer, plain},
    native::AgentReport,
    scan::read,
};

/// What the answer to such a call says.
pub(super) struct AgentAnswer {
    /// The subagent's own name, if the answer tells it.
    pub(super) agent_id: Option<String>,
    pub(super) fate: Fate,
}

/// What became of a subagent.
pub(super) enum Fate {
    /// It works on in the background.
    Working,
    /// It ended.
    Ended(Ending),
    /// It was killed together with the process.
    Cut,
}

/// How a subagent ended.
pub(super) struct Ending {
    pub(super) status: BlockStatus,
    pub(super) output: Option<Value>,
    pub(super) duration_ms: Option<u64>,
}

/// Reads the answer and what is said beside it.
pub(super) fn agent_answer(answer: ToolAnswer, beside: Option<&[u8]>) -> AgentAnswer {
    let report: AgentReport = beside.and_then(read).unwrap_or_default();
    let is_working = report.status.as_deref().is_some_and(|status| status.ends_with("_launched"));
    let fate = if answer.is_of_cut_call() {
        Fate::Cut
    } else if is_working {
        Fate::Working
    } else {
        Fate::Ended(Ending {
            status: answer.status(),
            output: Some(reported(if report.content.is_array() { report.content } else { answer.output })),
            duration_ms: report.total_duration_ms,
        })
    };
    AgentAnswer { agent_id: report.agent_id, fate }
}

/// Whether what is said beside an answer is of a subagent.
pub(super) fn is_of_subagent(beside: Option<&[u8]>) -> bool {
    beside.and_then(read::<AgentReport>).is_some_and(|report| report.agent_id.is_some())
}

/// The report itself, out of what is wrapped around it for the model that asked.
fn reported(content: Value) -> Value {
    let texts: Vec<&str> = match &content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => Vec::new(),
    };
    let is_report = |text: &&str| !NOTES.iter().any(|note| text.starts_with(note));
    let texts: Vec<String> = texts.into_iter().filter(is_report).map(unwrapped).collect();
    if texts.is_empty() { plain(content) } else { Value::String(texts.join("\n")) }
}

/// Texts beside a report that are for the model.
const NOTES: [&str; 2] = ["<tools-used-before-summary>", "agentId: "];

/// The lines between the frame's end and the note on how to go on, each without its indent.
fn unwrapped(text: &str) -> String {
    let framed = text.split_once("[Subagent hand-back]").and_then(|(_, rest)| rest.split_once(" follows:\n"));
    let Some((_, report)) = framed else { return text.to_owned() };
    let report = report.rsplit_once("\nagentId: ").map_or(report, |(report, _)| report);
    let lines: Vec<&str> = report.split('\n').map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// Puts the ending into the block that stands for the subagent.
pub(super) fn end_block(block: &mut Block, ending: &Ending) {
    if let Block::Subagent { status, output, duration_ms, .. } = block {
        *status = ending.status;
        output.clone_from(&ending.output);
        *duration_ms = ending.duration_ms;
    }
}

/// The first version whose output names the subagent before it speaks; before that only the call is named.
const NAMES_AGENTS_SINCE: [u32; 3] = [2, 1, 51];

/// Whether the output of this version names subagents. What has no version is older than versions.
pub(super) fn names_agents(version: Option<&str>) -> bool {
    let Some(version) = version else { return false };
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(u32::MAX));
    let version: [u32; 3] = std::array::from_fn(|_| numbers.next().unwrap_or(0));
    version >= NAMES_AGENTS_SINCE
}

#[cfg(test)]
mod tests {
    use super::names_agents;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let versions =
            [None, Some("2.1.9"), Some("2.1.50"), Some("2.1.51"), Some("2.1.325"), Some("2.10.0-beta")];
        assert_eq!(versions.map(names_agents), [false, false, false, true, true, true]);
    }
}
