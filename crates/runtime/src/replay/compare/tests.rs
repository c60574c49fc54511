use serde_json::{Value, json};
use warren_domain::{Event, ReplayDivergenceKind};

use super::{Circumstances, Comparison};

/// Entries of a log, numbered and timed as the test says.
fn events(first_seq: u64, bodies: &[Value]) -> Vec<Event> {
    let event = |(body, seq): (&Value, u64)| {
        let mut event = json!({
            "seq": seq,
            "sessionId": "00000000-0000-0000-0000-000000000000",
            "runId": "00000000-0000-0000-0000-000000000001",
            "conversationId": "main",
            "timestamp": format!("2026-11-16T10:00:{seq:02}.000Z"),
        });
        event.as_object_mut().expect("an object").extend(body.as_object().cloned().expect("an object"));
        serde_json::from_value(event).expect("an event")
    };
    bodies.iter().zip(first_seq..).map(event).collect()
}

fn text(id: &str, content: &str) -> Value {
    json!({"type": "assistant_text", "id": id, "timestamp": "2026-11-16T10:00:00.000Z", "content": content})
}

fn tool_use(id: &str, call: &str, command: &str) -> Value {
    json!({"type": "tool_use", "id": id, "timestamp": "2026-11-16T10:00:00.000Z", "toolName": "bash",
        "toolUseId": call, "input": {"command": command}, "status": "success"})
}

fn tool_result(id: &str, call: &str, output: &str, took: u64) -> Value {
    json!({"type": "tool_result", "id": id, "timestamp": "2026-11-16T10:00:00.000Z", "toolUseId": call,
        "output": output, "isError": false, "durationMs": took})
}

fn whole(block: Value) -> Value {
    json!({"type": "block_complete", "block": block})
}

fn completed(cost: f64) -> Value {
    json!({"type": "run_completed", "version": 1, "usage": {}, "costUSD": cost, "summary": "done"})
}

fn compare(recorded: &[Event], replayed: &[Event]) -> Comparison {
    super::compare(recorded, replayed, &Circumstances::default())
}

fn equal(found: &Comparison) -> bool {
    found.count.compared == found.count.equal && found.divergence.is_none() && found.differences.is_empty()
}

#[test]
fn ids_times_numbers_and_pieces_make_no_difference() {
    let recorded = events(
        7,
        &[
            json!({"type": "block_start", "block": text("a", "")}),
            json!({"type": "text_delta", "blockId": "a", "delta": "it is "}),
            json!({"type": "text_delta", "blockId": "a", "delta": "2026-11-16"}),
            whole(tool_use("b", "call-1", "ls")),
            whole(tool_result("c", "call-1", "made at 10:00:01", 4)),
            json!({"type": "file_changed", "path": "x", "change": "created", "sizeBytes": 3}),
            json!({"type": "file_changed", "path": "x", "change": "modified", "sizeBytes": 9}),
            json!({"type": "metadata_update", "usage": {}, "costUSD": 0.5}),
            completed(0.5),
        ],
    );
    let replayed = events(
        2,
        &[
            whole(text("other", "it is 2026-12-24")),
            whole(tool_use("p", "call-1", "ls")),
            json!({"type": "file_changed", "path": "x", "change": "created", "sizeBytes": 9}),
            whole(tool_result("q", "call-1", "made at 23:59:59", 400)),
            completed(0.5),
        ],
    );
    let found = compare(&recorded, &replayed);
    assert!(equal(&found), "{found:#?}");
    assert_eq!(found.count.compared, 5);
}

#[test]
fn tools_that_answer_in_another_order_are_the_same() {
    let calls = [whole(tool_use("a", "1", "x")), whole(tool_use("b", "2", "y"))];
    let (one, two) = (whole(tool_result("c", "1", "x", 1)), whole(tool_result("d", "2", "y", 1)));
    let recorded = events(1, &[calls[0].clone(), calls[1].clone(), one.clone(), two.clone()]);
    let replayed = events(1, &[calls[0].clone(), calls[1].clone(), two, one]);
    assert!(equal(&compare(&recorded, &replayed)));
}

#[test]
fn agents_own_names_of_calls_and_threads_make_no_difference() {
    let log = |thread: &str, call: &str| {
        let mut events = events(
            1,
            &[
                whole(tool_use("a", call, "review")),
                json!({"type": "subagent_started", "subagentId": thread, "input": "look", "parent": "main"}),
                whole(text("t", "fine")),
                json!({"type": "subagent_completed", "subagentId": thread, "status": "success"}),
                whole(tool_result("b", call, "fine", 1)),
            ],
        );
        events[1..4].iter_mut().for_each(|event| event.conversation_id = thread.into());
        events
    };
    let found = compare(&log("agent-1", "call-1"), &log("agent-9", "call-9"));
    assert!(equal(&found), "{found:#?}");
}

