//! How much a model can be told at once.

/// Windows in tokens, by the beginning of a model's name; the longest that fits counts. As the providers' lists had them
/// when this was built. The short prefixes are for models that came later.
const WINDOWS: &[(&str, u64)] = &[
    ("claude", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini", 1_048_576),
    ("gemma", 128_000),
    ("gpt-3.5", 16_385),
    ("gpt-4-turbo", 128_000),
    ("gpt-4o", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4", 8_192),
    ("gpt-5-chat", 128_000),
    ("gpt-5", 400_000),
    ("gpt", 128_000),
    ("chatgpt", 128_000),
    ("codex", 200_000),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    (crate::demo::MODEL, 200_000),
];

/// The window of a model in tokens; `None` if its name says nothing. A name such as `openai/gpt-5` counts as what follows
/// the last slash.
#[must_use]
pub fn context_window(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model);
    // Anthropic's name for the same model with a longer window.
    if name.contains("[1m]") {
        return Some(1_000_000);
    }
    let fitting = WINDOWS.iter().filter(|(prefix, _)| name.starts_with(prefix));
    fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::context_window;

    #[test]
    fn longest_prefix_that_fits_gives_the_window() {
        assert_eq!(context_window("claude-sonnet-4-5-20250929"), Some(200_000));
        assert_eq!(context_window("openai/gpt-4o-mini"), Some(128_000));
        assert_eq!(context_window("gpt-4-0613"), Some(8_192));
        assert_eq!(context_window("gpt-4.1-mini"), Some(1_047_576));
        assert_eq!(context_window("gemini-2.5-pro"), Some(1_048_576));
        assert_eq!(context_window("somebody-elses"), None);
    }
}
