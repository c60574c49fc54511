//! Chats line by line.

use std::collections::HashMap;

use super::{Chat, Heard};
use crate::gemini_cli::{blocks, record::Role};
use warren_domain::Timestamp;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z"}"#;

fn user(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"{text}"}}]}}"#)
}

fn agent(id: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","type":"gemini"{rest}}}"#)
}

fn set(messages: &[String]) -> String {
    format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","))
}

fn chat(lines: &[String]) -> Chat {
    let mut chat = Chat::new();
    for line in lines {
        assert_ne!(chat.read(line), Heard::Nothing, "{line}");
    }
    chat
}

/// The records that show, by their ids.
fn shown(chat: &Chat) -> Vec<&str> {
    let shown = chat.shown().into_iter().filter(|entry| entry.role != Role::Hidden);
    shown.map(|entry| entry.record.id.as_str()).collect()
}

/// The blocks that show, by their ids, with the turn cut out.
fn block_ids(chat: &Chat) -> Vec<String> {
    let blocks = chat.shown().into_iter().flat_map(|entry| {
        let turn = chat.turn(entry).to_owned();
        let blocks = blocks::of_entry(chat, entry, Timestamp::default());
        blocks.into_iter().map(move |block| block.id().as_str().replace(&turn, "T"))
    });
    blocks.collect()
}

