//! OpenCode: `events.sse` is its stream of events as it came, `messages.json` what its API says of the session and its
//! children afterwards. `run_json` and `exported` are other forms in which people keep sessions.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::{Duration, Instant},
};

use proptest::{
    prelude::{Strategy, any, proptest},
    test_runner::Config,
};
use serde_json::{Value, json};
use warren_agents::{Adapter, Output, Parsed, TurnEnd, adapter};
use warren_domain::{Block, BlockId, Conversations, EventBody};

use crate::support::{blocks, cases, check_case, check_file, decoded, files, folded};

/// One recording.
struct Recording {
    directory: PathBuf,
    stream: Vec<u8>,
    saved: Vec<u8>,
}

fn opencode() -> &'static dyn Adapter {
    adapter("opencode").expect("an agent we know")
}

static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let read = |directory: PathBuf| {
        let stream = fs::read(directory.join("events.sse")).ok()?;
        let saved = fs::read(directory.join("messages.json")).expect("what was saved");
        Some(Recording { directory, stream, saved })
    };
    let all: Vec<Recording> = cases("opencode").into_iter().filter_map(read).collect();
    assert!(all.len() >= 30, "the recordings are there");
    all
});

fn recordings() -> std::slice::Iter<'static, Recording> {
    RECORDINGS.iter()
}

impl Recording {
    fn decoded(&self) -> Vec<Output> {
        decoded(opencode().recorded(), &self.stream)
    }

    fn folded(&self) -> Conversations {
        folded(&self.decoded())
    }

