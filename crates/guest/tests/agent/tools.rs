//! What tools do, and how a person sees it.

use serde_json::{Value, json};
use warren_domain::EventBody;

use crate::{
    model::{Answer, Model, Reply, Step},
    place::{Done, Place},
};

/// Has the model make these calls in one answer, then end. Gives the results by call.
fn call(place: &Place, calls: &[(&str, &str, Value)]) -> Done {
    let answer =
        calls.iter().fold(Answer::new("a"), |answer, (id, name, input)| answer.call(id, name, input));
    let model =
        Model::start([Step::to("go", answer), Step::to("tool_result", Answer::new("b").text("Done."))]);
    let done = place.prompt(&model, "m", "go").finish();
    model.assert_done();
    assert_eq!(done.end, json!({"outcome": "completed", "summary": "Done."}));
    done
}

fn block(place: &Place, id: &str) -> Value {
    let blocks = place.blocks();
    blocks.as_array().expect("blocks").iter().find(|block| block["id"] == id).cloned().expect("the block")
}

fn result(place: &Place, id: &str) -> (String, bool) {
    let block = block(place, &format!("{id}-result"));
    (block["output"].as_str().expect("text").to_owned(), block["isError"].as_bool().expect("a flag"))
}

#[test]
fn a_command_runs_in_the_workspace_and_its_output_streams() {
    let place = Place::new();
    place.write("a.txt", "one\n");
    let done = call(&place, &[("t1", "bash", json!({"command": "cat a.txt; echo two >&2; touch b.txt"}))]);
    assert_eq!(
        place.blocks(),
        json!([
            {"type": "user_message", "id": "m", "content": "go"},
            {"type": "tool_use", "id": "t1", "toolName": "bash", "toolUseId": "t1", "status": "success",
             "input": {"command": "cat a.txt; echo two >&2; touch b.txt"}, "displayName": "Run",
             "description": "cat a.txt; echo two >&2; touch b.txt"},
            {"type": "tool_result", "id": "t1-result", "toolUseId": "t1", "output": "one\ntwo\n", "isError": false},
            {"type": "assistant_text", "id": "b-0", "content": "Done.", "model": "scripted-1"},
        ])
    );
    let streamed: String = done
        .drafts
        .iter()
        .filter_map(|draft| match &draft.body {
            EventBody::TextDelta { block_id, delta } if block_id.as_str() == "t1-result" => {
                Some(delta.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(streamed, "one\ntwo\n");
    assert!(place.workspace("b.txt").exists());
    place.record("bash");
}

#[test]
fn a_call_is_pending_then_running_then_over() {
    let place = Place::new();
    let done = call(&place, &[("t1", "bash", json!({"command": "true"}))]);
    let steps: Vec<Value> = done
        .drafts
        .iter()
        .map(|draft| serde_json::to_value(draft).expect("JSON"))
        .filter(|draft| {
            draft["block"]["id"] == "t1" || draft["blockId"] == "t1" || draft["block"]["toolUseId"] == "t1"
        })
        .map(|draft| {
            json!([draft["type"], draft["block"]["type"], draft["block"]["status"], draft["updates"]])
        })
        .collect();
    assert_eq!(
        Value::Array(steps),
        json!([
            ["block_start", "tool_use", "pending", null],
            ["block_update", null, null, {"input": {"command": "true"}, "description": "true"}],
            ["block_update", null, null, {"status": "running"}],
            ["block_start", "tool_result", null, null],
            ["block_complete", "tool_result", null, null],
            ["block_complete", "tool_use", "success", null],
        ])
    );
}

#[test]
fn tools_that_fail_say_so_and_the_turn_goes_on() {
    let place = Place::new();
    call(
        &place,
        &[
            ("t1", "bash", json!({"command": "echo half; exit 3"})),
            ("t2", "read", json!({"path": "nowhere.txt"})),
            ("t3", "edit", json!({"path": "nowhere.txt", "old_text": "a", "new_text": "b"})),
            ("t4", "fly", json!({"to": "the moon"})),
            ("t5", "read", json!({"file": "a"})),
            ("t6", "grep", json!({"pattern": "("})),
            ("t7", "bash", json!({"command": "kill -9 $$"})),
            ("t8", "task", json!({"agent": "nobody", "description": "x", "prompt": "y"})),
        ],
    );
    let failed: Vec<_> = (1..=8).map(|n| result(&place, &format!("t{n}"))).collect();
    assert!(failed.iter().all(|(_, is_error)| *is_error), "{failed:?}");
    assert_eq!(failed[0].0, "half\n[exit code 3]");
    assert!(failed[1].0.contains("No such file") && failed[2].0.contains("No such file"), "{failed:?}");
    assert_eq!(failed[3].0, "there is no tool `fly`");
    assert!(failed[4].0.contains("missing field `path`"), "{failed:?}");
    assert_eq!(failed[6].0, "[killed by signal 9]");
    assert_eq!(failed[7].0, "there is no subagent `nobody`; there are: general");
    assert!((1..=8).all(|n| block(&place, &format!("t{n}"))["status"] == "error"));
    place.record("failing-tools");
}

#[test]
fn an_input_that_is_not_whole_is_a_failed_call() {
    let place = Place::new();
    let cut = Answer::new("a").call_raw("t1", "write", r#"{"path": "a", "content": "lon"#).stop("max_tokens");
    let model = Model::start([Step::to("go", cut), Step::to("tool_result", Answer::new("b").text("Done."))]);
    place.prompt(&model, "m", "go").finish();
    let (text, is_error) = result(&place, "t1");
    assert!(is_error && text.contains("Make the call again"), "{text}");
    assert!(!place.workspace("a").exists());
}

#[test]
fn results_go_back_together_in_the_order_of_the_calls() {
    let place = Place::new();
    place.write("a.txt", "A");
    let answer = Answer::new("a")
        .text("Let me see.")
        .call("t1", "grep", &json!({"pattern": "A"}))
        .call("t2", "read", &json!({"path": "a.txt"}))
        .call("t3", "glob", &json!({"pattern": "*.txt"}));
    let model =
        Model::start([Step::to("go", answer), Step::to("tool_result", Answer::new("b").text("Done."))]);
    place.prompt(&model, "m", "go").finish();
    let tool_result = |id: &str, content: &str| json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": false});
    assert_eq!(
        model.messages(1)[2],
        json!({"role": "user", "content": [
            tool_result("t1", "a.txt:1:A"), tool_result("t2", "1\tA\n"), tool_result("t3", "a.txt")
        ]})
    );
    place.record("parallel");
}

#[test]
fn writes_happen_in_order() {
    let place = Place::new();
    call(
        &place,
        &[
            ("t1", "write", json!({"path": "outputs/a.txt", "content": "one\n"})),
            ("t2", "edit", json!({"path": "outputs/a.txt", "old_text": "one", "new_text": "two"})),
            ("t3", "bash", json!({"command": "cat outputs/a.txt; echo three >> outputs/a.txt"})),
            ("t4", "read", json!({"path": "outputs/a.txt"})),
        ],
    );
    assert_eq!(place.read("outputs/a.txt"), "two\nthree\n");
    assert_eq!(result(&place, "t1").0, "Created `outputs/a.txt` (1 lines)");
    assert_eq!(result(&place, "t3").0, "two\n");
    assert_eq!(result(&place, "t4").0, "1\ttwo\n2\tthree\n");
}

#[test]
fn a_huge_output_is_cut_in_the_middle_and_never_fills_the_log() {
    let place = Place::new();
    let done = call(&place, &[("t1", "bash", json!({"command": "seq 1 1000000; echo the end"}))]);
    let (text, is_error) = result(&place, "t1");
    assert!(
        !is_error && text.starts_with("1\n2\n") && text.ends_with("1000000\nthe end\n"),
        "{}",
        text.len()
    );
    assert!(text.contains("bytes left out") && text.len() < 70_000, "{}", text.len());
    let printed: usize =
        done.drafts.iter().map(|draft| serde_json::to_string(draft).expect("JSON").len()).sum();
    assert!(printed < 400_000, "{printed}");
}

#[test]
fn a_command_that_takes_too_long_is_killed_with_all_it_started() {
    let place = Place::new();
    // The reader of the pipe ends only when every writer has.
    let command = "mkfifo held; (exec 3<>held; sleep 1000) & echo $! > child; sleep 1000";
    call(&place, &[("t1", "bash", json!({"command": command, "timeout": 1}))]);
    assert_eq!(result(&place, "t1"), ("[timed out after 1 s and was killed]".to_owned(), true));
    assert_gone(&place, "child");
}

#[test]
fn a_command_ends_when_its_shell_does_even_if_something_stays_behind() {
    let place = Place::new();
    call(&place, &[("t1", "bash", json!({"command": "sleep 1000 & echo $! > child; echo started"}))]);
    assert_eq!(result(&place, "t1"), ("started\n".to_owned(), false));
    let child =
        rustix::process::Pid::from_raw(place.read("child").trim().parse().expect("a pid")).expect("a pid");
    rustix::process::kill_process(child, rustix::process::Signal::KILL).expect("still alive");
}

#[test]
fn a_plan_shows_how_far_it_is() {
    let place = Place::new();
    let todos =
        json!([{"content": "Look", "status": "completed"}, {"content": "Leap", "status": "in_progress"}]);
    call(&place, &[("t1", "todo", json!({"todos": todos}))]);
    assert_eq!(block(&place, "t1")["description"], "1 of 2 done");
    assert_eq!(result(&place, "t1").0, "[x] Look\n[>] Leap");
}

/// Waits until the process whose id is in `file` is gone, which is soon after it was killed.
pub(crate) fn assert_gone(place: &Place, file: &str) {
    let pid = place.read(file).trim().to_owned();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie waits for its reaper and runs no more.
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let start = std::time::Instant::now();
    while is_alive() {
        assert!(start.elapsed().as_secs() < 30, "process {pid} is still alive");
        std::thread::yield_now();
    }
}

/// The agent's process id as a command finds it out: it is the parent of the command's own parent.
const AGENT: &str = "agent=$(cut -d' ' -f4 /proc/$PPID/stat)";

#[test]
fn command_can_neither_signal_the_agent_nor_look_into_it() {
    let place = Place::new();
    let attack = format!(
        "{AGENT}; tr '\\0' ' ' < /proc/$agent/cmdline | grep -o 'guest agent'; \
         kill -0 $agent && echo signalled; readlink /proc/$agent/fd/0 && echo found; \
         true > /proc/$agent/mem && echo opened; true"
    );
    call(&place, &[("t1", "bash", json!({"command": attack}))]);
    let (output, is_error) = result(&place, "t1");
    assert!(output.starts_with("guest agent\n") && !is_error, "it found the agent: {output}");
    for reached in ["signalled", "found", "opened"] {
        assert!(!output.lines().any(|line| line == reached), "{reached}: {output}");
    }
}

#[test]
fn command_can_stop_what_an_earlier_one_left_behind() {
    let place = Place::new();
    let stop = "kill $(cat pid) && while kill -0 $(cat pid) 2> /dev/null; do sleep 0.01; done; echo stopped";
    call(
        &place,
        &[
            ("t1", "bash", json!({"command": "sleep 1000 > /dev/null 2>&1 & echo $! > pid"})),
            ("t2", "bash", json!({"command": stop})),
        ],
    );
    assert_eq!(result(&place, "t2"), ("stopped\n".to_owned(), false));
}

#[test]
fn command_that_kills_what_runs_it_fails_alone() {
    let place = Place::new();
    call(
        &place,
        &[
            ("t1", "bash", json!({"command": "echo before; kill -9 $PPID; while true; do true; done"})),
            ("t2", "bash", json!({"command": "echo after"})),
        ],
    );
    let lost = "before\n\n[lost the command: the process that ran it was killed]";
    assert_eq!(result(&place, "t1"), (lost.to_owned(), true));
    assert_eq!(result(&place, "t2"), ("after\n".to_owned(), false));
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and some pixels";

#[test]
fn pictures_and_documents_are_shown_to_the_model() {
    for (bytes, media_type, kind) in [
        (PNG, "image/png", "image"),
        (b"\xff\xd8\xff\xe0 pixels", "image/jpeg", "image"),
        (b"GIF89a pixels", "image/gif", "image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp", "image"),
        (b"%PDF-1.7 pages", "application/pdf", "document"),
    ] {
        let place = Place::new();
        std::fs::write(place.workspace("seen"), bytes).expect("written");
        let model = Model::start([
            Step::to("go", Answer::new("a").call("t1", "read", &json!({"path": "seen"}))),
            Step::to("tool_result", Answer::new("b").text("I see.")),
            Step::to("again", Answer::new("c").text("Still.")),
        ]);
        place.prompt(&model, "m", "go").finish();
        let content = model.messages(1)[2]["content"][0]["content"].clone();
        let source = &content[1]["source"];
        assert_eq!((&content[1]["type"], &source["media_type"]), (&json!(kind), &json!(media_type)));
        let data = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            source["data"].as_str().expect("data"),
        );
        assert_eq!(data.expect("Base64"), bytes);
        // The next process remembers what was seen.
        place.prompt(&model, "m2", "again").finish();
        assert_eq!(model.messages(2)[2]["content"][0]["content"], content);
    }
}

#[test]
fn picture_that_is_too_large_is_refused_with_a_way_out() {
    let place = Place::new();
    let large = [PNG, &vec![0; 4_000_000]].concat();
    std::fs::write(place.workspace("large.png"), large).expect("written");
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "read", &json!({"path": "large.png"}))),
        Step::to("make a smaller copy", Answer::new("b").text("I will.")),
    ]);
    place.prompt(&model, "m", "go").finish();
    model.assert_done();
}

#[test]
fn picture_that_the_provider_refuses_is_left_out_and_the_session_goes_on() {
    let place = Place::new();
    std::fs::write(place.workspace("broken.png"), PNG).expect("written");
    let model = Model::start([
        Step::to("go", Answer::new("a").call("t1", "read", &json!({"path": "broken.png"}))),
        Step::to("base64", Reply::refusal(400, "invalid_request_error", "Could not process image")),
        Step::to("left out", Answer::new("b").text("It is broken.")),
        Step::to("on", Answer::new("c").text("Yes.")),
    ]);
    let done = place.prompt(&model, "m", "go").finish();
    assert_eq!(done.end["summary"], "It is broken.");
    assert!(place.blocks().to_string().contains("Pictures and documents were left out: "));
    assert_eq!(place.prompt(&model, "m2", "on").finish().end["summary"], "Yes.");
    model.assert_done();
}
