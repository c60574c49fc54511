//! Google's `streamGenerateContent`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use warren_domain::ReasoningEffort;

use super::{ApiEvent, ApiUsage, ContentBlock, Delta, ErrorBody, event::Message, media};
use crate::agent::request::{Request, Thinking, tokens};

/// Stands where the API wants the signature of a call that another provider's model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// A request. Its model is in the path.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut names = HashMap::new();
    let wants_signatures = request.model.contains("gemini-3");
    let contents: Vec<Value> =
        request.messages.iter().map(|message| content(message, wants_signatures, &mut names)).collect();
    let mut config = json!({"maxOutputTokens": request.max_output});
    if request.thinking != Thinking::Off {
        config["thinkingConfig"] = json!({"includeThoughts": true});
        match request.effort {
            Some(effort) if request.model.contains("gemini-2") => {
                config["thinkingConfig"]["thinkingBudget"] = json!(tokens(effort));
            }
            // It knows no level between, and its own choice is the highest.
            Some(ReasoningEffort::Medium) if request.model.contains("gemini-3-pro") => {}
            Some(effort) => config["thinkingConfig"]["thinkingLevel"] = json!(effort.as_str()),
            None => {}
        }
    }
    let mut body = json!({
        "contents": contents,
        "generationConfig": config,
        "systemInstruction": {"parts": [{"text": request.system}]},
    });
    if request.searches {
        body["tools"] = json!([{"googleSearch": {}}]);
    } else if !request.tools.is_empty() {
        let declare = |tool: &Value| {
            json!({"name": tool["name"], "description": tool["description"],
                "parametersJsonSchema": tool["input_schema"]})
        };
        let tools: Vec<Value> = request.tools.iter().map(declare).collect();
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    body
}

/// One message. `names` are those of the calls so far, by id: a result must name the tool.
fn content<'v>(message: &'v Value, wants_signatures: bool, names: &mut HashMap<&'v str, &'v str>) -> Value {
    let role = if message["role"] == "user" { "user" } else { "model" };
    let (mut parts, mut pictures, mut is_signed) = (Vec::new(), Vec::new(), false);
    for piece in message["content"].as_array().into_iter().flatten() {
        match piece["type"].as_str() {
            Some("tool_use") => {
                let (id, name) = (piece["id"].as_str(), piece["name"].as_str());
                names.extend(id.zip(name));
                let mut call = json!({"functionCall": {"id": id, "name": name, "args": piece["input"]}});
                let own = piece["signature"].as_str().filter(|_| piece["api"] == "gemini");
                // The first call of a message stands for all of them.
                if let Some(signature) = own.or((wants_signatures && !is_signed).then_some(NO_SIGNATURE)) {
                    call["thoughtSignature"] = json!(signature);
                    is_signed = true;
                }
                parts.push(call);
            }
            Some("tool_result") => {
                let id = piece["tool_use_id"].as_str().unwrap_or_default();
                let name = names.get(id).copied().unwrap_or("unknown");
                let said = json!({"id": id, "name": name, "response": response(piece, &mut pictures)});
                parts.push(json!({"functionResponse": said}));
            }
            Some("text") => parts.push(json!({"text": piece["text"]})),
            Some("image" | "document") => parts.extend(inline(piece)),
            // Thoughts are not sent back; what seals them goes with the calls.
            _ => {}
        }
    }
    parts.extend(pictures);
    json!({"role": role, "parts": parts})
}

fn inline(piece: &Value) -> Option<Value> {
    let (media_type, data) = media(piece)?;
    Some(json!({"inlineData": {"mimeType": media_type, "data": data}}))
}

/// What a tool said; its pictures follow all results as parts of their own.
fn response(result: &Value, pictures: &mut Vec<Value>) -> Value {
    let text = match &result["content"] {
        Value::Array(pieces) => {
            pictures.extend(pieces.iter().filter_map(inline));
            let texts = pieces.iter().filter_map(|piece| piece["text"].as_str());
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        }
        text => text.clone(),
    };
    let key = if result["is_error"] == true { "error" } else { "output" };
    Value::Object(Map::from_iter([(key.to_owned(), text)]))
}

