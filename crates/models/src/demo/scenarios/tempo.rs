//! Answers that are about how they arrive.

use std::fmt::Write as _;

use super::{has_phrase, mentions, number_after};
use crate::demo::{
    conversation::Conversation,
    turn::{Tempo, Turn},
};

/// At 20 ms each this is over three minutes, longer than anybody waits to interrupt.
const MAX_COUNT: u64 = 10_000;
const MAX_FLOOD_KIB: u64 = 8 * 1024;

pub(in crate::demo) fn is_count(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "count to") || mentions(&conversation.prompt, &["slow", "slowly"])
}

/// One number at a time, so that there is time to stop it.
pub(in crate::demo) fn count(conversation: &Conversation) -> Vec<Turn> {
    let n = number_after(&conversation.prompt, &["to"]).unwrap_or(200).clamp(1, MAX_COUNT);
    let numbers = (1..=n).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    vec![Turn::new().say(numbers).at(Tempo::Slow)]
}

pub(in crate::demo) fn is_flood(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "big answer")
}

/// Much text as fast as it is taken: `big answer 512` is 512 KiB.
pub(in crate::demo) fn flood(conversation: &Conversation) -> Vec<Turn> {
    let kib = number_after(&conversation.prompt, &["answer"]).unwrap_or(256).clamp(1, MAX_FLOOD_KIB);
    let bytes = usize::try_from(kib).unwrap_or_default() * 1024;
    let mut text = String::with_capacity(bytes + 64);
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Line {n}: all work and no play makes a demo model dull.");
    }
    text.truncate(bytes);
    vec![Turn::new().say(text).at(Tempo::Flood)]
}
