use super::inspect;
use crate::{
    Feature,
    format::{Inspected, Media},
    refusal::RefusalKind,
};

/// What the Gemini CLI sends, with its texts cut short.
const OF_THE_CLI: &str = include_str!("../../../fixtures/gemini/gemini-cli-request.json");

fn check(body: &str, features: &[Feature]) {
    let found = inspect(body.as_bytes()).map(|inspected| inspected.features);
    assert_eq!(found, Ok(features.to_vec()), "{body}");
}

#[test]
fn what_an_agent_sends_by_default_asks_for_nothing() {
    assert_eq!(inspect(OF_THE_CLI.as_bytes()), Ok(Inspected::default()));
    check("{}", &[]);
    check(r#"{"tools":[{"function_declarations":[{"name":"googleSearch"}]}],"cachedContent":null}"#, &[]);
    check(
        r#"{"contents":[{"parts":[{"text":"fileData"},{"functionCall":{"name":"f","args":{"fileData":1}}},
            {"functionResponse":{"name":"f","response":{"file_data":{"file_uri":"x"}}}}]}]}"#,
        &[],
    );
}

#[test]
fn the_providers_own_tools_are_found_under_both_kinds_of_names() {
    for kind in [
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "urlContext",
        "url_context",
        "codeExecution",
        "code_execution",
        "computerUse",
        "googleMaps",
        "somethingNew",
    ] {
        let body = format!(r#"{{"tools":[{{"functionDeclarations":[],"{kind}":{{}}}}]}}"#);
        check(&body, &[Feature::ServerTools]);
        check(&format!(r#"{{"tools":{{"{kind}":{{}}}}}}"#), &[Feature::ServerTools]);
    }
    check(r#"{"tools":[{"fileSearch":{}}]}"#, &[Feature::StoredFiles]);
    check(r#"{"tools":[{"mcp_servers":[]}]}"#, &[Feature::RemoteMcp]);
    check(r#"{"cached_content":"cachedContents/1"}"#, &[Feature::StoredFiles]);
    // Escapes are read like any other text.
    check(r#"{"tools":[{"google\u0053earch":{}}]}"#, &[Feature::ServerTools]);
}

#[test]
fn addresses_are_found_at_any_depth() {
    let both = [Feature::UrlSources, Feature::StoredFiles];
    let file = r#"{"fileData":{"fileUri":"https://example.org/a.mp4"}}"#;
    check(&format!(r#"{{"contents":[{{"parts":[{{"text":"a"}},{file}]}}]}}"#), &both);
    check(&format!(r#"{{"contents":{{"parts":{file}}}}}"#), &both);
    check(&format!(r#"{{"system_instruction":{{"parts":[{file}]}}}}"#), &both);
    let result = format!(r#"{{"functionResponse":{{"name":"f","parts":[{file}]}}}}"#);
    check(&format!(r#"{{"contents":[{{"parts":[{result}]}}]}}"#), &both);
    check(r#"{"contents":[{"parts":[{"file_data":{"file_uri":"files/1"}}]}]}"#, &both);
    check(&format!(r#"{{"generateContentRequest":{{"contents":[{{"parts":[{file}]}}]}}}}"#), &both);
    check(r#"{"generate_content_request":{"tools":[{"urlContext":{}}]}}"#, &[Feature::ServerTools]);
}

#[test]
fn what_can_be_read_two_ways_is_refused() {
    for body in [
        "[]",
        "{",
        r#"{"cachedContent":null,"cached_content":"cachedContents/1"}"#,
        r#"{"tools":[],"tools":[{"googleSearch":{}}]}"#,
        r#"{"contents":[{"parts":[{"fileData":null,"file_data":{}}]}]}"#,
    ] {
        let kind = inspect(body.as_bytes()).map_err(|refusal| refusal.kind);
        assert_eq!(kind, Err(RefusalKind::Invalid), "{body}");
    }
}

#[test]
fn what_a_call_may_cost_is_read_too() {
    let body = r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}},
        {"inline_data":{"mime_type":"text/plain","data":"aGVsbG8="}}]}],
        "generation_config":{"max_output_tokens":"100","candidateCount":3}}"#;
    let expected = Inspected {
        max_output_tokens: Some(300),
        n_answers: Some(3),
        media: Media { count: 1, bytes: 8 },
        ..Inspected::default()
    };
    assert_eq!(inspect(body.as_bytes()), Ok(expected));
}

#[test]
fn service_that_costs_more_than_the_standard_one_is_found() {
    for body in [
        r#"{"serviceTier":"flex"}"#,
        r#"{"service_tier":"STANDARD"}"#,
        r#"{"service_tier":"SERVICE_TIER_UNSPECIFIED"}"#,
        r#"{"generationConfig":{"serviceTier":"SERVICE_TIER_FLEX"}}"#,
    ] {
        check(body, &[]);
    }
    for body in [
        r#"{"serviceTier":"priority"}"#,
        r#"{"service_tier":"SERVICE_TIER_PRIORITY"}"#,
        r#"{"generationConfig":{"service_tier":"priority"}}"#,
        r#"{"generateContentRequest":{"serviceTier":"priority"}}"#,
    ] {
        check(body, &[Feature::DearerService]);
    }
}
