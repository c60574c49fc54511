//! What two requests may differ in and still be the same request.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::{Format, format::ToolOutput};

/// The list, by name: what each replaces, and how it is recognised. `docs/replay.md` explains it.
pub const NORMALISED: &[(&str, &str)] = &[
    ("billing", r"x-anthropic-billing-header:[^\n]*"),
    (
        "id",
        r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}|\b(?:ses|msg|prt|per|evt)_[0-9A-Za-z]{12,}\b|\bChunk ID: \w+|\bagentId: \w+|\bto: 'a[0-9a-f]{16}'",
    ),
    (
        "time",
        concat!(
            r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?",
            r"|\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b|\b\d{1,2}:\d{2} ?[AaPp][Mm]\b",
            r"|\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?\b"
        ),
    ),
    (
        "date",
        concat!(
            r"\b\d{4}[-/]\d{2}[-/]\d{2}\b|\b\d{1,2}/\d{1,2}/\d{4}\b",
            r"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?",
            r"(?:\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? \d{4}",
            r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d{1,2}(?:,? \d{4}| \d{2}:\d{2}(?::\d{2})?)?",
            r"|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4})\b"
        ),
    ),
    ("duration", r"\bduration_ms[:=] ?\d+|\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?)\b"),
    ("process", r"\b(?:PGID|PIDs?|PPID|pid)\b[:=]? ?\d+(?:, ?\d+)*"),
    ("path", r"/(?:var/)?tmp/[^\s\x22'`<>()\\,;]+"),
];

/// Fields of a request that say who calls, and nothing about what is asked.
const METADATA: &[&str] = &[
    "metadata",
    "client_metadata",
    "labels",
    "prompt_cache_key",
    "safety_identifier",
    "session_id",
    "user",
    "user_prompt_id",
];

static RULES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let groups: Vec<String> = NORMALISED.iter().map(|(name, rule)| format!("(?P<{name}>{rule})")).collect();
    Regex::new(&groups.join("|")).ok()
});

/// A request without what may differ, what tools said apart from the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Normal {
    pub(super) asks: Value,
    pub(super) outputs: Vec<ToolOutput>,
}

/// Digests of the two parts: enough to tell whether two requests are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digests {
    pub(super) asks: blake3::Hash,
    pub(super) outputs: blake3::Hash,
    /// What a thread can be known by: how its requests begin.
    pub(super) opening: blake3::Hash,
}

impl Normal {
    pub(super) fn of(format: Format, body: &[u8]) -> Self {
        let mut asks = parsed(body);
        if let Value::Object(fields) = &mut asks {
            METADATA.iter().for_each(|name| drop(fields.remove(*name)));
        }
        format.wire().sort_unordered(&mut asks);
        let mut outputs = format.wire().take_tool_outputs(&mut asks);
        outputs.iter_mut().for_each(|output| output.output = normal(std::mem::take(&mut output.output)));
        Self { asks: normal(asks), outputs }
    }

    pub(super) fn digests(&self, format: Format) -> Digests {
        let mut outputs = blake3::Hasher::new();
        for output in &self.outputs {
            outputs.update(output.call.as_bytes());
            outputs.update(&[0]);
            outputs.update(output.output.to_string().as_bytes());
            outputs.update(&[0]);
        }
        let mut opening = blake3::Hasher::new();
        for part in format.wire().opening(&self.asks) {
            opening.update(part.to_string().as_bytes());
            opening.update(&[0]);
        }
        Digests {
            asks: blake3::hash(self.asks.to_string().as_bytes()),
            outputs: outputs.finalize(),
            opening: opening.finalize(),
        }
    }

    /// What it asks, for people.
    pub(super) fn pretty(&self) -> String {
        readable(&self.asks)
    }
}

/// What the tools said that a request tells of, as it stands there.
pub(super) fn tool_outputs(format: Format, body: &[u8]) -> Vec<ToolOutput> {
    format.wire().take_tool_outputs(&mut parsed(body))
}

fn parsed(body: &[u8]) -> Value {
    match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(_) => Value::String(String::from_utf8_lossy(body).into_owned()),
    }
}