    /// The blocks of the stream, without texts that were cut short and that this version of OpenCode did not save:
    /// they are there, but empty.
    fn carried(&self) -> Value {
        let whole: Value = serde_json::from_slice(&self.saved).expect("JSON");
        let parts = whole["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|message| message["parts"].as_array());
        let empty: Vec<&Value> =
            parts.flatten().filter(|part| part["text"] == "").map(|part| &part["id"]).collect();
        let mut live = blocks(&self.folded());
        live["main"].as_array_mut().expect("blocks").retain(|block| !empty.contains(&&block["id"]));
        live
    }

    fn parsed(&self) -> Parsed {
        opencode().parse(&self.saved, &[])
    }
}

fn fixture(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode");
    fs::read(root.join(path)).expect("a recording")
}

fn ends(outputs: &[Output]) -> Vec<&TurnEnd> {
    let mut ends = Vec::new();
    for output in outputs {
        if let Output::TurnEnded(end) = output {
            ends.push(end);
        }
    }
    ends
}

#[test]
fn chosen_recordings_give_the_events_and_blocks_they_should() {
    let chosen = recordings().filter(|recording| recording.directory.join("out.jsonl").exists());
    let mut n_checked = 0;
    for recording in chosen {
        check_case(&recording.directory, &recording.decoded());
        n_checked += 1;
    }
    assert!(n_checked >= 12, "{n_checked} recordings say what must come of them");
}

#[test]
fn live_stream_and_saved_session_give_the_same_blocks() {
    for recording in recordings() {
        let parsed = recording.parsed();
        assert_eq!(blocks(&parsed.conversations), recording.carried(), "{}", recording.directory.display());
        assert_eq!(parsed.unrecognized, Vec::<String>::new(), "{}", recording.directory.display());
    }
}

#[test]
fn nothing_in_a_recording_is_unrecognized() {
    for recording in recordings() {
        for output in recording.decoded() {
            let Output::Event(draft) = output else { continue };
            assert!(!matches!(draft.body, EventBody::Unrecognized { .. }), "{draft:?}");
        }
    }
}

#[test]
fn every_recording_ends_once_and_as_it_did() {
    for recording in recordings() {
        let outputs = recording.decoded();
        let end = match ends(&outputs).as_slice() {
            [TurnEnd::Completed { .. }] => "completed",
            [TurnEnd::Failed { .. }] => "failed",
            [TurnEnd::Interrupted] => "interrupted",
            other => panic!("one end, not {other:?}"),
        };
        let name = recording.directory.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = match name.as_str() {
            // This version keeps no word of an abort while it waits for a person.
            "v1.2-abort_perm" => "completed",
            name if name.contains("abort") => "interrupted",
            name if name.starts_with("api_") || name.ends_with("failed") => "failed",
            _ => "completed",
        };
        assert_eq!(end, expected, "{name}");
    }
}

#[test]
fn what_a_session_used_is_the_same_live_and_saved() {
    for recording in recordings() {
        let used = recording.decoded().into_iter().rev().find_map(|output| match output {
            Output::Event(draft) => match draft.body {
                EventBody::MetadataUpdate { usage, .. } => Some((usage.total_tokens, usage.model)),
                _ => None,
            },
            _ => None,
        });
        let saved = recording.parsed().usage.map(|usage| (usage.total_tokens, usage.model));
        assert_eq!(saved, used, "{}", recording.directory.display());
    }
}

#[test]
fn subagents_in_files_of_their_own_are_the_same_as_within() {
    let main = fixture("exported/export_session.json");
    let child = ("ses_e1f5036d2ffenXgFBiyZkYizmh".to_owned(), fixture("exported/export_child.json"));
    let apart = opencode().parse(&main, &[child]);
    assert_eq!(apart, opencode().parse(&fixture("subagent/messages.json"), &[]));
}

#[test]
fn the_order_in_which_subagents_are_given_does_not_matter() {
    let whole: Value = serde_json::from_slice(&fixture("subagents2/messages.json")).expect("JSON");
    let main = json!({"info": whole["session"], "messages": whole["messages"]}).to_string();
    let child = |child: &Value| {
        let id = child["session"]["id"].as_str().expect("an id").to_owned();
        (id, json!({"info": child["session"], "messages": child["messages"]}).to_string().into_bytes())
    };
    let mut children: Vec<_> = whole["children"].as_array().expect("children").iter().map(child).collect();
    let parsed = opencode().parse(main.as_bytes(), &children);
    assert_eq!(parsed.conversations.subagents().count(), 2);
    children.reverse();
    assert_eq!(parsed, opencode().parse(main.as_bytes(), &children));
}

#[test]
fn other_forms_of_a_session_are_read_too() {
    let printed = fixture("run_json/tool.jsonl");
    let live = folded(&decoded(opencode().recorded(), &printed));
    let text = serde_json::to_string_pretty(&blocks(&live)).expect("JSON");
    check_file(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode/run_json/blocks.json"),
        &(text + "\n"),
    );
    assert_eq!(opencode().parse(&printed, &[]).conversations, live);

    for recording in recordings() {
        // A stream that was kept is as good as an export, and a bare list of messages says all but whose they are.
        assert_eq!(opencode().parse(&recording.stream, &[]).conversations, recording.folded());
        let whole: Value = serde_json::from_slice(&recording.saved).expect("JSON");
        if whole["children"] == json!([]) {
            let list = opencode().parse(whole["messages"].to_string().as_bytes(), &[]);
            assert_eq!(list, recording.parsed(), "{}", recording.directory.display());
        }
    }
}

#[test]
fn what_is_too_deep_to_be_held_costs_only_itself() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let text = String::from_utf8(fixture("tool/messages.json")).expect("text");
    let spoiled = text.replacen("\"command\": \"echo", &format!("\"deep\": {deep}, \"command\": \"echo"), 1);
    assert_ne!(spoiled, text);
    let ids = |conversations: &Conversations| -> Vec<String> {
        conversations.main().iter().map(|block| block.id().0.clone()).collect()
    };
    let parsed = opencode().parse(spoiled.as_bytes(), &[]);
    assert_eq!(ids(&parsed.conversations), ids(&opencode().parse(text.as_bytes(), &[]).conversations));
}

