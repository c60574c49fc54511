//! OpenAI's responses requests.
//!
//! The conversation is a flat list of items. Tools come in groups and in forms of their own (free text, the client's
//! search for more tools, the local shell); what such a search found is on offer from then on.

use serde::Deserialize;
use serde_json::Value;

use super::{parse, string, tells_failure, texts};
use crate::demo::ask::{ApiError, Ask, Form, Made, Message, Role, Tool, ToolResult};

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: String,
    instructions: Option<String>,
    input: Value,
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    stream: bool,
    reasoning: Option<Value>,
    #[serde(default)]
    text: Value,
    max_output_tokens: Option<u64>,
    #[serde(default)]
    prompt_cache_key: Value,
}

/// The name under which a search for tools is known in a conversation.
const SEARCH: &str = "tool_search";

pub(super) fn read(body: &[u8]) -> Result<Ask, ApiError> {
    let request: Request = parse(body)?;
    let mut ask = Ask {
        model: request.model,
        system: request.instructions.unwrap_or_default(),
        stream: request.stream,
        thinks: request.reasoning.is_some_and(|reasoning| reasoning["effort"] != "none"),
        schema: request.text.pointer("/format/schema").cloned(),
        max_tokens: request.max_output_tokens,
        caches: true,
        tells_usage: true,
        session: string(&request.prompt_cache_key),
        ..Ask::default()
    };
    request.tools.iter().for_each(|tool| offer(&mut ask.tools, tool, None));
    match &request.input {
        Value::String(text) => ask.push(Message::text(Role::User, text.clone())),
        Value::Array(items) => items.iter().for_each(|item| hear(&mut ask, item)),
        _ => return Err(ApiError::invalid("Invalid type for 'input': expected a string or an array.")),
    }
    Ok(ask)
}

pub(super) fn check(ask: &Ask) -> Result<(), ApiError> {
    if ask.messages.is_empty() {
        return Err(ApiError::invalid("Missing required parameter: 'input'."));
    }
    let orphan = ask.unanswered();
    orphan
        .map_or(Ok(()), |id| Err(ApiError::invalid(format!("No tool output found for function call {id}."))))
}

fn offer(tools: &mut Vec<Tool>, tool: &Value, namespace: Option<&str>) {
    let form = match tool["type"].as_str().unwrap_or("function") {
        "function" => Form::Function,
        "custom" => Form::Freeform,
        "tool_search" => Form::Search,
        "local_shell" => Form::Shell,
        "namespace" => {
            let group = tool["name"].as_str();
            tool["tools"].as_array().into_iter().flatten().for_each(|tool| offer(tools, tool, group));
            return;
        }
        // What the provider does itself, such as searching the web.
        _ => return,
    };
    let name = match form {
        Form::Search => SEARCH.to_owned(),
        Form::Shell => "local_shell".to_owned(),
        Form::Function | Form::Freeform => string(&tool["name"]),
    };
    let schema = tool["parameters"].clone();
    let namespace = namespace.map(str::to_owned);
    tools.push(Tool { name, namespace, description: string(&tool["description"]), schema, form });
}

fn hear(ask: &mut Ask, item: &Value) {
    let kind = item["type"].as_str().unwrap_or("message");
    let message = match kind {
        "message" => match item["role"].as_str() {
            Some("assistant") => Message { texts: texts(&item["content"]), ..Message::of(Role::Model) },
            Some("user") | None => Message { texts: texts(&item["content"]), ..Message::of(Role::User) },
            Some(_) => {
                ask.system.push_str(&texts(&item["content"]).join("\n"));
                ask.system.push('\n');
                return;
            }
        },
        // What one agent says to another is a task for it.
        "agent_message" => Message { texts: texts(&item["content"]), ..Message::of(Role::User) },
        "additional_tools" => {
            let tools = item["tools"].as_array().into_iter().flatten();
            tools.for_each(|tool| offer(&mut ask.tools, tool, None));
            return;
        }
        "tool_search_output" => {
            let found = item["tools"].as_array().into_iter().flatten();
            found.for_each(|tool| offer(&mut ask.tools, tool, None));
            result(item, String::new())
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            result(item, texts(&item["output"]).join("\n"))
        }
        "function_call" | "custom_tool_call" => call(item, string(&item["name"])),
        "tool_search_call" => call(item, SEARCH.to_owned()),
        "local_shell_call" => call(item, "local_shell".to_owned()),
        _ => Message { n_other: 1, ..Message::of(Role::Model) },
    };
    ask.push(message);
}

fn call(item: &Value, tool: String) -> Message {
    Message { calls: vec![Made { id: string(&item["call_id"]), tool }], ..Message::of(Role::Model) }
}

fn result(item: &Value, text: String) -> Message {
    let is_error = tells_failure(&text);
    let result = ToolResult { id: string(&item["call_id"]), text, is_error };
    Message { results: vec![result], ..Message::of(Role::User) }
}