/// JSON by lines, with texts as they are and not as JSON writes them.
pub(super) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => {
            let text = serde_json::to_string_pretty(other).unwrap_or_default();
            text.replace("\\n", "\n").replace("\\\"", "\"")
        }
    }
}

fn normal(value: Value) -> Value {
    each_text(value, &normal_text)
}

/// The same, with every text in it changed.
pub(super) fn each_text(value: Value, change: &dyn Fn(&str) -> Cow<'_, str>) -> Value {
    match value {
        Value::String(text) => Value::String(match change(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => changed,
        }),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| each_text(item, change)).collect()),
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(key, value)| (key, each_text(value, change))).collect();
            Value::Object(fields)
        }
        other => other,
    }
}

/// A text with everything of [`NORMALISED`] replaced by its name.
#[must_use]
pub fn normal_text(text: &str) -> Cow<'_, str> {
    let Some(rules) = &*RULES else { return Cow::Borrowed(text) };
    rules.replace_all(text, |found: &Captures<'_>| {
        let name = NORMALISED.iter().map(|(name, _)| name).find(|name| found.name(name).is_some());
        format!("<{}>", name.unwrap_or(&"?"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{NORMALISED, Normal, RULES, normal_text};
    use crate::Format;

    #[test]
    fn every_rule_is_one_and_is_explained_in_the_documentation() {
        assert!(RULES.is_some());
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replay.md"));
        let page = page.expect("the page");
        for (name, _) in NORMALISED {
            assert!(page.contains(&format!("| `<{name}>` |")), "{name}");
        }
        for name in super::METADATA {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn what_changes_from_day_to_day_and_from_machine_to_machine_is_replaced() {
        let check = |text: &str, expected: &str| assert_eq!(normal_text(text), expected, "{text}");
        check("Today's date: 2026-11-16", "Today's date: <date>");
        check("Today is Monday, November 16, 2026 (user's locale)", "Today is <date> (user's locale)");
        check("Today's date: Mon Nov 16 2026", "Today's date: <date>");
        check("Mon, 16 Nov 2026 18:28:11 GMT", "<date> <time> GMT");
        check("-rw-r--r-- 1 a a 4 Nov 16 18:28 made", "-rw-r--r-- 1 a a 4 <date> made");
        check("the current month is November 2026", "the current month is <date>");
        check("2026-11-16T18:28:11.123Z and 2026-11-16 18:28", "<time> and <time>");
        check("1763317711234", "<time>");
        check("took 12.5ms, then 3 seconds", "took <duration>, then <duration>");
        check("Wall time: 0.0521 seconds", "Wall time: <duration>");
        check("user 0199d0c5-8f9a-7cc0-9d0a-0123456789ab_x", "user <id>_x");
        check("ses_5dfab12cdef0abcdefGHIJ", "<id>");
        check("agentId: a86dd91285aaaa75d (send with to: 'a86dd91285aaaa75d')", "<id> (send with <id>)");
        check("duration_ms: 3763</usage>", "<duration></usage>");
        check("Process Group PGID: 4711", "Process Group <process>");
        check("wrote '/tmp/claude-9/cwd'", "wrote '<path>'");
        check("x-anthropic-billing-header: cc_version=2.0; cch=ab1;\nnext", "<billing>\nnext");
    }

    #[test]
    fn what_means_something_stays() {
        for text in [
            "src/main.rs:12:34: error",
            "a port 4100, 512 pids, 3 of 4",
            "made.txt 17 bytes",
            "May I?",
            "see section 4.2.1, v1.2.3",
            "/workspace/tmp.txt and /home/agent/x",
            "sum 15000000001",
        ] {
            assert_eq!(normal_text(text), text);
        }
    }

    #[test]
    fn who_calls_is_not_what_is_asked() {
        let with = |user: &str| {
            let body = json!({"model": "m", "metadata": {"user_id": user}, "user": user, "messages": []});
            Normal::of(Format::Anthropic, body.to_string().as_bytes())
        };
        assert_eq!(with("one"), with("other"));
    }
}
