//! A provider that does not do what it should.

use serde_json::{Value, json};
use warren_domain::{Block, EventBody};

use crate::{
    model::{Answer, Model, Reply, Step},
    place::{Done, Place},
};

fn discarded(done: &Done) -> Vec<String> {
    let ids = done.drafts.iter().filter_map(|draft| match &draft.body {
        EventBody::BlockDiscarded { block_id, .. } => Some(block_id.0.clone()),
        _ => None,
    });
    ids.collect()
}

fn texts(place: &Place) -> Value {
    let blocks = place.blocks();
    blocks.as_array().expect("blocks").iter().map(|block| block["content"].clone()).collect()
}

#[test]
fn an_overloaded_provider_is_asked_again() {
    let place = Place::new();
    let model = Model::start([
        Step::to("hi", Reply::refusal(529, "overloaded_error", "Overloaded")),
        Step::to("hi", Reply::refusal(429, "rate_limit_error", "Slow down")),
        Step::to("hi", Answer::new("a").text("Hello")),
    ]);
    let done = place.prompt(&model, "m", "hi").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Hello"}));
    let told: Vec<_> = done
        .drafts
        .iter()
        .filter_map(|draft| match &draft.body {
            EventBody::Retrying { attempt, reason, next_at } => {
                Some((*attempt, reason.as_str(), next_at.is_some()))
            }
            _ => None,
        })
        .collect();
    let reasons =
        ["the model's provider answered 529: Overloaded", "the model's provider answered 429: Slow down"];
    assert_eq!(told, [(1, reasons[0], true), (2, reasons[1], true)]);
}

#[test]
fn an_answer_that_breaks_off_is_taken_back_and_asked_for_again() {
    let place = Place::new();
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let mut refused = Answer::new("b").thinking("hm").text("Hel").without_last(1);
    refused.push(overloaded);
    let model = Model::start([
        Step::to(
            "hi",
            Reply::Drop(Answer::new("a").text("He").call("t1", "bash", &json!({})).without_last(1)),
        ),
        Step::to("hi", Reply::Events(refused)),
        Step::to("hi", Reply::Events(Answer::new("c").text("Hell").without_last(0))),
        Step::to("hi", Answer::new("d").text("Hello")),
    ]);
    let done = place.prompt(&model, "m", "hi").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Hello"}));
    assert_eq!(discarded(&done), ["a-0", "t1", "b-0", "b-1", "c-0"]);
    assert_eq!(texts(&place), json!(["hi", "Hello"]));
    place.record("retried");
}

#[test]
fn a_provider_that_never_recovers_fails_the_turn_with_its_own_words() {
    let place = Place::new();
    let model =
        Model::start((0..12).map(|_| Step::to("hi", Reply::refusal(529, "overloaded_error", "Overloaded"))));
    let done = place.prompt(&model, "m", "hi").finish();
    model.assert_done();
    let message = "the model's provider answered 529: Overloaded";
    assert_eq!(
        done.end,
        json!({"outcome": "failed", "code": "LLM_ERROR", "message": message, "recoverable": true})
    );
    place.record("overloaded");
}

#[test]
fn a_request_that_is_wrong_is_not_repeated() {
    let place = Place::new();
    let model =
        Model::start([Step::to("hi", Reply::refusal(401, "authentication_error", "invalid x-api-key"))]);
    let done = place.prompt(&model, "m", "hi").finish();
    assert_eq!(done.end["message"], "the model's provider answered 401: invalid x-api-key");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_model_that_may_not_think_is_asked_without_and_not_asked_twice() {
    let place = Place::new();
    let refusal = Reply::refusal(400, "invalid_request_error", "thinking is not supported by this model");
    let model = Model::start([
        Step::to("hi", refusal),
        Step::to("hi", Answer::new("a").call("t1", "todo", &json!({"todos": []}))),
        Step::to("tool_result", Answer::new("b").text("Hello")),
    ]);
    let done = place.prompt_as(&model, "claude-sonnet-4-5", "hi").finish();
    model.assert_done();
    assert_eq!(done.end["summary"], "Hello");
    let thinking: Vec<Value> = model.requests().iter().map(|request| request["thinking"].clone()).collect();
    assert_eq!(thinking, [json!({"type": "enabled", "budget_tokens": 8000}), Value::Null, Value::Null]);
}

#[test]
fn a_failed_turn_is_gone_on_from() {
    let place = Place::new();
    let model = Model::start([
        Step::to("one", Reply::refusal(400, "invalid_request_error", "no")),
        Step::to("two", Answer::new("a").text("Yes.")),
    ]);
    place.prompt(&model, "m1", "one").finish();
    let done = place.prompt(&model, "m2", "two").finish();
    assert_eq!(done.end["summary"], "Yes.");
    let content = json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]);
    assert_eq!(model.messages(1), json!([{"role": "user", "content": content}]));
}

