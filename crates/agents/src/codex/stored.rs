//! Items as rollout files keep them: whole, after they ended.

use serde_json::{Value, json};

use super::{
    item::{Change, End, Item, Spawn, Tool, What, agent_states, collab, status_of, unknown},
    reported::{content, mcp_call, thinking, web_search},
    shell,
};
use crate::fields::{list, millis, number, present, text, texts};

/// The item of an `item_completed` event, or of the older events that each tell of one kind.
pub(super) fn item(event: &Value) -> Option<Item> {
    let started = millis(event, "started_at_ms");
    let completed = millis(event, "completed_at_ms");
    let item = event.get("item");
    let (id, what) = match (text(event, "type")?, item) {
        ("item_completed", Some(item)) => (text(item, "id")?, what(item)),
        ("exec_command_end", _) => (text(event, "call_id")?, What::Tool(command(event))),
        ("patch_apply_end", _) => (text(event, "call_id")?, What::Tool(patch(event))),
        ("web_search_end", _) => (text(event, "call_id")?, What::Tool(web_search(event, None))),
        ("mcp_tool_call_end", _) => (text(event, "call_id")?, What::Tool(mcp_end(event))),
        _ => return None,
    };
    Some(Item { id: id.to_owned(), started, completed, what })
}

fn what(item: &Value) -> What {
    let status = text(item, "status").unwrap_or("completed");
    match text(item, "type").unwrap_or_default() {
        "UserMessage" => What::User {
            client_id: text(item, "client_id").map(str::to_owned),
            content: content(list(item, "content")),
        },
        "AgentMessage" => {
            What::Text(list(item, "content").iter().filter_map(|part| text(part, "text")).collect())
        }
        "Plan" => What::Text(text(item, "text").unwrap_or_default().to_owned()),
        "Reasoning" => What::Thinking(thinking(&texts(item, "summary_text"), &texts(item, "raw_content"))),
        "CommandExecution" => What::Tool(command(item)),
        "FileChange" => What::Tool(patch(item)),
        "McpToolCall" => What::Tool(mcp_call(item, status, duration_ms(item))),
        "WebSearch" => What::Tool(web_search(item, None)),
        "CollabAgentToolCall" => collab_call(item, status),
        "ImageView" => What::Tool(unknown("ImageView", &json!({"path": image_path(item)}))),
        "EnteredReviewMode" => {
            What::Tool(unknown("EnteredReviewMode", &json!({"review": text(item, "user_facing_hint")})))
        }
        "ExitedReviewMode" => {
            let review = review(item.get("review_output").unwrap_or(&Value::Null));
            What::Tool(unknown("ExitedReviewMode", &json!({"review": review})))
        }
        "ContextCompaction" => What::Compaction,
        "SubAgentActivity" | "HookPrompt" => What::Nothing,
        kind => What::Tool(unknown(kind, item)),
    }
}

/// Where a picture is; some versions keep it as an address.
fn image_path(item: &Value) -> &str {
    let path = text(item, "path").unwrap_or_default();
    path.strip_prefix("file://").unwrap_or(path)
}

/// What a review found, in the words in which Codex shows it.
fn review(output: &Value) -> String {
    let said = text(output, "overall_explanation").unwrap_or_default().trim();
    let findings = list(output, "findings");
    let head = if findings.len() > 1 { "Full review comments:" } else { "Review comment:" };
    let listed = findings.iter().map(finding).collect::<Vec<_>>().join("\n\n");
    match (said.is_empty(), findings.is_empty()) {
        (true, true) => "Reviewer failed to output a response.".to_owned(),
        (false, true) => said.to_owned(),
        (true, false) => format!("{head}\n\n{listed}"),
        (false, false) => format!("{said}\n\n{head}\n\n{listed}"),
    }
}

fn finding(finding: &Value) -> String {
    let field = |name: &str| text(finding, name).unwrap_or_default();
    let place = finding.get("code_location").unwrap_or(&Value::Null);
    let lines = place.get("line_range").unwrap_or(&Value::Null);
    let path = text(place, "absolute_file_path").unwrap_or_default();
    let (start, end) = (number(lines, "start"), number(lines, "end"));
    let body: String = field("body").lines().map(|line| format!("\n  {line}")).collect();
    format!("- {} — {path}:{start}-{end}{body}", field("title"))
}

fn command(item: &Value) -> Tool {
    let exit_code = present(item, "exit_code").and_then(Value::as_i64);
    let by_exit = if exit_code == Some(0) { "completed" } else { "failed" };
    let status = text(item, "status").unwrap_or(by_exit);
    let output = ["aggregated_output", "formatted_output", "stdout"].iter().find_map(|key| text(item, key));
    let end = End::of_command(status, output.unwrap_or_default(), exit_code, duration_ms(item));
    Tool::shell(&shell::of_words(&texts(item, "command")), end)
}

pub(super) fn patch(item: &Value) -> Tool {
    let succeeded = item.get("success").and_then(Value::as_bool).unwrap_or(true);
    let status = text(item, "status").unwrap_or(if succeeded { "completed" } else { "failed" });
    let changes = item.get("changes").and_then(Value::as_object).into_iter().flatten();
    Tool::patch(changes.map(|(path, change)| stored_change(path, change)).collect(), status)
}

fn stored_change(path: &str, change: &Value) -> Change {
    let diff = text(change, "unified_diff").or_else(|| text(change, "content"));
    Change {
        path: path.to_owned(),
        kind: text(change, "type").unwrap_or("update").to_owned(),
        moved_to: text(change, "move_path").map(str::to_owned),
        diff: diff.map(str::to_owned),
    }
}

fn mcp_end(event: &Value) -> Tool {
    let mut item = event.get("invocation").cloned().unwrap_or_default();
    let result = event.get("result").unwrap_or(&Value::Null);
    let status = if result.get("Err").is_some() { "failed" } else { "completed" };
    if let Some(fields) = item.as_object_mut() {
        fields.insert("result".to_owned(), result.get("Ok").unwrap_or(result).clone());
        fields.insert("error".to_owned(), result.get("Err").map_or(Value::Null, |why| json!(why)));
    }
    mcp_call(&item, status, duration_ms(event))
}

fn duration_ms(item: &Value) -> Option<u64> {
    let duration = present(item, "duration")?;
    Some(number(duration, "secs").saturating_mul(1000) + number(duration, "nanos") / 1_000_000)
}

fn collab_call(item: &Value, status: &str) -> What {
    let tool = text(item, "tool").unwrap_or_default();
    let (threads, prompt) = (texts(item, "receiver_thread_ids"), text(item, "prompt"));
    if tool == "spawn_agent" {
        return What::Spawn(Spawn {
            prompt: prompt.unwrap_or_default().to_owned(),
            failed: status_of(status).is_some() && threads.is_empty(),
            threads,
        });
    }
    What::Tool(collab(tool, &threads, prompt, status, agent_states(item.get("agents_states"))))
}
