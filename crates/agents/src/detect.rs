//! Tells by a file's content which agent wrote it.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::{Map, Value, value::RawValue};

use crate::{Adapter, adapters};

/// Lines that are looked at. An agent shows itself early.
const MAX_LINES: usize = 64;

/// A longer line is known by its outermost names alone.
const LONG_LINE: usize = 1 << 20;

/// The agent that wrote a transcript, or printed what was recorded. `None`: none of them, or it cannot be told.
#[must_use]
pub fn detect(content: &[u8]) -> Option<&'static dyn Adapter> {
    let objects = objects(content);
    let score = |agent: &&dyn Adapter| objects.iter().filter(|object| agent.wrote(object)).count();
    let mut scores: Vec<_> = adapters().iter().map(|agent| (score(agent), *agent)).collect();
    scores.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    match scores[..] {
        [(best, agent), (second, _), ..] if best > second => Some(agent),
        _ => None,
    }
}

/// The first objects of a file: one a line, one in all, or those of one list.
fn objects(content: &[u8]) -> Vec<Map<String, Value>> {
    let lines = content.split(|byte| *byte == b'\n').take(MAX_LINES);
    let found: Vec<_> = lines.filter_map(|line| object(of_event(line))).map(of_envelope).collect();
    if !found.is_empty() {
        return found;
    }
    names(content).map_or_else(|| items(content), |names| vec![names])
}

/// The first objects of a file that is one list.
fn items(content: &[u8]) -> Vec<Map<String, Value>> {
    let items: Vec<&RawValue> = serde_json::from_slice(content).unwrap_or_default();
    items.into_iter().take(MAX_LINES).filter_map(|item| object(item.get().as_bytes())).collect()
}

fn object(text: &[u8]) -> Option<Map<String, Value>> {
    if text.len() > LONG_LINE { names(text) } else { serde_json::from_slice(text).ok() }
}

/// The outermost names of an object, without what they stand for.
fn names(text: &[u8]) -> Option<Map<String, Value>> {
    let names: BTreeMap<String, IgnoredAny> = serde_json::from_slice(text).ok()?;
    Some(names.into_keys().map(|name| (name, Value::Null)).collect())
}

/// What an SSE line carries.
fn of_event(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"data:").unwrap_or(line)
}

/// What was said, where a recording tells beside it who said it and when.
fn of_envelope(mut object: Map<String, Value>) -> Map<String, Value> {
    match (object.contains_key("dir"), object.get_mut("msg")) {
        (true, Some(Value::Object(said))) => std::mem::take(said),
        _ => object,
    }
}

/// Whether all these names are in an object.
pub(crate) fn has(object: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().all(|name| object.contains_key(*name))
}

/// The text of this name, or nothing.
pub(crate) fn word<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