#[test]
fn a_record_with_a_known_id_replaces_the_earlier_one_where_that_stood() {
    let calls = r#","content":"hi","toolCalls":[{"id":"c","name":"x","status":"success"}]"#;
    let chat = chat(&[
        HEADER.to_owned(),
        user("u", "do"),
        agent("a", r#","content":"hi""#),
        agent("a", calls),
        agent("b", r#","content":"done""#),
    ]);
    assert_eq!(shown(&chat), ["u", "a", "b"]);
    assert_eq!(block_ids(&chat), ["prompt-T", "text-T-0", "c", "c-result", "text-T-1"]);
}

#[test]
fn a_rewind_takes_back_a_record_and_what_follows_and_everything_if_it_is_unknown() {
    let lines = [user("u", "do"), agent("a", r#","content":"x""#), user("v", "more")];
    let rewound = |to: &str| {
        let mut lines = lines.to_vec();
        lines.push(format!(r#"{{"$rewindTo":"{to}"}}"#));
        shown(&chat(&lines)).join(" ")
    };
    assert_eq!([rewound("a"), rewound("u"), rewound("nobody")], ["u", "", ""]);
}

#[test]
fn a_replacement_drops_what_it_does_not_hold() {
    let chat =
        chat(&[user("u", "do"), agent("a", r#","content":"x""#), user("v", "more"), set(&[user("u", "do")])]);
    assert_eq!(shown(&chat), ["u"]);
}

#[test]
fn what_is_wiped_and_written_again_as_less_is_as_much_as_before() {
    let calls = r#","timestamp":"2026-01-01T00:00:01.000Z","content":"hi","thoughts":[{"subject":"S","description":"d"}],
        "toolCalls":[{"id":"c","name":"x","status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"whole"}}}]}]"#;
    let copy = r#","timestamp":"2026-02-02T00:00:01.000Z","content":[{"text":"**S** d","thought":true},{"text":"hi"},{"functionCall":{"id":"c","name":"x"}}]"#;
    let lines = [user("u", "do"), agent("a", calls)];
    let before = chat(&lines);
    let again = [set(&[]), set(&[user("u", "do"), agent("a", copy)])];
    let after = chat(&[lines.as_slice(), &again].concat());
    let blocks = |chat: &Chat| {
        let of = |entry: &&super::Entry| blocks::of_entry(chat, entry, Timestamp::default());
        chat.shown().iter().flat_map(of).collect::<Vec<_>>()
    };
    assert_eq!(blocks(&after), blocks(&before));
}

#[test]
fn a_record_that_was_only_ever_copied_has_its_calls_among_its_parts() {
    let copy = r#","content":[{"functionCall":{"id":"c","name":"x","args":{"n":1}}}]"#;
    let answer = r#"{"id":"a_response","type":"user","content":[{"functionResponse":{"id":"c","response":{"error":"no"}}}]}"#;
    let chat = chat(&[
        set(&[user("u", "do"), agent("a", copy), answer.to_owned()]),
        agent("b", r#","content":"done""#),
    ]);
    assert_eq!(block_ids(&chat), ["prompt-T", "c", "c-result", "text-T-1"]);
}

#[test]
fn what_is_summed_up_still_shows_and_the_turn_goes_on() {
    let summed_up = agent("k", r#","content":[{"text":"Got it. Thanks for the additional context!"}]"#);
    let calls = r#","content":"","toolCalls":[{"id":"c","name":"x","status":"success"}]"#;
    let chat = chat(&[
        user("u", "do"),
        agent("a", calls),
        set(&[user("s", "a summary"), summed_up, agent("copy", r#","content":"copied""#)]),
        agent("b", r#","content":"done""#),
    ]);
    assert_eq!(shown(&chat), ["u", "a", "s", "b"]);
    assert_eq!(block_ids(&chat), ["prompt-T", "c", "c-result", "compacted-s", "text-T-1"]);
}

#[test]
fn the_same_prompt_said_again_begins_another_turn_also_in_another_process() {
    let mut first = chat(&[user("u", "do it")]);
    let name = |chat: &Chat, index: usize| chat.turn(chat.entry(index)).to_owned();
    first.read(&user("v", " do  it"));
    let known: HashMap<u64, u32> = chat(&[user("u", "do it")]).prompts().clone();
    let mut second = Chat::going_on(known);
    // What is gone on from is repeated; that does not count.
    second.read(&set(&[user("u", "do it")]));
    second.read(&user("v", "do it"));
    assert_eq!(name(&first, 0), "dc5bfc676205c4c9");
    assert_eq!(name(&first, 1), "dc5bfc676205c4c9.1");
    assert_eq!(name(&second, 1), name(&first, 1));
}

#[test]
fn what_gemini_says_in_anothers_name_does_not_show() {
    let chat = chat(&[
        user("1", "<session_context> here"),
        user("2", "Please continue."),
        user("3", "  "),
        agent("4", r#","content":"[The previous response was interrupted before it completed.]""#),
        agent("5", r#","content":[{"text":"Binary content received.","thought":true}],"thoughts":[]"#),
    ]);
    assert_eq!(block_ids(&chat), [""; 0]);
}

#[test]
fn a_record_nobody_understands_is_told_and_costs_no_other() {
    let odd = r#"{"id":7}"#.to_owned();
    let mut chat = Chat::new();
    assert_eq!(
        chat.read(&set(&[user("u", "do"), odd.clone(), agent("a", r#","content":"hi""#)])),
        Heard::Nothing
    );
    assert_eq!(shown(&chat), ["u", "a"]);

    let mut chat = Chat::new();
    let document = format!(
        r#"{{"sessionId":"s","messages":[{},{odd},{}]}}"#,
        user("u", "do"),
        agent("a", r#","content":"hi""#)
    );
    assert_eq!(chat.read(&document), Heard::Nothing);
    assert_eq!(shown(&chat), ["u", "a"]);
}

#[test]
fn what_the_program_tells_its_investigator_begins_no_turn() {
    let told = "Your task is to do a deep investigation of the codebase to find all relevant files";
    let chat = chat(&[
        HEADER.to_owned(),
        user("u", "do"),
        user("i", told),
        agent("a", r#","content":"found","toolCalls":[{"id":"c","name":"x","status":"success"}]"#),
        agent("b", r#","content":"done""#),
    ]);
    assert_eq!(block_ids(&chat), ["prompt-T", "text-T-0", "c", "c-result", "text-T-1"]);
}
