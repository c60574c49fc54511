//! Numbers as people read them.

use warren_domain::Usage;

/// The name the offline model goes by begins so.
const DEMO: &str = "warren-demo";

/// `812 B`, `12.3 kB`, `4.0 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

/// `12ms`, `0.2s`, `12.3s`, `4m 05s`, `1h 02m`.
pub(crate) fn duration(millis: i64) -> String {
    let millis = millis.max(0);
    let seconds = millis / 1000;
    match seconds {
        0 if millis < 100 => format!("{millis}ms"),
        0..60 => format!("{}.{}s", seconds, millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// `1,234 tokens in · 56 out · $0.0123 · claude-x`.
pub(crate) fn usage_line(usage: &Usage, cost_usd: f64) -> String {
    let input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    let mut parts =
        vec![format!("{} tokens in", grouped(input)), format!("{} out", grouped(usage.output_tokens))];
    if usage.estimated_tokens > 0 {
        parts.push(format!("{} estimated", grouped(usage.estimated_tokens)));
    }
    let model = usage.model.as_deref();
    if model.is_some_and(|model| model.starts_with(DEMO)) {
        parts.push("demo model".to_owned());
    } else {
        parts.push(format!("${cost_usd:.4}"));
        parts.extend(model.map(super::clean));
    }
    parts.join(" · ")
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use warren_domain::Usage;

    use super::{duration, grouped, size, usage_line};

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(
            [0, 999, 12_345, 4_000_000, 7_650_000_000].map(size),
            ["0 B", "999 B", "12.3 kB", "4.0 MB", "7.6 GB"]
        );
        assert_eq!(
            [-5, 99, 240, 12_300, 245_000, 3_720_000].map(duration),
            ["0ms", "99ms", "0.2s", "12.3s", "4m 05s", "1h 02m"]
        );
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn the_demo_model_is_named_and_has_no_price() {
        let usage = Usage { input_tokens: 1200, output_tokens: 3, ..Usage::default() };
        let of = |model: &str| Usage { model: Some(model.to_owned()), ..usage.clone() };
        assert_eq!(usage_line(&of("warren-demo-1"), 0.5), "1,200 tokens in · 3 out · demo model");
        assert_eq!(usage_line(&of("claude-x"), 0.5), "1,200 tokens in · 3 out · $0.5000 · claude-x");
    }
}
