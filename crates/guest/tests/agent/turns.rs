//! What a person sees of a turn.

use serde_json::{Value, json};
use warren_domain::EventBody;

use crate::{
    model::{Answer, Model, Reply, Step},
    place::Place,
};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

#[test]
fn a_question_is_answered_with_thought_and_text_that_stream() {
    let place = Place::new();
    let model = Model::start([Step::to("hi", Answer::new("msg_1").thinking("a person").text("Hello!"))]);
    let done = place.prompt(&model, "msg-1", "hi").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Hello!"}));
    assert_eq!(
        place.blocks(),
        json!([
            {"type": "user_message", "id": "msg-1", "content": "hi"},
            {"type": "thinking", "id": "msg_1-0", "content": "a person"},
            {"type": "assistant_text", "id": "msg_1-1", "content": "Hello!", "model": "scripted-1"},
        ])
    );
    let kinds: Vec<String> = done
        .drafts
        .iter()
        .map(|draft| serde_json::to_value(draft).expect("JSON")["type"].as_str().expect("a type").to_owned())
        .collect();
    let block = ["block_start", "text_delta", "text_delta", "block_complete"];
    assert_eq!(kinds, [&["block_complete"][..], &block, &block, &["metadata_update"]].concat());
    place.record("text");
}

#[test]
fn usage_is_the_sum_of_all_answers() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "todo", &json!({"todos": []}))),
        Step::to("tool_result", Answer::new("b").text("Done.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    let usage = done.drafts.into_iter().filter_map(|draft| match draft.body {
        EventBody::MetadataUpdate { usage, context_tokens, model, .. } => {
            Some((usage.input_tokens, usage.output_tokens, usage.total_tokens, context_tokens, model))
        }
        _ => None,
    });
    let of = |n: u64| (n * 10, n * 20, n * 35, Some(35), Some("scripted-1".to_owned()));
    assert_eq!(usage.collect::<Vec<_>>(), [of(1), of(2)]);
}