#[test]
fn a_line_of_a_hundred_megabytes_is_read_in_one_go() {
    let long = "x".repeat(100_000_000);
    let line = json!({"type": "message.part.updated", "properties": {"part": {
        "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": long,
    }}});
    let live = folded(&decoded(opencode().recorded(), line.to_string().as_bytes()));
    assert!(matches!(live.main(), [Block::AssistantText { content, .. }] if content.len() == long.len()));
}

#[test]
fn lines_nobody_knows_are_kept() {
    let lines = "data: {\"type\":\"brand.new\",\"properties\":{\"a\":1}}\nnot JSON\n\n: a comment\nevent: x\n\
                 data: {\"type\":\"message.part.updated\",\"properties\":{\"part\":{\"id\":\"prt_1\",\
                 \"sessionID\":\"ses_1\",\"messageID\":\"msg_1\",\"type\":\"hologram\"}}}";
    let kept: Vec<String> = decoded(opencode().recorded(), lines.as_bytes())
        .into_iter()
        .filter_map(|output| match output {
            Output::Event(draft) => match draft.body {
                EventBody::Unrecognized { raw, .. } => Some(raw),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let all: Vec<&str> = lines.split('\n').collect();
    assert_eq!(kept, [all[0], all[1], all[5]]);
}

/// Checks that a cut anywhere shows nothing as the conversation that is not of it.
fn check_cuts(saved: &[u8], directory: &Path) -> usize {
    let whole = opencode().parse(saved, &[]).conversations;
    let known: HashSet<&BlockId> = whole.main().iter().map(Block::id).collect();
    let is_mark = |place: &usize| saved.get(*place).is_none_or(|byte| b"{}[]:,".contains(byte));
    // Between two marks of JSON all cuts are alike. There are many: all are tried where there is time.
    let stride = if fuzz_seconds().is_some() { 1 } else { 17 };
    let mut n_cuts = 0;
    for place in (0..=saved.len()).filter(is_mark).step_by(stride) {
        let parsed = opencode().parse(&saved[..place], &[]).conversations;
        // A message whose end is torn off has no error yet; all that is shown is part of the whole.
        let strange = parsed.main().iter().find(|block| !known.contains(block.id()));
        assert_eq!(strange, None, "{} cut at {place}", directory.display());
        n_cuts += 1;
    }
    n_cuts
}

#[test]
fn a_saved_session_cut_anywhere_gives_the_beginning_of_the_conversation() {
    let n_cuts: usize =
        recordings().map(|recording| check_cuts(&recording.saved, &recording.directory)).sum();
    assert!(n_cuts > 1_000, "{n_cuts}");
}

#[test]
fn a_session_cut_off_within_its_children_shows_none_of_them_as_the_main_conversation() {
    let mut n_with_children = 0;
    for recording in recordings() {
        // Read and written again, fields stand in the order of their names: children first.
        let whole: Value = serde_json::from_slice(&recording.saved).expect("JSON");
        if whole["children"] != json!([]) {
            check_cuts(whole.to_string().as_bytes(), &recording.directory);
            n_with_children += 1;
        }
    }
    assert!(n_with_children >= 5, "{n_with_children}");
}

#[test]
fn a_subagent_without_its_main_conversation_is_shown_as_one() {
    let whole: Value = serde_json::from_slice(&fixture("subagent/messages.json")).expect("JSON");
    let child = &whole["children"][0];
    let child = json!({"info": child["session"], "messages": child["messages"]}).to_string();
    let cut = json!({"children": [whole["children"][0]]}).to_string();
    for (main, children) in [(cut.as_str(), vec![]), ("", vec![("x".to_owned(), child.into_bytes())])] {
        let parsed = opencode().parse(main.as_bytes(), &children).conversations;
        assert_eq!((parsed.main().len(), parsed.subagents().count()), (0, 1));
    }
}

/// A recording and two numbers to choose places in it by.
fn choices() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..64))
}

