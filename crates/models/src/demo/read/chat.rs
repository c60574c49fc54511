//! OpenAI's chat completions requests.

use serde::Deserialize;
use serde_json::Value;

use super::{parse, tells_failure, texts};
use crate::demo::ask::{ApiError, Ask, Form, Made, Message, Role, Tool, ToolResult};

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: String,
    messages: Vec<Said>,
    #[serde(default)]
    tools: Vec<Offer>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
    reasoning_effort: Option<String>,
    response_format: Option<Value>,
    #[serde(alias = "max_completion_tokens")]
    max_tokens: Option<u64>,
    #[serde(default)]
    prompt_cache_key: String,
}

#[derive(Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: String,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    function: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Offer {
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

pub(super) fn read(body: &[u8]) -> Result<Ask, ApiError> {
    let request: Request = parse(body)?;
    let schema = request.response_format.and_then(|format| format.pointer("/json_schema/schema").cloned());
    let mut ask = Ask {
        model: request.model,
        tools: request.tools.into_iter().filter_map(|offer| offer.function).map(tool).collect(),
        stream: request.stream,
        thinks: request.reasoning_effort.is_none_or(|effort| effort != "none"),
        schema,
        max_tokens: request.max_tokens,
        caches: true,
        tells_usage: request.stream_options.include_usage,
        session: request.prompt_cache_key,
        ..Ask::default()
    };
    for said in request.messages {
        match message(said)? {
            Message { role: Role::System, texts, .. } if ask.messages.is_empty() => {
                ask.system.push_str(&texts.join("\n"));
                ask.system.push('\n');
            }
            message => ask.push(message),
        }
    }
    Ok(ask)
}

pub(super) fn check(ask: &Ask) -> Result<(), ApiError> {
    if ask.messages.is_empty() {
        return Err(ApiError::invalid("Invalid 'messages': empty array."));
    }
    ask.unanswered().map_or(Ok(()), |id| {
        Err(ApiError::invalid(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
        )))
    })
}

fn tool(function: Function) -> Tool {
    let Function { name, description, parameters: schema } = function;
    Tool { name, namespace: None, description, schema, form: Form::Function }
}

fn message(said: Said) -> Result<Message, ApiError> {
    let texts = texts(&said.content);
    let role = match said.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Model,
        "system" | "developer" => Role::System,
        "tool" | "function" => {
            let text = texts.join("\n");
            let is_error = tells_failure(&text);
            let result = ToolResult { id: said.tool_call_id, text, is_error };
            return Ok(Message { results: vec![result], ..Message::of(Role::User) });
        }
        other => return Err(ApiError::invalid(format!("Invalid value: '{other}' for 'messages[].role'"))),
    };
    let calls = said.tool_calls.unwrap_or_default().into_iter();
    let calls = calls.map(|call| Made { id: call.id, tool: call.function.name }).collect();
    let n_parts = said.content.as_array().map_or(0, Vec::len);
    let n_other = n_parts.saturating_sub(texts.len());
    let texts = texts.into_iter().filter(|text| !text.is_empty()).collect();
    Ok(Message { texts, calls, n_other, ..Message::of(role) })
}
