//! Joins text that arrived while a commit was in flight.

use warren_domain::{Draft, EventBody};

/// Deltas are joined up to this many bytes. Even if JSON escapes every one of them, the event fits and stays whole.
const LONGEST: usize = 32 << 10;

/// Joins neighbouring deltas of the same block. The order of everything else stays.
pub(crate) fn coalesce(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        if let EventBody::TextDelta { block_id, delta } = &draft.body
            && let Some(last) = joined.last_mut()
            && last.conversation_id == draft.conversation_id
            && let EventBody::TextDelta { block_id: open, delta: text } = &mut last.body
            && open == block_id
            && text.len() + delta.len() <= LONGEST
        {
            text.push_str(delta);
        } else {
            joined.push(draft);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use warren_domain::{BlockId, ConversationId, Draft, EventBody};

    use super::{LONGEST, coalesce};

    fn delta(thread: &str, block: &str, text: &str) -> Draft {
        let body = EventBody::TextDelta { block_id: BlockId::from(block), delta: text.to_owned() };
        Draft::of_session(body).within(ConversationId::from(thread))
    }

    #[test]
    fn only_neighbours_of_the_same_block_and_thread_are_joined() {
        let drafts = vec![
            delta("main", "a", "1"),
            delta("main", "a", "2"),
            delta("s", "a", "3"),
            delta("main", "a", "4"),
            delta("main", "b", "5"),
            delta("main", "b", "6"),
        ];
        let expected = vec![
            delta("main", "a", "12"),
            delta("s", "a", "3"),
            delta("main", "a", "4"),
            delta("main", "b", "56"),
        ];
        assert_eq!(coalesce(drafts), expected);
    }

    #[test]
    fn a_flood_of_text_stays_whole_in_events_that_fit() {
        let piece = "x".repeat(LONGEST / 4);
        let joined = coalesce((0..10).map(|_| delta("main", "a", &piece)).collect());
        let lens = joined.iter().map(|draft| match &draft.body {
            EventBody::TextDelta { delta, .. } => delta.len(),
            _ => 0,
        });
        assert_eq!(lens.collect::<Vec<_>>(), [LONGEST, LONGEST, LONGEST / 2]);
    }
}
