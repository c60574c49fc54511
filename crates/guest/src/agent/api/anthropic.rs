//! Anthropic's Messages. Its events are ours.

use serde_json::{Value, json};

use crate::agent::request::{Request, Thinking, tokens};

/// How often the provider may search for one answer. Each search is charged for.
const MAX_SEARCHES: u32 = 5;

/// A request. The end of what stays the same is marked, so that the provider's cache serves it.
pub(super) fn body(request: Request<'_>) -> Value {
    let Request {
        model,
        system,
        mut messages,
        tools,
        searches,
        thinking,
        effort,
        has_thoughts,
        max_output,
        is_cached,
    } = request;
    messages.iter_mut().for_each(|message| strip(message, has_thoughts));
    messages.retain(|message| message["content"].as_array().is_some_and(|content| !content.is_empty()));
    let mut system = json!({"type": "text", "text": system});
    if is_cached {
        let mark = json!({"type": "ephemeral"});
        if let Some(last) =
            messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut())
        {
            last["cache_control"] = mark.clone();
        }
        system["cache_control"] = mark;
    }
    let mut body = json!({
        "model": model,
        "max_tokens": max_output,
        "stream": true,
        "system": [system],
        "messages": messages,
    });
    if searches {
        body["tools"] =
            json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES}]);
    } else if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    let thinking = match (thinking, effort) {
        (Thinking::Budget(_), Some(effort)) => Thinking::Budget(tokens(effort)),
        (thinking, _) => thinking,
    };
    match thinking {
        Thinking::Adaptive => {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            if let Some(effort) = effort {
                body["output_config"] = json!({"effort": effort.as_str()});
            }
        }
        // What is thought counts towards the answer.
        Thinking::Budget(tokens) if u64::from(tokens) < max_output => {
            body["thinking"] = json!({"type": "enabled", "budget_tokens": tokens});
        }
        Thinking::Budget(_) | Thinking::Off => {}
    }
    body
}

/// Takes out what other providers' answers brought with them.
fn strip(message: &mut Value, has_thoughts: bool) {
    let Some(content) = message["content"].as_array_mut() else { return };
    content.retain(|piece| match piece["type"].as_str() {
        Some("thinking") => has_thoughts && piece.get("api").is_none(),
        Some("redacted_thinking") => has_thoughts,
        _ => true,
    });
    for piece in content.iter_mut().filter(|piece| piece["type"] == "tool_use") {
        if let Some(fields) = piece.as_object_mut() {
            fields.remove("api");
            fields.remove("signature");
        }
    }
}
