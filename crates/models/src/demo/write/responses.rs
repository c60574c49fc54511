//! OpenAI's responses: items with events of their own, or one response.

use serde_json::{Value, json};

use super::{Answer, CREATED, Events, INPUT_PIECE, Piece, arguments, slices};
use crate::demo::{
    ask::Form,
    turn::{Call, Part},
};

/// A stream being written; every event has a number.
struct Writer<'a> {
    answer: &'a Answer<'a>,
    events: Events,
    n_events: u64,
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let items = answer.turn.blocks.iter().enumerate().map(|(idx, part)| item(answer, idx, part));
    response(answer, "completed", &items.collect())
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Piece> {
    let mut writer = Writer { answer, events: answer.events(), n_events: 0 };
    let begun = response(answer, "in_progress", &json!([]));
    writer.event("response.created", json!({ "response": begun }));
    writer.event("response.in_progress", json!({ "response": begun }));
    let mut items = Vec::new();
    for (idx, part) in answer.turn.blocks.iter().enumerate() {
        writer.part(idx, part);
        if answer.turn.breaks {
            let mut failed = response(answer, "failed", &json!(items));
            failed["error"] = json!({ "code": "server_error", "message": "The server is overloaded." });
            writer.event("response.failed", json!({ "response": failed }));
            return writer.events.pieces;
        }
        items.push(item(answer, idx, part));
    }
    let ended = response(answer, "completed", &items.into());
    writer.event("response.completed", json!({ "response": ended }));
    writer.events.pieces
}

impl Writer<'_> {
    fn part(&mut self, idx: usize, part: &Part) {
        let done = item(self.answer, idx, part);
        let id = done["id"].clone();
        let begun = begin(done.clone());
        self.event("response.output_item.added", json!({ "item": begun, "output_index": idx }));
        match part {
            Part::Thinking(thought) => self.thought(idx, &id, thought),
            Part::Text(text) => self.text(idx, &id, text),
            Part::Call(call) => self.call(idx, &id, call),
        }
        self.event("response.output_item.done", json!({ "item": done, "output_index": idx }));
    }

    fn thought(&mut self, idx: usize, id: &Value, thought: &str) {
        let at = |mut event: Value| {
            event["item_id"] = id.clone();
            event["output_index"] = idx.into();
            event["summary_index"] = 0.into();
            event
        };
        let empty = json!({ "text": "", "type": "summary_text" });
        self.event("response.reasoning_summary_part.added", at(json!({ "part": empty })));
        for delta in self.events.phrases(thought) {
            self.event("response.reasoning_summary_text.delta", at(json!({ "delta": delta })));
        }
        self.event("response.reasoning_summary_text.done", at(json!({ "text": thought })));
        let part = json!({ "text": thought, "type": "summary_text" });
        self.event("response.reasoning_summary_part.done", at(json!({ "part": part })));
    }

    fn text(&mut self, idx: usize, id: &Value, text: &str) {
        let at = |mut event: Value| {
            event["content_index"] = 0.into();
            event["item_id"] = id.clone();
            event["output_index"] = idx.into();
            event
        };
        self.event("response.content_part.added", at(json!({ "part": output_text("") })));
        for delta in self.events.phrases(text) {
            self.event("response.output_text.delta", at(json!({ "delta": delta })));
        }
        self.event("response.output_text.done", at(json!({ "text": text })));
        self.event("response.content_part.done", at(json!({ "part": output_text(text) })));
    }

    fn call(&mut self, idx: usize, id: &Value, call: &Call) {
        let (kind, whole) = match call.form {
            Form::Function => ("response.function_call_arguments", "arguments"),
            Form::Freeform => ("response.custom_tool_call_input", "input"),
            // These come whole.
            Form::Search | Form::Shell => return,
        };
        let text = arguments(&call.input);
        for delta in slices(&text, INPUT_PIECE) {
            let event = json!({ "delta": delta, "item_id": id, "output_index": idx });
            self.event(&format!("{kind}.delta"), event);
        }
        let mut event = json!({ "item_id": id, "output_index": idx });
        event[whole] = text.into();
        self.event(&format!("{kind}.done"), event);
    }

    fn event(&mut self, kind: &str, mut event: Value) {
        event["sequence_number"] = self.n_events.into();
        event["type"] = kind.into();
        self.n_events += 1;
        self.events.named(kind, &sorted(event));
    }
}

