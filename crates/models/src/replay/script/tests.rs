use bytes::Bytes;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{Asked, DivergenceKind, Script, Verdict};
use crate::{Ending, Format, RefusalKind, replay::Recording};

/// One format, and how it says the same thing as the others.
struct Dialect {
    format: Format,
    path: &'static str,
    /// A request: the system's words, the user's, and what tools said so far.
    request: fn(&str, &str, &[&str]) -> Value,
}

const DIALECTS: [Dialect; 4] = [
    Dialect { format: Format::Anthropic, path: "/v1/messages", request: anthropic },
    Dialect {
        format: Format::Gemini,
        path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
        request: gemini,
    },
    Dialect { format: Format::OpenAiChat, path: "/v1/chat/completions", request: chat },
    Dialect { format: Format::OpenAiResponses, path: "/v1/responses", request: responses },
];

fn anthropic(system: &str, user: &str, outputs: &[&str]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": user})];
    for (n, output) in outputs.iter().enumerate() {
        let id = format!("toolu_{n}");
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "bash", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": output}]}]}));
    }
    json!({"model": "m", "system": system, "messages": messages, "metadata": {"user_id": "device"}})
}

fn gemini(system: &str, user: &str, outputs: &[&str]) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": user}]})];
    for output in outputs {
        contents.push(json!({"role": "model", "parts": [{"functionCall": {"name": "sh", "args": {}}}]}));
        contents.push(json!({"role": "user", "parts": [
            {"functionResponse": {"name": "sh", "response": {"output": output}}}]}));
    }
    json!({"systemInstruction": {"parts": [{"text": system}]}, "contents": contents})
}

fn chat(system: &str, user: &str, outputs: &[&str]) -> Value {
    let mut messages =
        vec![json!({"role": "system", "content": system}), json!({"role": "user", "content": user})];
    for (n, output) in outputs.iter().enumerate() {
        let id = format!("call_{n}");
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "sh", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    }
    json!({"model": "m", "messages": messages})
}

fn responses(system: &str, user: &str, outputs: &[&str]) -> Value {
    let mut input = vec![json!({"type": "message", "role": "user", "content": user})];
    for (n, output) in outputs.iter().enumerate() {
        let id = format!("call_{n}");
        input.push(json!({"type": "function_call", "call_id": id, "name": "sh", "arguments": "{}"}));
        input.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
    }
    json!({"model": "m", "instructions": system, "input": input, "prompt_cache_key": "k"})
}

fn script_of(recordings: Vec<Recording>) -> Script {
    Script::new(Box::new(recordings)).expect("they are read")
}

fn recording(path: &str, request: &Value, answer: &str) -> Recording {
    Recording {
        conversation: None,
        model: "m".to_owned(),
        path: path.to_owned(),
        status: 200,
        ending: Ending::Complete,
        refusal: None,
        content_type: Some("text/event-stream".to_owned()),
        request: Bytes::from(request.to_string()),
        request_hash: None,
        response: Bytes::from(answer.to_owned()),
    }
}

impl Dialect {
    fn script(&self, recorded: &[(Value, &str)]) -> Script {
        let recorded = recorded.iter().map(|(request, answer)| recording(self.path, request, answer));
        script_of(recorded.collect())
    }

    /// The recorded answer, or `None` if there is none.
    fn ask(&self, script: &mut Script, request: &Value) -> Option<String> {
        self.ask_in(script, None, request)
    }

    fn ask_in(&self, script: &mut Script, conversation: Option<&str>, request: &Value) -> Option<String> {
        let body = request.to_string();
        let asked = Asked { format: self.format, path: self.path, conversation, body: body.as_bytes() };
        match script.ask(&asked) {
            Verdict::Recorded(_, recording) => {
                Some(String::from_utf8_lossy(&recording.response).into_owned())
            }
            Verdict::Diverged => None,
        }
    }
}

