//! Gemini CLI: `stream.jsonl` (`1_stream.jsonl`, `2_stream.jsonl` … for several processes) is what it printed,
//! `exit_code.txt` how each ended, and `chats/` what it kept. A stream that the guest's `follow` printed holds the lines
//! of the chats too.

#[path = "gemini_cli/hostile.rs"]
mod hostile;
#[path = "gemini_cli/recording.rs"]
mod recording;
#[path = "gemini_cli/rules.rs"]
mod rules;

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use warren_agents::{Exit, Output, Prompt, TurnEnd};
use warren_domain::{
    Block, BlockId, BlockStatus, Content, Conversations, Draft, ErrorCode, EventBody, SessionId,
};

use crate::support::{check_case, folded, now};

use recording::{Recording, codec, decoded, ends, gemini, is_of_file, recordings};

/// The cases whose events and blocks are written down.
const WRITTEN_DOWN: [&str; 14] = [
    "api_error",
    "command",
    "compacted",
    "cut_once",
    "empty",
    "followed_subagent",
    "followed_tool",
    "late_error",
    "parallel",
    "same_prompt_twice",
    "stopped_subagent",
    "stopped_text",
    "stopped_tool",
    "tool",
];

#[test]
fn what_is_printed_and_what_is_kept_give_the_same_blocks() {
    for recording in recordings() {
        let Some(parsed) = recording.parsed() else { continue };
        let live = folded(&decoded(gemini().recorded(), &recording.stdout(), None));
        let kept: HashSet<&BlockId> = parsed.conversations.main().iter().map(Block::id).collect();
        let is_common =
            |block: &&Block| kept.contains(block.id()) || !rules::is_only_printed(block, &recording);
        let mut printed: Vec<Value> =
            live.main().iter().filter(is_common).map(rules::as_stdout_has_it).collect();
        let written = parsed.conversations.main().iter().filter(|block| !rules::is_only_written(block));
        let written: Vec<Value> = written.map(rules::as_stdout_has_it).collect();
        rules::without_broken_attempts(&mut printed, &written);
        assert_eq!(printed, written, "{}", recording.name());
        assert_eq!((parsed.n_unreadable, parsed.unrecognized), (0, Vec::new()), "{}", recording.name());
    }
}

/// Compares all threads of what was printed and written with what was kept.
fn check_followed(recording: &Recording, outputs: &[Output]) {
    let parsed = recording.parsed().expect("chats");
    let live = folded(outputs);
    let kept: HashSet<&BlockId> = parsed.conversations.main().iter().map(Block::id).collect();
    let is_common = |block: &&Block| kept.contains(block.id()) || !rules::is_only_printed(block, recording);
    let printed = shown(live.main().iter().filter(is_common));
    assert_eq!(printed, shown(parsed.conversations.main()), "{}", recording.name());
    let threads = |all: &Conversations| -> BTreeMap<String, String> {
        let blocks = |blocks: &[Block]| shown(&rules::without_names_of_unanswered_calls(blocks));
        all.subagents().map(|(id, of)| (id.0.clone(), blocks(of))).collect()
    };
    assert_eq!(threads(&live), threads(&parsed.conversations), "{}", recording.name());
}

#[test]
fn with_its_files_the_stream_gives_exactly_what_is_kept() {
    for recording in recordings().iter().filter(|recording| recording.is_followed()) {
        check_followed(recording, &recording.outputs());
    }
}

#[test]
fn it_does_not_matter_how_far_the_files_are_ahead_of_the_stream() {
    for recording in recordings().iter().filter(|recording| recording.is_followed()) {
        for seed in 0..12 {
            let outputs = recording.outputs_of(|stream| with_files_ahead(stream, seed));
            check_followed(recording, &outputs);
        }
    }
}

/// The same stream, with lines of files further up, as they are when whoever reads both is slow.
fn with_files_ahead(stream: &[u8], seed: u64) -> Vec<u8> {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    for place in 1..lines.len() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut ahead = (random >> 33) % 4;
        let mut place = place;
        while ahead > 0 && place > 0 && is_of_file(lines[place]) && !is_of_file(lines[place - 1]) {
            lines.swap(place, place - 1);
            place -= 1;
            ahead -= 1;
        }
    }
    lines.join(&b'\n')
}

#[test]
fn every_recording_gives_the_events_and_blocks_it_should() {
    let all = recordings();
    assert!(all.len() >= 40, "the recordings are there");
    for recording in all.iter().filter(|recording| WRITTEN_DOWN.contains(&recording.name())) {
        check_case(&recording.directory, &recording.outputs());
    }
}

