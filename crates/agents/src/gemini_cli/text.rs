//! Texts as both sides have them.
//!
//! Stdout and the chat file carry the same texts in slightly different forms: the file's are trimmed and without
//! invisible characters and HTML comments, stdout's are without the escapes of terminals. What is left when all of that
//! is gone is the same on both sides.

use serde_json::Value;

/// Stands before what `@path` in a prompt made Gemini add to it.
const REFERENCED: &str = "\n--- Content from referenced files ---";

/// How often comments are looked for that only appear when others are gone.
const MAX_PASSES: usize = 4;

/// What an agent said, in the form both sides have.
pub(super) fn spoken(text: &str) -> String {
    let mut text = visible(&without_escapes(text));
    for _ in 0..MAX_PASSES {
        match without_comments(&text) {
            Some(shorter) => text = shorter,
            None => break,
        }
    }
    text.trim().to_owned()
}

/// A piece of what an agent says, without the characters that the chat file leaves out wherever they are.
pub(super) fn visible(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

/// A number for a prompt, the same for what was typed, printed and kept.
pub(super) fn fingerprint(prompt: &str) -> u64 {
    // FNV-1a: the number is part of ids that are stored, so it must never change.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut buffer = [0; 4];
    for c in prompt.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)) {
        for byte in c.encode_utf8(&mut buffer).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// The text of a content: a text, a part, or a list of them. Thoughts are no part of it.
pub(super) fn of_content(content: &Value) -> String {
    parts(content).filter(|part| !is_thought(part)).filter_map(part_text).collect()
}

/// The text of a prompt, without what Gemini added to it.
pub(super) fn of_prompt(content: &Value) -> String {
    let texts = parts(content).filter_map(part_text);
    texts.take_while(|text| *text != REFERENCED).collect()
}

/// The thoughts among the parts of a content.
pub(super) fn thoughts_of(content: &Value) -> String {
    let texts: Vec<&str> = parts(content).filter(|part| is_thought(part)).filter_map(part_text).collect();
    texts.join("\n\n")
}

/// The parts of a content, whatever form it has.
pub(super) fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    let list = match content {
        Value::Array(parts) => parts.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    list.iter()
}

fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").is_some_and(|thought| thought == &Value::Bool(true))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{FEFF}')
}

/// The text without its HTML comments, or `None` if there are none.
fn without_comments(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(start) = rest.find("<!--") {
        let Some(end) = rest[start + 4..].find("-->") else { break };
        kept.push_str(&rest[..start]);
        rest = &rest[start + 4 + end + 3..];
        found = true;
    }
    kept.push_str(rest);
    found.then_some(kept)
}

/// The text without what is meant for terminals: `ESC [ … letter`, `ESC ] … BEL`, and other escapes of two characters.
fn without_escapes(text: &str) -> String {
    if !text.contains('\u{1b}') {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            kept.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => _ = chars.by_ref().find(|c| ('@'..='~').contains(c)),
            Some(']') => _ = chars.by_ref().find(|c| matches!(c, '\u{7}' | '\u{9c}')),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fingerprint, of_content, of_prompt, spoken};

    #[test]
    fn what_was_said_is_the_same_in_both_forms() {
        let printed = "\n Hi \u{1F469}\u{200D}\u{1F467}<!-- a <!-- b --> c \u{2028}\u{feff}d ";
        assert_eq!(spoken(printed), "Hi \u{1F469}\u{1F467} c \u{2028}d");
        assert_eq!(spoken("\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7}x"), "bold x");
        assert_eq!(spoken("a <!- b --> <!-- open"), "a <!- b --> <!-- open");
    }

    #[test]
    fn a_prompt_is_known_again_whatever_became_of_its_spaces() {
        assert_eq!(fingerprint(" do\u{200D} it\r\n"), fingerprint("do it"));
        assert_ne!(fingerprint("do it"), fingerprint("do this"));
        // Ids are made of it: it must never change.
        assert_eq!(fingerprint("do it"), 0xdc5b_fc67_6205_c4c9);
    }

    #[test]
    fn a_content_has_many_forms_and_one_text() {
        for content in
            [json!("ab"), json!({"text": "ab"}), json!([{"text": "a"}, "b", {"text": "t", "thought": true}])]
        {
            assert_eq!(of_content(&content), "ab");
        }
        assert_eq!(of_content(&json!(null)), "");
        let referring =
            json!([{"text": "see @x"}, {"text": "\n--- Content from referenced files ---"}, {"text": "X"}]);
        assert_eq!(of_prompt(&referring), "see @x");
    }
}