/// Feeds what may be anything to everything that reads.
fn read_all(saved: &[u8], stream: &[u8]) {
    let subagents = [("ses_x".to_owned(), saved.to_vec())];
    opencode().parse(saved, &subagents);
    opencode().parse(stream, &subagents);
    assert_eq!(ends(&decoded(opencode().recorded(), stream)).len(), 1);
}

proptest! {
    #![proptest_config(Config::with_cases(64))]

    #[test]
    fn no_bytes_in_a_stream_or_a_saved_session_make_anything_fail((which, place, noise) in choices()) {
        let recording = &RECORDINGS[which % RECORDINGS.len()];
        let spoil = |bytes: &[u8]| {
            let (before, after) = bytes.split_at(place % (bytes.len() + 1));
            [before, &noise, after].concat()
        };
        read_all(&spoil(&recording.saved), &spoil(&recording.stream));
    }

    #[test]
    fn lines_that_come_twice_or_in_another_order_do_no_harm((which, place, _) in choices()) {
        let recording = &RECORDINGS[which % RECORDINGS.len()];
        let mut lines: Vec<&[u8]> = recording.stream.split(|byte| *byte == b'\n').collect();
        let n_lines = lines.len();
        let again = lines[place % n_lines];
        lines.insert(place % n_lines, again);
        let twice = folded(&decoded(opencode().recorded(), &lines.join(&b'\n')));
        // A delta that comes twice is said twice, until the whole text comes.
        let (twice, once) = (blocks(&twice), blocks(&recording.folded()));
        assert_eq!(twice["main"].as_array().map(Vec::len), once["main"].as_array().map(Vec::len));
        lines.rotate_left(place % n_lines);
        decoded(opencode().recorded(), &lines.join(&b'\n'));
    }
}

/// How long whoever runs the tests has for each that could go on for ever.
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
fn fuzz_seconds() -> Option<u64> {
    std::env::var("WARREN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok())
}

#[test]
fn mutated_recordings_make_nothing_fail() {
    let until = Instant::now() + Duration::from_secs(fuzz_seconds().unwrap_or(1));
    let mut dice = Dice(1);
    while Instant::now() < until {
        let recording = &RECORDINGS[dice.below(RECORDINGS.len())];
        let saved = mutated(&recording.saved, &mut dice);
        let stream = mutated(&recording.stream, &mut dice);
        read_all(&saved, &stream);
    }
}

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit.max(1)
    }
}

/// Some pieces cut out, doubled, swapped or overwritten.
fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    const TOKENS: &[&[u8]] =
        &[b"{", b"}", b"[", b"]", b"\"", b"\\", b",", b":", b"null", b"-1", b"1e400", b"\xff", b"\n"];
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(8) {
        let from = dice.below(bytes.len());
        let to = (from + dice.below(200)).min(bytes.len());
        match dice.below(4) {
            0 => drop(bytes.drain(from..to)),
            1 => bytes.splice(from..from, bytes[from..to].to_vec()).for_each(drop),
            2 => bytes[from..to].reverse(),
            _ => bytes.splice(from..from, TOKENS[dice.below(TOKENS.len())].iter().copied()).for_each(drop),
        }
    }
    bytes
}

#[test]
fn recordings_elsewhere_hold_too() {
    // More recordings than are kept here can be looked at: a directory of such directories.
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
    let Some(root) = std::env::var_os("WARREN_RECORDINGS") else { return };
    for directory in files(Path::new(&root)) {
        let (Ok(stream), Ok(saved)) =
            (fs::read(directory.join("events.sse")), fs::read(directory.join("messages.json")))
        else {
            continue;
        };
        let recording = Recording { directory, stream, saved };
        let (live, saved) = (recording.carried(), blocks(&recording.parsed().conversations));
        assert_eq!(live, saved, "{}", recording.directory.display());
    }
}