#[test]
fn a_turn_ends_once_and_as_the_signals_say() {
    let failed = |code: ErrorCode, message: &str| {
        Some(TurnEnd::Failed { code, message: message.to_owned(), recoverable: true })
    };
    let empty = "The model returned an empty response with no text or thoughts. This may be a transient API issue; \
                 please try again.";
    let cases = [
        ("api_error", failed(ErrorCode::LlmError, "fake: the request is bad")),
        ("api_quota", failed(ErrorCode::AgentError, "the agent exited before it finished (exit code 124)")),
        ("empty", failed(ErrorCode::LlmError, empty)),
        ("late_error", failed(ErrorCode::LlmError, "fake: late")),
        ("signal_TERM_slow_norelaunch", Some(TurnEnd::Interrupted)),
        ("signal_TERM_slow_tool_norelaunch", Some(TurnEnd::Interrupted)),
        ("stopped_text", Some(TurnEnd::Interrupted)),
        ("tool", Some(TurnEnd::Completed { summary: Some("Done: 2 lines.".to_owned()) })),
    ];
    let all = recordings();
    for (name, expected) in cases {
        let recording = all.iter().find(|recording| recording.name() == name).expect("there");
        let (stream, code) = &recording.runs[0];
        let ends: Vec<TurnEnd> = ends(&decoded(gemini().recorded(), stream, *code));
        assert_eq!((ends.len(), ends.into_iter().next()), (1, expected), "{name}");
    }
}

#[test]
fn a_codec_that_asked_for_the_end_calls_it_that_however_the_process_ended() {
    for code in [Some(0), Some(137), None] {
        let mut out = Vec::new();
        let mut codec = codec(None);
        assert!(!codec.interrupt(&mut out), "it is sent a signal");
        codec.ended(&Exit { code, signal: None }, now(), &mut out);
        assert_eq!(ends(&out), [TurnEnd::Interrupted]);
    }
}

#[test]
fn what_is_said_to_gemini_has_the_ids_it_has_in_the_chat() {
    let (mut codec, prompt, mut out) = (codec(None), followed_prompt("msg-1"), Vec::new());
    codec.begin(&prompt, now(), &mut out);
    assert_eq!(out[0], Output::Send(b"\"SCENARIO:tool do it\"\n".to_vec()));
    let recording = recording("followed_tool");
    recording.runs[0].0.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    let (live, parsed) = (folded(&out), recording.parsed().expect("a chat"));
    let kept = &parsed.conversations.main()[0];
    let Block::UserMessage { id, content, .. } = kept else { panic!("{kept:?}") };
    assert_eq!(
        live.main()[0],
        Block::UserMessage { id: id.clone(), timestamp: now(), content: content.clone() }
    );
    assert_eq!(shown(&live.main()[1..]), shown(&parsed.conversations.main()[1..]));
}

#[test]
fn a_prompt_that_no_file_had_leaves_its_id_to_none_that_has_the_same_words() {
    let begun = |state: Option<&Value>, message: &str| {
        let mut out = Vec::new();
        codec(state).begin(&followed_prompt(message), now(), &mut out);
        let id = folded(&out).main()[0].id().clone();
        let state = out.into_iter().find_map(|output| match output {
            Output::State(state) => Some(state),
            _ => None,
        });
        (id, state.expect("known from here on"))
    };
    // The process is killed before it wrote anything down, twice.
    let (first, state) = begun(None, "msg-1");
    let (second, state) = begun(Some(&state), "msg-2");
    assert_eq!((first.as_str().starts_with("prompt-"), second.as_str()), (true, "msg-2"));
    // The third time it is in the file; the fourth prompt is another one there.
    let (mut third, mut out) = (codec(Some(&state)), Vec::new());
    third.begin(&followed_prompt("msg-3"), now(), &mut out);
    let recording = recording("followed_tool");
    recording.runs[0].0.split(|byte| *byte == b'\n').for_each(|line| third.decode(line, now(), &mut out));
    let last = out.into_iter().rev().find_map(|output| match output {
        Output::State(state) => Some(state),
        _ => None,
    });
    let (fourth, _) = begun(last.as_ref(), "msg-4");
    assert_eq!(fourth.as_str(), format!("{first}.1", first = first.as_str()));
}

#[test]
fn what_is_said_again_after_an_import_is_another_prompt() {
    let recording = recording("followed_tool");
    let main = recording.main.as_ref().expect("a chat");
    let adopted = gemini().adopt(SessionId(uuid::Uuid::nil()), main);
    let mut out = Vec::new();
    codec(adopted.state.as_ref()).begin(&followed_prompt("msg-1"), now(), &mut out);
    let parsed = recording.parsed().expect("a chat").conversations;
    let said = folded(&out).main()[0].id().clone();
    assert!(parsed.main().iter().all(|block| *block.id() != said), "{said:?}");
}

fn followed_prompt(message: &str) -> Prompt {
    Prompt { message: BlockId(message.to_owned()), content: Content::from("SCENARIO:tool do it") }
}

fn recording(name: &str) -> Recording {
    recordings().into_iter().find(|recording| recording.name() == name).expect("there")
}

