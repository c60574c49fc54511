//! Asking a person before something is changed.

use serde_json::{Value, json};

use crate::{
    model::{Answer, Model, Step},
    place::{Done, Place, Run},
};

/// Waits until the agent asks, and gives the line.
fn asked(run: &mut Run<'_>) -> Value {
    run.wait_for(|line| line["type"] == "approval_asked")
}

fn answer(run: &mut Run<'_>, asked: &Value, decision: &str) {
    run.tell(&json!({"type": "answer", "key": asked["key"], "decision": decision}));
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "Nothing to worry about"})
}

fn n_asked(done: &Done) -> usize {
    done.asides.iter().filter(|line| line["type"] == "approval_asked").count()
}

#[test]
fn what_changes_something_waits_for_a_yes_and_what_does_not_goes_on() {
    let place = Place::new();
    place.write("seen", "old");
    let model = Model::start([
        Step::to(
            "go",
            Answer::new("a")
                .call("t1", "read", &json!({"path": "seen"}))
                .call("t2", "bash", &bash("touch by-bash"))
                .call("t3", "write", &json!({"path": "by-write", "content": "x"}))
                .call("t4", "edit", &json!({"path": "seen", "old": "old", "new": "new"})),
        ),
        Step::to("", Answer::new("b").text("Done.")),
    ]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    let first = asked(&mut run);
    assert_eq!(
        first,
        json!({"type": "approval_asked", "key": "t2", "toolUseId": "t2", "toolName": "bash",
            "title": "Run: touch by-bash", "input": bash("touch by-bash")})
    );
    assert!(!place.workspace("by-bash").exists(), "nothing is done before the answer");
    answer(&mut run, &first, "allow");
    let second = asked(&mut run);
    assert_eq!((&second["key"], &second["title"]), (&json!("t3"), &json!("Write: by-write")));
    assert!(place.workspace("by-bash").exists() && !place.workspace("by-write").exists());
    answer(&mut run, &second, "allow");
    let third = asked(&mut run);
    assert_eq!(third["key"], "t4");
    assert_eq!(place.read("seen"), "old");
    answer(&mut run, &third, "allow");
    let done = run.finish();
    assert_eq!((n_asked(&done), done.asides.len()), (3, 3));
    assert_eq!(done.end["summary"], "Done.");
    assert_eq!(place.read("by-write"), "x");
}

#[test]
fn a_no_is_the_tools_result_in_the_persons_words() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "bash", &bash("touch never"))),
        Step::to("not on my watch", Answer::new("b").call("t2", "bash", &bash("touch never"))),
        Step::to("The person does not allow this.", Answer::new("c").text("As you wish.")),
    ]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    let first = asked(&mut run);
    run.tell(
        &json!({"type": "answer", "key": first["key"], "decision": "deny", "message": "not on my watch"}),
    );
    let second = asked(&mut run);
    answer(&mut run, &second, "deny");
    assert_eq!(run.finish().end["summary"], "As you wish.");
    model.assert_done();
    assert!(!place.workspace("never").exists());
    let blocks = place.blocks();
    let result = blocks.as_array().expect("blocks").iter().find(|block| block["id"] == "t1-result");
    let result = result.expect("a result");
    assert_eq!((&result["output"], &result["isError"]), (&json!("not on my watch"), &json!(true)));
}

#[test]
fn yes_for_good_covers_one_call_because_the_host_keeps_the_rules() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "bash", &bash("touch first"))),
        Step::to("t1", Answer::new("b").call("t2", "bash", &bash("touch second"))),
        Step::to("t2", Answer::new("c").text("Done.")),
    ]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    let first = asked(&mut run);
    answer(&mut run, &first, "allow_always");
    let second = asked(&mut run);
    assert_eq!(second["key"], "t2");
    answer(&mut run, &second, "deny");
    let done = run.finish();
    assert_eq!(n_asked(&done), 2);
    assert!(place.workspace("first").exists() && !place.workspace("second").exists());
}

