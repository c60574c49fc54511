//! The providers' price lists.

use super::{Price, PriceList};

/// All lists, each with its source and its day.
pub const PRICE_LISTS: &[PriceList] = &[
    PriceList {
        provider: "Anthropic",
        source: "https://platform.claude.com/docs/en/about-claude/pricing",
        as_of: "2026-11-18",
        models: CLAUDE,
        families: CLAUDE_FAMILIES,
    },
    PriceList {
        provider: "Google",
        source: "https://ai.google.dev/gemini-api/docs/pricing, as others report it",
        as_of: "2026-11-16",
        models: GEMINI,
        families: &[("gemini", Price::with_cache(2.0, 12.0, 0.2))],
    },
    PriceList {
        provider: "OpenAI",
        source: "https://developers.openai.com/api/docs/pricing, as others report it",
        as_of: "2026-11-06",
        models: OPENAI,
        families: OPENAI_FAMILIES,
    },
    PriceList {
        provider: "Warren",
        source: "the demo model, which costs nothing",
        as_of: "2026-11-18",
        models: &[(crate::demo::MODEL, Price::of(0.0, 0.0))],
        families: &[],
    },
];

const CLAUDE: &[(&str, Price)] = &[
    ("claude-fable-5-1", Price::of(10.0, 50.0).reading(0.25)),
    ("claude-mythos-5-1", Price::of(10.0, 50.0).reading(0.25)),
    ("claude-fable-5", Price::of(10.0, 50.0)),
    ("claude-mythos-5", Price::of(10.0, 50.0)),
    ("claude-opus-5-5", Price::of(4.0, 20.0).reading(0.2)),
    ("claude-opus-5", Price::of(5.0, 25.0)),
    ("claude-opus-4-8", Price::of(5.0, 25.0)),
    ("claude-opus-4-7", Price::of(5.0, 25.0)),
    ("claude-opus-4-6", Price::of(5.0, 25.0)),
    ("claude-opus-4-5", Price::of(5.0, 25.0)),
    ("claude-opus-4-1", Price::of(15.0, 75.0)),
    ("claude-opus-4-0", Price::of(15.0, 75.0)),
    ("claude-opus-4", Price::of(15.0, 75.0)),
    ("claude-3-opus", Price::of(15.0, 75.0)),
    ("claude-sonnet-5-5", Price::of(2.0, 10.0).reading(0.1)),
    ("claude-sonnet-5", Price::of(2.0, 10.0)),
    ("claude-sonnet-4-6", Price::of(3.0, 15.0)),
    ("claude-sonnet-4-5", Price::of(3.0, 15.0)),
    ("claude-sonnet-4-0", Price::of(3.0, 15.0)),
    ("claude-sonnet-4", Price::of(3.0, 15.0)),
    ("claude-3-7-sonnet", Price::of(3.0, 15.0)),
    ("claude-3-5-sonnet", Price::of(3.0, 15.0)),
    ("claude-haiku-5-5", Price::of(0.1, 0.5)),
    ("claude-haiku-4-5", Price::of(1.0, 5.0)),
    ("claude-3-5-haiku", Price::of(0.8, 4.0)),
    ("claude-3-haiku", Price::of(0.25, 1.25)),
];

const CLAUDE_FAMILIES: &[(&str, Price)] = &[
    ("claude-opus", Price::of(5.0, 25.0)),
    ("claude-sonnet", Price::of(3.0, 15.0)),
    ("claude-haiku", Price::of(1.0, 5.0)),
    ("claude", Price::of(10.0, 50.0)),
];

const GEMINI: &[(&str, Price)] = &[
    ("gemini-3.1-pro", Price::with_cache(2.0, 12.0, 0.2)),
    ("gemini-3-pro", Price::with_cache(2.0, 12.0, 0.2)),
    ("gemini-3-flash", Price::with_cache(0.5, 3.0, 0.05)),
    ("gemini-2.5-pro", Price::with_cache(1.25, 10.0, 0.125)),
    ("gemini-2.5-flash", Price::with_cache(0.3, 2.5, 0.03)),
    ("gemini-2.5-flash-lite", Price::with_cache(0.1, 0.4, 0.01)),
    ("gemini-2.0-flash", Price::with_cache(0.1, 0.4, 0.025)),
    ("gemini-2.0-flash-lite", Price::with_cache(0.075, 0.3, 0.018_75)),
    ("gemini-1.5-pro", Price::with_cache(1.25, 5.0, 0.3125)),
    ("gemini-1.5-flash", Price::with_cache(0.075, 0.3, 0.018_75)),
];

