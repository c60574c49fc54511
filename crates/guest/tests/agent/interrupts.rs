//! Stopping the agent, at any moment.

use serde_json::{Value, json};

use crate::{
    model::{Answer, Model, Reply, Step},
    place::Place,
    tools::assert_gone,
};

fn interrupted() -> Value {
    json!({"outcome": "interrupted"})
}

#[test]
fn a_text_that_is_stopped_stays_as_far_as_it_came() {
    let place = Place::new();
    let half = Answer::new("a").thinking("hm").text("Hello, world").without_last(2);
    let model =
        Model::start([Step::to("go", Reply::Hang(half)), Step::to("on", Answer::new("b").text("Again."))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["delta"] == "Hello,");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_eq!(
        place.blocks()[2],
        json!({"type": "assistant_text", "id": "a-1", "content": "Hello,", "model": "scripted-1"})
    );
    place.record("interrupted-text");
    place.prompt(&model, "m2", "on").finish();
    let messages = model.messages(1);
    assert_eq!(messages[1]["content"][1], json!({"type": "text", "text": "Hello,"}));
    assert_eq!(
        messages[2]["content"],
        json!([{"type": "text", "text": "[The person stopped you here.]"}, {"type": "text", "text": "on"}])
    );
}

#[test]
fn a_thought_that_is_stopped_is_shown_and_does_not_go_back_unsigned() {
    let place = Place::new();
    let half = Answer::new("a").thinking("let me see").without_last(3);
    let model =
        Model::start([Step::to("go", Reply::Hang(half)), Step::to("on", Answer::new("b").text("Again."))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["delta"] == "let m");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_eq!(place.blocks()[1]["content"], "let m");
    place.prompt(&model, "m2", "on").finish();
    assert_eq!(model.messages(1).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_call_that_is_stopped_before_it_is_whole_is_taken_back() {
    let place = Place::new();
    let half = Answer::new("a").text("So:").call("t1", "bash", &json!({"command": "true"})).without_last(1);
    let model = Model::start([Step::to("go", Reply::Hang(half))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["block"]["type"] == "tool_use");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_eq!(place.blocks().as_array().map(Vec::len), Some(2));
}

#[test]
fn a_command_that_is_stopped_dies_with_all_it_started() {
    let place = Place::new();
    let command = "sleep 1000 & echo $! > child; echo begun; wait";
    let calls = Answer::new("a").call("t1", "bash", &json!({ "command": command })).call(
        "t2",
        "write",
        &json!({"path": "never", "content": ""}),
    );
    let model = Model::start([Step::to("go", calls), Step::to("on", Answer::new("b").text("Again."))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["delta"] == "begun\n");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_gone(&place, "child");
    assert!(!place.workspace("never").exists());
    let shown: Vec<Value> = place.blocks().as_array().expect("blocks")[1..]
        .iter()
        .map(|block| json!([block["id"], block["status"], block["output"], block["isError"]]))
        .collect();
    assert_eq!(
        Value::Array(shown),
        json!([
            ["t1", "error", null, null],
            ["t2", "error", null, null],
            ["t1-result", null, "begun\n[interrupted]", true],
            ["t2-result", null, "[interrupted]", true],
        ])
    );
    place.record("interrupted-bash");
    assert_eq!(place.prompt(&model, "m2", "on").finish().end["summary"], "Again.");
}

#[test]
fn a_subagent_is_stopped_with_its_caller() {
    let place = Place::new();
    let task = json!({"description": "work", "prompt": "work hard"});
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "task", &task)),
        Step::to("work hard", Reply::Hang(Answer::new("s").text("Working").without_last(1))),
    ]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["delta"] == "king");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_eq!(
        (&place.blocks()[1]["status"], &place.blocks()[1]["output"]),
        (&json!("error"), &json!("[interrupted]"))
    );
    let thread = &place.subagents()[0].1;
    assert_eq!(
        (&thread[2]["content"], &thread[3]["message"]),
        (&json!("Working"), &json!("Subagent general interrupted"))
    );
    place.record("interrupted-subagent");
}

#[test]
fn a_model_that_does_not_answer_can_be_stopped() {
    let place = Place::new();
    let model = Model::start([Step::to("go", Reply::Hang(Answer::new("a").without_last(2)))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["block"]["type"] == "user_message");
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
}

#[test]
fn an_interrupt_before_the_prompt_ends_the_turn_before_it_begins() {
    let place = Place::new();
    let model = Model::start([]);
    let mut run = place.start(&model);
    run.interrupt();
    assert_eq!(run.finish().end, interrupted());
    assert_eq!(place.blocks(), json!([]));
}

#[test]
fn a_polite_kill_is_an_interrupt() {
    let place = Place::new();
    let command = "sleep 1000 & echo $! > child; echo begun; wait";
    let model =
        Model::start([Step::to("go", Answer::new("a").call("t1", "bash", &json!({ "command": command })))]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["delta"] == "begun\n");
    run.terminate();
    assert_eq!(run.finish().end, interrupted());
    assert_gone(&place, "child");
}
