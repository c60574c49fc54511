//! The built-in agent: `in.jsonl` (and `in-2.jsonl` … for further runs) is what it printed, `transcript.jsonl` and
//! `subagents/` what it kept.

use std::{fs, path::PathBuf};

use proptest::prelude::{Strategy, any, proptest};
use warren_agents::{Adapter, Output, adapter};
use warren_domain::{Block, Conversations};

use crate::support::{cases, check_case, decoded, files, folded, fuzz};

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
        self.runs.iter().flat_map(|run| decoded(self.adapter.recorded(), run)).collect()
    }

    fn folded(&self) -> Conversations {
        folded(&self.decoded())
    }
}

fn recordings() -> Vec<Recording> {
    cases("builtin").into_iter().map(|case| Recording::read(case, "builtin")).collect()
}

fn ids(blocks: &[Block]) -> Vec<&str> {
    blocks.iter().map(|block| block.id().as_str()).collect()
}

#[test]
fn every_recording_gives_the_events_and_blocks_it_should() {
    let all = recordings();
    assert!(all.len() >= 10, "the recordings are there");
    for recording in all {
        check_case(&recording.directory, &recording.decoded());
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

#[test]
fn no_change_of_a_recording_makes_a_parser_or_a_codec_fail() {
    let (mut seeds, adapter) = (Vec::new(), adapter("builtin").expect("an agent we know"));
    for recording in recordings() {
        seeds.extend(recording.runs);
        seeds.push(recording.main);
        seeds.extend(recording.subagents.into_iter().map(|(_, bytes)| bytes));
    }
    seeds.push(include_bytes!("builtin/asks.jsonl").to_vec());
    fuzz(&seeds, |bytes| {
        adapter.parse(bytes, &[("agent-t1".to_owned(), bytes.to_vec())]);
        let out = decoded(adapter.recorded(), bytes);
        assert_eq!(out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count(), 1);
    });
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
        let out = decoded(recording.adapter.recorded(), &spoil(&recording.runs[0]));
        let n_ends = out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count();
        assert_eq!(n_ends, 1);
    }
}
