//! What the demo model can do, by theme; and how it reads a request's words.

pub(super) mod answers;
pub(super) mod errors;
pub(super) mod files;
pub(super) mod named;
pub(super) mod questions;
pub(super) mod shell;
pub(super) mod sidecalls;
pub(super) mod subagents;
pub(super) mod tempo;
pub(super) mod tools;

/// The words of a text in lower case, without punctuation.
pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Whether one of `wanted` is among the text's words.
pub(super) fn mentions(text: &str, wanted: &[&str]) -> bool {
    words(text).iter().any(|word| wanted.contains(&word.as_str()))
}

/// Whether the text has `phrase`, whatever its case.
pub(super) fn has_phrase(text: &str, phrase: &str) -> bool {
    text.to_lowercase().contains(phrase)
}

/// The number that directly follows one of `keys`.
pub(super) fn number_after(text: &str, keys: &[&str]) -> Option<u64> {
    let words = words(text);
    words.windows(2).find(|pair| keys.contains(&pair[0].as_str()))?.get(1)?.parse().ok()
}

/// `1 line`, `2 lines`.
pub(super) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// The first line, and of that the beginning.
pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 120 {
        line.to_owned()
    } else {
        line.chars().take(119).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{mentions, number_after};

    #[test]
    fn words_are_read_whole() {
        assert!(mentions("Please FAIL, once.", &["fail"]));
        assert!(!mentions("a failure", &["fail"]));
        assert_eq!(number_after("Count to 12!", &["to"]), Some(12));
        assert_eq!(number_after("count to many", &["to"]), None);
    }
}
