//! A thread as a text, for the request that has it summarised.

use std::fmt::Write;

use serde_json::Value;

use super::{History, Item, Placed, shorten::shortened};
use crate::agent::compaction::Compaction;

/// As much of a message as is told.
const MAX_MESSAGE: usize = 8_000;

/// As much of a call's input or output as is told.
const MAX_OUTPUT: usize = 2_000;

/// From this step on calls and their results are not told at all: what was said matters more.
const WITHOUT_CALLS: u32 = 5;

/// The last step: a line or less of each message.
const LAST_STEP: u32 = 7;

impl History {
    /// What a compaction leaves out, with what comes before it, in at most `max_bytes`: the earlier summary, if there is
    /// one, and the conversation. Each time `n_shorter` grows, all is told in half as many words.
    pub(in crate::agent) fn told(
        &self,
        compaction: &Compaction,
        max_bytes: usize,
        n_shorter: u32,
    ) -> (Option<String>, String) {
        let max_bytes = max_bytes >> n_shorter;
        let earlier = self.items.iter().find_map(|placed| match &placed.item {
            Item::Summary(summary) => Some(shortened(summary, max_bytes / 4)),
            _ => None,
        });
        let max_bytes = max_bytes * 3 / 4;
        let mut tries = (n_shorter..=LAST_STEP.max(n_shorter)).map(|step| self.told_in(compaction, step));
        let fitting = tries.find(|told| told.len() <= max_bytes);
        (earlier, fitting.unwrap_or_else(|| shortened(&self.told_in(compaction, LAST_STEP), max_bytes)))
    }

    fn told_in(&self, compaction: &Compaction, step: u32) -> String {
        let before = self.items.iter().filter(|placed| placed.line < compaction.tail_start);
        before.filter_map(|placed| placed.item.told_in(step)).map(|line| line + "\n\n").collect()
    }

    /// What the person said in the lines that a compaction leaves out, for when no model sums them up.
    pub(in crate::agent) fn said_by_person(&self, compaction: &Compaction) -> String {
        let mut said = String::new();
        for Placed { item, line } in &self.items {
            let is_left_out = (compaction.head_end..compaction.tail_start).contains(line);
            let _ = match item {
                Item::Summary(summary) => writeln!(said, "{summary}\n"),
                Item::User { content, is_note: false } if is_left_out => {
                    writeln!(said, "- {}", shortened(&words(content), 400))
                }
                _ => Ok(()),
            };
        }
        shortened(&said, MAX_MESSAGE)
    }
}

impl Item {
    /// One thing that was said or done. `None`: it is not told.
    fn told_in(&self, step: u32) -> Option<String> {
        let (max_message, max_output) = (MAX_MESSAGE >> step, MAX_OUTPUT >> step);
        let tells_calls = step < WITHOUT_CALLS;
        Some(match self {
            Item::Summary(_) => return None,
            Item::User { content, .. } => format!("[User]: {}", shortened(&words(content), max_message)),
            Item::Said { content, .. } => match content["type"].as_str() {
                Some("text") => {
                    format!(
                        "[Agent]: {}",
                        shortened(content["text"].as_str().unwrap_or_default(), max_message)
                    )
                }
                Some("tool_use") if tells_calls => {
                    let name = content["name"].as_str().unwrap_or_default();
                    format!("[Call of {name}]: {}", shortened(&content["input"].to_string(), max_output))
                }
                _ => return None,
            },
            Item::Result { output, is_error, .. } if tells_calls => {
                let kind = if *is_error { "Failed" } else { "Result" };
                let said = match output {
                    Value::Array(pieces) => words(pieces),
                    said => said.as_str().unwrap_or_default().to_owned(),
                };
                format!("[{kind}]: {}", shortened(&said, max_output))
            }
            Item::Result { .. } => return None,
        })
    }
}

/// The texts of a message.
fn words(content: &[Value]) -> String {
    let word = |piece: &Value| match piece["type"].as_str() {
        Some("text") => piece["text"].as_str().unwrap_or_default().to_owned(),
        _ => "[picture or document]".to_owned(),
    };
    content.iter().map(word).collect::<Vec<_>>().join("\n")
}
