//! OpenAI's Responses, without anything kept at the provider.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ApiEvent, ApiUsage, ContentBlock, Delta, ErrorBody, event::Message, media};
use crate::agent::request::{Request, Thinking};

/// A request.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = json!({
        "model": request.model,
        "instructions": request.system,
        "input": request.messages.iter().flat_map(|message| items(message, request.has_thoughts)).collect::<Vec<_>>(),
        "max_output_tokens": request.max_output,
        "store": false,
        "stream": true,
    });
    if request.searches {
        body["tools"] = json!([{"type": "web_search"}]);
    } else if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if request.thinking != Thinking::Off {
        body["reasoning"] = json!({"summary": "auto"});
        if let Some(effort) = request.effort {
            body["reasoning"]["effort"] = json!(effort.as_str());
        }
        // Thoughts that nobody keeps at the provider come back to us, sealed.
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    body
}

fn tool(tool: &Value) -> Value {
    json!({
        "type": "function", "name": tool["name"], "description": tool["description"],
        "parameters": tool["input_schema"], "strict": false,
    })
}

/// The items of one message. Neighbouring pieces of a person's words stay one item.
fn items(message: &Value, has_thoughts: bool) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let is_user = message["role"] == "user";
    for piece in message["content"].as_array().into_iter().flatten() {
        match piece["type"].as_str() {
            Some("tool_use") => items.push(json!({
                "type": "function_call", "call_id": piece["id"], "name": piece["name"],
                "arguments": piece["input"].to_string(),
            })),
            Some("tool_result") => items.push(json!({
                "type": "function_call_output", "call_id": piece["tool_use_id"], "output": output(piece),
            })),
            Some("thinking") => items.extend(reasoning(piece).filter(|_| has_thoughts)),
            Some("text") if !is_user => {
                let text = json!({"type": "output_text", "text": piece["text"]});
                items.push(json!({"type": "message", "role": "assistant", "content": [text]}));
            }
            Some(_) => {
                let Some(part) = part(piece) else { continue };
                match items.last_mut().filter(|last| last["role"] == "user") {
                    Some(last) => {
                        last["content"].as_array_mut().into_iter().for_each(|all| all.push(part.clone()))
                    }
                    None => items.push(json!({"type": "message", "role": "user", "content": [part]})),
                }
            }
            None => {}
        }
    }
    items
}

/// A thought of this provider, as it sealed it.
fn reasoning(piece: &Value) -> Option<Value> {
    if piece["api"] != "openai" {
        return None;
    }
    serde_json::from_str(piece["signature"].as_str()?).ok()
}

fn part(piece: &Value) -> Option<Value> {
    if piece["type"] == "text" {
        return Some(json!({"type": "input_text", "text": piece["text"]}));
    }
    let (media_type, data) = media(piece)?;
    let url = format!("data:{media_type};base64,{data}");
    Some(match piece["type"].as_str()? {
        "image" => json!({"type": "input_image", "image_url": url}),
        _ => json!({"type": "input_file", "filename": "document.pdf", "file_data": url}),
    })
}

/// What a tool said. This API does not ask whether it failed; the words tell.
fn output(result: &Value) -> Value {
    match &result["content"] {
        Value::Array(pieces) => pieces.iter().filter_map(part).collect(),
        text => text.clone(),
    }
}

/// Reads a stream.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Items that are open, by their index: whether any of their content came.
    open: BTreeMap<u64, bool>,
    has_calls: bool,
}