#[test]
fn an_answer_that_is_no_answer_fails_the_turn_and_nothing_else() {
    let place = Place::new();
    let model = Model::start([Step::to("hi", Answer::new("a").text("I").stop("refusal"))]);
    let done = place.prompt(&model, "m", "hi").finish();
    assert_eq!(done.end["message"], "the model's provider declined to answer");
}

#[test]
fn events_and_blocks_of_later_releases_are_passed_over() {
    let place = Place::new();
    let new_block = json!({"type": "hologram", "light": 1});
    let new_delta = vec![json!({"type": "photon_delta", "n": 1})];
    let mut events = Answer::new("a").block(new_block, new_delta).text("Hello").whole();
    events.insert(2, json!({"type": "message_weather", "rain": true}));
    let model = Model::start([Step::to("hi", Reply::Events(events))]);
    let done = place.prompt(&model, "m", "hi").finish();
    assert_eq!(done.end["summary"], "Hello");
    assert_eq!(texts(&place), json!(["hi", "Hello"]));
}

#[test]
fn an_agent_that_runs_in_circles_is_stopped() {
    let place = Place::new();
    let again =
        |n: usize| Answer::new(&format!("a{n}")).call(&format!("t{n}"), "todo", &json!({"todos": []}));
    let model = Model::start((0..3).map(|n| Step::to("", again(n))));
    let done = place.prompt_with(&model, &["--max-turns", "3"], "m", "go").finish();
    model.assert_done();
    assert_eq!(done.end["code"], "AGENT_ERROR");
    assert_eq!(done.end["message"], "stopped after 3 answers of the model in one turn");
}

#[test]
fn turn_of_more_than_two_hundred_answers_comes_to_its_end() {
    let place = Place::new();
    let again =
        |n: usize| Answer::new(&format!("a{n}")).call(&format!("t{n}"), "todo", &json!({"todos": []}));
    let steps = (0..220).map(|n| Step::to("", again(n)));
    let model = Model::start(steps.chain([Step::to("", Answer::new("end").text("Done."))]));
    let done = place.prompt(&model, "m", "go").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Done."}));
}

fn notices(place: &Place) -> Vec<String> {
    let blocks = place.blocks();
    let blocks = blocks.as_array().expect("blocks").iter().filter(|block| block["type"] == "system");
    blocks.map(|block| block["message"].as_str().expect("a message").to_owned()).collect()
}

#[test]
fn overload_that_lasts_is_shown_in_the_conversation_and_outlasted() {
    let place = Place::new();
    let refused = (0..7).map(|_| Step::to("hi", Reply::refusal(529, "overloaded_error", "Overloaded")));
    let model = Model::start(refused.chain([Step::to("hi", Answer::new("a").text("Hello"))]));
    let done = place.prompt(&model, "m", "hi").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Hello"}));
    let shown: Vec<String> = done
        .drafts
        .iter()
        .filter_map(|draft| match &draft.body {
            EventBody::BlockComplete { block: Block::System { message, .. } } => Some(message.clone()),
            _ => None,
        })
        .collect();
    assert!(
        shown[0].starts_with("The provider is overloaded; retry 4 of 11 in ") && shown[0].ends_with(" s")
    );
    assert_eq!(shown.len(), 5, "one for each of the retries 4 to 7, and the end: {shown:?}");
    assert_eq!(
        notices(&place),
        ["The provider was not available for a while; it answered at retry 7"],
        "one block, which changes"
    );
}

