//! Conversations that are longer than the model's window.

use std::fs;

use serde_json::{Value, json};
use warren_domain::EventBody;

use crate::{
    model::{Answer, Model, Reply, Step},
    place::{Done, Place},
};

/// The window of the model in these tests, in tokens of four bytes.
const WINDOW: usize = 12_000;

/// A model with a small window that remembers what is in its requests, and nothing else.
fn forgetful() -> Model {
    forgetful_with("prompt is too long: $SENT tokens > $WINDOW maximum", WINDOW)
}

fn forgetful_with(refusal: &'static str, summary_window: usize) -> Model {
    Model::thinking(move |request| {
        let asks_for_summary = request["system"].to_string().contains("detailed summary");
        let window = if asks_for_summary { summary_window } else { WINDOW };
        // The system's words and the tools are left out: they alone would fill most of so small a window.
        let sent = request["messages"].to_string().len() / 4;
        if sent > window {
            let message = refusal.replace("$SENT", &sent.to_string()).replace("$WINDOW", &window.to_string());
            return Reply::refusal(400, "invalid_request_error", &message);
        }
        let id = format!("a{:x}", fnv(&request.to_string()));
        answer(&id, request, asks_for_summary, sent).into()
    })
}

fn answer(id: &str, request: &Value, asks_for_summary: bool, sent: usize) -> Answer {
    let texts = texts(request);
    let mut secrets: Vec<&str> = Vec::new();
    for secret in texts.iter().flat_map(|text| words_after(text, "password is ")) {
        if !secrets.contains(&secret) {
            secrets.push(secret);
        }
    }
    let last = texts.last().copied().unwrap_or_default();
    let answer = Answer::new(id).measured(sent);
    if asks_for_summary {
        answer.text(&format!("Summary: the password is {}", secrets.join(", and the password is ")))
    } else if last.contains("What") {
        answer.text(&format!("You said: {}", secrets.join(", ")))
    } else if last.contains("Look at")
        && !request["messages"].to_string().contains(&format!("t-{}", fnv(last)))
    {
        answer.call(&format!("t-{}", fnv(last)), "read", &json!({"path": "long.txt"}))
    } else {
        answer.text(&"I see. ".repeat(20))
    }
}

fn texts(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().expect("messages").iter();
    let users = messages.filter(|message| message["role"] == "user");
    let content = users.flat_map(|message| message["content"].as_array().expect("content"));
    content.filter_map(|piece| piece["text"].as_str()).collect()
}

fn words_after<'t>(text: &'t str, phrase: &'static str) -> impl Iterator<Item = &'t str> {
    text.split(phrase).skip(1).filter_map(|rest| rest.split([' ', ',', '.', '\n']).next())
}

fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn compactions(done: &Done) -> usize {
    done.drafts.iter().filter(|draft| matches!(draft.body, EventBody::ContextCompacted { .. })).count()
}

fn summary(done: &Done) -> &str {
    done.end["summary"].as_str().unwrap_or_else(|| panic!("{}", done.end))
}

/// A conversation: the password first, then talk, then a question. Twelve messages are three times the window.
fn talk(place: &Place, model: &Model, more: &[&str], n_messages: u32) -> (usize, Done) {
    place.write("long.txt", &"a long line of a long file\n".repeat(400));
    let first = "The password is marzipan. Keep it.";
    let mut n_compactions = compactions(&place.prompt_with(model, more, "m0", first).finish());
    for n in 1..=n_messages {
        let second = if n == 3 { "The second password is nougat." } else { "" };
        let text = format!("{second} Look at {n}: {}", "blah ".repeat(200));
        let done = place.prompt_with(model, more, &format!("m{n}"), &text).finish();
        assert_eq!(done.end["outcome"], "completed", "{n}: {}", done.end);
        n_compactions += compactions(&done);
    }
    let done = place.prompt_with(model, more, "end", "What is it?").finish();
    (n_compactions, done)
}

#[test]
fn conversation_three_times_as_long_as_the_window_goes_on_and_remembers() {
    let (place, model) = (Place::new(), forgetful());
    let (n_compactions, done) = talk(&place, &model, &[], 14);
    assert_eq!(summary(&done), "You said: marzipan, nougat");
    assert!(n_compactions >= 2, "{n_compactions}");
    let blocks = place.blocks();
    let length = blocks.to_string().len() / 4;
    assert!(length > 3 * WINDOW, "the conversation has only {length} tokens");
    let shown = blocks.as_array().expect("blocks").iter().filter(|block| block["type"] == "system");
    let shown: Vec<&str> = shown.filter_map(|block| block["message"].as_str()).collect();
    assert_eq!(shown.len(), n_compactions);
    for message in shown {
        assert!(
            message.starts_with("Context compacted: about ") && message.contains("Summary:"),
            "{message}"
        );
    }
}

#[test]
fn known_window_is_compacted_before_it_is_full_so_nothing_is_refused() {
    let (place, model) = (Place::new(), forgetful());
    // The system's words and tools count for the agent, and not for this model.
    let (n_compactions, done) = talk(&place, &model, &["--window", "scripted-1=20000"], 12);
    assert_eq!(summary(&done), "You said: marzipan, nougat");
    assert!(n_compactions >= 2, "{n_compactions}");
    let sent = model.requests().into_iter().map(|request| request["messages"].to_string().len() / 4);
    assert!(sent.max().expect("requests") <= WINDOW, "no request was too long");
}