const OPENAI: &[(&str, Price)] = &[
    ("gpt-6.1-sol", Price::with_cache(2.0, 10.0, 0.1).writing(2.5)),
    ("gpt-6.1-terra", Price::with_cache(1.0, 5.0, 0.05).writing(1.25)),
    ("gpt-6-astra", Price::with_cache(10.0, 50.0, 1.0).writing(12.5)),
    ("gpt-6-sol", Price::with_cache(2.0, 10.0, 0.2).writing(2.5)),
    ("gpt-6-luna", Price::with_cache(0.1, 0.5, 0.01).writing(0.125)),
    ("gpt-5.6", Price::with_cache(5.0, 30.0, 0.5).writing(6.25)),
    ("gpt-5.6-sol", Price::with_cache(5.0, 30.0, 0.5).writing(6.25)),
    ("gpt-5.6-terra", Price::with_cache(2.0, 12.0, 0.2).writing(2.5)),
    ("gpt-5.6-luna", Price::with_cache(0.2, 1.2, 0.02).writing(0.25)),
    ("gpt-5.5", Price::with_cache(5.0, 30.0, 0.5)),
    ("gpt-5.4", Price::with_cache(2.5, 15.0, 0.25)),
    ("gpt-5.4-mini", Price::with_cache(0.75, 4.5, 0.075)),
    ("gpt-5.4-nano", Price::with_cache(0.2, 1.25, 0.02)),
    ("gpt-5.3-codex", Price::with_cache(1.75, 14.0, 0.175)),
    ("gpt-5.2", Price::with_cache(1.75, 14.0, 0.175)),
    ("gpt-5.2-codex", Price::with_cache(1.75, 14.0, 0.175)),
    ("gpt-5.2-pro", Price::with_cache(21.0, 168.0, 21.0)),
    ("gpt-5.1", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex-max", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5.1-codex-mini", Price::with_cache(0.25, 2.0, 0.025)),
    ("gpt-5", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5-codex", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5-chat", Price::with_cache(1.25, 10.0, 0.125)),
    ("gpt-5-mini", Price::with_cache(0.25, 2.0, 0.025)),
    ("gpt-5-nano", Price::with_cache(0.05, 0.4, 0.005)),
    ("gpt-5-pro", Price::with_cache(15.0, 120.0, 15.0)),
    ("gpt-4.1", Price::with_cache(2.0, 8.0, 0.5)),
    ("gpt-4.1-mini", Price::with_cache(0.4, 1.6, 0.1)),
    ("gpt-4.1-nano", Price::with_cache(0.1, 0.4, 0.025)),
    ("gpt-4o", Price::with_cache(2.5, 10.0, 1.25)),
    ("gpt-4o-mini", Price::with_cache(0.15, 0.6, 0.075)),
    ("gpt-4-turbo", Price::with_cache(10.0, 30.0, 10.0)),
    ("gpt-4", Price::with_cache(30.0, 60.0, 30.0)),
    ("gpt-3.5-turbo", Price::with_cache(0.5, 1.5, 0.5)),
    ("codex-mini", Price::with_cache(1.5, 6.0, 0.375)),
    ("o1", Price::with_cache(15.0, 60.0, 7.5)),
    ("o1-mini", Price::with_cache(1.1, 4.4, 0.55)),
    ("o3", Price::with_cache(2.0, 8.0, 0.5)),
    ("o3-mini", Price::with_cache(1.1, 4.4, 0.55)),
    ("o3-pro", Price::with_cache(20.0, 80.0, 20.0)),
    ("o4-mini", Price::with_cache(1.1, 4.4, 0.275)),
];

const OPENAI_FAMILIES: &[(&str, Price)] = &[
    ("gpt-3.5", Price::with_cache(0.5, 1.5, 0.5)),
    ("gpt-4o-mini", Price::with_cache(0.15, 0.6, 0.075)),
    ("gpt-4o", Price::with_cache(2.5, 10.0, 1.25)),
    ("gpt-4", Price::with_cache(30.0, 60.0, 30.0)),
    ("gpt", Price::with_cache(5.0, 30.0, 0.5)),
    ("codex", Price::with_cache(1.5, 6.0, 0.375)),
    ("o1", Price::with_cache(15.0, 60.0, 7.5)),
    ("o3", Price::with_cache(20.0, 80.0, 20.0)),
    ("o4", Price::with_cache(1.1, 4.4, 0.275)),
];

/// All lists as a page shows them.
#[cfg(test)]
pub(super) fn to_markdown() -> String {
    PRICE_LISTS.iter().map(list_to_markdown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
fn list_to_markdown(list: &PriceList) -> String {
    let row = |(name, price): &(&str, Price)| {
        let Price { input, output, cache_read, cache_write, cache_write_long } = price;
        let cells = [input, output, cache_read, cache_write, cache_write_long]
            .map(|dollars| ((dollars * 1e6).round() / 1e6).to_string());
        format!("| `{name}` | {} |\n", cells.join(" | "))
    };
    let rows: String = list.models.iter().map(row).collect();
    let assumed: String =
        list.families.iter().map(|(name, price)| row(&(&format!("{name}…"), *price))).collect();
    let head = "| model | input | output | cache read | cache write | cache write, 1 h |\n|---|---|---|---|---|---|\n";
    let assumed = if assumed.is_empty() {
        assumed
    } else {
        format!("\nAssumed of models that are not listed:\n\n{head}{assumed}")
    };
    format!("## {}\n\n{}, as of {}.\n\n{head}{rows}{assumed}", list.provider, list.source, list.as_of)
}
