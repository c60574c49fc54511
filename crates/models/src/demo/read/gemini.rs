//! Gemini's `generateContent` requests. The model and whether to stream are said by the path.

use serde::Deserialize;
use serde_json::Value;

use super::{parse, tells_failure};
use crate::demo::ask::{ApiError, Ask, Form, Made, Message, Role, Tool, ToolResult};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    contents: Vec<Content>,
    #[serde(default, alias = "system_instruction")]
    system_instruction: Option<Content>,
    #[serde(default)]
    tools: Vec<Group>,
    #[serde(default, alias = "generation_config")]
    generation_config: Config,
    /// A count of tokens may be asked for a whole request.
    #[serde(default)]
    generate_content_request: Option<Box<Request>>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    role: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    function_call: Option<Call>,
    function_response: Option<Response>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    id: String,
    #[serde(default)]
    response: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    #[serde(default, alias = "function_declarations")]
    function_declarations: Vec<Declaration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Declaration {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    parameters_json_schema: Value,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    response_json_schema: Option<Value>,
    response_schema: Option<Value>,
    #[serde(default)]
    thinking_config: Thinking,
    max_output_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thinking {
    #[serde(default)]
    include_thoughts: bool,
}

pub(super) fn read(path: &str, body: &[u8]) -> Result<Ask, ApiError> {
    let mut request: Request = parse(body)?;
    if let Some(counted) = request.generate_content_request.take() {
        request = *counted;
    }
    let path = path.split('?').next().unwrap_or(path);
    let (model, method) = path.rsplit('/').next().unwrap_or(path).split_once(':').unwrap_or((path, ""));
    let config = request.generation_config;
    let mut ask = Ask {
        model: model.to_owned(),
        system: request.system_instruction.map(|content| content.texts().join("\n")).unwrap_or_default(),
        tools: request.tools.into_iter().flat_map(|group| group.function_declarations).map(tool).collect(),
        stream: method == "streamGenerateContent",
        thinks: config.thinking_config.include_thoughts,
        schema: config.response_json_schema.or(config.response_schema),
        max_tokens: config.max_output_tokens,
        caches: true,
        tells_usage: true,
        ..Ask::default()
    };
    request.contents.into_iter().for_each(|content| ask.push(message(content)));
    Ok(ask)
}

/// Each call is answered at once; names and numbers pair them, for ids are optional.
pub(super) fn check(ask: &Ask) -> Result<(), ApiError> {
    if ask.messages.is_empty() {
        return Err(ApiError::invalid("* GenerateContentRequest.contents: contents is not specified"));
    }
    let n_answers = ask.messages.iter().skip(1).map(|message| message.results.len()).chain([0]);
    let paired = ask.messages.iter().zip(n_answers).all(|(message, n)| message.calls.len() == n);
    if paired && ask.messages.first().is_none_or(|first| first.results.is_empty()) {
        return Ok(());
    }
    Err(ApiError::invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of \
         the function call turn.",
    ))
}

fn tool(declaration: Declaration) -> Tool {
    let Declaration { name, description, parameters, parameters_json_schema } = declaration;
    let schema = if parameters.is_null() { parameters_json_schema } else { parameters };
    Tool { name, namespace: None, description, schema, form: Form::Function }
}

fn message(content: Content) -> Message {
    let role = if content.role == "model" { Role::Model } else { Role::User };
    let mut message = Message::of(role);
    for part in content.parts {
        if let Some(Call { id, name }) = part.function_call {
            message.calls.push(Made { id, tool: name });
        } else if let Some(Response { id, response }) = part.function_response {
            // A chat that Gemini CLI goes on from has each answer twice.
            if id.is_empty() || message.results.iter().all(|known| known.id != id) {
                message.results.push(result(id, &response));
            }
        } else if let Some(text) = part.text.filter(|_| !part.thought) {
            message.texts.push(text);
        } else {
            message.n_other += 1;
        }
    }
    message
}

fn result(id: String, response: &Value) -> ToolResult {
    let said = |key: &str| response.get(key).filter(|value| !value.is_null());
    let (value, is_error) = match (said("error"), said("output")) {
        (Some(error), _) => (error, true),
        (None, Some(output)) => (output, false),
        (None, None) => (response, false),
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_error = is_error || tells_failure(&text);
    ToolResult { id, text, is_error }
}

impl Content {
    fn texts(&self) -> Vec<&str> {
        self.parts.iter().filter_map(|part| part.text.as_deref()).collect()
    }
}
