use serde_json::{Value, json};

use super::{History, NO_RESULT};
use crate::agent::transcript::Entry;

const AT: &str = "2026-01-01T00:00:00.000Z";

fn line(kind: &str, mut block: Value, native: Value) -> Value {
    block["timestamp"] = json!(AT);
    json!({"event": {"type": kind, "block": block}, "native": native})
}

fn user(id: &str, content: Value) -> Value {
    line("block_complete", json!({"type": "user_message", "id": id, "content": content}), Value::Null)
}

fn said(id: &str, content: &str) -> Value {
    line("block_complete", json!({"type": "assistant_text", "id": id, "content": content}), Value::Null)
}

fn thought(id: &str, native: Value) -> Value {
    line("block_complete", json!({"type": "thinking", "id": id, "content": "hm"}), native)
}

fn call(id: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "toolName": "bash", "toolUseId": id, "input": {"command": id},
        "status": "pending"});
    line("block_start", block, Value::Null)
}

fn answered(id: &str, output: &str) -> Value {
    let block = json!({"type": "tool_result", "id": format!("{id}-result"), "toolUseId": id, "output": output,
        "isError": false});
    line("block_complete", block, Value::Null)
}

fn note(text: &str) -> Value {
    json!({"native": {"note": text}})
}

#[track_caller]
fn check(lines: &[Value], expect: Value) {
    let mut history = History::default();
    for line in lines {
        history.apply(&serde_json::from_value::<Entry>(line.clone()).expect("a line of a transcript"));
    }
    assert_eq!(Value::Array(history.messages()), expect);
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {"command": id}})
}

fn tool_result(id: &str, content: &str, is_error: bool) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_calls_and_steering_follows_the_results() {
    check(
        &[
            user("m1", json!("go")),
            said("a", "I will."),
            call("x"),
            call("y"),
            answered("y", "2"),
            answered("x", "1"),
            user("m2", json!("faster")),
            said("b", "Done."),
        ],
        json!([
            {"role": "user", "content": [text("go")]},
            {"role": "assistant", "content": [text("I will."), tool_use("x"), tool_use("y")]},
            {"role": "user", "content": [tool_result("x", "1", false), tool_result("y", "2", false), text("faster")]},
            {"role": "assistant", "content": [text("Done.")]},
        ]),
    );
}

#[test]
fn a_call_without_a_result_gets_one_that_says_so() {
    let expect = json!([
        {"role": "user", "content": [text("go")]},
        {"role": "assistant", "content": [tool_use("x"), tool_use("y")]},
        {"role": "user", "content": [tool_result("x", "1", false), tool_result("y", NO_RESULT, true), text("again")]},
    ]);
    let lines =
        [user("m1", json!("go")), call("x"), call("y"), answered("x", "1"), user("m2", json!("again"))];
    check(&lines, expect);
}

#[test]
fn thoughts_go_back_only_with_their_signature_and_never_end_an_answer() {
    check(
        &[
            user("m1", json!("go")),
            thought("t1", json!({"signature": "s"})),
            thought("t2", json!({"redacted": "r"})),
            said("a", "So."),
            thought("t3", json!({"signature": "s"})),
            note("[interrupted]"),
            thought("t4", Value::Null),
            user("m2", json!("on")),
        ],
        json!([
            {"role": "user", "content": [text("go")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "r"},
                text("So."),
            ]},
            {"role": "user", "content": [text("[interrupted]"), text("on")]},
        ]),
    );
}

#[test]
fn an_answer_that_was_only_thoughts_leaves_one_message_of_the_user() {
    check(
        &[user("m1", json!("go")), thought("t", json!({"signature": "s"})), user("m2", json!("on"))],
        json!([{"role": "user", "content": [text("go"), text("on")]}]),
    );
}

#[test]
fn what_was_discarded_was_never_said() {
    let discarded = json!({"event": {"type": "block_discarded", "blockId": "a", "reason": "retried"}});
    check(
        &[user("m1", json!("go")), said("a", "Hel"), discarded, said("b", "Hello")],
        json!([
            {"role": "user", "content": [text("go")]},
            {"role": "assistant", "content": [text("Hello")]},
        ]),
    );
}

