use super::inspect;
use crate::{
    Feature,
    format::{Inspected, Media},
    refusal::RefusalKind,
};

fn check(body: &str, features: &[Feature]) {
    let found = inspect(body.as_bytes()).map(|inspected| (inspected.model, inspected.features));
    assert_eq!(found, Ok(("m".to_owned(), features.to_vec())), "{body}");
}

#[test]
fn an_agents_own_tools_and_content_ask_for_nothing() {
    check(r#"{"model":"m"}"#, &[]);
    check(r#"{"model":"m","mcp_servers":[],"container":null,"tools":null,"system":"s"}"#, &[]);
    check(
        r#"{"model":"m","tools":[{"name":"a"},{"type":"custom","name":"b"},{"type":"bash_20250124","name":"bash"},
            {"type":"text_editor_20250728"},{"type":null}]}"#,
        &[],
    );
    check(
        r#"{"model":"m","messages":[{"role":"user","content":"look at https://example.org"},
            {"role":"user","content":[{"type":"image","source":{"type":"base64","data":""}},
                {"type":"search_result","source":"https://example.org","content":[{"type":"text","text":""}]}]},
            {"role":"assistant","content":[{"type":"tool_use","input":{"source":{"type":"url"},"type":"web_search_1"}}]}]}"#,
        &[],
    );
}

#[test]
fn the_providers_own_tools_are_found() {
    for kind in
        ["web_search_20250305", "web_fetch_20250910", "code_execution_20250825", "something_new", "bash_code"]
    {
        check(
            &format!(r#"{{"model":"m","tools":[{{"name":"a"}},{{"type":"{kind}"}}]}}"#),
            &[Feature::ServerTools],
        );
    }
    check(r#"{"model":"m","tools":[[{"type":"web_fetch_20250910"}]]}"#, &[Feature::ServerTools]);
    check(r#"{"model":"m","tools":[{"type":"mcp_toolset"}]}"#, &[Feature::RemoteMcp]);
    check(r#"{"model":"m","mcp_servers":[{"type":"url","url":"https://x"}]}"#, &[Feature::RemoteMcp]);
    check(r#"{"model":"m","container":"c"}"#, &[Feature::Containers]);
}

#[test]
fn sources_are_found_at_any_depth() {
    let url = r#"{"type":"image","source":{"type":"url","url":"http://x"}}"#;
    let file = r#"{"type":"document","source":{"type":"file","file_id":"f"}}"#;
    let of_content = format!(r#"{{"type":"document","source":{{"type":"content","content":[{url}]}}}}"#);
    let in_result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":[{url},{file}]}}"#);
    let user = |block: &str| format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{block}]}}]}}"#);
    check(&user(url), &[Feature::UrlSources]);
    check(&user(file), &[Feature::StoredFiles]);
    check(&user(&of_content), &[Feature::UrlSources]);
    check(&user(&in_result), &[Feature::UrlSources, Feature::StoredFiles]);
    check(&user(r#"{"type":"container_upload","file_id":"f"}"#), &[Feature::Containers]);
    check(&format!(r#"{{"model":"m","system":[{file}]}}"#), &[Feature::StoredFiles]);
    // Escapes are read like any other text.
    check(&user(r#"{"type":"image","sou\u0072ce":{"type":"u\u0072l"}}"#), &[Feature::UrlSources]);
}

#[test]
fn what_can_be_read_two_ways_is_refused() {
    for body in [
        "",
        "{",
        "[]",
        "{\"model\":\"\u{0}\"}",
        r#"{"model":"m"} {}"#,
        r#"{"model":"m","tools":[],"tools":[{"type":"web_search_20250305"}]}"#,
        r#"{"model":"m","container":null,"container":"c"}"#,
        r#"{"model":"m","messages":[{"content":[{"type":"image","source":{"type":"base64","type":"url"}}]}]}"#,
        r#"{"model":7}"#,
        r#"{"model":"m","model":"other"}"#,
        r#"{"model":"m","mod\u0065l":"other"}"#,
        r#"{"model":"m","Model":"other"}"#,
        r#"{"model":"m","Speed":"fast"}"#,
        r#"{"model":"m","messages":[{"content":[{"type":"image","Source":{"type":"url"}}]}]}"#,
    ] {
        assert_eq!(
            inspect(body.as_bytes()).map_err(|refusal| refusal.kind),
            Err(RefusalKind::Invalid),
            "{body}"
        );
    }
    let deep = format!(r#"{{"model":"m","x":{}"#, "[".repeat(100_000));
    assert!(inspect(deep.as_bytes()).is_err());
    assert!(inspect(b"{\"model\":\"\xff\"}").is_err());
}

#[test]
fn what_a_call_may_cost_is_read_too() {
    let body = r#"{"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":[
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}},
        {"type":"document","source":{"type":"text","data":"words cost by their length"}}]}]}"#;
    let expected = Inspected {
        model: "m".to_owned(),
        max_output_tokens: Some(64),
        streamed: true,
        media: Media { count: 1, bytes: 8 },
        ..Inspected::default()
    };
    assert_eq!(inspect(body.as_bytes()), Ok(expected));
}

#[test]
fn service_that_costs_more_than_the_standard_one_is_found() {
    for fields in [
        r#""service_tier":"auto""#,
        r#""service_tier":"standard_only""#,
        r#""service_tier":null,"speed":null"#,
        r#""speed":"standard""#,
        r#""inference_geo":"global""#,
    ] {
        check(&format!(r#"{{"model":"m",{fields}}}"#), &[]);
    }
    for fields in [
        r#""service_tier":"priority""#,
        r#""service_tier":"Auto""#,
        r#""service_tier":["priority"]"#,
        r#""service_tier":{}"#,
        r#""speed":"fast""#,
        r#""speed":"f\u0061st""#,
        r#""speed":"something_new""#,
        r#""inference_geo":"us""#,
    ] {
        check(&format!(r#"{{"model":"m",{fields}}}"#), &[Feature::DearerService]);
    }
}