/// Fields were added to it, and bytes must not depend on how maps are built.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.into_iter().collect()
        }
        other => other,
    }
}

fn item(answer: &Answer<'_>, idx: usize, part: &Part) -> Value {
    match part {
        Part::Thinking(thought) => json!({
            "encrypted_content": answer.ids.signature(idx),
            "id": answer.ids.id("rs", idx),
            "summary": [{ "text": thought, "type": "summary_text" }],
            "type": "reasoning",
        }),
        Part::Text(text) => json!({
            "content": [output_text(text)],
            "id": answer.ids.id("msg", idx),
            "role": "assistant",
            "status": "completed",
            "type": "message",
        }),
        Part::Call(call) => called(answer, idx, call),
    }
}

fn called(answer: &Answer<'_>, idx: usize, call: &Call) -> Value {
    let call_id = answer.ids.id("call", idx);
    let mut item = match call.form {
        Form::Function => json!({
            "arguments": arguments(&call.input),
            "call_id": call_id,
            "id": answer.ids.id("fc", idx),
            "name": call.name,
            "status": "completed",
            "type": "function_call",
        }),
        Form::Freeform => json!({
            "call_id": call_id,
            "id": answer.ids.id("ctc", idx),
            "input": arguments(&call.input),
            "name": call.name,
            "status": "completed",
            "type": "custom_tool_call",
        }),
        Form::Search => json!({
            "arguments": call.input,
            "call_id": call_id,
            "execution": "client",
            "id": answer.ids.id("tsc", idx),
            "status": "completed",
            "type": "tool_search_call",
        }),
        Form::Shell => json!({
            "action": { "command": call.input["command"], "type": "exec" },
            "call_id": call_id,
            "id": answer.ids.id("lsh", idx),
            "status": "completed",
            "type": "local_shell_call",
        }),
    };
    if let Some(namespace) = &call.namespace {
        item["namespace"] = namespace.as_str().into();
        item = sorted(item);
    }
    item
}

/// The item as it is announced: what streams in is still missing.
fn begin(mut item: Value) -> Value {
    for (field, empty) in
        [("arguments", json!("")), ("content", json!([])), ("input", json!("")), ("summary", json!([]))]
    {
        // A search's arguments are an object and come whole.
        if item.get(field).is_some_and(|value| !value.is_object()) {
            item[field] = empty;
        }
    }
    if item.get("status").is_some() {
        item["status"] = "in_progress".into();
    }
    item
}

fn output_text(text: &str) -> Value {
    json!({ "annotations": [], "logprobs": [], "text": text, "type": "output_text" })
}

fn response(answer: &Answer<'_>, status: &str, output: &Value) -> Value {
    let used = answer.usage;
    let usage = json!({
        "input_tokens": used.all_input(),
        "input_tokens_details": { "cached_tokens": used.cache_read },
        "output_tokens": used.output,
        "output_tokens_details": { "reasoning_tokens": used.thinking },
        "total_tokens": used.all_input() + used.output,
    });
    json!({
        "created_at": CREATED,
        "error": null,
        "id": answer.ids.id("resp", 0),
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": answer.model(),
        "object": "response",
        "output": output,
        "parallel_tool_calls": true,
        "status": status,
        "store": false,
        "tool_choice": "auto",
        "tools": [],
        "usage": if status == "completed" { usage } else { Value::Null },
    })
}
