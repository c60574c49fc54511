//! Fills a tool's input by its schema.

use std::collections::BTreeMap;

use serde_json::Value;

/// One input: its possible names and its value.
pub(super) type Input<'a> = (&'a [&'a str], Value);

/// The inputs that the schema knows, by the names it knows them by; all of them if it tells nothing.
pub(super) fn fill(properties: &Value, inputs: &[Input<'_>]) -> Value {
    let known = properties.as_object().filter(|properties| !properties.is_empty());
    let name = |names: &[&str]| match known {
        None => names.first().map(|name| (*name).to_owned()),
        Some(known) => names.iter().find(|name| known.contains_key(**name)).map(|name| (*name).to_owned()),
    };
    // Sorted, so that the bytes do not depend on how JSON maps are built.
    let filled: BTreeMap<String, Value> =
        inputs.iter().filter_map(|(names, value)| Some((name(names)?, value.clone()))).collect();
    filled.into_iter().collect()
}

/// The name of a list among `names` that the schema has, and the fields of its items.
pub(super) fn item_fields<'a>(schema: &'a Value, names: &[&'static str]) -> (&'static str, &'a Value) {
    let properties = &schema["properties"];
    let name = names.iter().find(|name| properties[**name].is_object());
    let name = name.or(names.first()).copied().unwrap_or_default();
    (name, &properties[name]["items"]["properties"])
}

/// How long a command of so many seconds may take, if that is longer than shells usually wait. Its unit is in the name
/// or the description.
pub(super) fn timeout(properties: &Value, seconds: u64) -> Option<Input<'static>> {
    const NAMES: &[&[&str]] = &[&["timeout_ms"], &["timeout"]];
    let names = NAMES.iter().find(|names| properties[names[0]].is_object())?;
    let about = properties[names[0]]["description"].as_str().unwrap_or_default().to_lowercase();
    let in_milliseconds =
        names[0].ends_with("_ms") || about.contains("milliseconds") || about.contains("(ms)");
    let seconds = seconds + 30;
    let is_long = seconds > 40;
    is_long.then(|| (*names, (if in_milliseconds { seconds * 1000 } else { seconds }).into()))
}
