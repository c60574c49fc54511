//! Codex: `stream.jsonl` (and `stream-2.jsonl` … for further runs) is a conversation with its app server, `events.jsonl`
//! … what `codex exec --json` printed, `rollout.jsonl` and `subagents/` what it kept after the last run.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use proptest::prelude::{Strategy, any, proptest};
use serde_json::{Value, json};
use warren_agents::{Adapter, Codec, Exit, Output, adapter};
use warren_domain::{Block, Conversations, Draft, EventBody};

use crate::support::{blocks, cases, check_case, files, folded, fuzz, now};

fn codex() -> &'static dyn Adapter {
    adapter("codex").expect("an agent we know")
}

/// One recording.
struct Recording {
    directory: PathBuf,
    /// What each process printed.
    runs: Vec<Vec<u8>>,
    is_exec: bool,
    main: Option<Vec<u8>>,
    subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    fn read(directory: PathBuf) -> Self {
        let is_exec = directory.join("events.jsonl").exists();
        let name = if is_exec { "events" } else { "stream" };
        let first = fs::read(directory.join(format!("{name}.jsonl"))).expect("a recording");
        let further = (2..).map_while(|n| fs::read(directory.join(format!("{name}-{n}.jsonl"))).ok());
        let subagent = |path: PathBuf| {
            let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (id, fs::read(path).expect("readable"))
        };
        Self {
            runs: std::iter::once(first).chain(further).collect(),
            is_exec,
            main: fs::read(directory.join("rollout.jsonl")).ok(),
            subagents: files(&directory.join("subagents")).into_iter().map(subagent).collect(),
            directory,
        }
    }

    fn name(&self) -> String {
        self.directory.file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// Every process has a codec of its own; recordings of `exec` are read one after the other, since nothing in the
    /// second says that there was a first.
    fn decoded(&self) -> Vec<Output> {
        if self.is_exec {
            let runs = self.runs.concat();
            return decoded(codex().recorded(), &runs);
        }
        self.runs.iter().flat_map(|run| decoded(codex().recorded(), run)).collect()
    }

    fn saved(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.main.as_deref().unwrap_or_default())
    }

    /// Whether items have their times in the stream and in the file, so that order and times can be compared.
    fn has_times(&self) -> bool {
        !self.is_exec && self.saved().contains("item_completed")
    }
}

fn decoded(mut codec: Box<dyn Codec>, stream: &[u8]) -> Vec<Output> {
    let mut out = Vec::new();
    stream.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    codec.ended(&Exit::default(), now(), &mut out);
    out
}

fn recordings() -> Vec<Recording> {
    cases("codex").into_iter().map(Recording::read).collect()
}

/// A block as far as both sources carry it.
fn carried(block: &Block, recording: &Recording) -> Value {
    let mut block = serde_json::to_value(block).expect("JSON");
    let is_plan = block["toolName"] == "update_plan";
    // A call that was not allowed, and the plan, have in the file only the time of a line.
    let is_item =
        |id: &Value| id.as_str().is_none_or(|id| recording.saved().contains(&format!("\"id\":\"{id}\"")));
    if !recording.has_times() || is_plan || !is_item(&block["toolUseId"]) {
        block["timestamp"] = Value::Null;
    }
    if recording.is_exec || !recording.has_times() {
        // `exec` tells no durations and no differences, and older rollouts no times.
        block["durationMs"] = Value::Null;
        for change in block.pointer_mut("/input/changes").and_then(Value::as_array_mut).into_iter().flatten()
        {
            *change = json!({"path": change["path"], "kind": change["kind"]});
        }
    }
    if recording.is_exec && is_plan {
        // `exec` tells only which steps are done.
        let steps = block["input"]["plan"].as_array().cloned().unwrap_or_default();
        block["input"] = steps.into_iter().map(|step| step["step"].clone()).collect();
    }
    block
}

/// Blocks that only the stream has: text that was cut before it was whole.
fn only_streamed(outputs: &[Output]) -> HashSet<String> {
    let (mut begun, mut whole) = (HashSet::new(), HashSet::new());
    for output in outputs {
        let line = crate::support::output_line(output);
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let id = line["block"]["id"].as_str().unwrap_or_default().to_owned();
        match line["type"].as_str() {
            Some("block_start") if line["block"]["type"] != "tool_use" => begun.insert(id),
            Some("block_complete") => whole.insert(id),
            _ => false,
        };
    }
    begun.difference(&whole).cloned().collect()
}