impl Decoder {
    pub(super) fn decode(&mut self, event: &Value, out: &mut Vec<ApiEvent>) {
        let index = event["output_index"].as_u64().unwrap_or_default();
        let delta = || event["delta"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "response.created" => out.push(ApiEvent::MessageStart { message: head(&event["response"]) }),
            "response.output_item.added" => self.begin(index, &event["item"], out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.grow(index, Delta::Text { text: delta() }, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow(index, Delta::Thinking { thinking: delta() }, out);
            }
            "response.reasoning_summary_part.added" if self.open.get(&index) == Some(&true) => {
                self.grow(index, Delta::Thinking { thinking: "\n\n".to_owned() }, out);
            }
            "response.function_call_arguments.delta" => {
                self.grow(index, Delta::InputJson { partial_json: delta() }, out);
            }
            "response.output_item.done" => self.end(index, &event["item"], out),
            "response.completed" | "response.incomplete" => self.complete(&event["response"], out),
            "response.failed" => {
                out.push(ApiEvent::Error { error: ErrorBody::of(&event["response"]["error"]) });
            }
            "error" => {
                let error = if event["error"].is_object() { &event["error"] } else { event };
                out.push(ApiEvent::Error { error: ErrorBody::of(error) });
            }
            _ => {}
        }
    }

    fn begin(&mut self, index: u64, item: &Value, out: &mut Vec<ApiEvent>) {
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        let content_block = match item["type"].as_str() {
            Some("message") => ContentBlock::Text { text: String::new() },
            Some("reasoning") => ContentBlock::Thinking { thinking: String::new(), signature: String::new() },
            Some("function_call") => {
                self.has_calls = true;
                ContentBlock::ToolUse { id: text("call_id"), name: text("name"), input: Value::Null }
            }
            _ => return,
        };
        self.open.insert(index, false);
        out.push(ApiEvent::ContentBlockStart { index, content_block });
    }

    fn grow(&mut self, index: u64, delta: Delta, out: &mut Vec<ApiEvent>) {
        if let Some(has_content) = self.open.get_mut(&index) {
            *has_content = true;
            out.push(ApiEvent::ContentBlockDelta { index, delta });
        }
    }

    /// An item is whole. What of it never came in pieces comes now.
    fn end(&mut self, index: u64, item: &Value, out: &mut Vec<ApiEvent>) {
        if !self.open.contains_key(&index) {
            self.begin(index, item, out);
        }
        let Some(has_content) = self.open.remove(&index) else { return };
        let mut grow = |delta| out.push(ApiEvent::ContentBlockDelta { index, delta });
        match item["type"].as_str() {
            Some("message") if !has_content => {
                let parts = item["content"].as_array().into_iter().flatten();
                let text = parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
                grow(Delta::Text { text: text.collect() });
            }
            Some("function_call") if !has_content => {
                let arguments = item["arguments"].as_str().unwrap_or_default().to_owned();
                grow(Delta::InputJson { partial_json: arguments });
            }
            Some("reasoning") => {
                if let Some(sealed) = sealed(item) {
                    grow(Delta::Signature { signature: sealed });
                }
            }
            _ => {}
        }
        out.push(ApiEvent::ContentBlockStop { index });
    }

    fn complete(&self, response: &Value, out: &mut Vec<ApiEvent>) {
        let reason = match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens") => "max_tokens",
            Some("content_filter") => "refusal",
            _ if self.has_calls => "tool_use",
            _ => "end_turn",
        };
        out.push(ApiEvent::end(reason, usage(&response["usage"])));
        out.push(ApiEvent::MessageStop);
    }
}

fn head(response: &Value) -> Message {
    let text = |name: &str| response[name].as_str().unwrap_or_default().to_owned();
    Message { id: text("id"), model: text("model"), usage: ApiUsage::default() }
}

/// A thought to be sent back: only one with its sealed content means anything to the provider.
fn sealed(item: &Value) -> Option<String> {
    let content = item["encrypted_content"].as_str().filter(|content| !content.is_empty())?;
    let summary = if item["summary"].is_array() { item["summary"].clone() } else { json!([]) };
    Some(
        json!({"type": "reasoning", "id": item["id"], "summary": summary, "encrypted_content": content})
            .to_string(),
    )
}

/// Cached tokens are a part of the input here.
fn usage(usage: &Value) -> ApiUsage {
    let cached = usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
    let input = usage["input_tokens"].as_u64();
    ApiUsage::new(input.map(|input| input.saturating_sub(cached)), usage["output_tokens"].as_u64(), cached)
}

#[cfg(test)]
mod tests;
