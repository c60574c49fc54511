//! The web, searched by the model's provider.

use serde_json::{Value, json};

use crate::{
    model::{Answer, Model, Reply, Step},
    place::Place,
};

const GRANTED: &[&str] = &["--provider-tools", "granted"];

fn names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What an answer has of a search before its words: blocks that only the provider needs.
fn searched(id: &str, text: &str) -> Answer {
    let call = json!({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}});
    let hit = json!({"type": "web_search_result", "url": "https://example.org", "title": "Example"});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [hit]});
    Answer::new(id).block(call, Vec::new()).block(result, Vec::new()).text(text)
}

#[test]
fn granted_search_is_a_call_of_its_own_and_its_findings_are_the_tools_answer() {
    let place = Place::new();
    let query = json!({"query": "newest Rust release"});
    let model = Model::start([
        Step::to("which Rust", Answer::new("a").call("t1", "web_search", &query)),
        Step::to("newest Rust release", searched("s", "Rust 1.99, https://example.org")),
        Step::to("Rust 1.99", Answer::new("b").text("It is 1.99.")),
    ]);
    let done = place.prompt_with(&model, GRANTED, "m", "which Rust is new?").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "It is 1.99."}));
    let requests = model.requests();
    assert!(names(&requests[0]).contains(&"web_search".to_owned()));
    let tool = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]);
    assert_eq!(requests[1]["tools"], tool, "nothing but the search");
    let blocks = place.blocks();
    let shown = blocks.as_array().expect("blocks").iter().find(|block| block["type"] == "tool_use");
    let shown = shown.expect("the search is shown");
    assert_eq!((&shown["displayName"], &shown["input"]), (&json!("Search the web"), &query));
    let result = blocks.as_array().expect("blocks").iter().find(|block| block["type"] == "tool_result");
    assert_eq!(result.expect("its result")["output"], "Rust 1.99, https://example.org");
}

#[test]
fn search_is_not_offered_without_the_grant() {
    let place = Place::new();
    let model = Model::start([Step::to("hi", Answer::new("a").text("Hello"))]);
    place.prompt(&model, "m", "hi").finish();
    assert!(!names(&model.requests()[0]).contains(&"web_search".to_owned()));
}

#[test]
fn search_that_the_provider_refuses_fails_the_call_and_not_the_turn() {
    let place = Place::new();
    let model = Model::start([
        Step::to("look", Answer::new("a").call("t1", "web_search", &json!({"query": "a thing"}))),
        Step::to("a thing", Reply::refusal(400, "invalid_request_error", "web search is not enabled")),
        Step::to("web search is not enabled", Answer::new("b").text("I cannot.")),
    ]);
    let done = place.prompt_with(&model, GRANTED, "m", "look it up").finish();
    model.assert_done();
    assert_eq!(done.end["summary"], "I cannot.");
}