#[test]
fn pictures_and_files_are_sent_as_such_and_blank_texts_are_not() {
    let parts = json!([{"text": "see"}, {"text": " "}, {"image": "QUJD", "mediaType": "image/png"}, {"file": "a.csv"}]);
    check(
        &[user("m1", parts), said("a", " \n")],
        json!([{"role": "user", "content": [
            text("see"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            text("[attached file: /user-input/a.csv]"),
        ]}]),
    );
}

#[test]
fn a_subagent_is_a_call_of_task_with_its_whole_input_and_its_report_is_the_result() {
    let block = |status: &str, output: Value| {
        json!({"type": "subagent", "id": "t", "subagentId": "agent-t", "input": "look", "status": status,
            "toolUseId": "t", "output": output})
    };
    check(
        &[
            user("m1", json!("go")),
            line("block_start", block("pending", Value::Null), json!({"input": {"prompt": "look"}})),
            line("block_complete", block("success", json!("seen")), Value::Null),
        ],
        json!([
            {"role": "user", "content": [text("go")]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "task", "input": {"prompt": "look"}}
            ]},
            {"role": "user", "content": [tool_result("t", "seen", false)]},
        ]),
    );
}

fn folded(lines: &[Value]) -> History {
    let mut history = History::default();
    for line in lines {
        history.apply(&serde_json::from_value::<Entry>(line.clone()).expect("a line of a transcript"));
    }
    history
}

/// A long turn: a first task, then a second one with many calls, two in each answer.
fn long_turn() -> Vec<Value> {
    let mut lines =
        vec![user("m1", json!("the first task")), said("s", "Done."), user("m2", json!("the second task"))];
    for n in 0..20 {
        let (x, y) = (format!("x{n}"), format!("y{n}"));
        lines.extend([said(&format!("a{n}"), "On."), call(&x), call(&y), answered(&y, &"2".repeat(300))]);
        lines.push(answered(&x, &"1".repeat(300)));
    }
    lines
}

/// Every call has its result right after it, and every result its call.
fn assert_paired(messages: &[Value]) {
    let ids = |message: &Value, kind: &str, key: &str| -> Vec<String> {
        let content = message["content"].as_array().expect("content").iter();
        content
            .filter(|it| it["type"] == kind)
            .map(|it| it[key].as_str().expect("an id").to_owned())
            .collect()
    };
    for pair in messages.windows(2) {
        assert_eq!(ids(&pair[0], "tool_use", "id"), ids(&pair[1], "tool_result", "tool_use_id"));
        assert_ne!(pair[0]["role"], pair[1]["role"]);
    }
    assert!(messages.first().is_some_and(|first| first["role"] == "user"));
}

#[test]
fn compaction_keeps_first_and_current_message_and_never_parts_a_call_from_its_result() {
    let lines = long_turn();
    for limit in [100, 300, 1_000, 3_000] {
        for pressure in 0..6 {
            let history = folded(&lines);
            let mut compaction = history.plan(limit, pressure).expect("there is something to leave out");
            compaction.summary = compaction.summary.map(|_| "what was done".to_owned());
            let compacted = line(
                "block_complete",
                json!({"type": "system", "id": "c", "subtype": "status",
                "message": "Context compacted"}),
                json!({"compaction": compaction}),
            );
            let mut all = lines.clone();
            all.push(compacted);
            let after = folded(&all);
            let messages = after.messages();
            assert_paired(&messages);
            let told = Value::from(messages).to_string();
            for kept in ["the first task", "the second task", "what was done"] {
                assert!(told.contains(kept), "{limit}, {pressure}: {kept}");
            }
            assert!(after.tokens(0) < history.tokens(0), "{limit}, {pressure}");
            // Once more: the earlier summary gives way to the next one.
            all.extend(lines[3..].iter().cloned());
            let mut again = folded(&all).plan(limit, pressure).expect("there is something to leave out");
            again.summary = again.summary.map(|_| "all that was done".to_owned());
            all.push(json!({"native": {"compaction": again}}));
            let messages = folded(&all).messages();
            assert_paired(&messages);
            let told = Value::from(messages).to_string();
            assert_eq!(
                (told.matches("what was done").count(), told.matches("all that was done").count()),
                (0, 1)
            );
            assert!(told.contains("the first task") && told.contains("the second task"));
        }
    }
}