#[test]
fn interrupt_ends_the_wait_for_an_overloaded_provider() {
    let place = Place::new();
    let body = json!({"error": {"message": "Overloaded"}});
    let refusal = Reply::Refusal { status: 503, headers: "retry-after: 600\r\n", body };
    let model = Model::start([Step::to("hi", refusal)]);
    let mut run = place.prompt_with(&model, &["--clock-speed", "1"], "m", "hi");
    run.wait_for(|line| line["type"] == "retrying");
    run.interrupt();
    let done = run.finish();
    assert_eq!(done.end, json!({"outcome": "interrupted"}));
}

/// What the host answers while it cannot reach the provider.
fn cannot_reach(status: u16, message: &str) -> Reply {
    let error = json!({"type": "api_error", "reason": "provider_unreachable", "message": message});
    Reply::Refusal { status, headers: "", body: json!({"type": "error", "error": error}) }
}

#[test]
fn provider_that_is_not_there_is_shown_from_the_first_retry_by_one_line_and_given_up_soon() {
    const MESSAGE: &str = "Anthropic cannot be reached (connection refused)";
    let place = Place::new();
    let model = Model::start((0..6).map(|_| Step::to("hi", cannot_reach(502, MESSAGE))));
    let done = place.prompt(&model, "m", "hi").finish();
    model.assert_done();
    let hint = "hint: check the server's network and the provider's base URL, then send the message again";
    assert_eq!(
        done.end,
        json!({"outcome": "failed", "code": "LLM_ERROR", "message": format!("{MESSAGE}\n{hint}"), "recoverable": true})
    );
    let shown: Vec<(String, String)> = done
        .drafts
        .iter()
        .filter_map(|draft| match &draft.body {
            EventBody::BlockComplete { block: Block::System { id, message, .. } } => {
                Some((id.0.clone(), message.clone()))
            }
            EventBody::Retrying { .. } => panic!("a second line that says the same"),
            _ => None,
        })
        .collect();
    for (n, (id, message)) in shown.iter().take(5).enumerate() {
        let begin = format!("{MESSAGE}; retry {} of 5 in ", n + 1);
        assert!(message.starts_with(&begin) && *id == shown[0].0, "{message}");
    }
    assert_eq!(shown.len(), 6, "{shown:?}");
    assert_eq!(notices(&place), ["The provider was not available for a while; it did not recover"]);
}

#[test]
fn provider_that_the_host_has_given_up_is_not_asked_again() {
    const MESSAGE: &str =
        "Anthropic cannot be reached (connection refused) at any of 6 attempts\nhint: check it";
    let place = Place::new();
    let model = Model::start([Step::to("hi", cannot_reach(400, MESSAGE))]);
    let done = place.prompt(&model, "m", "hi").finish();
    assert_eq!((&done.end["message"], model.requests().len()), (&json!(MESSAGE), 1));
}

#[test]
fn effort_goes_to_the_provider_in_the_words_of_each_model() {
    for (model_name, thinking, output_config) in [
        ("claude-sonnet-4-5", json!({"type": "enabled", "budget_tokens": 24_000}), Value::Null),
        ("claude-opus-4-7", json!({"type": "adaptive", "display": "summarized"}), json!({"effort": "high"})),
        // It does not think.
        ("scripted-1", Value::Null, Value::Null),
    ] {
        let place = Place::new();
        let model = Model::start([Step::to("hi", Answer::new("a").text("Hello"))]);
        let mut run = place.start_as(&model, model_name, &["--effort", "high"]);
        run.tell(&json!({"type": "prompt", "message": "m", "content": "hi"}));
        assert_eq!(run.finish().end["summary"], "Hello");
        let request = &model.requests()[0];
        assert_eq!(
            (&request["thinking"], &request["output_config"]),
            (&thinking, &output_config),
            "{model_name}"
        );
    }
}
