//! Gemini CLI: `stream.jsonl` (`1_stream.jsonl`, `2_stream.jsonl` … for several processes) is what it printed,
//! `exit_code.txt` how each ended, and `chats/` what it kept. A stream that the guest's `follow` printed holds the lines
//! of the chats too.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use proptest::prelude::{any, proptest};
use serde_json::Value;
use warren_agents::{Adapter, Codec, Exit, LaunchRequest, Output, Parsed, Prompt, TurnEnd, adapter};
use warren_domain::{
    AgentProfile, Block, BlockId, BlockStatus, Content, Conversations, Draft, ErrorCode, EventBody,
    PermissionMode, ProfileId, SessionId, Timestamp,
};

use crate::support::{cases, check_case, files, folded, now};

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

/// One recording.
struct Recording {
    directory: PathBuf,
    /// What each process printed, and its exit code.
    runs: Vec<(Vec<u8>, Option<i32>)>,
    /// The longest chat is the session's own: resuming leaves short ones beside it.
    main: Option<Vec<u8>>,
    subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    fn read(directory: PathBuf) -> Self {
        let run = |prefix: &str| {
            let stream = fs::read(directory.join(format!("{prefix}stream.jsonl"))).ok()?;
            let code =
                fs::read_to_string(directory.join(format!("{prefix}exit_code.txt"))).unwrap_or_default();
            Some((stream, code.trim().parse().ok()))
        };
        let several = (1..).map_while(|n| run(&format!("{n}_")));
        let chats = files(&directory.join("chats"));
        let (threads, mains): (Vec<PathBuf>, Vec<PathBuf>) =
            chats.into_iter().partition(|path| path.is_dir());
        let mains = mains.iter().map(|path| fs::read(path).expect("readable"));
        Self {
            runs: run("").into_iter().chain(several).collect(),
            main: mains.max_by_key(Vec::len),
            subagents: threads.iter().flat_map(|path| files(path)).map(|path| thread(&path)).collect(),
            directory,
        }
    }

    fn name(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    /// What comes of it, each process with what the one before said must be known.
    fn outputs(&self) -> Vec<Output> {
        self.outputs_of(<[u8]>::to_vec)
    }

    fn outputs_of(&self, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Output> {
        let mut all = Vec::new();
        let mut state = None;
        for (stream, code) in &self.runs {
            let outputs = decoded(codec(state.as_ref()), &change(stream), *code);
            state = outputs.iter().rev().find_map(|output| match output {
                Output::State(state) => Some(state.clone()),
                _ => None,
            });
            all.extend(outputs);
        }
        all
    }

    /// What all processes printed, one after the other, as it would be without `follow`.
    fn stdout(&self) -> Vec<u8> {
        let lines = self.runs.iter().flat_map(|(stream, _)| stream.split(|byte| *byte == b'\n'));
        lines.filter(|line| !is_of_file(line)).collect::<Vec<_>>().join(&b'\n')
    }

    /// Whether a process was stopped or failed.
    fn has_unfinished_run(&self) -> bool {
        let is_success = |line: &[u8]| {
            let line: Value = serde_json::from_slice(line).unwrap_or_default();
            line["type"] == "result" && line["status"] == "success"
        };
        self.runs.iter().any(|(stream, _)| !stream.split(|byte| *byte == b'\n').any(is_success))
    }

    fn is_followed(&self) -> bool {
        self.runs.iter().all(|(stream, _)| stream.split(|byte| *byte == b'\n').any(is_of_file))
    }

    fn parsed(&self) -> Option<Parsed> {
        self.main.as_ref().map(|main| gemini().parse(main, &self.subagents))
    }
}

fn gemini() -> &'static dyn Adapter {
    adapter("gemini-cli").expect("an agent we know")
}

/// The codec of a process that goes on from `state`.
fn codec(state: Option<&Value>) -> Box<dyn Codec> {
    let profile = AgentProfile::empty(ProfileId("p".to_owned()));
    let request = LaunchRequest {
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: state.is_some(),
        state,
        permission_mode: PermissionMode::Auto,
        programs: &BTreeMap::new(),
        model: None,
        profile: &profile,
        endpoints: &[],
    };
    gemini().codec(&request)
}

fn is_of_file(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"warren.file""#)
}

fn recordings() -> Vec<Recording> {
    cases("gemini-cli").into_iter().map(Recording::read).collect()
}

fn thread(path: &Path) -> (String, Vec<u8>) {
    let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
    (id, fs::read(path).expect("readable"))
}

fn decoded(mut codec: Box<dyn Codec>, stream: &[u8], code: Option<i32>) -> Vec<Output> {
    let mut out = Vec::new();
    stream.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    codec.ended(&Exit { code, signal: None }, now(), &mut out);
    out
}

/// What one source has and the other cannot have, by rule.
mod rules {
    use super::{Block, BlockStatus, Recording, Timestamp, Value};