#[test]
fn a_run_that_asks_the_same_gets_the_same_answers_in_every_format() {
    for dialect in DIALECTS {
        let request = dialect.request;
        let calls = [
            (request("today is 2026-11-16", "hi", &[]), "first"),
            (request("today is 2026-11-16", "hi", &["took 4ms"]), "second"),
        ];
        let mut script = dialect.script(&calls);
        // A day later, and the tool took longer.
        let later =
            [request("today is 2026-11-17", "hi", &[]), request("today is 2026-11-17", "hi", &["took 80ms"])];
        assert_eq!(dialect.ask(&mut script, &later[0]).as_deref(), Some("first"));
        assert_eq!(dialect.ask(&mut script, &later[1]).as_deref(), Some("second"));
        let report = script.report();
        assert_eq!((report.calls, report.answered, report.n_differences), (2, 2, 0));
        assert_eq!((report.divergence, report.unasked), (None, None));
    }
}

#[test]
fn another_output_of_a_tool_is_told_once_and_the_replay_goes_on_in_every_format() {
    for dialect in DIALECTS {
        let request = dialect.request;
        let mut script = dialect.script(&[
            (request("s", "hi", &["same\nred"]), "first"),
            (request("s", "hi", &["same\nred", "then"]), "second"),
        ]);
        assert_eq!(dialect.ask(&mut script, &request("s", "hi", &["same\nblue"])).as_deref(), Some("first"));
        let second = request("s", "hi", &["same\nblue", "then"]);
        assert_eq!(dialect.ask(&mut script, &second).as_deref(), Some("second"));
        let report = script.report();
        assert_eq!((report.n_differences, &report.divergence), (1, &None), "{:?}", dialect.format);
        let told = &report.differences[0];
        assert_eq!(told.index, 1);
        assert!(told.diff.contains("red") && told.diff.contains("blue"), "{}", told.diff);
    }
}

#[test]
fn anything_else_is_the_first_divergence_and_nothing_is_answered_after_it_in_every_format() {
    for dialect in DIALECTS {
        let request = dialect.request;
        let calls = [(request("s", "first words", &[]), "1"), (request("s", "first words", &["out"]), "2")];
        let mut script = dialect.script(&calls);
        assert_eq!(dialect.ask(&mut script, &calls[0].0).as_deref(), Some("1"));
        assert_eq!(dialect.ask(&mut script, &request("s", "other words", &["out"])), None);
        assert_eq!(dialect.ask(&mut script, &calls[1].0), None, "nothing is answered any more");
        let divergence = script.report().divergence.expect("it diverged");
        assert_eq!((divergence.kind, divergence.index), (DivergenceKind::RequestDiffers, Some(2)));
        let diff = divergence.diff.expect("a diff");
        let has =
            |sign: char, words: &str| diff.lines().any(|line| line.starts_with(sign) && line.contains(words));
        assert!(has('-', "first words") && has('+', "other words"), "{diff}");
    }
}

#[test]
fn conversations_side_by_side_get_their_own_answers_in_whatever_order_they_call() {
    for dialect in DIALECTS {
        let request = dialect.request;
        let mut calls = Vec::new();
        for thread in ["main", "title", "review", "search"] {
            for n in 0..4 {
                let outputs: Vec<String> = (0..n).map(|n| format!("{thread} said {n}")).collect();
                let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
                calls.push((request("s", thread, &outputs), format!("{thread} {n}")));
            }
        }
        let recorded: Vec<_> =
            calls.iter().map(|(request, answer)| (request.clone(), answer.as_str())).collect();
        // Interleaved one way when recorded, another way when replayed.
        let mut script = dialect.script(&recorded);
        for step in 0..4 {
            for thread in [3, 1, 0, 2] {
                let (request, answer) = &calls[thread * 4 + step];
                assert_eq!(dialect.ask(&mut script, request).as_ref(), Some(answer));
            }
        }
        assert_eq!(script.report().answered, 16);
    }
}

#[test]
fn a_call_that_was_tried_again_gets_the_failure_first() {
    let dialect = &DIALECTS[0];
    let request = anthropic("s", "hi", &[]);
    let mut script = dialect.script(&[(request.clone(), "overloaded"), (request.clone(), "fine")]);
    assert_eq!(dialect.ask(&mut script, &request).as_deref(), Some("overloaded"));
    assert_eq!(dialect.ask(&mut script, &request).as_deref(), Some("fine"));
    assert_eq!(dialect.ask(&mut script, &request), None);
    let divergence = script.report().divergence.expect("it diverged");
    assert_eq!((divergence.kind, divergence.index), (DivergenceKind::CallNotRecorded, None));
}