#[test]
fn every_providers_words_for_a_full_window_lead_to_compaction() {
    for refusal in [
        "prompt is too long: 2000 tokens > 1000 maximum",
        "input length and `max_tokens` exceed context limit: 900 + 2000 > 1000, decrease input length",
        "This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.",
        "The input token count (2000) exceeds the maximum number of tokens allowed (1000).",
    ] {
        let place = Place::new();
        let model = Model::start([
            Step::to("one", Answer::new("a").thinking("hm").text("One.")),
            Step::to("two", Answer::new("b").call("t1", "todo", &json!({"todos": []}))),
            Step::to("tool_result", Answer::new("c").text("Two.")),
            Step::to("[User]", Answer::new("s").text("The person counts.")),
            Step::to("three", Reply::refusal(400, "invalid_request_error", refusal)),
            Step::to("three", Answer::new("d").text("Three.")),
        ]);
        for word in ["one", "two"] {
            place.prompt(&model, word, word).finish();
        }
        let done = place.prompt(&model, "three", "three").finish();
        model.assert_done();
        assert_eq!(summary(&done), "Three.", "{refusal}");
        let messages = model.messages(5);
        let (told, last) = (&messages[0]["content"], &messages[2]["content"]);
        assert_eq!((&told[0]["text"], &last[0]["text"]), (&json!("one"), &json!("three")));
        assert!(told[1]["text"].as_str().expect("a summary").ends_with("\n\nThe person counts."));
        place.record("compacted");
    }
}

#[test]
fn summary_request_that_is_too_long_itself_is_made_shorter() {
    let (place, model) = (Place::new(), forgetful_with("prompt is too long", WINDOW / 12));
    let (_, done) = talk(&place, &model, &[], 8);
    assert_eq!(summary(&done), "You said: marzipan, nougat");
}

#[test]
fn model_that_sums_nothing_up_does_not_end_the_session() {
    let (place, model) = (Place::new(), forgetful_with("prompt is too long", 0));
    let (_, done) = talk(&place, &model, &[], 8);
    assert_eq!(summary(&done), "You said: marzipan, nougat", "what the person said is kept");
}

#[test]
fn single_message_longer_than_the_window_is_shortened() {
    let (place, model) = (Place::new(), forgetful());
    let text = format!("The password is nougat. {} What is it?", "blah ".repeat(WINDOW));
    let done = place.prompt(&model, "m", &text).finish();
    assert_eq!(summary(&done), "You said: nougat");
    assert_eq!(place.blocks()[0]["content"], text, "what the person wrote is shown whole");
    let done = place.prompt(&model, "m2", "What is it?").finish();
    assert_eq!(summary(&done), "You said: nougat");
}

#[test]
fn session_that_was_dead_of_its_length_comes_to_life_again() {
    let (place, model) = (Place::new(), forgetful());
    place.prompt(&model, "m0", "The password is praline.").finish();
    // As an earlier release left it: longer than the window, every message kept and none answered.
    let path = place.transcript("main.jsonl");
    let mut transcript = fs::read_to_string(&path).expect("a transcript");
    for n in 0..60 {
        for (kind, id) in [("user_message", format!("old-{n}")), ("assistant_text", format!("said-{n}"))] {
            let block = json!({"type": kind, "id": id, "timestamp": "2026-01-01T00:00:00.000Z",
                "content": format!("{n} {}", "old words ".repeat(60))});
            let event = json!({"type": "block_complete", "conversationId": "main", "block": block});
            transcript.push_str(&format!("{}\n", json!({ "event": event })));
        }
    }
    fs::write(&path, &transcript).expect("written");
    let done = place.prompt(&model, "m1", "What is it?").finish_unchecked();
    assert_eq!(summary(&done), "You said: praline");
    let after = fs::read_to_string(&path).expect("a transcript");
    assert!(after.starts_with(&transcript), "a transcript only grows");
}

#[test]
fn compacted_thread_is_told_the_same_by_the_next_process() {
    let (place, model) = (Place::new(), forgetful());
    talk(&place, &model, &[], 8);
    let before = model.requests().last().expect("a request")["messages"].clone();
    place.prompt(&model, "more", "What again?").finish();
    let after = model.requests().last().expect("a request")["messages"].clone();
    let plain = |messages: &Value| -> Vec<String> {
        let texts = messages.as_array().expect("messages").iter().flat_map(|message| {
            message["content"].as_array().expect("content").iter().map(|piece| {
                let mut piece = piece.clone();
                piece.as_object_mut().expect("an object").remove("cache_control");
                piece.to_string()
            })
        });
        texts.collect()
    };
    let (before, after) = (plain(&before), plain(&after));
    assert_eq!(after[..before.len()], before[..]);
}

#[test]
fn interrupt_ends_a_compaction() {
    let place = Place::new();
    let model = Model::thinking(|request| {
        if request["system"].to_string().contains("detailed summary") {
            return Reply::Hang(Vec::new());
        }
        if request["messages"].to_string().len() > 4 * WINDOW {
            return Reply::refusal(400, "invalid_request_error", "prompt is too long");
        }
        Answer::new(&format!("a{}", fnv(&request.to_string()))).text("Yes.").into()
    });
    for n in 0..3 {
        place.prompt(&model, &format!("m{n}"), &"blah ".repeat(WINDOW / 5)).finish();
    }
    let mut run = place.prompt(&model, "long", &"blah ".repeat(WINDOW / 2));
    while !model.requests().iter().any(|request| request["system"].to_string().contains("detailed summary")) {
        std::thread::yield_now();
    }
    run.interrupt();
    assert_eq!(run.finish().end, json!({"outcome": "interrupted"}));
}
