//! Threads beside the main one.

use serde_json::{Value, json};

use crate::{
    model::{Answer, Model, Step},
    place::Place,
};

fn task(agent: &str, prompt: &str) -> Value {
    json!({"agent": agent, "description": "some work", "prompt": prompt})
}

#[test]
fn a_task_is_a_thread_that_opens_works_and_closes() {
    let place = Place::new();
    place.instruct(
        "agent.json",
        r#"{"subagents": [{"name": "reader", "description": "Reads", "prompt": "You only read.", "tools": ["Read"]}]}"#,
    );
    place.write("a.txt", "A");
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "task", &task("reader", "look at it"))),
        Step::to("look at it", Answer::new("s1").call("r1", "read", &json!({"path": "a.txt"}))),
        Step::to("r1", Answer::new("s2").text("It is an A.")),
        Step::to("It is an A.", Answer::new("b").text("An A.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    model.assert_done();
    assert_eq!(done.end["summary"], "An A.");
    assert_eq!(
        place.blocks()[1],
        json!({"type": "subagent", "id": "t1", "subagentId": "agent-t1", "name": "reader", "input": "look at it",
               "status": "success", "output": "It is an A.", "toolUseId": "t1"})
    );
    let [(id, thread)] = place.subagents().try_into().expect("one thread");
    assert_eq!(id, "agent-t1");
    assert_eq!(
        thread,
        json!([
            {"type": "system", "id": "agent-t1-start", "subtype": "session_start", "message": "Subagent reader started"},
            {"type": "user_message", "id": "agent-t1-task", "content": "look at it"},
            {"type": "tool_use", "id": "r1", "toolName": "read", "toolUseId": "r1", "input": {"path": "a.txt"},
             "status": "success", "displayName": "Read", "description": "a.txt"},
            {"type": "tool_result", "id": "r1-result", "toolUseId": "r1", "output": "1\tA\n", "isError": false},
            {"type": "assistant_text", "id": "s2-0", "content": "It is an A.", "model": "scripted-1"},
            {"type": "system", "id": "agent-t1-end", "subtype": "session_end", "message": "Subagent reader completed"},
        ])
    );
    let events: Vec<Value> = done
        .drafts
        .iter()
        .map(|draft| serde_json::to_value(draft).expect("JSON"))
        .filter(|draft| draft["type"].as_str().is_some_and(|kind| kind.starts_with("subagent_")))
        .collect();
    let [started, completed] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        *started,
        json!({"type": "subagent_started", "conversationId": "agent-t1", "subagentId": "agent-t1", "name": "reader",
               "input": "look at it", "toolUseId": "t1", "parent": "main"})
    );
    assert_eq!((&completed["status"], &completed["output"]), (&json!("success"), &json!("It is an A.")));
    assert_eq!(completed["usage"]["totalTokens"], 70);
    let request = &model.requests()[1];
    assert!(request["system"][0]["text"].as_str().expect("a prompt").starts_with("You only read."));
    assert_eq!(request["tools"].as_array().map(Vec::len), Some(1));
    place.record("subagent");
}

#[test]
fn several_tasks_run_side_by_side() {
    let place = Place::new();
    // Each waits for the other's file: one after the other they would never end.
    let meet = |mine: &str, theirs: &str| json!({"command": format!("touch {mine}; until [ -e {theirs} ]; do sleep 0.01; done"), "timeout": 60});
    let model = Model::start([
        Step::to(
            "go",
            Answer::new("a").call("t1", "task", &task("general", "first")).call(
                "t2",
                "task",
                &task("general", "second"),
            ),
        ),
        Step::to("first", Answer::new("s1").call("x1", "bash", &meet("one", "two"))),
        Step::to("second", Answer::new("s2").call("x2", "bash", &meet("two", "one"))),
        Step::to("x1", Answer::new("s3").text("One.")),
        Step::to("x2", Answer::new("s4").text("Two.")),
        Step::to("t2", Answer::new("b").text("Both.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    model.assert_done();
    assert_eq!(done.end["summary"], "Both.");
    let ids: Vec<String> = place.subagents().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["agent-t1", "agent-t2"]);
    place.record("parallel-subagents");
}

#[test]
fn a_subagent_may_call_another_and_that_one_may_not() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "task", &task("general", "outer"))),
        Step::to("outer", Answer::new("s1").call("t1", "task", &task("general", "inner"))),
        Step::to("inner", Answer::new("s2").call("t1", "task", &task("general", "too deep"))),
        Step::to("there is no tool `task`", Answer::new("s3").text("I did it myself.")),
        Step::to("I did it myself.", Answer::new("s4").text("It did it.")),
        Step::to("It did it.", Answer::new("b").text("Done.")),
    ]);
    place.prompt(&model, "m", "go").finish();
    model.assert_done();
    let ids: Vec<String> = place.subagents().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["agent-t1", "agent-t1.t1"]);
    place.record("nested-subagents");
}

#[test]
fn a_subagent_whose_model_fails_is_a_failed_call_and_not_the_end() {
    let place = Place::new();
    let refusal = crate::model::Reply::refusal(400, "invalid_request_error", "no such model");
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "task", &task("general", "work"))),
        Step::to("work", refusal),
        Step::to("no such model", Answer::new("b").text("It failed.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "It failed."}));
    assert_eq!(place.blocks()[1]["status"], "error");
    assert_eq!(place.subagents()[0].1[2]["message"], "Subagent general failed");
}

#[test]
fn subagents_of_later_turns_stand_after_those_of_earlier_ones() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("z", "task", &task("general", "first"))),
        Step::to("first", Answer::new("s1").text("One.")),
        Step::to("One.", Answer::new("b").text("Done.")),
        Step::to("again", Answer::new("c").call("e", "task", &task("general", "second"))),
        Step::to("second", Answer::new("s2").text("Two.")),
        Step::to("Two.", Answer::new("d").text("Done.")),
    ]);
    place.prompt(&model, "m1", "go").finish();
    place.prompt(&model, "m2", "again").finish();
    let ids: Vec<String> = place.subagents().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["agent-z", "agent-e"]);
}
