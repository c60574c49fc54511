//! ACP: `in.jsonl` is a conversation of a client with an agent, both sides. It is its own transcript.

use std::fs;

use proptest::prelude::{Strategy, any, proptest};
use serde_json::Value;
use warren_agents::{Adapter, Output, adapter};

use crate::support::{blocks, cases, check_case, decoded, folded, fuzz, output_line};

fn acp() -> &'static dyn Adapter {
    adapter("acp").expect("an agent we know")
}

fn recordings() -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let read = |case: std::path::PathBuf| {
        let stream = fs::read(case.join("in.jsonl")).expect("a recording");
        (case, stream)
    };
    cases("acp").into_iter().map(read).collect()
}

#[test]
fn every_recording_gives_the_events_and_blocks_it_should() {
    let all = recordings();
    assert!(all.len() >= 20, "the recordings are there");
    for (case, stream) in all {
        check_case(&case, &decoded(acp().recorded(), &stream));
    }
}

#[test]
fn live_stream_and_saved_transcript_give_the_same_blocks() {
    for (case, stream) in recordings() {
        let parsed = acp().parse(&stream, &[]);
        assert_eq!(parsed.conversations, folded(&decoded(acp().recorded(), &stream)), "{}", case.display());
        assert_eq!(parsed.unrecognized, Vec::<String>::new(), "{}", case.display());
    }
}

#[test]
fn every_line_is_understood_and_every_run_ends_once() {
    for (case, stream) in recordings() {
        let lines: Vec<String> = decoded(acp().recorded(), &stream).iter().map(output_line).collect();
        let unread: Vec<&String> = lines.iter().filter(|line| line.contains("\"unrecognized\"")).collect();
        assert_eq!(unread, Vec::<&String>::new(), "{}", case.display());
        let n_ends = lines.iter().filter(|line| line.contains("\"turn_ended\"")).count();
        assert_eq!(n_ends, 1, "{}", case.display());
    }
}

#[test]
fn a_log_without_directions_tells_the_same() {
    for (case, stream) in recordings() {
        let messages =
            stream.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).filter_map(|line| {
                let line: Value = serde_json::from_slice(line).expect("JSON");
                (line["dir"] != "stderr").then(|| line["msg"].to_string())
            });
        // Answers of the client to what the agent asked look like the agent's own; nobody asked for those.
        let bare = messages.collect::<Vec<_>>().join("\n");
        let (with, without) = (acp().parse(&stream, &[]), acp().parse(bare.as_bytes(), &[]));
        assert_eq!(blocks(&with.conversations), blocks(&without.conversations), "{}", case.display());
    }
}

#[test]
fn the_past_is_not_told_again() {
    let (_, stream) = recordings()
        .into_iter()
        .find(|(case, _)| case.ends_with("gemini-load"))
        .expect("a recording of a load");
    let blocks = blocks(&acp().parse(&stream, &[]).conversations).to_string();
    assert!(!blocks.contains("I will remember 7.") && blocks.contains("You said 7."), "{blocks}");
}

fn choices() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..64))
}

proptest! {
    #[test]
    fn no_bytes_in_a_recording_make_anything_fail((which, place, noise) in choices()) {
        let all = recordings();
        let (_, stream) = &all[which % all.len()];
        let (before, after) = stream.split_at(place % (stream.len() + 1));
        let spoilt = [before, &noise, after].concat();
        acp().parse(&spoilt, &[]);
        let out = decoded(acp().recorded(), &spoilt);
        let n_ends = out.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count();
        assert_eq!(n_ends, 1);
    }
}

#[test]
fn random_changes_of_recordings_never_make_anything_fail() {
    let seeds: Vec<Vec<u8>> = recordings().into_iter().map(|(_, stream)| stream).collect();
    fuzz(&seeds, |bytes| {
        acp().parse(bytes, &[]);
        decoded(acp().recorded(), bytes);
    });
}