/// What the model is told about calls that nobody else is told about.
const UNTOLD: [&str; 4] =
    ["unsupported c", "is unavailable in ", "write_stdin failed", "apply_patch verification failed"];

/// Blocks that only the file has: what a person said before `exec`, calls that Codex tells only the model about, and
/// what subagents do behind `exec`.
fn only_saved(block: &Block, thread: &str, recording: &Recording) -> bool {
    match block {
        Block::UserMessage { .. } => recording.is_exec,
        Block::ToolUse { tool_use_id, .. } | Block::ToolResult { tool_use_id, .. } => {
            let streamed = recording.runs.iter().map(|run| String::from_utf8_lossy(run));
            let mut streamed = streamed.filter(|run| run.contains(tool_use_id.as_str()));
            recording.is_exec && thread != "main"
                || UNTOLD.iter().any(|words| recording.saved().contains(words)) && streamed.next().is_none()
        }
        _ => thread != "main" && recording.is_exec,
    }
}

fn threads(conversations: &Conversations) -> Vec<(String, &[Block])> {
    let subagents = conversations.subagents().map(|(id, blocks)| (id.0.clone(), blocks));
    std::iter::once(("main".to_owned(), conversations.main())).chain(subagents).collect()
}

fn check_same(recording: &Recording, outputs: &[Output], live: &Conversations, saved: &Conversations) {
    let name = recording.name();
    let cut = only_streamed(outputs);
    let saved_threads: HashMap<String, &[Block]> = threads(saved).into_iter().collect();
    for (thread, blocks) in threads(live) {
        let live: Vec<Value> = blocks
            .iter()
            .filter(|block| !cut.contains(block.id().as_str()))
            .map(|block| carried(block, recording))
            .collect();
        let ids: HashSet<&str> = blocks.iter().map(|block| block.id().as_str()).collect();
        let is_cut = thread != "main" && !ids.contains(format!("{thread}-end").as_str());
        let kept = saved_threads.get(&thread).copied().unwrap_or_default().iter();
        let mut saved: Vec<Value> = kept
            .filter(|block| ids.contains(block.id().as_str()) || !only_saved(block, &thread, recording))
            // A subagent that outlives the turn ends behind the stream.
            .filter(|block| ids.contains(block.id().as_str()) || !is_cut)
            .map(|block| carried(block, recording))
            .collect();
        let mut live = live;
        if !recording.has_times() {
            // Without times, calls that ran at once stand in the file as they were made, not as they were answered.
            let by_id = |block: &Value| block["id"].to_string();
            live.sort_by_key(by_id);
            saved.sort_by_key(by_id);
        }
        assert_eq!(live, saved, "{name}, thread {thread}");
    }
}

#[test]
fn live_stream_and_saved_transcript_give_the_same_blocks() {
    for recording in recordings() {
        let Some(main) = &recording.main else { continue };
        let outputs = recording.decoded();
        let parsed = codex().parse(main, &recording.subagents);
        assert_eq!(parsed.unrecognized, Vec::<String>::new(), "{}", recording.name());
        check_same(&recording, &outputs, &folded(&outputs), &parsed.conversations);
    }
}

#[test]
fn what_was_spent_is_the_same_in_the_stream_and_in_the_file() {
    for name in ["app-plan", "app-0.140.0-search", "app-0.100.0-shells"] {
        let recording = recordings().into_iter().find(|it| it.name() == name).expect(name);
        let spent = recording.decoded().into_iter().rev().find_map(|output| match output {
            Output::Event(Draft { body: EventBody::MetadataUpdate { usage, .. }, .. }) => Some(usage),
            _ => None,
        });
        let kept = codex().parse(recording.main.as_deref().expect("a rollout"), &[]).usage;
        assert_eq!(spent, kept, "{name}");
    }
}

