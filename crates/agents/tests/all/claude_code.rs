//! Claude Code: `in.jsonl` (and `in-2.jsonl` … for further processes) is what it printed, `transcript.jsonl` and
//! `subagents/` what it kept. Recordings of several versions.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use proptest::prelude::{Strategy, any, proptest};
use warren_agents::{Adapter, Output, Parsed, adapter};
use warren_domain::{Block, BlockId, BlockStatus, Conversations, Draft, EventBody};

use crate::support::{cases, check_case, decoded, files, folded, now};

/// Recordings whose events and blocks are written down; the others are only checked for what must hold for all.
const WRITTEN_DOWN: &[&str] = &[
    "api-error-529-retry",
    "api-stream-error",
    "approvals",
    "ask-user-question",
    "background-subagent-2.1.197",
    "compact",
    "interleaved-answers",
    "interrupt-text",
    "interrupt-tool",
    "killed-in-subagent",
    "steer-with-image",
    "subagent-nested-forward-text",
    "thinking-text",
    "tool-error",
    "version-2.0.30",
];

/// Recordings of other output formats, which tell only the end.
const ONLY_THE_END: &[&str] = &["output-json"];

/// One recording.
struct Recording {
    directory: PathBuf,
    /// What each process printed.
    runs: Vec<Vec<u8>>,
    main: Vec<u8>,
    subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    fn read(directory: PathBuf) -> Self {
        let first = fs::read(directory.join("in.jsonl")).unwrap_or_default();
        let further = (2..).map_while(|n| fs::read(directory.join(format!("in-{n}.jsonl"))).ok());
        let id = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        Self {
            runs: std::iter::once(first).chain(further).collect(),
            main: fs::read(directory.join("transcript.jsonl")).expect("a transcript"),
            subagents: files(&directory.join("subagents"))
                .into_iter()
                .map(|path| (id(&path), fs::read(path).expect("readable")))
                .collect(),
            directory,
        }
    }

    fn decoded(&self) -> Vec<Output> {
        self.runs.iter().flat_map(|run| decoded(claude().recorded(), run)).collect()
    }

    fn parsed(&self) -> Parsed {
        claude().parse(&self.main, &self.subagents)
    }

    fn name(&self) -> String {
        self.directory.file_name().expect("a name").to_string_lossy().into_owned()
    }
}

fn claude() -> &'static dyn Adapter {
    adapter("claude-agent-sdk").expect("an agent we know, by its other name")
}

fn recordings() -> Vec<Recording> {
    cases("claude-code").into_iter().map(Recording::read).collect()
}

/// All threads by name, and the order in which they opened.
type Threads = Vec<(String, Vec<Block>)>;

fn threads(all: &Conversations) -> Threads {
    let main = ("main".to_owned(), all.main().to_vec());
    let subagents = all.subagents().map(|(id, blocks)| (id.0.clone(), blocks.to_vec()));
    std::iter::once(main).chain(subagents).collect()
}

/// A call that nobody answered was cut when its process was.
fn with_cut_calls_ended(threads: &mut Threads) {
    for block in threads.iter_mut().flat_map(|(_, blocks)| blocks) {
        *block = block.cut_short().unwrap_or_else(|| block.clone());
    }
}

/// What a transcript has and a stream need not have: prompts that are not repeated, and what subagents say unless
/// it is forwarded.
fn is_only_kept(thread: &str, block: &Block) -> bool {
    match block {
        Block::UserMessage { .. } => thread == "main",
        Block::AssistantText { .. } | Block::Thinking { .. } => thread != "main",
        _ => false,
    }
}

/// A thread of which nothing was forwarded but that it was there.
fn is_frame(blocks: &[Block]) -> bool {
    let is_frame = |block: &Block| {
        let id = block.id().as_str();
        ["-start", "-task", "-end"].iter().any(|end| id.ends_with(end))
    };
    blocks.iter().all(is_frame)
}

/// Without what this stream does not carry.
fn reduced_to(mut kept: Threads, live: &Threads) -> Threads {
    let silent: HashSet<&str> =
        live.iter().filter(|(_, blocks)| is_frame(blocks)).map(|(id, _)| id.as_str()).collect();
    let live: HashMap<&str, HashSet<&BlockId>> =
        live.iter().map(|(id, blocks)| (id.as_str(), blocks.iter().map(Block::id).collect())).collect();
    for (thread, blocks) in &mut kept {
        let shown = live.get(thread.as_str()).cloned().unwrap_or_default();
        let is_silent = thread != "main" && silent.contains(thread.as_str());
        blocks.retain(|block| shown.contains(block.id()) || !(is_silent || is_only_kept(thread, block)));
    }
    kept
}

