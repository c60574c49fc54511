//! Recordings of agents, and what must come of them. Every directory `fixtures/<agent>/<case>` is a test:
//! `in.jsonl` (and `in-2.jsonl` … for further runs) is what the agent printed, `transcript.jsonl` and `subagents/`
//! what it kept; `out.jsonl` and `blocks.json` are what we make of it. `UPDATE_FIXTURES=1` rewrites those two.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::prelude::{Strategy, any, proptest};
use serde_json::{Value, json};
use warren_agents::{Adapter, Exit, Output, adapter};
use warren_domain::{Block, Conversations};

/// One recording.
struct Recording {
    directory: PathBuf,
    adapter: &'static dyn Adapter,
    /// What each process printed.
    runs: Vec<Vec<u8>>,
    main: Vec<u8>,
    subagents: Vec<(String, Vec<u8>)>,
}

impl Recording {
    fn read(directory: PathBuf, agent: &str) -> Self {
        let first = fs::read(directory.join("in.jsonl")).expect("a recording");
        let further = (2..).map_while(|n| fs::read(directory.join(format!("in-{n}.jsonl"))).ok());
        Self {
            adapter: adapter(agent).expect("an agent we know"),
            runs: std::iter::once(first).chain(further).collect(),
            main: fs::read(directory.join("transcript.jsonl")).expect("a transcript"),
            subagents: files(&directory.join("subagents"))
                .into_iter()
                .map(|path| {
                    let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
                    (id, fs::read(path).expect("readable"))
                })
                .collect(),
            directory,
        }
    }

    fn decoded(&self) -> Vec<Output> {
        let mut out = Vec::new();
        for run in &self.runs {
            let mut codec = self.adapter.codec();
            run.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, &mut out));
            codec.ended(&Exit::default(), &mut out);
        }
        out
    }

    fn folded(&self) -> Conversations {
        let mut live = Conversations::default();
        for output in self.decoded() {
            if let Output::Event(draft) = output {
                live.apply_draft(&draft);
            }
        }
        live
    }

    /// Compares with a file of the recording, or writes it.
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
    fn check_file(&self, name: &str, actual: &str) {
        let path = self.directory.join(name);
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            return fs::write(path, actual).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(actual, expected, "{} (UPDATE_FIXTURES=1 rewrites it)", path.display());
    }
}

fn recordings() -> Vec<Recording> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let agents = files(&root).into_iter();
    let all = agents.flat_map(|agent| {
        let name = agent.file_name().expect("a name").to_string_lossy().into_owned();
        files(&agent).into_iter().map(move |case| Recording::read(case, &name))
    });
    all.collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn output_line(output: &Output) -> String {
    let value = match output {
        Output::Event(draft) => serde_json::to_value(draft).expect("JSON"),
        Output::TurnEnded(end) => {
            let mut value = serde_json::to_value(end).expect("JSON");
            value["type"] = json!("turn_ended");
            value
        }
    };
    format!("{value}\n")
}

fn blocks(conversations: &Conversations) -> Value {
    let subagents: Vec<Value> =
        conversations.subagents().map(|(id, blocks)| json!({"id": id, "blocks": blocks})).collect();
    json!({"main": conversations.main(), "subagents": subagents})
}

fn ids(blocks: &[Block]) -> Vec<&str> {
    blocks.iter().map(|block| block.id().as_str()).collect()
}

#[test]
fn every_recording_gives_the_events_and_blocks_it_should() {
    let all = recordings();
    assert!(all.len() >= 10, "the recordings are there");
    for recording in all {
        let out: String = recording.decoded().iter().map(output_line).collect();
        recording.check_file("out.jsonl", &out);
        let blocks = serde_json::to_string_pretty(&blocks(&recording.folded())).expect("JSON");
        recording.check_file("blocks.json", &(blocks + "\n"));
    }
}

#[test]
fn live_stream_and_saved_transcript_give_the_same_blocks() {
    for recording in recordings() {
        let parsed = recording.adapter.parse(&recording.main, &recording.subagents);
        assert_eq!(parsed.conversations, recording.folded(), "{}", recording.directory.display());
    }
}

#[test]
fn the_order_in_which_subagents_are_given_does_not_matter() {
    for mut recording in recordings() {
        let parsed = recording.adapter.parse(&recording.main, &recording.subagents);
        recording.subagents.reverse();
        let reversed = recording.adapter.parse(&recording.main, &recording.subagents);
        assert_eq!(parsed, reversed, "{}", recording.directory.display());
    }
}

/// A recording and two numbers to choose places in it by.
fn choices() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..64))
}

proptest! {
    #[test]
    fn a_transcript_cut_anywhere_gives_the_beginning_of_the_conversation((which, place, _) in choices()) {
        let all = recordings();
        let recording = &all[which % all.len()];
        let cut = &recording.main[..place % (recording.main.len() + 1)];
        let parsed = recording.adapter.parse(cut, &recording.subagents);
        assert!(parsed.n_unreadable <= 1);
        // What is taken back later is still there before that, so only a recording without retries has a prefix.
        if !recording.directory.ends_with("retried") {
            let whole = recording.folded();
            assert!(ids(whole.main()).starts_with(&ids(parsed.conversations.main())));
        }
    }

    #[test]
    fn no_bytes_in_a_stream_or_a_transcript_make_anything_fail((which, place, noise) in choices()) {
        let all = recordings();
        let recording = &all[which % all.len()];
        let spoil = |bytes: &[u8]| {
            let (before, after) = bytes.split_at(place % (bytes.len() + 1));
            [before, &noise, after].concat()
        };
        let subagents: Vec<(String, Vec<u8>)> =
            recording.subagents.iter().map(|(id, bytes)| (id.clone(), spoil(bytes))).collect();
        recording.adapter.parse(&spoil(&recording.main), &subagents);
        let (mut codec, mut out) = (recording.adapter.codec(), Vec::new());
        spoil(&recording.runs[0]).split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, &mut out));
        codec.ended(&Exit::default(), &mut out);
        let n_ends = out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count();
        assert_eq!(n_ends, 1);
    }
}
