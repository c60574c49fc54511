//! Compaction as a line of the transcript: what is kept, and what stands for the rest.

use serde::{Deserialize, Serialize};

/// From the line that holds it on, the model is told only this of the lines before.
///
/// Lines are counted from the beginning of the transcript, so the same fold of the same file always gives the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Compaction {
    /// Lines before this one are kept: what the person said first.
    pub(super) head_end: usize,
    /// Lines from this one on are kept.
    pub(super) tail_start: usize,
    /// A line between the two that is kept all the same: the message that is being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latest: Option<usize>,
    /// Stands for the lines that are not kept. `None`: an earlier summary, if there is one, stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<String>,
    /// Of longer texts in kept lines the middle is left out, and pictures are left out whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_text: Option<usize>,
    /// Pictures and documents in kept lines are left out: the provider does not take them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) without_media: bool,
    /// The model, and its window, if a refusal taught it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<(String, u64)>,
}
