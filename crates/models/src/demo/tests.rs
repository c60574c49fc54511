//! Whole answers, byte by byte. `UPDATE_FIXTURES=1` writes them anew.

use std::{fs, path::Path};

use futures::StreamExt;
use serde_json::{Value, json};
use warren_env::Env;

use super::{Demo, Dialect, Naming};
use crate::Pace;

/// Status, media type and body.
async fn ask(case: &Value) -> String {
    ask_of(&Demo::new(Pace::NONE, Naming::Request), case).await
}

async fn ask_of(demo: &Demo, case: &Value) -> String {
    let path = case["path"].as_str().expect("a path");
    let dialect = Dialect::of(path).expect("a dialect");
    let answer = demo.answer(dialect, path, case["body"].to_string().as_bytes());
    let head = format!("{}\n{}\n\n", answer.status.as_u16(), answer.content_type().expect("a type"));
    let pieces: Vec<_> = answer.pieces.collect().await;
    let body: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.expect("a piece")).collect();
    head + &String::from_utf8(body).expect("text")
}

fn cases() -> Vec<(String, Value, std::path::PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).expect("fixtures") {
        let folder = entry.expect("an entry").path();
        let text = fs::read_to_string(folder.join("in.json")).expect("in.json");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        cases.push((name, serde_json::from_str(&text).expect("JSON"), folder.join("out.txt")));
    }
    cases
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "whether to rewrite fixtures is said by the environment")]
async fn answers_are_those_of_the_fixtures() {
    let update = std::env::var("UPDATE_FIXTURES").is_ok();
    for (name, case, out) in cases() {
        let answer = ask(&case).await;
        if update {
            fs::write(&out, &answer).expect("written");
        }
        assert_eq!(answer, fs::read_to_string(&out).unwrap_or_default(), "{name}");
    }
}

#[tokio::test]
async fn the_same_request_gets_the_same_bytes_and_another_one_other_ids() {
    let (_, mut case, _) = cases().into_iter().find(|(name, ..)| name == "command").expect("the fixture");
    let first = ask(&case).await;
    assert_eq!(first, ask(&case).await);
    case["body"]["messages"][0]["content"] = "run: true ".into();
    assert_ne!(first, ask(&case).await);
}

#[tokio::test]
async fn a_servers_own_model_gives_no_id_twice_and_says_the_same_again() {
    for (name, case, _) in cases().into_iter().filter(|(name, ..)| name.starts_with("command")) {
        let demo = Demo::new(Pace::NONE, Naming::Call(Env::system()));
        let (first, second) = (ask_of(&demo, &case).await, ask_of(&demo, &case).await);
        assert_ne!(first, second, "{name}");
        assert_eq!(without_ids(&first), without_ids(&second), "{name}");
    }
}

/// A text whose ids are all the same.
fn without_ids(text: &str) -> String {
    let mut parts = text.split("_demo_");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "_demo_" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

#[tokio::test]
async fn without_the_tools_it_needs_it_says_so_instead_of_pretending() {
    for prompt in ["run: ls", "sleep 5", "build me a dashboard", "list the files"] {
        let messages = json!([{ "role": "user", "content": prompt }]);
        let body = json!({ "model": "m", "max_tokens": 64, "messages": messages });
        let answer = ask(&json!({ "path": "/v1/messages", "body": body })).await;
        assert!(answer.contains("I don't have the tools for this."), "{prompt}: {answer}");
    }
}

#[tokio::test]
async fn an_error_goes_away_after_as_many_tries_as_asked_for_in_every_dialect() {
    let said = "error 503 twice";
    let user = json!([{ "role": "user", "content": said }]);
    let parts = json!([{ "role": "user", "parts": [{ "text": said }] }]);
    let cases = [
        ("/v1/messages", json!({ "max_tokens": 9, "messages": user })),
        ("/v1beta/models/m:generateContent", json!({ "contents": parts })),
        ("/v1/chat/completions", json!({ "messages": user })),
        ("/v1/responses", json!({ "input": user })),
    ];
    for (path, body) in cases {
        // Each on its own: what counts is the conversation, in whatever dialect.
        let demo = Demo::new(Pace::NONE, Naming::Request);
        let dialect = Dialect::of(path).expect("a dialect");
        let mut statuses = Vec::new();
        for _ in 0..4 {
            let answer = demo.answer(dialect, path, body.to_string().as_bytes());
            statuses.push((answer.status.as_u16(), answer.headers.contains_key("retry-after")));
        }
        assert_eq!(statuses, [(503, true), (503, true), (200, false), (503, true)], "{path}");
    }
}

#[tokio::test]
async fn after_a_denial_it_stops_and_claims_nothing() {
    let tool = |name: &str| json!({ "name": name, "description": "", "input_schema": { "type": "object" } });
    let said = async |result: &str| {
        let messages = json!([
            { "role": "user", "content": "build me a dashboard of our sales" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "write", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": result, "is_error": true }] },
        ]);
        let tools = [tool("write"), tool("bash"), tool("edit")];
        let body = json!({ "model": "m", "max_tokens": 64, "messages": messages, "tools": tools });
        ask(&json!({ "path": "/v1/messages", "body": body })).await
    };
    for denial in [
        "The person does not allow this.",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    ] {
        let answer = said(denial).await;
        assert!(
            answer.contains("You denied this step") && !answer.contains("tool_use"),
            "{denial}: {answer}"
        );
    }
    let answer = said("cat: secret: Permission denied").await;
    assert!(answer.contains("That failed"), "{answer}");
}
