use serde_json::{Value, json};
use warren_domain::ReasoningEffort;

use super::{super::ApiEvent, Decoder, NO_SIGNATURE, body};
use crate::agent::request::{Request, Thinking};

const STREAM: &str = include_str!("../../../../../models/fixtures/gemini/stream.sse");

fn events(stream: &str) -> Vec<String> {
    let (mut decoder, mut out) = (Decoder::default(), Vec::new());
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        decoder.decode(&serde_json::from_str(data).expect("JSON"), &mut out);
    }
    decoder.finish(&mut out);
    out.iter().map(|event: &ApiEvent| format!("{event:?}")).collect()
}

fn chunk(candidate: &Value) -> String {
    format!("data: {}\n\n", json!({"candidates": [candidate]}))
}

#[test]
fn recorded_stream_is_thought_text_call_and_end() {
    let shown = events(STREAM);
    let has = |text: &str| shown.iter().any(|event| event.contains(text));
    assert!(shown[0].contains("resp-tool-0") && shown[0].contains("gemini-2.5-pro"), "{}", shown[0]);
    assert!(has("Thinking { thinking: \"**Plan**\\nWrite, then read, then run.\" }"), "{shown:#?}");
    assert!(has("Text { text: \"I will write a file.\" }"));
    assert!(has("ToolUse { id: \"call_tool_0_2\", name: \"write_file\""));
    assert!(has("Signature { signature: \"ZmFrZS1zaWduYXR1cmU=\" }"));
    let end = &shown[shown.len() - 2];
    // 100 of the prompt, 4 of them cached; 14 of the answer and 7 of thoughts.
    assert!(end.contains("tool_use") && end.contains("Some(96)") && end.contains("Some(21)"), "{end}");
    assert_eq!(shown.last().map(String::as_str), Some("MessageStop"));
}

#[test]
fn answer_without_a_reason_for_its_end_has_none() {
    let text = json!({"content": {"parts": [{"text": "He"}]}});
    assert!(!events(&chunk(&text)).contains(&"MessageStop".to_owned()), "it was cut");
    let malformed = json!({"finishReason": "MALFORMED_FUNCTION_CALL"});
    assert!(!events(&chunk(&malformed)).contains(&"MessageStop".to_owned()), "it is asked for again");
    assert!(events(&chunk(&json!({"finishReason": "MAX_TOKENS"})))[1].contains("max_tokens"));
    assert!(events(&chunk(&json!({"finishReason": "SAFETY"})))[1].contains("refusal"));
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    assert!(events(&format!("data: {error}\n\n"))[0].contains("UNAVAILABLE"));
}

#[test]
fn conversation_becomes_contents_and_results_name_their_tool() {
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}});
    let messages = vec![
        json!({"role": "user", "content": [{"type": "text", "text": "see"}, picture]}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a"}, "api": "gemini", "signature": "s"},
            {"type": "tool_use", "id": "d", "name": "bash", "input": {}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a picture"}, picture]},
            {"type": "tool_result", "tool_use_id": "d", "content": "no", "is_error": true}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "e", "name": "bash", "input": {}}]}),
    ];
    let request = Request {
        model: "gemini-3-pro",
        system: "Be kind.",
        messages,
        tools: vec![json!({"name": "read", "description": "Reads", "input_schema": {"type": "object"}})],
        searches: false,
        thinking: Thinking::Adaptive,
        effort: None,
        has_thoughts: true,
        max_output: 9,
        is_cached: true,
    };
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "QUJD"}});
    let call = |id: &str, name: &str, args: Value| json!({"id": id, "name": name, "args": args});
    assert_eq!(
        body(&request),
        json!({
            "systemInstruction": {"parts": [{"text": "Be kind."}]},
            "generationConfig": {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": true}},
            "tools": [{"functionDeclarations": [
                {"name": "read", "description": "Reads", "parametersJsonSchema": {"type": "object"}}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "see"}, image]},
                {"role": "model", "parts": [
                    {"functionCall": call("c", "read", json!({"path": "a"})), "thoughtSignature": "s"},
                    {"functionCall": call("d", "bash", json!({}))}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "c", "name": "read", "response": {"output": "a picture"}}},
                    {"functionResponse": {"id": "d", "name": "bash", "response": {"error": "no"}}},
                    image]},
                {"role": "model", "parts": [
                    {"functionCall": call("e", "bash", json!({})), "thoughtSignature": NO_SIGNATURE}]},
            ],
        })
    );
}

#[test]
fn effort_is_a_level_or_a_number_of_tokens() {
    let asked = |model, effort| {
        let request = Request {
            model,
            system: "",
            messages: Vec::new(),
            tools: Vec::new(),
            searches: false,
            thinking: Thinking::Adaptive,
            effort: Some(effort),
            has_thoughts: true,
            max_output: 1_000,
            is_cached: false,
        };
        body(&request)["generationConfig"]["thinkingConfig"].clone()
    };
    let (low, medium) = (ReasoningEffort::Low, ReasoningEffort::Medium);
    assert_eq!(asked("gemini-2.5-pro", medium), json!({"includeThoughts": true, "thinkingBudget": 8_000}));
    assert_eq!(asked("gemini-3-pro-preview", low), json!({"includeThoughts": true, "thinkingLevel": "low"}));
    assert_eq!(asked("gemini-3-pro-preview", medium), json!({"includeThoughts": true}));
    assert_eq!(asked("gemini-3-flash", medium), json!({"includeThoughts": true, "thinkingLevel": "medium"}));
}

#[test]
fn search_is_the_providers_own_tool() {
    let request = Request {
        model: "gemini-2.5-pro",
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
    assert_eq!(body(&request)["tools"], json!([{"googleSearch": {}}]));
}
