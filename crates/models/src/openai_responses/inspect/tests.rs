use super::inspect;
use crate::{
    Feature,
    format::{Inspected, Media},
    refusal::RefusalKind,
};

/// What Codex sends unless its web search is turned off, with its texts cut short.
const OF_CODEX: &str = include_str!("../../../fixtures/openai-responses/codex-request.json");

fn check(fields: &str, features: &[Feature]) {
    let body = format!(r#"{{"model":"m",{fields}}}"#);
    let found = inspect(body.as_bytes()).map(|inspected| (inspected.model, inspected.features));
    assert_eq!(found, Ok(("m".to_owned(), features.to_vec())), "{body}");
}

fn check_tool(tool: &str, features: &[Feature]) {
    check(&format!(r#""tools":[{{"type":"function","name":"f"}},{tool}]"#), features);
    let nested = format!(r#"{{"type":"namespace","name":"n","tools":[{tool}]}}"#);
    check(&format!(r#""tools":[{nested}]"#), features);
    check(&format!(r#""input":[{{"type":"tool_search_output","tools":[{tool}]}}]"#), features);
}

fn check_content(content: &str, features: &[Feature]) {
    check(&format!(r#""input":[{{"role":"user","content":[{content}]}}]"#), features);
    check(&format!(r#""input":[{{"type":"function_call_output","output":[{content}]}}]"#), features);
}

#[test]
fn codex_asks_for_nothing_once_its_web_search_is_off() {
    let found = |body: &str| inspect(body.as_bytes()).expect("read");
    let expected = |features| Inspected {
        model: "gpt-5.5".to_owned(),
        features,
        streamed: true,
        ..Inspected::default()
    };
    assert_eq!(found(OF_CODEX), expected(vec![Feature::ServerTools]));
    let without = OF_CODEX.replace("\"type\": \"web_search\"", "\"type\": \"function\"");
    assert_eq!(found(&without), expected(Vec::new()));
}

#[test]
fn an_agents_own_tools_and_content_ask_for_nothing() {
    check(
        r#""input":"https://example.org","store":false,"background":false,"previous_response_id":null,"conversation":null"#,
        &[],
    );
    for kind in ["function", "custom", "local_shell", "apply_patch", "tool_search"] {
        check_tool(&format!(r#"{{"type":"{kind}","execution":"client"}}"#), &[]);
    }
    check_tool(r#"{"type":"shell","environment":{"type":"local"}}"#, &[]);
    check_content(r#"{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}"#, &[]);
    check_content(r#"{"type":"input_file","filename":"a.pdf","file_data":"aGVsbG8="}"#, &[]);
    check(
        r#""input":[{"type":"function_call","arguments":"{\"file_id\":1}"},{"type":"function_call_output","output":"ok"},
            {"type":"reasoning","summary":[],"encrypted_content":"x","content":null}]"#,
        &[],
    );
}

#[test]
fn the_providers_own_tools_are_found_wherever_tools_are_listed() {
    for kind in [
        "web_search",
        "web_search_preview",
        "web_search_2025_08_26",
        "image_generation",
        "computer_use_preview",
        "something_new",
    ] {
        check_tool(&format!(r#"{{"type":"{kind}"}}"#), &[Feature::ServerTools]);
    }
    check_tool(r#"{"type":"file_search","vector_store_ids":["v"]}"#, &[Feature::StoredFiles]);
    check_tool(r#"{"type":"code_interpreter","container":{"type":"auto"}}"#, &[Feature::Containers]);
    check_tool(r#"{"type":"shell","environment":{"type":"container_auto"}}"#, &[Feature::Containers]);
    check_tool(r#"{"type":"mcp","server_url":"https://x"}"#, &[Feature::RemoteMcp]);
}

#[test]
fn sources_are_found_in_messages_and_in_results() {
    check_content(r#"{"type":"input_image","image_url":"https://x/a.png"}"#, &[Feature::UrlSources]);
    check_content(r#"{"type":"input_image","file_id":"file-1"}"#, &[Feature::StoredFiles]);
    check_content(r#"{"type":"input_file","file_url":"https://x/a.pdf"}"#, &[Feature::UrlSources]);
    check_content(r#"{"type":"input_file","file_id":"file-1"}"#, &[Feature::StoredFiles]);
    check(
        r#""input":[{"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"http://x"}}]"#,
        &[Feature::UrlSources],
    );
}

#[test]
fn what_the_provider_keeps_is_found() {
    for fields in [
        r#""previous_response_id":"resp_1""#,
        r#""conversation":"conv_1""#,
        r#""conversation":{"id":"conv_1"}"#,
        r#""prompt":{"id":"pmpt_1"}"#,
        r#""store":true"#,
        r#""background":true,"store":false"#,
        r#""input":[{"type":"item_reference","id":"msg_1"}]"#,
    ] {
        check(fields, &[Feature::StoredState]);
    }
}

#[test]
fn what_can_be_read_two_ways_is_refused() {
    for body in ["", "[]", r#"{"model":"m","store":false,"store":true}"#, r#"{"tools":[],"tools":[]}"#] {
        let kind = inspect(body.as_bytes()).map_err(|refusal| refusal.kind);
        assert_eq!(kind, Err(RefusalKind::Invalid), "{body}");
    }
}

#[test]
fn what_a_call_may_cost_is_read_too() {
    let body = r#"{"model":"m","max_output_tokens":50,"input":[{"role":"user","content":[
        {"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}]}]}"#;
    let expected = Inspected {
        model: "m".to_owned(),
        max_output_tokens: Some(50),
        media: Media { count: 1, bytes: 30 },
        ..Inspected::default()
    };
    assert_eq!(inspect(body.as_bytes()), Ok(expected));
}

#[test]
fn service_that_costs_more_than_the_standard_one_is_found() {
    for tier in ["auto", "default", "flex"] {
        check(&format!(r#""service_tier":"{tier}""#), &[]);
    }
    for tier in ["priority", "scale", "fast", "Default", "something_new"] {
        check(&format!(r#""service_tier":"{tier}""#), &[Feature::DearerService]);
    }
}

#[test]
fn models_for_a_router_to_choose_from_are_read_and_its_plugins_are_tools() {
    let inspected = inspect(br#"{"model":"m","models":["a","b"]}"#).expect("read");
    assert_eq!(
        (inspected.model.as_str(), inspected.other_models),
        ("m", vec!["a".to_owned(), "b".to_owned()])
    );
    check(r#""plugins":[{"id":"web"}]"#, &[Feature::ServerTools]);
}
