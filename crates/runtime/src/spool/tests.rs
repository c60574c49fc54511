//! What a spool says again is what the log said, at every position.

use serde_json::{Value, json};
use warren_domain::{Conversations, Draft, Event, Seq, SessionId, Timestamp};

use super::{MAX_HELD_ENTRIES, MAX_PAGE, Spool, SpooledBlocks};

/// A small generator: the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn block(dice: &mut Dice, id: &str) -> Value {
    let at = "2026-01-01T00:00:00.000Z";
    match dice.below(3) {
        0 => json!({"type":"assistant_text","id":id,"timestamp":at,"content":"a"}),
        1 => {
            json!({"type":"tool_use","id":id,"timestamp":at,"toolName":"t","toolUseId":id,"input":{},"status":"running"})
        }
        _ => json!({"type":"user_message","id":id,"timestamp":at,"content":format!("do {id}")}),
    }
}

fn log(seed: u64, n: u64) -> Vec<Event> {
    let mut dice = Dice(seed);
    let mut line = || {
        let id = format!("b{}", dice.below(15));
        let thread = ["main", "s1", "s2"][usize::try_from(dice.below(3)).expect("small")];
        let mut line = match dice.below(10) {
            0..=2 => json!({"type":"block_start","block":block(&mut dice, &id)}),
            3..=4 => json!({"type":"block_complete","block":block(&mut dice, &id)}),
            5..=6 => json!({"type":"text_delta","blockId":id,"delta":"é"}),
            7 => json!({"type":"block_update","blockId":id,"updates":{"status":"success"}}),
            8 => json!({"type":"block_discarded","blockId":id,"reason":"x"}),
            _ => json!({"type":"subagent_started","subagentId":thread,"input":"x","parent":"main"}),
        };
        line["conversationId"] = thread.into();
        line
    };
    (1..=n).map(|seq| event(seq, line())).collect()
}

fn event(seq: u64, line: Value) -> Event {
    let draft: Draft = serde_json::from_value(line).expect("a draft");
    draft.numbered(Seq(seq), SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0))
}

fn pages(mut blocks: SpooledBlocks) -> Vec<Vec<Draft>> {
    let page = || blocks.next_page().expect("it is read");
    std::iter::repeat_with(page).take_while(|page| !page.is_empty()).collect()
}

fn said_again(blocks: SpooledBlocks) -> Conversations {
    let mut all = Conversations::default();
    pages(blocks).iter().flatten().for_each(|draft| all.apply_draft(draft));
    all
}

#[test]
fn every_prefix_of_a_log_is_said_again_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    for seed in 0..20 {
        let mut dice = Dice(seed ^ 0xabcd);
        let events = log(seed, 60);
        for end in 0..events.len() {
            let (mut spool, mut all) = (Spool::new(directory.path()), Conversations::default());
            for event in &events[..end] {
                // Now and then everything is filed.
                let n_bytes = if dice.below(5) == 0 { MAX_HELD_ENTRIES + 1 } else { 1 };
                spool.apply(event, n_bytes).expect("it is folded");
                all.apply(event);
            }
            assert_eq!(said_again(spool.finish().expect("it is filed")), all, "seed {seed}, {end} entries");
            let known = SpooledBlocks::of(&all, directory.path()).expect("it is filed");
            assert_eq!(said_again(known), all, "seed {seed}, {end} entries, known whole");
        }
    }
}

#[test]
fn subagent_begins_with_its_first_message_and_ends() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut spool = Spool::new(directory.path());
    let at = "2026-01-01T00:00:00.000Z";
    for (seq, block) in [
        (1, json!({"type":"assistant_text","id":"a","timestamp":at,"content":"x"})),
        (2, json!({"type":"user_message","id":"u","timestamp":at,"content":"look it up"})),
    ] {
        let line = json!({"type":"block_complete","conversationId":"s1","block":block});
        spool.apply(&event(seq, line), 1).expect("it is folded");
    }
    let blocks = spool.finish().expect("it is filed");
    assert!(blocks.is_empty(), "nothing was said in the main conversation");
    let lines: Vec<Value> =
        pages(blocks).concat().iter().map(|draft| serde_json::to_value(&draft.body).expect("JSON")).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["subagent_started", "block_complete", "block_complete", "subagent_completed"]);
    assert_eq!(lines[0]["input"], json!("look it up"));
}

#[test]
fn pages_have_a_maximum_in_entries_and_in_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut spool = Spool::new(directory.path());
    let long = "x".repeat(1 << 20);
    for n in 1..=2_000_u64 {
        let content = if n <= 10 { &long } else { "short" };
        let block = json!({"type":"assistant_text","id":format!("b{n}"),"timestamp":"2026-01-01T00:00:00.000Z","content":content});
        let n_bytes = content.len();
        spool
            .apply(&event(n, json!({"type":"block_complete","block":block})), n_bytes)
            .expect("it is folded");
    }
    let sizes: Vec<usize> = pages(spool.finish().expect("it is filed")).iter().map(Vec::len).collect();
    assert_eq!(sizes[..5], [2; 5]);
    assert_eq!((sizes[5], sizes.iter().sum::<usize>()), (MAX_PAGE, 2_000));
}