    /// A chat holds no errors; nothing of what was being said or called when a process was stopped; and no prompt that
    /// the model refused.
    pub(super) fn is_only_printed(block: &Block, recording: &Recording) -> bool {
        match block {
            Block::Error { .. } => true,
            Block::ToolUse { status, .. } | Block::Subagent { status, .. } => {
                matches!(status, BlockStatus::Pending | BlockStatus::Running)
            }
            Block::AssistantText { .. } => recording.has_unfinished_run(),
            Block::UserMessage { .. } => recording.has_unfinished_run(),
            _ => false,
        }
    }

    /// An attempt that broke off in the middle stays printed before the one that did not.
    pub(super) fn without_broken_attempts(printed: &mut [Value], written: &[Value]) {
        for (printed, written) in printed.iter_mut().zip(written) {
            let (text, kept) = (printed["content"].as_str(), written["content"].as_str());
            if text.zip(kept).is_some_and(|(text, kept)| text.len() > kept.len() && text.ends_with(kept)) {
                printed["content"] = written["content"].clone();
            }
        }
    }

    /// Whose call was never answered has no name in the chats, and when it ended is not known.
    pub(super) fn without_names_of_unanswered_calls(blocks: &[Block]) -> Vec<Block> {
        let mut blocks = blocks.to_vec();
        let is_unanswered = blocks.last().is_some_and(
            |block| matches!(block, Block::System { message, .. } if message.ends_with(" failed")),
        );
        for block in blocks.iter_mut().filter(|_| is_unanswered) {
            if let Block::System { message, timestamp, .. } = block {
                *message = message.replace(" generalist", "");
                *timestamp = Timestamp::default();
            }
        }
        blocks
    }

    /// Stdout knows no thoughts and no summaries.
    pub(super) fn is_only_written(block: &Block) -> bool {
        matches!(block, Block::Thinking { .. } | Block::System { .. })
    }

    /// Stdout prints a line a moment after, or before, the file gets it; of answers it shows what a screen would; of
    /// subagents it knows neither the thread nor the report; and with `auto` it does not say which model spoke.
    pub(super) fn as_stdout_has_it(block: &Block) -> Value {
        let mut value = serde_json::to_value(block).expect("JSON");
        let fields = value.as_object_mut().expect("an object");
        for name in ["timestamp", "output", "renderOutputAsMarkdown", "subagentId", "model"] {
            fields.remove(name);
        }
        value
    }
}

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
        ("api_quota", failed(ErrorCode::AgentError, "the agent ended before it was done (exit code 124)")),
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
fn a_prompt_keeps_the_id_it_was_given_and_everything_else_the_ids_it_has_in_the_chat() {
    let all = recordings();
    let recording = all.iter().find(|recording| recording.name() == "followed_tool").expect("there");
    let message = BlockId("msg-1".to_owned());
    let prompt = Prompt { message: message.clone(), content: Content::from("SCENARIO:tool do it") };
    let mut out = Vec::new();
    let mut codec = codec(None);
    codec.begin(&prompt, now(), &mut out);
    assert_eq!(out[0], Output::Send(b"\"SCENARIO:tool do it\"\n".to_vec()));
    recording.runs[0].0.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    let live = folded(&out);
    assert_eq!(live.main()[0], Block::UserMessage { id: message, timestamp: now(), content: prompt.content });
    let parsed = recording.parsed().expect("a chat");
    assert_eq!(shown(&live.main()[1..]), shown(&parsed.conversations.main()[1..]));
}

#[test]
fn what_was_spent_is_the_same_in_the_stream_and_in_the_chat() {
    let single = |recording: &&Recording| recording.runs.len() == 1 && !recording.has_unfinished_run();
    for recording in recordings().iter().filter(single) {
        // The chat does not know of the call that chose the model, nor of one that was made again.
        if ["auto_model", "cut_once"].contains(&recording.name()) {
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

#[test]
fn lines_that_nobody_understands_are_kept() {
    let lines: &[&[u8]] = &[
        br#"{"type":"from_the_future","x":1}"#,
        br#"{"type":"tool_use","tool_id":7}"#,
        b"Loaded cached credentials.",
        b"\xff\xfe",
        br#"{"type":"warren.file","path":"workspace/chats/session-1.jsonl","line":"{\"type\":\"dream\",\"id\":\"1\"}"}"#,
    ];
    let out = decoded(gemini().recorded(), &lines.join(&b'\n'), Some(0));
    let kept = |output: &&Output| {
        matches!(output, Output::Event(Draft { body: EventBody::Unrecognized { .. }, .. }))
    };
    assert_eq!(out.iter().filter(kept).count(), 5);
    let parsed = gemini().parse(b"{\"sessionId\":\"a\"}\n{\"type\":\"dream\",\"id\":\"1\"}\ntorn {", &[]);
    assert_eq!(parsed.unrecognized, ["{\"type\":\"dream\",\"id\":\"1\"}", "torn {"]);
}

#[test]
fn what_is_nested_too_deeply_does_not_hide_what_stands_beside_it() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let user = |id: &str| format!("{{\"id\":\"{id}\",\"type\":\"user\",\"content\":\"{id}\"}}");
    let bad = format!("{{\"id\":\"bad\",\"type\":\"user\",\"content\":{deep}}}");
    let lines = format!(
        "{}\n{bad}\n{}\n{{\"$set\":{{\"messages\":[{},{bad},{}]}}}}\n",
        user("a"),
        user("b"),
        user("a"),
        user("c")
    );
    let texts = |parsed: &Parsed| parsed.conversations.main().len();
    let parsed = gemini().parse(lines.as_bytes(), &[]);
    assert_eq!((texts(&parsed), parsed.n_unreadable), (2, 1));
    let document =
        format!("{{\n\"sessionId\": \"s\",\n\"messages\": [\n{},\n{bad},\n{}]\n}}", user("a"), user("b"));
    let parsed = gemini().parse(document.as_bytes(), &[]);
    assert_eq!((texts(&parsed), parsed.n_unreadable), (2, 1));
}

#[test]
fn a_very_long_line_is_read_like_any_other() {
    let long = "x".repeat(16 * 1024 * 1024);
    let line = format!("{{\"id\":\"a\",\"type\":\"gemini\",\"content\":\"{long}\"}}\n");
    let parsed = gemini().parse(line.as_bytes(), &[]);
    assert!(
        matches!(parsed.conversations.main(), [Block::AssistantText { content, .. }] if content.len() == long.len())
    );
}

fn ends(outputs: &[Output]) -> Vec<TurnEnd> {
    let end = |output: &Output| if let Output::TurnEnded(end) = output { Some(end.clone()) } else { None };
    outputs.iter().filter_map(end).collect()
}

/// Random numbers: enough for choosing places.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % n.max(1)
    }
}

/// Bytes with pieces taken out, doubled, swapped or replaced.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 8] = [
        b"\n",
        b"\"",
        b"}",
        b"[[[[",
        b"null",
        b"\xff\xf0",
        br#"{"$rewindTo":"x"}"#,
        br#"{"$set":{"messages":[]}}"#,
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (from, to) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
        let range = from.min(to)..from.max(to).min(from.min(to) + 200);
        match random.below(4) {
            0 => _ = bytes.drain(range),
            1 => {
                let piece = bytes[range].to_vec();
                bytes.splice(to..to, piece);
            }
            2 => _ = bytes.splice(from..from, PIECES[random.below(PIECES.len())].iter().copied()),
            _ => bytes.truncate(to.max(1)),
        }
    }
    bytes
}