#[test]
fn what_was_spent_is_the_same_in_the_stream_and_in_the_chat() {
    let single = |recording: &&Recording| recording.runs.len() == 1 && !recording.has_unfinished_run();
    for recording in recordings().iter().filter(single) {
        // The chat does not know of the call that chose the model, nor of one that was made again; and where it keeps
        // several rounds in one record, it keeps what one of them spent.
        if ["auto_model", "cut_once", "v24_tool"].contains(&recording.name()) {
            continue;
        }
        let Some(parsed) = recording.parsed() else { continue };
        let spent = recording.outputs().into_iter().rev().find_map(|output| match output {
            Output::Event(Draft { body: EventBody::MetadataUpdate { usage, .. }, .. }) => Some(usage),
            _ => None,
        });
        assert_eq!(spent, parsed.usage, "{}", recording.name());
    }
}

#[test]
fn a_session_goes_on_only_where_gemini_would() {
    let plan = gemini().transcripts(SessionId(uuid::Uuid::nil()));
    for recording in recordings() {
        let Some(main) = &recording.main else { continue };
        let is_refused = ["api_error", "empty"].contains(&recording.name());
        assert_eq!(plan.is_resumable(main), !is_refused, "{}", recording.name());
    }
}

/// Blocks a line each, so that a difference can be seen.
fn shown<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    let line = |block: &Block| {
        let mut block = serde_json::to_value(block).expect("JSON");
        rules::as_the_file_has_it(&mut block);
        format!("{block}\n")
    };
    blocks.into_iter().map(line).collect()
}

/// What the agent says in the main thread.
fn texts(conversations: &Conversations) -> Vec<&str> {
    fn text(block: &Block) -> Option<&str> {
        if let Block::AssistantText { content, .. } = block { Some(content) } else { None }
    }
    conversations.main().iter().filter_map(text).collect()
}

#[test]
fn comments_and_joiners_that_the_file_leaves_out_stay_however_far_it_is_ahead() {
    let said = "Hi<!-- hidden -->\u{200b} there.\n\nbold";
    let recording = recording("comment");
    assert_eq!(texts(&recording.parsed().expect("a chat").conversations), ["Hi there.\n\nbold"]);
    assert_eq!(texts(&folded(&decoded(gemini().recorded(), &recording.stdout(), None))), [said]);
    for seed in 0..24 {
        let live = folded(&recording.outputs_of(|stream| with_files_ahead(stream, seed)));
        assert_eq!(texts(&live), [said], "{seed}");
    }
}

#[test]
fn what_is_left_out_of_a_text_before_a_call_is_said_all_the_same() {
    let file = |record: &Value| json!({"type": "warren.file", "path": "w/chats/session-2026-11-16T01-59-a2758c36.jsonl", "line": record.to_string()});
    let call = json!({"id": "c", "name": "list_directory", "args": {}, "status": "success", "result": []});
    let lines = [
        json!({"type": "init", "model": "gemini-2.5-pro"}),
        json!({"type": "message", "role": "user", "content": "go"}),
        file(&json!({"id": "1", "type": "user", "content": "go"})),
        json!({"type": "message", "role": "assistant", "content": "<!-- plan -->"}),
        json!({"type": "tool_use", "tool_name": "list_directory", "tool_id": "c", "parameters": {}}),
        file(&json!({"id": "2", "type": "gemini", "content": "", "toolCalls": [call]})),
        json!({"type": "tool_result", "tool_id": "c", "status": "success"}),
        json!({"type": "message", "role": "assistant", "content": "Done."}),
        file(&json!({"id": "3", "type": "gemini", "content": "Done."})),
        json!({"type": "result", "status": "success"}),
    ];
    let stream = lines.map(|line| format!("{line}\n")).concat();
    assert_eq!(texts(&folded(&decoded(codec(None), stream.as_bytes(), Some(0)))), ["<!-- plan -->", "Done."]);
}

#[test]
fn a_command_that_exits_with_another_code_than_0_has_failed() {
    for name in ["tool_error", "followed_errors"] {
        let recording = recording(name);
        let mut all = vec![recording.parsed().expect("a chat").conversations];
        if recording.is_followed() {
            all.push(folded(&recording.outputs()));
        }
        for conversations in all {
            let (uses, results): (Vec<_>, Vec<_>) = conversations
                .main()
                .iter()
                .filter(is_of_shell)
                .partition(|block| matches!(block, Block::ToolUse { .. }));
            let [Block::ToolUse { status, .. }] = uses.as_slice() else { panic!("{uses:?}") };
            assert_eq!(*status, BlockStatus::Error, "{name}");
            let [Block::ToolResult { output, is_error, .. }] = results.as_slice() else {
                panic!("{results:?}")
            };
            assert!(
                *is_error && output.as_str().is_some_and(|output| output.contains("Exit Code: 3")),
                "{output}"
            );
        }
    }
}

fn is_of_shell(block: &&Block) -> bool {
    match block {
        Block::ToolUse { tool_name, .. } => tool_name == "run_shell_command",
        Block::ToolResult { tool_use_id, .. } => tool_use_id.starts_with("run_shell_command"),
        _ => false,
    }
}
