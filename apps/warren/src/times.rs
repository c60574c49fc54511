//! Durations as people type them, and times as they read them.

use std::{str::FromStr, time::Duration};

use warren_domain::Timestamp;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A duration on the command line: `90s`, `45m`, `2h`, `7d`, or seconds without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let explain = || "write a duration such as 90s, 45m, 2h or 7d".to_owned();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "" | "s" => 1,
            "m" | "min" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            _ => return Err(explain()),
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let count: u64 =
            if is_number { digits.parse().map_err(|_| explain())? } else { return Err(explain()) };
        let seconds = count.checked_mul(unit).filter(|seconds| *seconds > 0).ok_or_else(explain)?;
        Ok(Self(Duration::from_secs(seconds)))
    }
}

/// Validity of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Never,
    For(Duration),
    Until(Timestamp),
}

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "never" {
            return Ok(Self::Never);
        }
        if let Ok(Span(span)) = text.parse() {
            return Ok(Self::For(span));
        }
        let advice = "write a duration such as 30d, a time such as 2027-01-31T00:00:00Z, or `never`";
        Timestamp::parse(text).map(Self::Until).ok_or_else(|| advice.to_owned())
    }
}

impl Lifetime {
    /// The end of a validity that starts now.
    pub(crate) fn ends(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::For(span) => Some(now.plus_millis(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))),
            Self::Until(at) => Some(at),
        }
    }
}

/// A time relative to now: `just now`, `5 min ago`, `in 3 days`; a date if it is more than 30 days away.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_millis() - at.as_millis()) / 1000;
    let distance = seconds.unsigned_abs();
    let amount = match distance {
        0..5 => return "just now".to_owned(),
        5..MINUTE => format!("{distance} s"),
        MINUTE..HOUR => format!("{} min", distance / MINUTE),
        HOUR..DAY => format!("{} h", distance / HOUR),
        DAY..172_800 => "1 day".to_owned(),
        172_800..2_678_400 => format!("{} days", distance / DAY),
        _ => return at.to_string().chars().take(10).collect(),
    };
    if seconds > 0 { format!("{amount} ago") } else { format!("in {amount}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warren_domain::Timestamp;

    use super::{Lifetime, Span, relative};

    #[test]
    fn durations_have_a_unit_or_are_seconds() {
        let seconds = |text: &str| text.parse().map(|Span(span)| span.as_secs()).ok();
        assert_eq!(["90", "90s", "45m", "2h", "7d"].map(seconds), [90, 90, 2700, 7200, 604_800].map(Some));
        for wrong in
            ["", "s", "0", "0h", "-5m", "1.5h", "5 m", "2w", "99999999999999999999s", "9999999999999999999d"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lifetime_is_a_duration_a_time_or_never() {
        let now = Timestamp::from_millis(1_000);
        let ends = |text: &str| text.parse::<Lifetime>().ok().map(|lifetime| lifetime.ends(now));
        assert_eq!(ends("never"), Some(None));
        assert_eq!(ends("2s"), Some(Some(Timestamp::from_millis(3_000))));
        assert_eq!(ends("1970-01-01T00:00:09Z"), Some(Some(Timestamp::from_millis(9_000))));
        assert_eq!(ends("tomorrow"), None);
        assert_eq!("30d".parse(), Ok(Lifetime::For(Duration::from_secs(2_592_000))));
    }

    #[test]
    fn times_are_relative_within_a_month() {
        let now = Timestamp::parse("2026-11-18T12:00:00Z").expect("a time");
        let shown = |seconds: i64| relative(now.plus_millis(seconds * 1000), now);
        assert_eq!(
            [0, -4, -12, -61, -7_300].map(shown),
            ["just now", "just now", "12 s ago", "1 min ago", "2 h ago"]
        );
        assert_eq!([-90_000, -5 * 86_400].map(shown), ["1 day ago", "5 days ago"]);
        assert_eq!([300, 29 * 86_400].map(shown), ["in 5 min", "in 29 days"]);
        assert_eq!(shown(-40 * 86_400), "2026-10-09");
    }
}
