use super::inspect;
use crate::{
    Feature,
    format::{Inspected, Media},
    refusal::RefusalKind,
};

fn check(fields: &str, features: &[Feature]) {
    let body = format!(r#"{{"model":"m",{fields}}}"#);
    let found = inspect(body.as_bytes()).map(|inspected| (inspected.model, inspected.features));
    assert_eq!(found, Ok(("m".to_owned(), features.to_vec())), "{body}");
}

fn check_part(part: &str, features: &[Feature]) {
    check(
        &format!(r#""messages":[{{"role":"user","content":[{{"type":"text","text":"a"}},{part}]}}]"#),
        features,
    );
}

#[test]
fn an_agents_own_tools_and_content_ask_for_nothing() {
    check(r#""stream":true,"store":false,"web_search_options":null"#, &[]);
    check(
        r#""tools":[{"type":"function","function":{"name":"web_search","parameters":{"type":"mcp"}}},{"type":"custom"}]"#,
        &[],
    );
    check(
        r#""messages":[{"role":"user","content":"https://example.org"},
            {"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c","content":"ok"}]"#,
        &[],
    );
    check_part(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}"#, &[]);
}

#[test]
fn what_makes_the_provider_fetch_is_found() {
    check(r#""web_search_options":{}"#, &[Feature::ServerTools]);
    check(r#""tools":[{"type":"function"},{"type":"web_search"}]"#, &[Feature::ServerTools]);
    check(r#""tools":[{"type":"mcp"}]"#, &[Feature::RemoteMcp]);
    check(r#""store":true"#, &[Feature::StoredState]);
    check_part(
        r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#,
        &[Feature::UrlSources],
    );
    check_part(r#"{"type":"image_url","image_url":"http://example.org"}"#, &[Feature::UrlSources]);
    check_part(r#"{"type":"image_url","image_url":{"url":" DATA:image/png;base64,aGVsbG8="}}"#, &[]);
    check_part(r#"{"type":"image_url","image_url":{"url":"database.example.org"}}"#, &[Feature::UrlSources]);
    check_part(r#"{"type":"video_url","video_url":{"url":"https://x"}}"#, &[Feature::UrlSources]);
    check_part(r#"{"type":"file","file":{"file_id":"file-1"}}"#, &[Feature::StoredFiles]);
}

#[test]
fn what_can_be_read_two_ways_is_refused() {
    for body in [
        "",
        "[]",
        r#"{"model":"m","store":false,"store":true}"#,
        r#"{"model":"m","model":"other"}"#,
        r#"{"model":"m","MODEL":"other"}"#,
        r#"{"model":"m","messages":[{"content":[{"image_url":{"url":"data:,","url":"http://x"}}]}]}"#,
    ] {
        let kind = inspect(body.as_bytes()).map_err(|refusal| refusal.kind);
        assert_eq!(kind, Err(RefusalKind::Invalid), "{body}");
    }
}

#[test]
fn what_a_call_may_cost_is_read_too() {
    let body = r#"{"model":"m","n":2,"max_tokens":10,"max_completion_tokens":50,"stream":true,"messages":[{"role":"user",
        "content":[{"type":"input_audio","input_audio":{"data":"aGVsbG8=","format":"wav"}},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}},
            {"type":"file","file":{"file_data":"data:text/plain;base64,aGVsbG8="}}]}]}"#;
    let expected = Inspected {
        model: "m".to_owned(),
        max_output_tokens: Some(100),
        n_answers: Some(2),
        streamed: true,
        media: Media { count: 2, bytes: 38 },
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