#[test]
fn an_interrupt_while_a_person_is_asked_takes_the_question_back() {
    let place = Place::new();
    let model = Model::start([Step::to("go", Answer::new("a").call("t1", "bash", &bash("touch never")))]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    asked(&mut run);
    run.interrupt();
    let done = run.finish();
    assert_eq!(done.end, json!({"outcome": "interrupted"}));
    assert_eq!(done.asides[1], json!({"type": "approval_withdrawn", "key": "t1"}));
    assert!(!place.workspace("never").exists());
}

#[test]
fn a_host_that_hangs_up_has_allowed_nothing() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "bash", &bash("touch never"))),
        Step::to("Nobody is there", Answer::new("b").call("t2", "bash", &bash("touch never"))),
        Step::to("Nobody is there", Answer::new("c").text("So be it.")),
    ]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    asked(&mut run);
    run.hang_up();
    assert_eq!(run.finish().end["summary"], "So be it.");
    assert!(!place.workspace("never").exists());
}

#[test]
fn an_answer_to_what_nobody_asked_is_passed_over() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "bash", &bash("touch never"))),
        Step::to("t1", Answer::new("b").text("Done.")),
    ]);
    let mut run = place.prompt_asking(&model, "go", &[]);
    let it = asked(&mut run);
    run.tell(&json!({"type": "answer", "key": "t9", "decision": "allow"}));
    answer(&mut run, &it, "deny");
    let done = run.finish();
    assert!(done.stderr.contains("nobody waits for the answer to `t9`"), "{}", done.stderr);
    assert!(!place.workspace("never").exists());
}

fn question() -> Value {
    let options = json!([{"label": "Teal", "description": "Calm"}, {"label": "Orange"}]);
    json!({"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]})
}

#[test]
fn question_waits_for_the_person_and_their_answer_reaches_the_model() {
    for asks_first in [false, true] {
        let place = Place::new();
        let model = Model::start([
            Step::to("go", Answer::new("a").call("t1", "question", &question())),
            Step::to("Which colour? → Teal", Answer::new("b").text("Teal it is.")),
        ]);
        let mut run =
            if asks_first { place.prompt_asking(&model, "go", &[]) } else { place.prompt(&model, "m", "go") };
        let asked = run.wait_for(|line| line["type"] == "question_asked");
        let expected = json!({"question": "Which colour?", "header": "Colour", "multiSelect": false,
            "options": [{"label": "Teal", "description": "Calm"}, {"label": "Orange"}]});
        assert_eq!((&asked["title"], &asked["questions"]), (&json!("Which colour?"), &json!([expected])));
        let answers = json!({"Which colour?": "Teal"});
        run.tell(&json!({"type": "answer", "key": "t1", "decision": "allow", "answers": answers}));
        let done = run.finish();
        model.assert_done();
        assert_eq!(done.end["summary"], "Teal it is.");
        place.record("question");
    }
}

#[test]
fn question_ends_with_an_interrupt_or_when_nobody_can_answer() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "question", &question())),
        Step::to("on", Answer::new("b").call("t2", "question", &question())),
        Step::to("does not answer", Answer::new("c").text("I chose teal.")),
    ]);
    let mut run = place.prompt(&model, "m1", "go");
    run.wait_for(|line| line["type"] == "question_asked");
    run.interrupt();
    let done = run.finish();
    assert_eq!(done.end, json!({"outcome": "interrupted"}));
    assert_eq!(done.asides[1], json!({"type": "approval_withdrawn", "key": "t1"}));
    let mut run = place.prompt(&model, "m2", "on");
    run.hang_up();
    assert_eq!(run.finish().end["summary"], "I chose teal.");
    model.assert_done();
}

#[test]
fn subagent_asks_its_caller_and_not_the_person() {
    let place = Place::new();
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "task", &json!({"description": "d", "prompt": "work"}))),
        Step::to("work", Answer::new("b").text("Done.")),
        Step::to("tool_result", Answer::new("c").text("Done.")),
    ]);
    place.prompt(&model, "m", "go").finish();
    let has_question = |request: &Value| {
        request["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == "question")
    };
    assert_eq!(model.requests().iter().map(has_question).collect::<Vec<_>>(), [true, false, true]);
}