#[test]
fn a_tool_that_says_something_else_is_a_difference_and_no_divergence() {
    let log = |output: &str| {
        events(1, &[whole(tool_use("a", "1", "x")), whole(tool_result("b", "1", output, 1)), completed(0.0)])
    };
    let found = compare(&log("red"), &log("blue"));
    assert_eq!(found.divergence, None);
    assert_eq!((found.count.compared, found.count.equal, found.differences.len()), (3, 2, 1));
    let diff = &found.differences[0].diff;
    assert!(diff.contains("red") && diff.contains("blue"), "{diff}");
    assert_eq!(found.differences[0].tool_use_id.as_deref(), Some("1"));
}

#[test]
fn what_is_said_otherwise_missing_or_new_is_the_first_divergence() {
    let check = |recorded: &[Value], replayed: &[Value], kind: ReplayDivergenceKind, words: &str| {
        let found = compare(&events(1, recorded), &events(1, replayed));
        let divergence = found.divergence.expect("it diverged");
        assert_eq!(divergence.kind, kind);
        assert_eq!(divergence.message, words);
        assert!(!divergence.diff.expect("a diff").is_empty());
    };
    let event = ReplayDivergenceKind::Event;
    let hi = [whole(text("a", "hi"))];
    check(&hi, &[whole(text("a", "ho"))], event, "assistant text 1 differs");
    check(&hi, &[], event, "assistant text 1 is missing");
    check(&[], &hi, event, "assistant text 1 is new");
    let file =
        |size: u64| json!({"type": "file_changed", "path": "x", "change": "created", "sizeBytes": size});
    check(&[file(1)], &[file(2)], event, "file x differs");
    let failed = json!({"type": "run_failed", "code": "AGENT_ERROR", "message": "m", "recoverable": true,
        "usage": {}, "costUSD": 0.0});
    check(&[completed(0.0)], &[failed], ReplayDivergenceKind::Outcome, "the end of the run differs");
}

#[test]
fn a_file_that_came_and_went_and_a_price_that_changed_make_no_difference() {
    let file = |change: &str| json!({"type": "file_changed", "path": "t.tmp", "change": change});
    let recorded = events(1, &[file("created"), file("modified"), file("deleted"), completed(0.5)]);
    assert!(equal(&compare(&recorded, &events(1, &[completed(0.7)]))));
    let found = compare(&events(1, &[file("deleted"), completed(0.0)]), &events(1, &[completed(0.0)]));
    assert_eq!(found.divergence.expect("it was there before").message, "file t.tmp is missing");
}

#[test]
fn hosts_that_were_asked_for_in_another_order_are_the_same() {
    let asked = |host: &str| json!({"type": "egress_decided", "host": host, "port": 80, "allowed": false, "rule": "none"});
    let recorded = events(1, &[asked("a"), asked("b"), asked("a")]);
    assert!(equal(&compare(&recorded, &events(1, &[asked("a"), asked("a"), asked("b")]))));
    let found = compare(&recorded, &events(1, &[asked("a"), asked("b")]));
    assert_eq!(found.divergence.expect("one is missing").message, "egress decided a:80 differs");
}

#[test]
fn a_tool_that_fails_only_in_the_replay_is_a_difference_and_no_divergence() {
    let log = |status: &str, is_failed: bool, output: &str| {
        let (mut called, mut told) = (tool_use("a", "1", "x"), tool_result("b", "1", output, 1));
        (called["status"], told["isError"]) = (json!(status), json!(is_failed));
        events(1, &[whole(called), whole(told), completed(0.0)])
    };
    let found = compare(&log("success", false, "fine"), &log("error", true, "no"));
    assert_eq!(found.divergence, None);
    assert_eq!(found.differences[0].diff, "@@ -1,1 +1,2 @@\n-fine\n+no\n+(the tool failed)\n");
}

#[test]
fn of_a_run_that_was_stopped_only_its_last_words_may_differ() {
    let interrupted = json!({"type": "run_interrupted", "usage": {}, "costUSD": 0.0, "by": "someone"});
    let failed = json!({"type": "run_failed", "code": "TIMEOUT", "message": "m", "recoverable": true,
        "usage": {"inputTokens": 7}, "costUSD": 0.0});
    let stopped = Circumstances { was_stopped: true, ..Circumstances::default() };
    let log = |first: &str, rest: &[Value], end: &Value| {
        let mut all = vec![whole(text("a", first))];
        all.extend(rest.iter().cloned());
        all.push(end.clone());
        events(1, &all)
    };
    let recorded = log("same", &[whole(text("b", "half a w"))], &failed);
    let more = [whole(text("b", "half a word")), whole(tool_use("c", "1", "x"))];
    let found = super::compare(&recorded, &log("same", &more, &interrupted), &stopped);
    assert!(equal(&found), "{found:#?}");
    let found = super::compare(&recorded, &log("other", &more, &interrupted), &stopped);
    assert_eq!(found.divergence.expect("it diverged").message, "assistant text 1 differs");
}