/// Reads a stream, each event of which is a small response of its own.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    has_begun: bool,
    /// The index of the piece that comes next, or grows.
    next: u64,
    growing: Option<Kind>,
    has_calls: bool,
    finish: Option<String>,
    usage: ApiUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
}

impl Decoder {
    pub(super) fn decode(&mut self, chunk: &Value, out: &mut Vec<ApiEvent>) {
        // An error may come in a list of its own.
        let chunk = chunk.get(0).unwrap_or(chunk);
        if chunk["error"].is_object() {
            return out.push(ApiEvent::Error { error: ErrorBody::of(&chunk["error"]) });
        }
        self.usage.update(&usage(&chunk["usageMetadata"]));
        if !self.has_begun {
            self.has_begun = true;
            out.push(ApiEvent::MessageStart { message: head(chunk) });
        }
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, out);
        }
        let blocked = chunk["promptFeedback"]["blockReason"].as_str();
        if let Some(reason) = candidate["finishReason"].as_str().or(blocked) {
            self.finish = Some(reason.to_owned());
        }
    }

    /// The stream is over. Without a reason it was cut, and that is for the reader of the events to notice.
    pub(super) fn finish(&mut self, out: &mut Vec<ApiEvent>) {
        let Some(finish) = self.finish.take() else { return };
        self.close(out);
        let reason = match finish.as_str() {
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" if !self.has_calls => return,
            "MAX_TOKENS" => "max_tokens",
            _ if self.has_calls => "tool_use",
            "STOP" | "FINISH_REASON_UNSPECIFIED" => "end_turn",
            _ => "refusal",
        };
        out.push(ApiEvent::end(reason, self.usage));
        out.push(ApiEvent::MessageStop);
    }

    fn part(&mut self, part: &Value, out: &mut Vec<ApiEvent>) {
        if part["functionCall"].is_object() {
            return self.call(part, out);
        }
        let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) else { return };
        let kind = if part["thought"] == true { Kind::Thought } else { Kind::Text };
        if self.growing != Some(kind) {
            self.close(out);
            self.growing = Some(kind);
            let content_block = match kind {
                Kind::Text => ContentBlock::Text { text: String::new() },
                Kind::Thought => ContentBlock::Thinking { thinking: String::new(), signature: String::new() },
            };
            out.push(ApiEvent::ContentBlockStart { index: self.next, content_block });
        }
        let delta = match kind {
            Kind::Text => Delta::Text { text: text.to_owned() },
            Kind::Thought => Delta::Thinking { thinking: text.to_owned() },
        };
        out.push(ApiEvent::ContentBlockDelta { index: self.next, delta });
    }

    /// Calls come whole.
    fn call(&mut self, part: &Value, out: &mut Vec<ApiEvent>) {
        self.close(out);
        self.has_calls = true;
        let (call, index) = (&part["functionCall"], self.next);
        let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
        let content_block =
            ContentBlock::ToolUse { id: text("id"), name: text("name"), input: call["args"].clone() };
        out.push(ApiEvent::ContentBlockStart { index, content_block });
        if let Some(signature) = part["thoughtSignature"].as_str() {
            let delta = Delta::Signature { signature: signature.to_owned() };
            out.push(ApiEvent::ContentBlockDelta { index, delta });
        }
        out.push(ApiEvent::ContentBlockStop { index });
        self.next += 1;
    }

    fn close(&mut self, out: &mut Vec<ApiEvent>) {
        if self.growing.take().is_some() {
            out.push(ApiEvent::ContentBlockStop { index: self.next });
            self.next += 1;
        }
    }
}

fn head(chunk: &Value) -> Message {
    let text = |name: &str| chunk[name].as_str().unwrap_or_default().to_owned();
    Message { id: text("responseId"), model: text("modelVersion"), usage: ApiUsage::default() }
}

/// Cached tokens are a part of the prompt here, thoughts none of the candidates'.
fn usage(usage: &Value) -> ApiUsage {
    let count = |name: &str| usage[name].as_u64();
    let cached = count("cachedContentTokenCount").unwrap_or(0);
    let output = count("candidatesTokenCount").into_iter().chain(count("thoughtsTokenCount"));
    let output = output.reduce(|a, b| a + b);
    ApiUsage::new(count("promptTokenCount").map(|all| all.saturating_sub(cached)), output, cached)
}

#[cfg(test)]
mod tests;
