//! OpenAI's chat completions: chunks, or one completion.
//!
//! The format itself has no thoughts; they go where compatible providers put them, `reasoning_content`.

use serde_json::{Value, json};

use super::{Answer, CREATED, Events, INPUT_PIECE, Piece, arguments, slices};
use crate::demo::{
    ask::ApiError,
    turn::{Call, Part},
};

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let parts = &answer.turn.blocks;
    let thoughts: String = parts.iter().filter_map(thought).collect();
    let calls = parts.iter().enumerate().filter_map(|(idx, part)| match part {
        Part::Call(call) => Some(whole_call(answer, idx, call)),
        Part::Thinking(_) | Part::Text(_) => None,
    });
    let mut message = json!({ "content": answer.turn.text(), "refusal": null, "role": "assistant" });
    if !thoughts.is_empty() {
        message["reasoning_content"] = thoughts.into();
    }
    if answer.turn.calls_tools() {
        message["tool_calls"] = calls.collect();
    }
    json!({
        "choices": [{ "finish_reason": finish(answer), "index": 0, "logprobs": null, "message": message }],
        "created": CREATED,
        "id": answer.ids.id("chatcmpl", 0),
        "model": answer.model(),
        "object": "chat.completion",
        "usage": usage(answer),
    })
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Piece> {
    let mut events = answer.events();
    delta(answer, &mut events, &json!({ "content": "", "role": "assistant" }));
    let mut n_calls = 0;
    for (idx, part) in answer.turn.blocks.iter().enumerate() {
        match part {
            Part::Thinking(thought) => {
                for phrase in events.phrases(thought) {
                    delta(answer, &mut events, &json!({ "reasoning_content": phrase }));
                }
            }
            Part::Text(text) => {
                for phrase in events.phrases(text) {
                    delta(answer, &mut events, &json!({ "content": phrase }));
                }
            }
            Part::Call(call) => {
                stream_call(answer, &mut events, (idx, n_calls), call);
                n_calls += 1;
            }
        }
        if answer.turn.breaks {
            let overloaded = ApiError::new(503, "The server is overloaded. Please try again later.");
            data(&mut events, &error(&overloaded));
            return events.pieces;
        }
    }
    let end = json!([{ "delta": {}, "finish_reason": finish(answer), "index": 0, "logprobs": null }]);
    data(&mut events, &chunk(answer, &end, &Value::Null));
    if answer.ask.tells_usage {
        data(&mut events, &chunk(answer, &json!([]), &usage(answer)));
    }
    events.raw("data: [DONE]\n\n");
    events.pieces
}

pub(super) fn error(error: &ApiError) -> Value {
    let (kind, code) = match error.status {
        401 => ("invalid_request_error", Value::from("invalid_api_key")),
        404 => ("invalid_request_error", "model_not_found".into()),
        429 => ("requests", "rate_limit_exceeded".into()),
        500.. => ("server_error", "server_error".into()),
        _ => ("invalid_request_error", Value::Null),
    };
    json!({ "error": { "code": code, "message": error.message, "param": null, "type": kind } })
}

fn thought(part: &Part) -> Option<&str> {
    match part {
        Part::Thinking(thought) => Some(thought),
        Part::Text(_) | Part::Call(_) => None,
    }
}

fn whole_call(answer: &Answer<'_>, idx: usize, call: &Call) -> Value {
    let function = json!({ "arguments": arguments(&call.input), "name": call.name });
    json!({ "function": function, "id": answer.ids.id("call", idx), "type": "function" })
}

/// The name first, then the arguments piece by piece.
fn stream_call(answer: &Answer<'_>, events: &mut Events, (idx, n_calls): (usize, usize), call: &Call) {
    let function = json!({ "arguments": "", "name": call.name });
    let id = answer.ids.id("call", idx);
    let head = json!({ "function": function, "id": id, "index": n_calls, "type": "function" });
    delta(answer, events, &json!({ "tool_calls": [head] }));
    for piece in slices(&arguments(&call.input), INPUT_PIECE) {
        let more = json!({ "function": { "arguments": piece }, "index": n_calls });
        delta(answer, events, &json!({ "tool_calls": [more] }));
    }
}

fn delta(answer: &Answer<'_>, events: &mut Events, delta: &Value) {
    let choices = json!([{ "delta": delta, "finish_reason": null, "index": 0, "logprobs": null }]);
    data(events, &chunk(answer, &choices, &Value::Null));
}

fn chunk(answer: &Answer<'_>, choices: &Value, usage: &Value) -> Value {
    json!({
        "choices": choices,
        "created": CREATED,
        "id": answer.ids.id("chatcmpl", 0),
        "model": answer.model(),
        "object": "chat.completion.chunk",
        "usage": usage,
    })
}

fn data(events: &mut Events, data: &Value) {
    events.raw(&format!("data: {data}\n\n"));
}

fn finish(answer: &Answer<'_>) -> &'static str {
    if answer.turn.calls_tools() { "tool_calls" } else { "stop" }
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    let prompt = usage.all_input();
    json!({
        "completion_tokens": usage.output,
        "completion_tokens_details": { "reasoning_tokens": usage.thinking },
        "prompt_tokens": prompt,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
        "total_tokens": prompt + usage.output,
    })
}