#[test]
fn the_model_is_told_the_instructions_and_the_tools_of_the_profile() {
    let place = Place::new();
    place.instruct("INSTRUCTIONS.md", "Always use tabs.");
    place
        .instruct("agent.json", r#"{"systemPrompt": "You are Ada.", "tools": ["Read", "Bash", "WebFetch"]}"#);
    let model = Model::start([Step::to("hi", Answer::new("a").text("Hello"))]);
    place.prompt(&model, "m", "hi").finish();
    let request = &model.requests()[0];
    let system = request["system"][0]["text"].as_str().expect("a system prompt");
    assert!(
        system.starts_with("You are Ada.")
            && system.contains("Always use tabs.")
            && system.contains("outputs/")
    );
    let tools: Vec<&str> =
        request["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(tools, ["bash", "read"]);
    assert_eq!((&request["model"], &request["stream"]), (&json!("scripted-1"), &json!(true)));
}

#[test]
fn a_command_of_the_profile_is_shown_as_written_and_sent_as_meant() {
    let place = Place::new();
    place.instruct("agent.json", r#"{"commands": [{"name": "fix", "prompt": "Fix $ARGUMENTS at once."}]}"#);
    let model = Model::start([Step::to("Fix it at once.", Answer::new("a").text("Fixed."))]);
    place.prompt(&model, "m", "/fix it").finish();
    assert_eq!(place.blocks()[0]["content"], "/fix it");
    assert_eq!(model.messages(0), json!([user("Fix it at once.")]));
}

#[test]
fn a_message_while_the_agent_works_reaches_the_model_with_the_next_question() {
    let place = Place::new();
    let model = Model::start([
        Step::to(
            "go",
            Answer::new("a").call("t1", "bash", &json!({"command": "until [ -e on ]; do sleep 0.01; done"})),
        ),
        Step::to("in French", Answer::new("b").text("Voilà.")),
    ]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["updates"]["status"] == "running");
    run.tell_and_be_heard(&json!({"type": "steer", "message": "m2", "content": "in French"}));
    place.write("on", "");
    let done = run.finish();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Voilà."}));
    let blocks = place.blocks();
    let kinds: Vec<&str> =
        blocks.as_array().expect("blocks").iter().filter_map(|b| b["type"].as_str()).collect();
    assert_eq!(kinds, ["user_message", "tool_use", "tool_result", "user_message", "assistant_text"]);
    place.record("steer");
}

#[test]
fn a_message_that_arrives_during_the_last_answer_is_answered_too() {
    let place = Place::new();
    let mut events = Answer::new("a").text("One.").whole();
    let rest = events.split_off(4);
    let model = Model::start([
        Step::to("go", Reply::Gate { events, gate: place.workspace("on"), rest }),
        Step::to("again", Answer::new("b").text("Two.")),
    ]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["type"] == "text_delta");
    run.tell_and_be_heard(&json!({"type": "steer", "message": "m2", "content": "again"}));
    place.write("on", "");
    let done = run.finish();
    assert_eq!(done.end["summary"], "Two.");
    assert_eq!(model.messages(1), json!([user("go"), assistant("One."), user("again")]));
}

#[test]
fn a_second_prompt_is_taken_up_like_a_message_to_a_working_agent() {
    let place = Place::new();
    let model = Model::start([Step::to("two", Answer::new("a").text("Both."))]);
    let mut run = place.start(&model);
    // Both are there before the first question goes out.
    run.tell_bytes(
        b"{\"type\":\"prompt\",\"message\":\"m1\",\"content\":\"one\"}\n{\"type\":\"prompt\",\"message\":\"m2\",\"content\":\"two\"}\n",
    );
    let done = run.finish();
    assert_eq!(done.end["summary"], "Both.");
    let blocks = place.blocks();
    assert_eq!((&blocks[0]["id"], &blocks[1]["id"]), (&json!("m1"), &json!("m2")));
}

#[test]
fn lines_that_make_no_sense_are_passed_over() {
    let place = Place::new();
    let model = Model::start([Step::to("hi", Answer::new("a").text("Hello"))]);
    let mut run = place.start(&model);
    run.tell_bytes(b"\n{\"type\":\"dance\"}\nnot JSON\n\xff\xfe\n{\"type\":\"prompt\"}\n");
    run.tell(&json!({"type": "prompt", "message": "m", "content": "hi"}));
    let done = run.finish();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Hello"}));
    assert_eq!(done.stderr.matches("a line of input is passed over").count(), 4, "{}", done.stderr);
}

#[test]
fn a_host_that_hangs_up_before_it_asks_gets_no_answer_and_no_error() {
    let place = Place::new();
    let model = Model::start([]);
    let mut run = place.start(&model);
    run.hang_up();
    assert_eq!(run.finish().end, Value::Null);
}

#[test]
fn a_host_that_hangs_up_after_it_asked_is_answered() {
    let place = Place::new();
    let model = Model::start([Step::to("hi", Answer::new("a").text("Hello"))]);
    let mut run = place.prompt(&model, "m", "hi");
    run.hang_up();
    assert_eq!(run.finish().end["outcome"], "completed");
}

#[test]
fn an_answer_that_was_cut_for_its_length_is_gone_on_with() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").text("One,").stop("max_tokens")),
        Step::to("length limit", Answer::new("b").text(" two.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    assert_eq!(done.end["summary"], " two.");
    assert_eq!(model.messages(1)[1], assistant("One,"));
}

#[test]
fn a_provider_that_gives_one_id_twice_does_not_make_one_block_of_two() {
    let place = Place::new();
    let model = Model::start([
        Step::to("one", Answer::new("same").text("First.")),
        Step::to("two", Answer::new("same").text("Second.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    place.prompt(&model, "m2", "two").finish();
    let blocks = place.blocks();
    assert_eq!((&blocks[1]["id"], &blocks[3]["id"]), (&json!("same-0"), &json!("same-2-0")));
}

#[test]
fn what_the_provider_does_not_show_goes_back_to_it_all_the_same() {
    let place = Place::new();
    let redacted = json!({"type": "redacted_thinking", "data": "secret"});
    let model = Model::start([
        Step::to("one", Answer::new("a").block(redacted.clone(), vec![]).text("First.")),
        Step::to("two", Answer::new("b").text("Second.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    place.prompt(&model, "m2", "two").finish();
    assert_eq!(model.messages(1)[1]["content"][0], redacted);
    assert!(!place.blocks().to_string().contains("secret"));
}

#[test]
fn mcp_servers_that_are_not_used_are_named_once_in_a_session() {
    let place = Place::new();
    place.instruct(
        "agent.json",
        r#"{"externalMCPs": [{"name": "weather", "url": "https://weather.example"}]}"#,
    );
    let model = Model::start([
        Step::to("one", Answer::new("a").text("One.")),
        Step::to("two", Answer::new("b").text("Two.")),
    ]);
    for word in ["one", "two"] {
        place.prompt(&model, word, word).finish();
    }
    let blocks = place.blocks();
    let notices: Vec<&Value> =
        blocks.as_array().expect("blocks").iter().filter(|block| block["type"] == "system").collect();
    assert_eq!(notices.len(), 1, "{notices:#?}");
    assert!(
        notices[0]["message"].as_str().expect("a message").contains("MCP servers of this profile: weather.")
    );
}
