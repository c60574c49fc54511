//! Texts as both sides have them.
//!
//! Stdout has what the model said, without the escapes of terminals. The chat file has it trimmed, and newer versions
//! leave out invisible characters and HTML comments there, though a joiner is part of a word and a comment part of the
//! code that was asked for: so stdout's text is the one to show, and the file's where nothing was printed.

use serde_json::Value;

/// Stands before what `@path` in a prompt made Gemini add to it.
const REFERENCED: &str = "\n--- Content from referenced files ---";

/// How often comments are looked for that only appear when others are gone.
const MAX_PASSES: usize = 4;

/// What an agent said.
pub(super) fn spoken(text: &str) -> String {
    without_escapes(text).trim().to_owned()
}

/// How far what was printed is on its way to what the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Printed {
    /// All of it was printed.
    All,
    /// Its beginning was printed.
    Some,
    /// It is something else: Gemini began anew.
    Other,
}

impl Printed {
    pub(super) fn of(printed: &str, kept: &str) -> Self {
        // What is left out makes a text shorter.
        let (printed, kept) = (reduced(printed), reduced(kept));
        match kept.strip_prefix(printed.as_str()) {
            Some("") => Self::All,
            Some(_) => Self::Some,
            // A comment that is not closed yet, or the space before what is to come.
            None if is_beginning(&printed, &kept) => Self::Some,
            None => Self::Other,
        }
    }
}

/// Whether there is nothing in a text that the file would have.
pub(super) fn is_all_left_out(printed: &str) -> bool {
    reduced(printed).is_empty()
}

fn is_beginning(printed: &str, kept: &str) -> bool {
    printed.rfind('<').is_some_and(|open| kept.starts_with(printed[..open].trim_end()))
}

/// The text without what the file leaves out.
fn reduced(text: &str) -> String {
    let text = without_escapes(text);
    let mut text: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    for _ in 0..MAX_PASSES {
        match without_comments(&text) {
            Some(shorter) => text = shorter,
            None => break,
        }
    }
    text.trim().to_owned()
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

    use super::{Printed, fingerprint, is_all_left_out, of_content, of_prompt, spoken};

    #[test]
    fn nothing_of_what_was_said_is_lost() {
        let said = "Hi \u{1F469}\u{200D}\u{1F467}, \u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}: `<!-- header -->`";
        assert_eq!(spoken(&format!("\n {said}\n")), said);
        assert_eq!(spoken("\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7}x"), "bold x");
    }

    #[test]
    fn what_was_printed_is_known_again_in_what_the_file_has_of_it() {
        let printed = "\n Hi \u{1F469}\u{200D}\u{1F467}<!-- a <!-- b --> c \u{2028}\u{feff}d ";
        for (printed, kept, expected) in [
            (printed, "Hi \u{1F469}\u{1F467} c \u{2028}d", Printed::All),
            ("a <!- b --> <!-- open", "a <!- b --> <!-- open", Printed::All),
            ("bold", "\u{1b}[1mbold\u{1b}[0m", Printed::All),
            ("", "a b", Printed::Some),
            ("a ", "a b", Printed::Some),
            ("a <!-- not clo", "a b", Printed::Some),
            ("a <!-- closed -->", "a b", Printed::Some),
            ("a c", "a b", Printed::Other),
            ("broken off a b", "a b", Printed::Other),
        ] {
            assert_eq!(Printed::of(printed, kept), expected, "{printed:?} {kept:?}");
        }
        assert!(is_all_left_out(" <!-- a --> \u{200B}") && !is_all_left_out("<!-- a --> b"));
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
