//! Gemini's `generateContent`: chunks of parts, each a whole response of its own, or one response.

use serde_json::{Value, json};

use super::{Answer, Piece};
use crate::demo::{ask::ApiError, turn::Part};

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let parts = answer.turn.blocks.iter().enumerate().map(|(idx, part)| match part {
        Part::Thinking(thought) => json!({ "text": thought, "thought": true }),
        Part::Text(text) => json!({ "text": text }),
        Part::Call(_) => call(answer, idx, part),
    });
    response(answer, &parts.collect::<Vec<_>>(), true)
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Piece> {
    let mut events = answer.events();
    let chunk = |events: &mut super::Events, part: Value| {
        events.raw(&format!("data: {}\r\n\r\n", response(answer, &[part], false)));
    };
    for (idx, part) in answer.turn.blocks.iter().enumerate() {
        match part {
            // Thoughts come as summaries, each at once.
            Part::Thinking(thought) => chunk(&mut events, json!({ "text": thought, "thought": true })),
            Part::Text(text) => {
                for phrase in events.phrases(text) {
                    chunk(&mut events, json!({ "text": phrase }));
                }
            }
            Part::Call(_) => chunk(&mut events, call(answer, idx, part)),
        }
        if answer.turn.breaks {
            let overloaded = ApiError::new(503, "The model is overloaded. Please try again later.");
            events.raw(&format!("data: {}\r\n\r\n", error(&overloaded)));
            return events.pieces;
        }
    }
    events.raw(&format!("data: {}\r\n\r\n", response(answer, &[json!({ "text": "" })], true)));
    events.pieces
}

pub(super) fn error(error: &ApiError) -> Value {
    let status = match error.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        501.. => "UNAVAILABLE",
        _ => "FAILED_PRECONDITION",
    };
    let mut body = json!({ "code": error.status, "message": error.message, "status": status });
    if error.status == 429 {
        let retry = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s" });
        body = json!({ "code": 429, "details": [retry], "message": error.message, "status": status });
    }
    json!({ "error": body })
}

fn response(answer: &Answer<'_>, parts: &[Value], is_last: bool) -> Value {
    let content = json!({ "parts": parts, "role": "model" });
    let candidate = if is_last {
        json!({ "content": content, "finishReason": "STOP", "index": 0 })
    } else {
        json!({ "content": content, "index": 0 })
    };
    json!({
        "candidates": [candidate],
        "modelVersion": answer.model(),
        "responseId": answer.ids.id("resp", 0),
        "usageMetadata": usage(answer),
    })
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    let prompt = usage.all_input();
    json!({
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output - usage.thinking,
        "promptTokenCount": prompt,
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": prompt }],
        "thoughtsTokenCount": usage.thinking,
        "totalTokenCount": prompt + usage.output,
    })
}

fn call(answer: &Answer<'_>, idx: usize, part: &Part) -> Value {
    let Part::Call(call) = part else { return Value::Null };
    json!({
        "functionCall": { "args": call.input, "id": answer.ids.id("call", idx), "name": call.name },
        "thoughtSignature": answer.ids.signature(idx),
    })
}
