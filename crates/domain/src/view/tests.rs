//! Views against the fold from the start, over random logs.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{Item, ItemBody, THREADS, View, ViewState, thread_key};
use crate::{Block, ConversationId, Conversations, Draft, Event, RunId, Seq, Session, SessionId, Timestamp};

/// A small generator: the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a store keeps of a view: bytes.
#[derive(Default)]
struct Kept {
    seq: Seq,
    state: Vec<u8>,
    items: HashMap<String, (String, Option<Seq>, Seq, Vec<u8>)>,
}

impl Kept {
    fn open(&self) -> View {
        let state = match self.state.is_empty() {
            true => ViewState::default(),
            false => serde_json::from_slice(&self.state).expect("the state is read back"),
        };
        View::at(self.seq, state)
    }

    fn item(&self, key: &str) -> Option<Item> {
        let (list, place, first, body) = self.items.get(key)?.clone();
        let body = place.map(|_| serde_json::from_slice(&body).expect("the item is read back"));
        Some(Item { list, place, first, body })
    }

    fn keep(&mut self, view: &mut View) {
        self.seq = view.seq;
        self.state = serde_json::to_vec(&view.state).expect("JSON");
        for (key, item) in view.changes() {
            let body = item.body.as_ref().map(|body| serde_json::to_vec(body).expect("JSON"));
            let row = (item.list.clone(), item.place, item.first, body.unwrap_or_default());
            self.items.insert(key.to_owned(), row);
        }
        view.kept();
    }

    fn apply(&self, view: &mut View, event: &Event) {
        for key in view.wants(event) {
            let item = self.item(&key);
            view.load(key, item);
        }
        view.apply(event);
    }

    /// A list as a reader would see it.
    fn list(&self, view: &View, list: &str) -> Vec<ItemBody> {
        let mut all: BTreeMap<Seq, ItemBody> = BTreeMap::new();
        let kept = self.items.keys().filter(|key| view.item(key).is_none());
        let items = kept.filter_map(|key| self.item(key)).chain(view.changes().map(|(_, item)| item.clone()));
        let loaded = self.items.keys().filter_map(|key| view.item(key).cloned());
        for item in items.chain(loaded).filter(|item| item.list == list) {
            if let (Some(place), Some(body)) = (item.place, item.body) {
                all.insert(place, body);
            }
        }
        all.into_values().collect()
    }
}

fn block(dice: &mut Dice, id: &str) -> Value {
    let at = "2026-01-01T00:00:00.000Z";
    match dice.below(4) {
        0 => json!({"type":"assistant_text","id":id,"timestamp":at,"content":"a\u{0}b"}),
        1 => {
            json!({"type":"tool_use","id":id,"timestamp":at,"toolName":"t","toolUseId":id,"input":{"n":0.1},"status":"running"})
        }
        2 => {
            json!({"type":"tool_result","id":id,"timestamp":at,"toolUseId":id,"output":null,"isError":false})
        }
        _ => json!({"type":"user_message","id":id,"timestamp":at,"content":"hi"}),
    }
}

fn draft(dice: &mut Dice) -> Value {
    let id = format!("b{}", dice.below(12));
    let thread = ["main", "s1", "s2"][dice.below(3) as usize];
    let usage = json!({"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0,"thinkingTokens":0,"totalTokens":2,"costUSD":0.0});
    let files = json!({"added":0,"changed":0,"removed":0});
    let run = RunId(uuid::Uuid::from_u128(u128::from(dice.below(3))));
    let mut line = match dice.below(14) {
        0..=2 => json!({"type":"block_start","block":block(dice, &id)}),
        3..=4 => json!({"type":"block_complete","block":block(dice, &id)}),
        5..=7 => json!({"type":"text_delta","blockId":id,"delta":"é"}),
        8 => json!({"type":"block_update","blockId":id,"updates":{"status":"success","content":"new"}}),
        9 => json!({"type":"block_discarded","blockId":id,"reason":"x"}),
        10 => json!({"type":"subagent_started","subagentId":thread,"input":"x","parent":"main"}),
        11 => json!({"type":"run_started","runId":run,"input":"x","baseVersion":0}),
        12 => json!({"type":"run_completed","runId":run,"usage":usage,"costUSD":0.0}),
        _ => {
            json!({"type":"version_committed","version":1,"base":0,"cause":"restore","files":files,"blocks":1})
        }
    };
    line["conversationId"] = thread.into();
    line
}

fn log(seed: u64, n: u64) -> Vec<Event> {
    let mut dice = Dice(seed);
    let event = |seq| {
        let draft: Draft = serde_json::from_value(draft(&mut dice)).expect("a draft");
        draft.numbered(Seq(seq), SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0))
    };
    (1..=n).map(event).collect()
}

fn json(blocks: &[ItemBody]) -> Vec<u8> {
    serde_json::to_vec(blocks).expect("JSON")
}

fn blocks(blocks: &[Block]) -> Vec<u8> {
    serde_json::to_vec(blocks).expect("JSON")
}

fn check(kept: &Kept, view: &View, all: &Conversations, state: &Session) {
    assert_eq!(&view.state.session, state, "the state at {}", view.seq);
    let main = thread_key(&ConversationId::main());
    assert_eq!(json(&kept.list(view, &main)), blocks(all.main()), "the main thread at {}", view.seq);
    let threads: Vec<ConversationId> = all.subagents().map(|(id, _)| id.clone()).collect();
    let seen = kept.list(view, THREADS).into_iter().filter_map(|body| match body {
        ItemBody::Thread(id) => Some(id),
        ItemBody::Block(_) => None,
    });
    assert_eq!(seen.collect::<Vec<_>>(), threads, "the threads at {}", view.seq);
    for (id, expected) in all.subagents() {
        let seen = kept.list(view, &thread_key(id));
        assert_eq!(json(&seen), blocks(expected), "thread {id} at {}", view.seq);
    }
}

/// Every prefix of every log, with checkpoints wherever they may fall: byte for byte what folding from the start gives.
#[test]
fn views_equal_the_fold_from_the_start() {
    for seed in 0..20 {
        let mut dice = Dice(seed ^ 0xabcd);
        let (mut kept, mut all, mut state) = (Kept::default(), Conversations::default(), Session::default());
        let mut view = kept.open();
        for event in log(seed, 80) {
            all.apply(&event);
            state = state.apply(event.run_id, &event.body);
            kept.apply(&mut view, &event);
            check(&kept, &view, &all, &state);
            match dice.below(10) {
                0 => kept.keep(&mut view),
                // Read again by somebody else, from what is kept.
                1 => {
                    kept.keep(&mut view);
                    view = kept.open();
                }
                _ => {}
            }
            check(&kept, &view, &all, &state);
        }
    }
}

#[test]
fn returns_count_restores_and_abandoned_runs() {
    let mut view = View::default();
    for event in log(7, 200) {
        view.apply(&event);
    }
    assert!(view.state.returns.count > 0);
    assert!(view.state.returns.last > Seq(0));
}
