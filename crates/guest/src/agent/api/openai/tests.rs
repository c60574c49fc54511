use serde_json::{Value, json};
use warren_domain::ReasoningEffort;

use super::{super::ApiEvent, Decoder, body};
use crate::agent::request::{Request, Thinking};

const STREAM: &str = include_str!("../../../../../models/fixtures/openai-responses/stream.sse");

fn events(stream: &str) -> Vec<ApiEvent> {
    let (mut decoder, mut out) = (Decoder::default(), Vec::new());
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        decoder.decode(&serde_json::from_str(data).expect("JSON"), &mut out);
    }
    out
}

fn shown(event: &ApiEvent) -> String {
    format!("{event:?}")
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

#[test]
fn recorded_stream_is_thought_text_and_end() {
    let shown: Vec<String> = events(STREAM).iter().map(shown).collect();
    let has = |text: &str| shown.iter().any(|event| event.contains(text));
    assert!(shown[0].contains("resp_tool_0") && shown[0].contains("gpt-5.5"), "{}", shown[0]);
    assert!(has("Thinking { thinking: \"**Plan**\\n\\nWrite then read.\" }"));
    assert!(has("encrypted_content\\\":\\\"ZmFrZQ=="), "the sealed thought is kept: {shown:#?}");
    assert!(has("Text { text: \"I will write a file.\" }"));
    assert!(shown.last().is_some_and(|last| last == "MessageStop"));
}

#[test]
fn call_comes_in_pieces_or_whole() {
    let call =
        json!({"type": "function_call", "id": "fc", "call_id": "call_1", "name": "bash", "arguments": ""});
    let done = json!({"type": "function_call", "id": "fc", "call_id": "call_1", "name": "bash", "arguments": "{\"a\":1}"});
    let added = json!({"type": "response.output_item.added", "output_index": 0, "item": call});
    let delta =
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"a\":1}"});
    let ended = json!({"type": "response.output_item.done", "output_index": 0, "item": done});
    let completed = json!({"type": "response.completed", "response": {"usage":
        {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 7}}});
    for pieces in
        [vec![&added, &delta, &ended, &completed], vec![&added, &ended, &completed], vec![&ended, &completed]]
    {
        let pieces: Vec<Value> = pieces.into_iter().cloned().collect();
        let shown: Vec<String> = events(&stream(&pieces)).iter().map(shown).collect();
        assert_eq!(shown.len(), 5, "{shown:#?}");
        assert!(shown[0].contains("ToolUse { id: \"call_1\", name: \"bash\""), "{}", shown[0]);
        assert!(shown[1].contains("{\\\"a\\\":1}"), "{}", shown[1]);
        assert!(
            shown[3].contains("tool_use") && shown[3].contains("Some(60)") && shown[3].contains("Some(40)")
        );
    }
}

#[test]
fn answer_that_is_cut_refused_or_failed_ends_so() {
    let ended = |event: Value| shown(&events(&stream(&[event]))[0]);
    let incomplete = |reason: &str| {
        ended(json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}))
    };
    assert!(incomplete("max_output_tokens").contains("max_tokens"));
    assert!(incomplete("content_filter").contains("refusal"));
    let error = json!({"code": "server_error", "message": "sorry"});
    let failed = ended(json!({"type": "response.failed", "response": {"error": error}}));
    assert!(failed.starts_with("Error") && failed.contains("server_error"), "{failed}");
    assert!(
        ended(json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"})).contains("slow")
    );
}

#[test]
fn conversation_becomes_items() {
    let sealed = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"});
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}});
    let messages = vec![
        json!({"role": "user", "content": [{"type": "text", "text": "see"}, picture]}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "of another provider"},
            {"type": "thinking", "thinking": "hm", "signature": sealed.to_string(), "api": "openai"},
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a"}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a picture"}, picture]},
            {"type": "text", "text": "on"}]}),
    ];
    let tools = vec![json!({"name": "read", "description": "Reads", "input_schema": {"type": "object"}})];
    let request = Request {
        model: "gpt-5.5",
        system: "Be kind.",
        messages,
        tools,
        searches: false,
        thinking: Thinking::Adaptive,
        effort: None,
        has_thoughts: true,
        max_output: 9,
        is_cached: true,
    };
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,QUJD"});
    assert_eq!(
        body(&request),
        json!({
            "model": "gpt-5.5", "instructions": "Be kind.", "max_output_tokens": 9, "store": false, "stream": true,
            "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"],
            "tools": [{"type": "function", "name": "read", "description": "Reads", "parameters": {"type": "object"},
                "strict": false}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"}, image]},
                sealed,
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
                {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{\"path\":\"a\"}"},
                {"type": "function_call_output", "call_id": "c",
                    "output": [{"type": "input_text", "text": "a picture"}, image]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "on"}]},
            ],
        })
    );
}

#[test]
fn effort_is_a_part_of_reasoning() {
    let asked = |effort| {
        let request = Request {
            model: "gpt-5.5",
            system: "",
            messages: Vec::new(),
            tools: Vec::new(),
            searches: false,
            thinking: Thinking::Adaptive,
            effort,
            has_thoughts: true,
            max_output: 1_000,
            is_cached: false,
        };
        body(&request)["reasoning"].clone()
    };
    assert_eq!(asked(Some(ReasoningEffort::Low)), json!({"summary": "auto", "effort": "low"}));
    assert_eq!(asked(None), json!({"summary": "auto"}));
}

#[test]
fn search_is_the_providers_own_tool() {
    let request = Request {
        model: "gpt-5.5",
        system: "",
        messages: Vec::new(),
        tools: Vec::new(),
        searches: true,
        thinking: Thinking::Off,
        effort: None,
        has_thoughts: false,
        max_output: 1_000,
        is_cached: false,
    };
    assert_eq!(body(&request)["tools"], json!([{"type": "web_search"}]));
}
