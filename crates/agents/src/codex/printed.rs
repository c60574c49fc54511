//! Items as `codex exec --json` prints them. Their ids, `item_N`, begin anew with every process.

use serde_json::{Value, json};
use warren_domain::BlockStatus;

use super::{
    item::{Change, End, Item, Spawn, Tool, What, agent_states, collab, snake, status_of, unknown},
    reported::{mcp_call, web_search},
    shell,
};
use crate::{
    command::exit_code,
    fields::{list, text, texts},
};

/// An item of an event. `None`: it has no id.
pub(super) fn item(item: &Value) -> Option<Item> {
    Some(Item { id: text(item, "id")?.to_owned(), started: None, completed: None, what: what(item) })
}

fn what(item: &Value) -> What {
    let status = text(item, "status").unwrap_or("completed");
    match text(item, "type").unwrap_or_default() {
        "agent_message" => What::Text(text(item, "text").unwrap_or_default().to_owned()),
        "reasoning" => What::Thinking(text(item, "text").unwrap_or_default().to_owned()),
        "command_execution" => {
            let output = text(item, "aggregated_output").unwrap_or_default();
            let command = shell::of_line(text(item, "command").unwrap_or_default());
            What::Tool(Tool::shell(&command, End::of_command(status, output, exit_code(item), None)))
        }
        "file_change" => What::Tool(Tool::patch(list(item, "changes").iter().map(change).collect(), status)),
        "mcp_tool_call" => What::Tool(mcp_call(item, status, None)),
        "web_search" => What::Tool(web_search(item, None)),
        "todo_list" => What::Tool(todo_list(list(item, "items"))),
        "collab_tool_call" => collab_call(item, status),
        "error" => What::Notice(text(item, "message").unwrap_or_default().to_owned()),
        kind => What::Tool(unknown(kind, item)),
    }
}

fn change(change: &Value) -> Change {
    let field = |key: &str| text(change, key).unwrap_or_default().to_owned();
    Change { path: field("path"), kind: field("kind"), moved_to: None, diff: None }
}

/// The plan, of which only this is printed: whether a step is done. Codex has one step under way until all are done, and
/// takes them in order, so the first that is not done is the one.
fn todo_list(items: &[Value]) -> Tool {
    let is_done = |item: &Value| item.get("completed").and_then(Value::as_bool).unwrap_or_default();
    let under_way = items.iter().position(|item| !is_done(item));
    let step = |(place, item): (usize, &Value)| {
        let told = text(item, "status").map(snake);
        let status = if is_done(item) {
            "completed"
        } else if Some(place) == under_way {
            "in_progress"
        } else {
            "pending"
        };
        json!({"step": text(item, "text").unwrap_or_default(), "status": told.as_deref().unwrap_or(status)})
    };
    plan(items.iter().enumerate().map(step).collect())
}

/// The plan as a call of the tool that writes it.
pub(super) fn plan(steps: Vec<Value>) -> Tool {
    let end = Some(End::silent(BlockStatus::Success));
    let names: Vec<&str> = steps.iter().filter_map(|step| text(step, "step")).collect();
    let key = format!("update_plan\0{}", names.join("\n"));
    Tool { key, is_plan: true, ..Tool::new("update_plan", json!({"plan": steps}), end) }
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