/// Times and durations that a stream does not tell are those of the transcript. What has none of its own is at
/// [`now`].
fn with_times_of(mut live: Threads, kept: &Threads) -> Threads {
    let kept: HashMap<(&str, &BlockId), &Block> = kept
        .iter()
        .flat_map(|(thread, blocks)| blocks.iter().map(move |block| ((thread.as_str(), block.id()), block)))
        .collect();
    for (thread, blocks) in &mut live {
        let is_silent = thread != "main" && is_frame(blocks);
        for block in blocks {
            let Some(known) = kept.get(&(thread.as_str(), block.id())) else { continue };
            let mut fields = serde_json::to_value(&*block).expect("JSON");
            if block.timestamp() == now() || is_silent {
                fields["timestamp"] = serde_json::to_value(known.timestamp()).expect("JSON");
            }
            if let (
                Block::Subagent { duration_ms: None, .. },
                Block::Subagent { duration_ms: Some(ms), .. },
            ) = (&*block, known)
            {
                fields["durationMs"] = (*ms).into();
            }
            // Some versions tell that a subagent in the background ended, but its report only to the model.
            if let (
                Block::Subagent { output: None, status: BlockStatus::Success, .. },
                Block::Subagent { output: Some(report), .. },
            ) = (&*block, known)
            {
                fields["output"] = report.clone();
            }
            *block = serde_json::from_value(fields).expect("a block");
        }
    }
    live
}

#[test]
fn the_written_down_recordings_give_the_events_and_blocks_they_should() {
    let mut all: BTreeMap<String, Recording> =
        recordings().into_iter().map(|recording| (recording.name(), recording)).collect();
    for name in WRITTEN_DOWN {
        let recording = all.remove(*name).expect(name);
        check_case(&recording.directory, &recording.decoded());
    }
}

#[test]
fn live_stream_and_saved_transcript_give_the_same_blocks() {
    let all = recordings();
    assert!(all.len() >= 60, "the recordings are there");
    for recording in all.iter().filter(|recording| !ONLY_THE_END.contains(&recording.name().as_str())) {
        let mut live = threads(&folded(&recording.decoded()));
        let mut kept = threads(&recording.parsed().conversations);
        with_cut_calls_ended(&mut live);
        with_cut_calls_ended(&mut kept);
        let kept = reduced_to(kept, &live);
        let live = with_times_of(live, &kept);
        assert_eq!(show(&live), show(&kept), "{}", recording.name());
    }
}

/// One line for each block, so that a difference is easy to see.
fn show(threads: &Threads) -> String {
    let line = |block: &Block| serde_json::to_string(block).expect("JSON") + "\n";
    let thread = |(id, blocks): &(String, Vec<Block>)| {
        format!("== {id}\n{}", blocks.iter().map(line).collect::<String>())
    };
    threads.iter().map(thread).collect()
}

#[test]
fn every_line_of_every_recording_is_understood() {
    for recording in recordings() {
        let parsed = recording.parsed();
        assert_eq!(parsed.unrecognized, [""; 0], "{}", recording.name());
        let unrecognized = |output: &Output| matches!(output, Output::Event(draft) if matches!(draft.body, warren_domain::EventBody::Unrecognized { .. }));
        let unknown: Vec<Output> = recording.decoded().into_iter().filter(unrecognized).collect();
        assert_eq!(unknown, [], "{}", recording.name());
    }
}

#[test]
fn what_was_spent_is_told_by_versions_that_stream_nothing() {
    let recording =
        Recording::read(cases("claude-code").pop().expect("cases").with_file_name("version-1.0.60"));
    let spent = recording.decoded().into_iter().rev().find_map(|output| match output {
        Output::Event(Draft { body: EventBody::MetadataUpdate { usage, .. }, .. }) => Some(usage),
        _ => None,
    });
    let spent = spent.expect("told");
    // Two of the six messages are the last words of subagents, which are not printed.
    assert_eq!((spent.input_tokens, spent.output_tokens), (40, 194));
}

#[test]
fn a_transcript_that_ends_with_any_of_its_lines_has_no_block_that_the_whole_does_not_have() {
    for recording in recordings() {
        let whole = recording.parsed();
        let known: HashSet<&BlockId> = whole.conversations.main().iter().map(Block::id).collect();
        let ends = recording.main.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        for (at, _) in ends {
            let parsed = claude().parse(&recording.main[..=at], &recording.subagents);
            let strange: Vec<&BlockId> =
                parsed.conversations.main().iter().map(Block::id).filter(|id| !known.contains(id)).collect();
            assert!(strange.is_empty(), "{strange:?} of {} cut at {at}", recording.name());
        }
    }
}

/// A recording, two numbers to choose places in it by, and something that is not in it.
fn choices() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..64))
}

/// Whatever is done to a recording, it is read to its end, and a turn ends once.
fn read_spoilt(recording: &Recording, mut spoil: impl FnMut(&[u8]) -> Vec<u8>) {
    let subagents: Vec<(String, Vec<u8>)> =
        recording.subagents.iter().map(|(id, bytes)| (id.clone(), spoil(bytes))).collect();
    claude().parse(&spoil(&recording.main), &subagents);
    let out = decoded(claude().recorded(), &spoil(&recording.runs[0]));
    let n_ends = out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count();
    assert_eq!(n_ends, 1, "{}", recording.name());
}

