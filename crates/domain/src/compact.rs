//! Compaction of a log: which entries can be dropped.

use std::{collections::HashMap, ops::RangeInclusive};

use crate::{BlockId, ConversationId, Event, EventBody, Seq};

/// A shorter piece is not worth the entry that stands for it.
const SHORTEST: u64 = 3;

/// Finds the deltas of blocks that are whole: folding the log without them gives the same blocks.
///
/// Holds unbroken pieces, not entries: a block that came in a million deltas takes no more room than one of three.
#[derive(Debug, Default)]
pub struct Compactable {
    /// Deltas of blocks that are still open.
    open: HashMap<(ConversationId, BlockId), Vec<RangeInclusive<Seq>>>,
    /// Deltas that say nothing any more, in the order in which their blocks became whole.
    spare: Vec<RangeInclusive<Seq>>,
}

impl Compactable {
    /// Looks at the next entry of the log.
    pub fn see(&mut self, event: &Event) {
        match &event.body {
            EventBody::TextDelta { block_id, .. } => {
                let block = (event.conversation_id.clone(), block_id.clone());
                add(self.open.entry(block).or_default(), event.seq..=event.seq);
            }
            EventBody::BlockComplete { block } => self.close(&event.conversation_id, block.id()),
            EventBody::BlockDiscarded { block_id, .. } => self.close(&event.conversation_id, block_id),
            _ => {}
        }
    }

    /// Unbroken pieces of the log that can go, oldest first.
    #[must_use]
    pub fn pieces(&self) -> Vec<RangeInclusive<Seq>> {
        let mut spare = self.spare.clone();
        spare.sort_unstable_by_key(|piece| *piece.start());
        let mut pieces: Vec<RangeInclusive<Seq>> = Vec::new();
        spare.into_iter().for_each(|piece| add(&mut pieces, piece));
        pieces.retain(|piece| piece.end().0 - piece.start().0 + 1 >= SHORTEST);
        pieces
    }

    fn close(&mut self, conversation: &ConversationId, block: &BlockId) {
        let deltas = self.open.remove(&(conversation.clone(), block.clone()));
        self.spare.extend(deltas.into_iter().flatten());
    }
}

/// Adds a piece after those before it; it may go on where the last one ends.
fn add(pieces: &mut Vec<RangeInclusive<Seq>>, next: RangeInclusive<Seq>) {
    match pieces.last_mut() {
        Some(last) if last.end().next() == *next.start() => *last = *last.start()..=*next.end(),
        _ => pieces.push(next),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Compactable;
    use crate::{Conversations, Draft, Event, Seq, SessionId, Timestamp};

    fn log(lines: &[Value]) -> Vec<Event> {
        let draft = |line: &Value| serde_json::from_value::<Draft>(line.clone()).expect("a draft");
        let number = |(n, line)| {
            draft(line).numbered(Seq(n as u64 + 1), SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0))
        };
        lines.iter().enumerate().map(number).collect()
    }

    fn delta(block: &str) -> Value {
        json!({"type": "text_delta", "blockId": block, "delta": "x"})
    }

    fn whole(block: &str, text: &str) -> Value {
        json!({"type": "block_complete", "block":
            {"type": "assistant_text", "id": block, "timestamp": "2026-01-01T00:00:00.000Z", "content": text}})
    }

    #[test]
    fn a_block_of_many_deltas_is_held_as_one_piece() {
        let mut lines = vec![delta("a"); 10_000];
        lines.push(whole("a", "x"));
        let mut compactable = Compactable::default();
        log(&lines[..10_000]).iter().for_each(|event| compactable.see(event));
        assert_eq!(compactable.open.values().map(Vec::len).sum::<usize>(), 1);
        compactable.see(log(&lines).last().expect("an event"));
        assert_eq!((compactable.open.len(), compactable.spare.len()), (0, 1));
        assert_eq!(compactable.pieces(), [Seq(1)..=Seq(10_000)]);
    }

    #[test]
    fn only_unbroken_pieces_of_whole_blocks_go_and_the_blocks_stay_the_same() {
        let start = |id: &str| {
            json!({"type": "block_start", "block":
            {"type": "assistant_text", "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "content": ""}})
        };
        let log = log(&[
            start("a"),
            delta("a"),
            delta("a"),
            delta("a"),
            start("open"),
            delta("open"),
            delta("a"),
            delta("a"),
            whole("a", "xxxxx"),
            delta("open"),
            delta("open"),
        ]);
        let mut compactable = Compactable::default();
        log.iter().for_each(|event| compactable.see(event));
        let pieces = compactable.pieces();
        assert_eq!(pieces, [Seq(2)..=Seq(4)], "two deltas alone are not worth it, open ones stay");

        let fold = |events: Vec<&Event>| {
            let mut all = Conversations::default();
            events.into_iter().for_each(|event| all.apply(event));
            all
        };
        let kept = log.iter().filter(|event| !pieces.iter().any(|piece| piece.contains(&event.seq)));
        assert_eq!(fold(kept.collect()), fold(log.iter().collect()));
    }
}
