//! What a tool may say otherwise and still say the same.
//!
//! This is less than what two requests may differ in: what tools say is what a replay is asked about, and where it differs
//! that is only told, so nothing ends for being strict here.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;
use warren_domain::Timestamp;

use crate::replay::normal::each_text;

/// The list, by name. `docs/replay.md` explains it.
pub const NORMALISED_OUTPUT: &[(&str, &str)] = &[
    (
        "id",
        r"\b(?:ses|msg|prt|per|evt)_[0-9A-Za-z]{12,}\b|\bChunk ID: \w+|\bagentId: \w+|\bto: 'a[0-9a-f]{16}'",
    ),
    (
        "time",
        concat!(
            r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?",
            r"|\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\b|\b\d{1,2}:\d{2} ?[AaPp][Mm]\b",
        ),
    ),
    (
        "date",
        concat!(
            r"\b\d{4}[-/]\d{2}[-/]\d{2}\b|\b\d{1,2}/\d{1,2}/\d{4}\b",
            r"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[a-z]*day)?,? )?",
            r"(?:\d{1,2} (?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?),? \d{4}",
            r"|(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?) +\d{1,2}(?:,? \d{4}| \d{2}:\d{2}(?::\d{2})?)?)\b"
        ),
    ),
    (
        "duration",
        r"\bduration_ms[:=] ?\d+|\b\d+(?:\.\d+)?(?:ns|µs|us|ms|s)\b|\b\d+\.\d+ (?:ns|µs|us|ms|s|secs?|seconds)\b",
    ),
    ("process", r"\bProcess Group PGID: \d+|\bBackground PIDs: \d+(?:, ?\d+)*"),
    ("path", r"/(?:var/)?tmp/[^\s\x22'`<>()\\,;:=]+"),
    // Shown as a time, if it is near enough to be one.
    ("epoch", r"\b1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b"),
];

/// How far from a run a number may be and still be its time.
const DAY: i64 = 24 * 60 * 60;

static RULES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let group = |(name, rule): &(&str, &str)| format!("(?P<{name}>{rule})");
    Regex::new(&NORMALISED_OUTPUT.iter().map(group).collect::<Vec<_>>().join("|")).ok()
});

/// When a run and its replay took place, in seconds since 1970: a number of that size near one of them is a time, and any
/// other says something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moments(Vec<i64>);

impl Moments {
    /// Those of a run and of its replay.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = Timestamp>) -> Self {
        Self(all.into_iter().map(|moment| moment.as_millis().div_euclid(1000)).collect())
    }

    /// What a tool said, with every text in it free of what may differ.
    #[must_use]
    pub fn normal_output(&self, output: Value) -> Value {
        each_text(output, &|text| self.normal(text))
    }

    fn normal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(rules) = &*RULES else { return Cow::Borrowed(text) };
        rules.replace_all(text, |found: &Captures<'_>| {
            if let Some(number) = found.name("epoch").map(|number| number.as_str()) {
                return if self.is_near(number) { "<time>".to_owned() } else { number.to_owned() };
            }
            let mut names = NORMALISED_OUTPUT.iter().map(|(name, _)| name);
            format!("<{}>", names.find(|name| found.name(name).is_some()).unwrap_or(&"?"))
        })
    }

    /// The first ten digits are seconds, the others parts of one.
    fn is_near(&self, digits: &str) -> bool {
        let seconds = digits.get(..10).and_then(|digits| digits.parse::<i64>().ok());
        seconds.is_some_and(|seconds| self.0.iter().any(|moment| (seconds - moment).abs() <= DAY))
    }
}

/// What a tool said, for people: its words, and not how a request or an entry of the log wraps them.
#[must_use]
pub fn said(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        // Beside what it said stands whether it failed.
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) => "(the tool failed)".to_owned(),
        Value::Array(parts) => {
            let parts = parts.iter().map(said).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => match fields.get("text").or_else(|| fields.get("output")) {
            Some(Value::String(text)) => text.clone(),
            _ => super::normal::readable(output),
        },
        Value::Number(number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_domain::Timestamp;

    use super::{Moments, NORMALISED_OUTPUT, RULES, said};

    fn moments() -> Moments {
        Moments::new([Timestamp::from_millis(1_763_317_711_000)])
    }

    #[test]
    fn every_rule_is_one_and_is_explained_in_the_documentation() {
        assert!(RULES.is_some());
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replay.md"));
        let page = page.expect("the page");
        for (name, _) in NORMALISED_OUTPUT.iter().filter(|(name, _)| *name != "epoch") {
            assert!(page.contains(&format!("| `<{name}>` |")), "{name}");
        }
    }

    #[test]
    fn what_a_tool_says_of_its_day_its_time_and_its_agent_is_replaced() {
        let check = |text: &str, expected: &str| assert_eq!(moments().normal(text), expected, "{text}");
        check("-rw-r--r-- 1 a a 4 Nov 16 18:28 made", "-rw-r--r-- 1 a a 4 <date> made");
        check("Mon, 16 Nov 2026 18:28:11 GMT", "<date> <time> GMT");
        check("Monday, November 16, 2026", "<date>");
        check("Tue Nov 17 12:39:38 UTC 2026", "<date> UTC 2026");
        check("2026-11-16T18:28:11.123Z", "<time>");
        check("1763317711 1763317711234 1763404000.25", "<time> <time> <time>");
        check("finished in 0.03s, 12ms", "finished in <duration>, <duration>");
        check("Wall time: 0.0521 seconds", "Wall time: <duration>");
        check("agentId: a86dd91285aaaa75d", "<id>");
        check("Process Group PGID: 4711", "<process>");
        check("/tmp/build.log:result=12", "<path>:result=12");
    }

    #[test]
    fn what_a_tool_says_beside_that_stays() {
        for text in [
            "0199d0c5-8f9a-7cc0-9d0a-0123456789ab",
            "1500000000, 1999999999, 1763500000",
            "score 4711 s",
            "pid 4711",
            "Decoded 15 files, Marked 12",
        ] {
            assert_eq!(moments().normal(text), text);
        }
    }

    #[test]
    fn what_a_tool_said_is_shown_by_its_words() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(said(&json!([[text("a\nb"), text("c")], false])), "a\nb\nc");
        assert_eq!(said(&json!(["no", true])), "no\n(the tool failed)");
        assert_eq!(said(&json!({"output": "x"})), "x");
        assert_eq!(said(&json!({"n": 1})), "{\n  \"n\": 1\n}");
    }
}