#[test]
fn what_a_request_may_differ_in_is_told_of_a_tool_and_finds_its_answer_in_every_format() {
    for dialect in DIALECTS {
        let ids = ["0199d0c5-8f9a-7cc0-9d0a-0123456789ab", "0199d0c5-8f9a-7cc0-9d0a-ffffffffffff"];
        let request = dialect.request;
        let mut script = dialect.script(&[(request("s", ids[0], &[ids[0]]), "1")]);
        assert_eq!(dialect.ask(&mut script, &request("s", ids[1], &[ids[1]])).as_deref(), Some("1"));
        let report = script.report();
        assert_eq!((report.n_differences, &report.divergence), (1, &None), "{:?}", dialect.format);
        assert_eq!(report.differences[0].diff, format!("@@ -1,1 +1,1 @@\n-{}\n+{}\n", ids[0], ids[1]));
    }
}

#[test]
fn a_tool_that_failed_and_now_does_not_is_another_output() {
    let dialect = &DIALECTS[0];
    let mut failed = anthropic("s", "hi", &["no"]);
    failed["messages"][2]["content"][0]["is_error"] = json!(true);
    let mut script = dialect.script(&[(failed, "1")]);
    assert_eq!(dialect.ask(&mut script, &anthropic("s", "hi", &["no"])).as_deref(), Some("1"));
    assert_eq!(script.report().n_differences, 1);
}

#[test]
fn a_divergence_is_shown_against_the_next_call_of_its_own_thread() {
    let dialect = &DIALECTS[0];
    let (title, main) = (anthropic("make a title", "hi", &[]), anthropic("be helpful", "hi", &["out"]));
    let mut script = dialect.script(&[(title, "t"), (main, "m")]);
    let mut changed = anthropic("be helpful", "hi", &["out"]);
    changed["messages"][1]["content"][0]["input"] = json!({"command": "rm"});
    assert_eq!(dialect.ask(&mut script, &changed), None);
    assert_eq!(script.report().divergence.expect("it diverged").index, Some(2));

    let named = |thread: &str| Recording {
        conversation: Some(thread.to_owned()),
        ..recording(dialect.path, &anthropic(thread, "hi", &[]), thread)
    };
    let mut script = script_of(vec![named("main"), named("sub-1")]);
    assert_eq!(dialect.ask_in(&mut script, Some("sub-1"), &anthropic("new", "hi", &[])), None);
    let divergence = script.report().divergence.expect("it diverged");
    assert_eq!((divergence.index, divergence.conversation.as_deref()), (Some(2), Some("sub-1")));
}

#[test]
fn a_recorded_call_that_is_not_made_is_named_unless_it_was_given_up() {
    let dialect = &DIALECTS[0];
    let left = Recording {
        ending: Ending::CallerLeft,
        ..recording(dialect.path, &anthropic("title", "x", &[]), "")
    };
    let script = script_of(vec![left.clone()]);
    assert_eq!(script.report().unasked, None);
    let script = script_of(vec![left, recording(dialect.path, &anthropic("s", "x", &[]), "1")]);
    let unasked = script.report().unasked.expect("a call is missing");
    assert_eq!((unasked.kind, unasked.index), (DivergenceKind::CallNotMade, Some(2)));
}

