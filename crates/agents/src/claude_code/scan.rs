//! The parts of a JSON text, found without reading them.
//!
//! Most of a transcript says nothing about blocks: snapshots of prompts, second copies of tool results. What is not
//! needed is only jumped over, and is not checked. Texts that are needed are copied once.

mod unescape;

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;

pub(super) use unescape::unescaped;

/// Walks over the fields of an object.
pub(super) struct Fields<'a> {
    cursor: Cursor<'a>,
    state: State,
}

/// Walks over the items of a list.
pub(super) struct Items<'a> {
    cursor: Cursor<'a>,
    state: State,
}

/// A key without its quotes, and its value, both as they are written.
type Field<'a> = (&'a [u8], &'a [u8]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Within,
    After,
}

/// Why a text is not one whole object, or one whole list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl<'a> Fields<'a> {
    pub(super) fn of(object: &'a [u8]) -> Self {
        Self { cursor: Cursor { text: object, at: 0 }, state: State::Before }
    }

    /// The next field. `None` after the last one, when nothing but white space follows.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, Malformed> {
        if !self.cursor.advance(&mut self.state, b'{', b'}')? {
            return Ok(None);
        }
        self.cursor.skip_space();
        let key = self.cursor.string()?;
        self.cursor.take(b':')?;
        let value = self.cursor.value()?;
        Ok(Some((&key[1..key.len() - 1], value)))
    }
}

impl<'a> Items<'a> {
    pub(super) fn of(list: &'a [u8]) -> Self {
        Self { cursor: Cursor { text: list, at: 0 }, state: State::Before }
    }

    /// The next item. `None` after the last one, when nothing but white space follows.
    pub(super) fn next(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        if !self.cursor.advance(&mut self.state, b'[', b']')? {
            return Ok(None);
        }
        self.cursor.value().map(Some)
    }
}

/// A place in a text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Goes to the next part of what `open` begins and `close` ends; `false` if there is none.
    fn advance(&mut self, state: &mut State, open: u8, close: u8) -> Result<bool, Malformed> {
        match state {
            State::Before => self.take(open)?,
            State::Within => {}
            State::After => return Ok(false),
        }
        let is_first = std::mem::replace(state, State::Within) == State::Before;
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                *state = State::After;
                self.peek().map_or(Ok(false), |_| Err(Malformed))
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => Err(Malformed),
        }
    }

    /// Passes over one value of any depth.
    fn value(&mut self) -> Result<&'a [u8], Malformed> {
        self.skip_space();
        let from = self.at;
        match self.text.get(from) {
            Some(b'"') => return self.string(),
            Some(b'{' | b'[') => self.nested()?,
            Some(_) => self.plain()?,
            None => return Err(Malformed),
        }
        Ok(&self.text[from..self.at])
    }

    fn nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at).ok_or(Malformed)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn plain(&mut self) -> Result<(), Malformed> {
        let rest = &self.text[self.at..];
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        match rest.iter().position(is_end).unwrap_or(rest.len()) {
            0 => Err(Malformed),
            length => {
                self.at += length;
                Ok(())
            }
        }
    }

    /// A string with its quotes.
    fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let from = self.at;
        if self.text.get(from) != Some(&b'"') {
            return Err(Malformed);
        }
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).ok_or(Malformed)?;
            self.at += quote(rest).ok_or(Malformed)? + 1;
            let before = &self.text[from + 1..self.at - 1];
            // A quote after an odd number of backslashes belongs to the string.
            let n_backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            if n_backslashes % 2 == 0 {
                return Ok(&self.text[from..self.at]);
            }
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

/// The place of the first quote.
fn quote(bytes: &[u8]) -> Option<usize> {
    // Most strings are keys and ids: for those, eight bytes at a time are quicker than a search made for long ones.
    const NEAR: usize = 32;
    let words = bytes.chunks_exact(8).take(NEAR / 8).filter_map(|chunk| chunk.try_into().ok());
    for (n, word) in words.map(u64::from_le_bytes).enumerate() {
        let found = zero_bytes(word ^ 0x2222_2222_2222_2222);
        if found != 0 {
            return Some(n * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let near = NEAR.min(bytes.len() / 8 * 8);
    memchr(b'"', &bytes[near..]).map(|found| near + found)
}

/// The high bit of the lowest byte that is zero; above it anything.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

/// A raw value as text, if it is one.
pub(super) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    unescaped(raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}

/// A raw value as whatever it should be; `None` if it is not.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: &'a [u8]) -> Option<T> {
    serde_json::from_slice(raw).ok()
}

/// Whether a raw value is `true`.
pub(super) fn is_true(raw: &[u8]) -> bool {
    raw == b"true"
}

#[cfg(test)]
mod tests {
    use super::{Fields, Items, Malformed, text};

    fn fields(line: &str) -> Result<Vec<(String, String)>, Malformed> {
        let mut fields = Fields::of(line.as_bytes());
        let mut found = Vec::new();
        let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        while let Some((key, value)) = fields.next()? {
            found.push((owned(key), owned(value)));
        }
        Ok(found)
    }

    #[test]
    fn every_field_is_found_whatever_is_in_the_values() {
        let line = r#" { "a" : "x\"}{\\" , "b":{"a":[1,{"]":"}"}]}, "c":-1.5e3,"d":null ,"e":[] } "#;
        let expected = [
            ("a", r#""x\"}{\\""#),
            ("b", r#"{"a":[1,{"]":"}"}]}"#),
            ("c", "-1.5e3"),
            ("d", "null"),
            ("e", "[]"),
        ];
        assert_eq!(fields(line), Ok(expected.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()));
        assert_eq!(fields("{}"), Ok(Vec::new()));
    }

    #[test]
    fn every_item_is_found() {
        let (mut items, mut found) = (Items::of(br#"[1, "a]", {"b":[2]},null]"#), Vec::new());
        while let Some(item) = items.next().expect("a list") {
            found.push(String::from_utf8_lossy(item).into_owned());
        }
        assert_eq!(found, ["1", r#""a]""#, r#"{"b":[2]}"#, "null"]);
        assert_eq!(Items::of(b"[]").next(), Ok(None));
        assert_eq!(Items::of(b"[1 2]").next().and_then(|_| Items::of(b"{}").next()), Err(Malformed));
    }

    #[test]
    fn what_is_not_one_whole_object_is_refused() {
        let torn = [
            "",
            "[1]",
            "{",
            r#"{"a""#,
            r#"{"a":"#,
            r#"{"a":"x"#,
            r#"{"a":1"#,
            r#"{"a":1}x"#,
            r#"{"a":[}"#,
            "{a:1}",
        ];
        for line in torn {
            assert_eq!(fields(line), Err(Malformed), "{line}");
        }
    }

    #[test]
    fn deep_nesting_is_passed_over() {
        let deep = format!(r#"{{"a":{}{},"b":1}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(fields(&deep).map(|found| found.len()), Ok(2));
    }

    #[test]
    fn a_text_is_borrowed_unless_it_has_escapes() {
        assert_eq!(text(br#""a\u0041\n""#).as_deref(), Some("aA\n"));
        assert_eq!(text(b"12"), None);
        assert_eq!(text(b"\""), None);
    }
}
