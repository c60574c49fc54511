//! Items as the app server reports them.

use serde_json::Value;
use warren_domain::{Content, ContentPart};

use super::{
    item::{Change, End, Item, Spawn, Tool, What, agent_states, collab, mcp_output, status_of, unknown},
    shell,
};
use crate::{
    command::exit_code,
    fields::{list, millis, number, present, text, texts},
};

/// An item of a notification. `None`: it has no id.
pub(super) fn item(item: &Value) -> Option<Item> {
    Some(Item {
        id: text(item, "id")?.to_owned(),
        started: millis(item, "startedAtMs"),
        completed: millis(item, "completedAtMs"),
        what: what(item),
    })
}

fn what(item: &Value) -> What {
    let status = text(item, "status").unwrap_or("completed");
    let duration_ms = present(item, "durationMs").and_then(Value::as_u64);
    match text(item, "type").unwrap_or_default() {
        "userMessage" => What::User {
            client_id: text(item, "clientId").map(str::to_owned),
            content: content(list(item, "content")),
        },
        "agentMessage" => What::Text(text(item, "text").unwrap_or_default().to_owned()),
        "plan" => What::Text(text(item, "text").unwrap_or_default().to_owned()),
        "reasoning" => What::Thinking(thinking(&texts(item, "summary"), &texts(item, "content"))),
        "commandExecution" => {
            let output = text(item, "aggregatedOutput").unwrap_or_default();
            let end = End::of_command(status, output, exit_code(item), duration_ms);
            What::Tool(Tool::shell(&shell::of_line(text(item, "command").unwrap_or_default()), end))
        }
        "fileChange" => What::Tool(Tool::patch(list(item, "changes").iter().map(change).collect(), status)),
        "mcpToolCall" => What::Tool(mcp_call(item, status, duration_ms)),
        "webSearch" => What::Tool(web_search(item, None)),
        "collabAgentToolCall" => collab_call(item, status),
        "contextCompaction" => What::Compaction,
        // Where a subagent is told about by its own thread, these only repeat it.
        "subAgentActivity" | "hookPrompt" => What::Nothing,
        kind => What::Tool(unknown(kind, item)),
    }
}

/// What a thought says: its summary, or the thought itself where there is no summary.
pub(super) fn thinking(summary: &[String], raw: &[String]) -> String {
    if summary.is_empty() { raw.concat() } else { summary.join("\n\n") }
}

/// What a person sent.
pub(super) fn content(parts: &[Value]) -> Content {
    let parts: Vec<ContentPart> = parts.iter().map(part).collect();
    match parts.as_slice() {
        [ContentPart::Text { text }] => Content::Text(text.clone()),
        _ => Content::Parts(parts),
    }
}

fn part(part: &Value) -> ContentPart {
    if let Some(text) = text(part, "text") {
        return ContentPart::Text { text: text.to_owned() };
    }
    let url = text(part, "url").or_else(|| text(part, "image_url")).unwrap_or_default();
    if let Some((media_type, image)) = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"))
    {
        return ContentPart::Image { image: image.to_owned(), media_type: media_type.to_owned() };
    }
    let name = ["path", "name", "url", "image_url", "fileId"].iter().find_map(|key| text(part, key));
    ContentPart::File { file: name.unwrap_or("unnamed").to_owned() }
}

fn change(change: &Value) -> Change {
    let kind = change.get("kind").unwrap_or(&Value::Null);
    let moved_to = text(kind, "move_path").map(str::to_owned);
    let diff = text(change, "diff").map(|diff| match &moved_to {
        // The app server says it twice.
        Some(path) => diff.strip_suffix(&format!("\n\nMoved to: {path}")).unwrap_or(diff).to_owned(),
        None => diff.to_owned(),
    });
    let name = text(kind, "type").or_else(|| kind.as_str()).unwrap_or("update");
    Change {
        path: text(change, "path").unwrap_or_default().to_owned(),
        kind: name.to_owned(),
        moved_to,
        diff,
    }
}

/// An MCP call; the sources differ only in how they tell the time it took.
pub(super) fn mcp_call(item: &Value, status: &str, duration_ms: Option<u64>) -> Tool {
    let error = present(item, "error").map(|error| {
        let message = text(error, "message").or_else(|| error.as_str()).unwrap_or("failed");
        Value::String(message.to_owned())
    });
    let output = error.or_else(|| present(item, "result").map(mcp_output));
    let end = status_of(status).map(|status| End { status, output, duration_ms });
    let arguments = item.get("arguments").cloned().unwrap_or_default();
    let (server, tool) = (text(item, "server").unwrap_or_default(), text(item, "tool").unwrap_or_default());
    Tool::mcp(server, tool, arguments, end)
}

/// A search that the provider does: it has no result of its own. `status` as the source tells it.
pub(super) fn web_search(item: &Value, status: Option<&str>) -> Tool {
    let action = present(item, "action");
    let of_action = action.and_then(|action| {
        ["query", "url", "pattern"].iter().find_map(|key| text(action, key)).map(str::to_owned)
    });
    let query = text(item, "query").map(str::to_owned).filter(|query| !query.is_empty()).or(of_action);
    let input = serde_json::json!({"query": query.unwrap_or_default()});
    let end = status_of(status.unwrap_or("completed")).map(End::silent);
    Tool { key: "web_search".to_owned(), ..Tool::new("web_search", input, end) }
}

fn collab_call(item: &Value, status: &str) -> What {
    let tool = text(item, "tool").unwrap_or_default();
    let (threads, prompt) = (texts(item, "receiverThreadIds"), text(item, "prompt"));
    if tool == "spawnAgent" {
        return What::Spawn(Spawn {
            prompt: prompt.unwrap_or_default().to_owned(),
            failed: status_of(status).is_some() && threads.is_empty(),
            threads,
        });
    }
    What::Tool(collab(tool, &threads, prompt, status, agent_states(item.get("agentsStates"))))
}

/// Tokens as the app server counts them.
pub(super) fn tokens(usage: &Value) -> super::usage::Tokens {
    super::usage::Tokens {
        input: number(usage, "inputTokens"),
        cached: number(usage, "cachedInputTokens"),
        cache_written: number(usage, "cacheWriteInputTokens"),
        output: number(usage, "outputTokens"),
        thinking: number(usage, "reasoningOutputTokens"),
    }
}