#[test]
fn a_request_that_is_no_json_is_compared_as_text() {
    let dialect = &DIALECTS[0];
    let mut script = script_of(vec![Recording {
        request: Bytes::from_static(b"not json at 2026-11-16"),
        ..recording(dialect.path, &json!({}), "refused")
    }]);
    let asked = Asked {
        format: dialect.format,
        path: dialect.path,
        conversation: None,
        body: b"not json at 2026-11-17",
    };
    assert!(matches!(script.ask(&asked), Verdict::Recorded(..)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the order of the threads, nothing diverges and every answer is its own.
    #[test]
    fn any_interleaving_of_threads_replays(order in proptest::collection::vec(0_usize..3, 0..24)) {
        let dialect = &DIALECTS[3];
        let outputs = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut calls = Vec::new();
        for thread in 0..3 {
            for n in 0..8 {
                calls.push((responses("s", &format!("thread {thread}"), &outputs[..n]), format!("{thread}/{n}")));
            }
        }
        let recorded: Vec<_> = calls.iter().map(|(request, answer)| (request.clone(), answer.as_str())).collect();
        let mut script = dialect.script(&recorded);
        let mut at = [0; 3];
        for thread in order {
            if at[thread] == 8 { continue; }
            let (request, answer) = &calls[thread * 8 + at[thread]];
            at[thread] += 1;
            let given = dialect.ask(&mut script, request);
            prop_assert_eq!(given.as_ref(), Some(answer));
        }
        prop_assert!(script.report().divergence.is_none());
    }
}

#[test]
fn refused_call_is_matched_by_the_hash_of_its_request_and_else_by_its_order() {
    let [dialect, ..] = &DIALECTS;
    let (first, second) = (anthropic("main", "first", &[]), anthropic("main", "second", &[]));
    let refused = |request: &Value, answer: &str| {
        let body = request.to_string();
        Recording {
            request: Bytes::new(),
            request_hash: Some(warren_domain::BlobHash(blake3::hash(body.as_bytes()).to_hex().to_string())),
            refusal: Some(RefusalKind::BudgetSpent),
            ..recording(dialect.path, request, answer)
        }
    };
    let mut script = script_of(vec![refused(&first, "one"), refused(&second, "two")]);
    let mut ask = |request: &Value| {
        let body = request.to_string();
        let asked =
            Asked { format: dialect.format, path: dialect.path, conversation: None, body: body.as_bytes() };
        match script.ask(&asked) {
            Verdict::Recorded(_, recording) => String::from_utf8(recording.response.to_vec()).ok(),
            Verdict::Diverged => None,
        }
    };
    assert_eq!(ask(&second).as_deref(), Some("two"));
    assert_eq!(ask(&anthropic("main", "first, at another time", &[])).as_deref(), Some("one"));
    assert_eq!(ask(&first), None);
}

/// A request of Codex after a search for tools, which brought these up.
fn searched(user: &str, found: &[&str]) -> Value {
    let tool = |name: &&str| {
        let inner: Vec<Value> = ["a", "b"].iter().map(|n| json!({"name": format!("{name}-{n}")})).collect();
        json!({"type": "namespace", "name": name, "tools": inner})
    };
    let tools: Vec<Value> = found.iter().map(tool).collect();
    let input = json!([
        {"type": "message", "role": "user", "content": "environment"},
        {"type": "message", "role": "user", "content": user},
        {"type": "tool_search_call", "call_id": "c"},
        {"type": "tool_search_output", "call_id": "c", "tools": tools},
    ]);
    json!({"model": "m", "instructions": "same", "input": input})
}

fn ask(script: &mut Script, body: &Value) -> Verdict {
    let body = body.to_string();
    script.ask(&Asked {
        format: Format::OpenAiResponses,
        path: "/v1/responses",
        conversation: None,
        body: body.as_bytes(),
    })
}

#[test]
fn tools_that_a_search_brought_up_in_another_order_are_the_same() {
    let recorded = recording("/v1/responses", &searched("go", &["x", "y", "z"]), "one");
    let mut script = script_of(vec![recorded]);
    assert!(matches!(ask(&mut script, &searched("go", &["z", "x", "y"])), Verdict::Recorded(0, _)));
    let recorded = recording("/v1/responses", &searched("go", &["x", "y"]), "one");
    let mut script = script_of(vec![recorded]);
    assert!(matches!(ask(&mut script, &searched("go", &["x", "z"])), Verdict::Diverged), "another tool");
}

#[test]
fn divergence_is_shown_against_the_call_that_begins_most_alike() {
    let all = ["of a subagent", "of the agent"]
        .map(|user| recording("/v1/responses", &searched(user, &["x"]), "a"));
    let mut script = script_of(all.to_vec());
    assert!(matches!(ask(&mut script, &searched("of the agent", &["y"])), Verdict::Diverged));
    let divergence = script.report().divergence.expect("one");
    assert_eq!((divergence.kind, divergence.index), (DivergenceKind::RequestDiffers, Some(2)));
    assert!(!divergence.diff.expect("a diff").contains("of a subagent"));
}
