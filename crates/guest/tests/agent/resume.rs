//! A second process goes on where the first one was, however that one ended.

use std::{fs, io::Write};

use serde_json::{Value, json};

use crate::{
    model::{Answer, Model, Reply, Step},
    place::Place,
    tools::assert_gone,
};

#[test]
fn a_second_process_knows_what_was_said_and_done() {
    let place = Place::new();
    let model = Model::start([
        Step::to(
            "one",
            Answer::new("a").thinking("hm").text("Look:").call("t1", "bash", &json!({"command": "echo 1"})),
        ),
        Step::to("tool_result", Answer::new("b").text("It is 1.")),
        Step::to("two", Answer::new("c").text("Still 1.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    let done = place.prompt(&model, "m2", "two").finish();
    model.assert_done();
    assert_eq!(done.end["summary"], "Still 1.");
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        model.messages(2),
        json!([
            {"role": "user", "content": [text("one")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig-hm"},
                text("Look:"),
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "echo 1"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "1\n", "is_error": false}
            ]},
            {"role": "assistant", "content": [text("It is 1.")]},
            {"role": "user", "content": [text("two")]},
        ])
    );
    // The same bytes as before, as far as they go: a provider's cache serves them.
    assert_eq!(
        model.messages(2).as_array().expect("a list")[..3],
        model.messages(1).as_array().expect("a list")[..]
    );
    place.record("resumed");
}

#[test]
fn an_agent_killed_in_the_middle_of_a_tool_goes_on() {
    let place = Place::new();
    let calls = Answer::new("a")
        .call("t1", "bash", &json!({"command": "echo $$ > shell; echo begun; exec sleep 1000"}))
        .call("t2", "bash", &json!({"command": "echo never"}));
    let model = Model::start([Step::to("one", calls), Step::to("two", Answer::new("b").text("Onwards."))]);
    let mut run = place.prompt(&model, "m1", "one");
    run.wait_for(|line| line["delta"] == "begun\n");
    run.kill();
    // The process that runs commands ends them when the agent's side of their stream closes.
    assert_gone(&place, "shell");

    let done = place.prompt(&model, "m2", "two").finish();
    assert_eq!(done.end["summary"], "Onwards.");
    let messages = model.messages(1);
    let results: Vec<Value> = messages[2]["content"].as_array().expect("content")[..2]
        .iter()
        .map(|result| json!([result["tool_use_id"], result["is_error"]]))
        .collect();
    assert_eq!(Value::Array(results), json!([["t1", true], ["t2", true]]));
    assert_eq!(messages[2]["content"][2]["text"], "two");
    let shown: Vec<Value> = place
        .blocks()
        .as_array()
        .expect("blocks")
        .iter()
        .map(|block| json!([block["id"], block["status"]]))
        .collect();
    assert_eq!(
        Value::Array(shown),
        json!([
            ["m1", null],
            ["t1", "error"],
            ["t2", "error"],
            ["t1-result", null],
            ["t2-result", null],
            ["m2", null],
            ["b-0", null]
        ])
    );
    place.record("killed");
}

#[test]
fn an_agent_killed_while_a_subagent_works_goes_on() {
    let place = Place::new();
    let model = Model::start([
        Step::to("one", Answer::new("a").call("t1", "task", &json!({"description": "d", "prompt": "work"}))),
        Step::to("work", Reply::Hang(Answer::new("s").text("Well").without_last(0))),
        Step::to("two", Answer::new("b").text("Onwards.")),
    ]);
    let mut run = place.prompt(&model, "m1", "one");
    run.wait_for(|line| line["type"] == "block_complete" && line["block"]["content"] == "Well");
    run.kill();
    let done = place.prompt(&model, "m2", "two").finish();
    assert_eq!(done.end["summary"], "Onwards.");
    assert_eq!(place.blocks()[1]["status"], "error");
    assert_eq!(place.subagents()[0].1[3]["message"], "Subagent general stopped");
    place.record("killed-subagent");
}

#[test]
fn an_agent_killed_at_any_moment_goes_on() {
    for n_lines in 0.. {
        let place = Place::new();
        let calls = Answer::new("a")
            .thinking("hm")
            .text("Look:")
            .call("t1", "read", &json!({"path": "a"}))
            .call("t2", "task", &json!({"description": "d", "prompt": "work"}));
        let model = Model::start([
            Step::to("two", Answer::new("c").text("Onwards.")),
            Step::to("one", calls),
            Step::to("work", Answer::new("s1").text("So:").call("t3", "bash", &json!({"command": "echo 1"}))),
            Step::to("t3", Answer::new("s2").text("It is 1.")),
            Step::to("t2", Answer::new("b").text("Done.")),
        ]);
        let mut run = place.prompt(&model, "m1", "one");
        let is_over = !run.wait_for_lines(n_lines);
        run.kill();
        let done = place.prompt(&model, "m2", "two").finish_unchecked();
        assert_eq!(done.end["summary"], "Onwards.", "killed after {n_lines} lines");
        let blocks = place.kept_blocks();
        let is_open = |block: &&Value| block["status"] == "pending" || block["status"] == "running";
        assert_eq!(
            blocks.as_array().expect("blocks").iter().find(is_open),
            None,
            "killed after {n_lines} lines"
        );
        if is_over {
            return assert!(n_lines > 20, "{n_lines}");
        }
    }
}

#[test]
fn a_torn_line_is_passed_over_and_the_next_one_stands_alone() {
    let place = Place::new();
    let model = Model::start([
        Step::to("one", Answer::new("a").text("First.")),
        Step::to("two", Answer::new("b").text("Second.")),
        Step::to("three", Answer::new("c").text("Third.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    let mut file = fs::OpenOptions::new().append(true).open(place.transcript("main.jsonl")).expect("kept");
    file.write_all(b"{\"event\":{\"type\":\"block_comp").expect("torn");
    place.prompt(&model, "m2", "two").finish();
    place.prompt(&model, "m3", "three").finish();
    assert_eq!(model.messages(2).as_array().map(Vec::len), Some(5));
}

#[test]
fn a_message_that_was_taken_up_already_is_not_said_twice() {
    let place = Place::new();
    let model = Model::start([
        Step::to("one", Reply::refusal(400, "invalid_request_error", "no")),
        Step::to("one", Answer::new("a").text("Yes.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    place.prompt(&model, "m1", "one").finish();
    assert_eq!(model.messages(1), json!([{"role": "user", "content": [{"type": "text", "text": "one"}]}]));
}

#[test]
fn a_transcript_that_cannot_be_kept_fails_the_turn() {
    let place = Place::new();
    fs::create_dir_all(place.transcript("main.jsonl")).expect("a directory in its place");
    let model = Model::start([]);
    let mut run = place.prompt(&model, "m1", "one");
    let end = run.wait_for(|line| line["type"] == "turn_ended");
    assert_eq!(end["code"], "AGENT_ERROR");
    assert!(
        end["message"].as_str().expect("a message").starts_with("failed to open the transcript"),
        "{end}"
    );
}