/// `WARREN_FUZZ_SECONDS` says for how long; a second if it says nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
fn no_mutation_of_a_recording_makes_anything_fail() {
    let seconds = std::env::var("WARREN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let all = recordings();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(u64::from(std::process::id()));
    println!("seed {}", random.0);
    while Instant::now() < until {
        let recording = &all[random.below(all.len())];
        let subagents: Vec<(String, Vec<u8>)> =
            recording.subagents.iter().map(|(id, bytes)| (id.clone(), mutated(bytes, &mut random))).collect();
        if let Some(main) = &recording.main {
            gemini().parse(&mutated(main, &mut random), &subagents);
        }
        for (stream, _) in &recording.runs {
            assert_eq!(ends(&decoded(codec(None), &mutated(stream, &mut random), None)).len(), 1);
        }
    }
}

proptest! {
    #[test]
    fn a_chat_cut_anywhere_gives_the_beginning_of_the_conversation((which, place) in (any::<usize>(), any::<usize>())) {
        // Where things are taken back or written anew later, they are still there before that.
        let plain = ["tool", "parallel", "thinking", "followed_subagent", "v35_tool", "v35_parallel", "think_tool"];
        let all: Vec<Recording> = recordings().into_iter().filter(|one| plain.contains(&one.name())).collect();
        let recording = &all[which % all.len()];
        let main = recording.main.as_ref().expect("a chat");
        let cut = &main[..place % (main.len() + 1)];
        let parsed = gemini().parse(cut, &recording.subagents);
        let whole = recording.parsed().expect("a chat");
        let ids = |parsed: &Parsed| -> Vec<BlockId> {
            parsed.conversations.main().iter().map(|block| block.id().clone()).collect()
        };
        assert!(parsed.n_unreadable <= 1);
        assert!(ids(&whole).starts_with(&ids(&parsed)), "{}", recording.name());
    }
}

/// Blocks a line each, so that a difference can be seen.
fn shown<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    blocks.into_iter().map(|block| format!("{}\n", serde_json::to_string(block).expect("JSON"))).collect()
}
