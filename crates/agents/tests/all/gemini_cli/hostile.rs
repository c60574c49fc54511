//! Broken and hostile input.

use std::time::{Duration, Instant};

use proptest::prelude::{any, proptest};
use warren_agents::{Output, Parsed};
use warren_domain::{Block, BlockId, Draft, EventBody};

use super::recording::{Recording, codec, decoded, ends, gemini, recordings};

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
    assert_eq!((texts(&parsed), parsed.n_unreadable), (2, 2));
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
