//! Makes rollouts of other installations resumable here.
//!
//! Codex resumes a thread only with the model provider that the rollout names, and a name in `thread/resume` does not
//! change that (tried with 0.166). Other machines use `openai` or a provider of their own; here there is only `warren`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::layout::PROVIDER;

/// The rollout with Warren's provider in place of any other. All other lines stay byte for byte.
pub(super) fn with_own_provider(rollout: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rollout.len());
    for line in rollout.split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(&renamed(line));
    }
    out
}

/// Providers are named in the head of a rollout, and wherever settings were applied.
fn renamed(line: &[u8]) -> Cow<'_, [u8]> {
    const NAME: &[u8] = b"\"model_provider";
    let unchanged = Cow::Borrowed(line);
    // Most lines are the conversation, and some are long: only those with a provider are parsed.
    if memchr::memmem::find(line, NAME).is_none() {
        return unchanged;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else { return unchanged };
    let mut is_changed = false;
    for place in [
        "/payload/model_provider",
        "/payload/model_provider_id",
        "/payload/thread_settings/model_provider",
        "/payload/thread_settings/model_provider_id",
        "/model_provider",
    ] {
        if let Some(provider) = value.pointer_mut(place).filter(|it| it.is_string() && *it != PROVIDER) {
            *provider = json!(PROVIDER);
            is_changed = true;
        }
    }
    if !is_changed {
        return unchanged;
    }
    let end = if line.ends_with(b"\n") { "\n" } else { "" };
    Cow::Owned(format!("{value}{end}").into_bytes())
}