proptest! {
    #[test]
    fn a_transcript_cut_anywhere_loses_at_most_its_last_line((which, place, _) in choices()) {
        let all = recordings();
        let recording = &all[which % all.len()];
        let cut = &recording.main[..place % (recording.main.len() + 1)];
        let parsed = claude().parse(cut, &recording.subagents);
        assert!(parsed.n_unreadable <= 1);
        let whole = recording.parsed();
        let known: HashSet<&BlockId> = whole.conversations.main().iter().map(Block::id).collect();
        assert!(parsed.conversations.main().iter().all(|block| known.contains(block.id())));
    }

    #[test]
    fn no_bytes_in_a_stream_or_a_transcript_make_anything_fail((which, place, noise) in choices()) {
        let all = recordings();
        read_spoilt(&all[which % all.len()], |bytes| {
            let (before, after) = bytes.split_at(place % (bytes.len() + 1));
            [before, &noise, after].concat()
        });
    }
}

/// Changes of recordings at random, for `WARREN_FUZZ_SECONDS` seconds (1 if it is not set).
#[test]
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
fn random_changes_never_make_anything_fail() {
    let seconds = std::env::var("WARREN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (all, mut chance) = (recordings(), Chance(0x9e37_79b9_7f4a_7c15));
    while Instant::now() < end {
        let recording = &all[chance.below(all.len())];
        read_spoilt(recording, |bytes| chance.mutated(bytes));
    }
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 1).expect("64 bits") % n.max(1)
    }

    /// Some bytes changed, taken out or doubled; some lines swapped.
    fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..=self.below(6) {
            let n = self.below(lines.len());
            let (place, other) = (self.below(lines[n].len()), self.below(lines.len()));
            match self.below(7) {
                0 => lines[n].truncate(place),
                1 => lines.swap(n, other),
                2 => lines.push(lines[n].clone()),
                3 => drop(lines[n].drain(..place)),
                4 => lines[n]
                    .splice(place..place, br#"{"type":null,"uuid":[],"#.iter().copied())
                    .for_each(drop),
                5 => lines[n].splice(place..place, std::iter::repeat_n(b'[', 300)).for_each(drop),
                _ if lines[n].is_empty() => {}
                _ => lines[n][place] = self.next().to_le_bytes()[0],
            }
        }
        lines.join(&b'\n')
    }
}

#[test]
fn a_line_nobody_could_have_written_costs_only_itself() {
    let hello = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"hello"},"timestamp":"2026-01-01T00:00:00Z"}"#;
    let deep = format!(
        r#"{{"type":"assistant","uuid":"a1","message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"x","input":{}1{}}}]}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let long =
        format!(r#"{{"type":"assistant","uuid":"a2","message":{{"content":"{}"}}}}"#, "x".repeat(20_000_000));
    let broken = b"{\"type\":\"user\",\"uuid\":\"u2\",\"message\":{\"content\":\"caf\xe9\"}}".as_slice();
    let unknown = r#"{"type":"from-the-future","uuid":"f"}"#;
    let lines = [hello.as_bytes(), deep.as_bytes(), long.as_bytes(), broken, unknown.as_bytes(), b"\xff\xfe"];
    let parsed = claude().parse(&lines.join(&b'\n'), &[]);
    let ids: Vec<&str> = parsed.conversations.main().iter().map(|block| block.id().as_str()).collect();
    assert_eq!((ids, parsed.n_unreadable), (vec!["msg-u1", "a2-text-0", "msg-u2"], 3));
}

#[test]
fn many_lines_of_any_shape_are_read_in_a_time_that_grows_with_their_number() {
    let line = |n: usize| {
        format!(
            concat!(
                r#"{{"type":"assistant","isSidechain":true,"uuid":"s{0}","message":{{"id":"m{0}","content":[]}}}}"#,
                "\n",
                r#"{{"type":"assistant","uuid":"a{0}","parentUuid":"a{1}","message":{{"id":"m","content":[{{"type":"tool_use","#,
                r#""id":"t{0}","name":"Agent","input":{{"prompt":"same"}}}}]}}}}"#,
                "\n",
                r#"{{"type":"user","uuid":"r{0}","parentUuid":"a{0}","message":{{"content":[{{"type":"tool_result","tool_use_id":"t{0}"}}]}}}}"#,
                "\n"
            ),
            n,
            n.saturating_sub(1)
        )
    };
    let main: String = (0..30_000).map(line).collect();
    // Quadratic work would take minutes, and whoever runs the tests ends what takes so long.
    let parsed = claude().parse(main.as_bytes(), &[]);
    assert_eq!((parsed.conversations.main().len(), parsed.n_unreadable), (30_000, 0));
}