#[test]
fn every_line_of_every_recording_is_understood_and_every_run_ends_once() {
    for recording in recordings() {
        for run in &recording.runs {
            let outputs = decoded(codex().recorded(), run);
            let lines: Vec<String> = outputs.iter().map(crate::support::output_line).collect();
            let unread: Vec<&String> = lines.iter().filter(|line| line.contains("unrecognized")).collect();
            assert_eq!(unread, Vec::<&String>::new(), "{}", recording.name());
            let n_ends = lines.iter().filter(|line| line.contains("\"turn_ended\"")).count();
            assert_eq!(n_ends, 1, "{}", recording.name());
        }
    }
}

#[test]
fn chosen_recordings_give_the_events_and_blocks_they_should() {
    let chosen: Vec<Recording> =
        recordings().into_iter().filter(|recording| recording.directory.join("out.jsonl").exists()).collect();
    assert!(chosen.len() >= 10, "the recordings are there");
    for recording in chosen {
        check_case(&recording.directory, &recording.decoded());
    }
}

#[test]
fn the_order_in_which_subagents_are_given_does_not_matter() {
    for mut recording in recordings() {
        let Some(main) = recording.main.take() else { continue };
        let parsed = codex().parse(&main, &recording.subagents);
        recording.subagents.reverse();
        assert_eq!(parsed, codex().parse(&main, &recording.subagents), "{}", recording.name());
    }
}

#[test]
fn a_duplicated_line_or_a_torn_last_one_changes_nothing_before_it() {
    for recording in recordings() {
        let Some(main) = &recording.main else { continue };
        let mut torn = main.clone();
        torn.extend_from_slice(b"{\"timestamp\":\"2026-11-15T19:37:24.199Z\",\"type\":\"event_m");
        let (whole, torn) = (codex().parse(main, &[]), codex().parse(&torn, &[]));
        assert_eq!(blocks(&whole.conversations), blocks(&torn.conversations), "{}", recording.name());
        assert_eq!(torn.n_unreadable, whole.n_unreadable + 1);
    }
}

#[test]
fn a_line_that_nests_too_deep_or_is_very_long_costs_only_itself() {
    let deep = format!("{{\"payload\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"type\":\"event_msg\",\"payload\":{{\"x\":\"{}\"}}}}\n", "a".repeat(20_000_000));
    let recording = recordings().into_iter().find(|it| it.main.is_some()).expect("one with a rollout");
    let main = recording.main.expect("a rollout");
    let spoilt = [deep.as_bytes(), b"\xff\xfe\n", long.as_bytes(), &main].concat();
    let (whole, spoilt) = (codex().parse(&main, &[]), codex().parse(&spoilt, &[]));
    assert_eq!(whole.conversations, spoilt.conversations);
    assert_eq!(spoilt.n_unreadable, whole.n_unreadable + 3);
}

fn choices() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..64))
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_in_a_stream_or_a_transcript_make_anything_fail((which, place, noise) in choices()) {
        let all = cases("codex");
        let recording = Recording::read(all[which % all.len()].clone());
        let spoil = |bytes: &[u8]| {
            let (before, after) = bytes.split_at(place % (bytes.len() + 1));
            [before, &noise, after].concat()
        };
        codex().parse(&spoil(recording.main.as_deref().unwrap_or_default()), &recording.subagents);
        let out = decoded(codex().recorded(), &spoil(&recording.runs[0]));
        let n_ends = out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count();
        assert_eq!(n_ends, 1);
    }
}

#[test]
fn random_changes_of_recordings_never_make_anything_fail() {
    let seeds: Vec<Vec<u8>> = recordings()
        .into_iter()
        .flat_map(|recording| recording.runs.into_iter().chain(recording.main))
        .collect();
    fuzz(&seeds, |bytes| {
        codex().parse(bytes, &[("a".to_owned(), bytes.to_vec())]);
        decoded(codex().recorded(), bytes);
    });
}

/// Recordings that are not part of the repository, for whoever has some.
#[test]
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
fn recordings_elsewhere_hold_too() {
    let Some(root) = std::env::var_os("WARREN_CODEX_RECORDINGS") else { return };
    for directory in files(Path::new(&root)) {
        let recording = Recording::read(directory);
        let Some(main) = &recording.main else { continue };
        let outputs = recording.decoded();
        let parsed = codex().parse(main, &recording.subagents);
        check_same(&recording, &outputs, &folded(&outputs), &parsed.conversations);
    }
}
