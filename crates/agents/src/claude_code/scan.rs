//! The parts of a JSON text, found without reading them.
//!
//! Most of a transcript says nothing about blocks: snapshots of prompts, second copies of tool results. What is not
//! needed is only jumped over, and is not checked. Texts that are needed are copied once.

mod unescape;

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;

pub(super) use unescape::unescaped;

/// A place in a JSON text. Whoever reads goes forward from part to part; nothing is looked at twice.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// How far an object or a list is read.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    #[default]
    Before,
    Within,
}

/// Why a text cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The key of the object's next field, as it is written, without its quotes; its value is to be read next.
    /// `None` after the last one.
    pub(super) fn next_key(&mut self, progress: &mut Progress) -> Result<Option<&'a [u8]>, Malformed> {
        if !self.advance(progress, b'{', b'}')? {
            return Ok(None);
        }
        self.skip_space();
        let key = self.string()?;
        self.take(b':')?;
        Ok(Some(&key[1..key.len() - 1]))
    }

    /// Goes to the list's next item, which is to be read next. `false` after the last one.
    pub(super) fn next_item(&mut self, progress: &mut Progress) -> Result<bool, Malformed> {
        self.advance(progress, b'[', b']')
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), Malformed> {
        self.peek().map_or(Ok(()), |_| Err(Malformed))
    }

    /// Reads a value by `read`; where that fails, passes over it and gives nothing.
    pub(super) fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        let from = self.at;
        if let Ok(value) = read(self) {
            return Ok(Some(value));
        }
        self.at = from;
        self.value().map(|_| None)
    }

    /// A text. Whatever else stands in its place counts as empty: a field that changed its type must not cost the
    /// line.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let raw = self.value()?;
        if raw.first() == Some(&b'"') { text(raw).ok_or(Malformed) } else { Ok(Cow::default()) }
    }

    /// What the next value begins with.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    /// Goes to the next part of what `open` begins and `close` ends; `false` if there is none.
    fn advance(&mut self, progress: &mut Progress, open: u8, close: u8) -> Result<bool, Malformed> {
        let is_first = std::mem::replace(progress, Progress::Within) == Progress::Before;
        if is_first {
            self.take(open)?;
        }
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
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
    pub(super) fn value(&mut self) -> Result<&'a [u8], Malformed> {
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
            let rest = self.text.get(self.at..).ok_or(Malformed)?;
            self.at += mark(rest).ok_or(Malformed)?;
            match self.text[self.at] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
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
            if !is_escaped(&self.text[from + 1..self.at - 1]) {
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

    fn skip_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

/// Whether what follows belongs to the string: it stands after an odd number of backslashes.
fn is_escaped(before: &[u8]) -> bool {
    before.last() == Some(&b'\\') && before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The place of the first quote.
fn quote(bytes: &[u8]) -> Option<usize> {
    // Most strings are keys and ids: for those, eight bytes at a time are quicker than a search made for long ones.
    const NEAR: usize = 48;
    let (mut rest, mut passed) = (bytes, 0);
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let found = zero_bytes(u64::from_le_bytes(*word) ^ 0x2222_2222_2222_2222);
        if found != 0 {
            return Some(passed + found.trailing_zeros() as usize / 8);
        }
        (rest, passed) = (after, passed + 8);
        if passed >= NEAR {
            break;
        }
    }
    memchr(b'"', rest).map(|found| passed + found)
}

/// The place of the first byte that opens or closes something: a quote, a brace or a bracket.
fn mark(bytes: &[u8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let (mut rest, mut passed) = (bytes, 0);
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        // A bracket and its brace differ in one bit.
        let folded = word | (EACH * 0x20);
        let found = zero_bytes(word ^ (EACH * 0x22))
            | zero_bytes(folded ^ (EACH * 0x7b))
            | zero_bytes(folded ^ (EACH * 0x7d));
        if found != 0 {
            return Some(passed + found.trailing_zeros() as usize / 8);
        }
        (rest, passed) = (after, passed + 8);
    }
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
    rest.iter().position(is_mark).map(|found| passed + found)
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
    use super::{Cursor, Malformed, Progress, text};

    fn fields(object: &str) -> Result<Vec<(String, String)>, Malformed> {
        let (mut cursor, mut progress) = (Cursor::new(object.as_bytes()), Progress::default());
        let mut found = Vec::new();
        let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        while let Some(key) = cursor.next_key(&mut progress)? {
            found.push((owned(key), owned(cursor.value()?)));
        }
        cursor.end().map(|()| found)
    }

    fn items(list: &str) -> Result<Vec<String>, Malformed> {
        let (mut cursor, mut progress) = (Cursor::new(list.as_bytes()), Progress::default());
        let mut found = Vec::new();
        while cursor.next_item(&mut progress)? {
            found.push(String::from_utf8_lossy(cursor.value()?).into_owned());
        }
        cursor.end().map(|()| found)
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
        let expected = ["1", r#""a]""#, r#"{"b":[2]}"#, "null"].map(str::to_owned).to_vec();
        assert_eq!(items(r#"[1, "a]", {"b":[2]},null]"#), Ok(expected));
        assert_eq!(items("[]"), Ok(Vec::new()));
        assert_eq!((items("[1 2]"), items("{}")), (Err(Malformed), Err(Malformed)));
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
    fn a_mark_is_found_wherever_it_stands() {
        for mark in *b"\"{}[]" {
            for place in 0..20 {
                let mut bytes = *b"\x1b\x3b\x3d;=\xfb\xfd\xdbabcdefghijklm";
                bytes[place] = mark;
                assert_eq!(super::mark(&bytes), Some(place), "{}", mark as char);
            }
        }
        assert_eq!(super::mark(b"nothing of that kind: 1, 2"), None);
    }

    #[test]
    fn deep_nesting_is_passed_over() {
        let deep = format!(r#"{{"a":{}{},"b":1}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(fields(&deep).map(|found| found.len()), Ok(2));
    }

    #[test]
    fn a_value_that_cannot_be_read_is_passed_over() {
        let mut cursor = Cursor::new(br#"{"a":"\x"} 7"#);
        let nothing = cursor.attempt(|cursor| {
            cursor.next_key(&mut Progress::default())?;
            cursor.text()
        });
        assert_eq!((nothing, cursor.value()), (Ok(None), Ok(b"7".as_slice())));
    }

    #[test]
    fn a_text_is_borrowed_unless_it_has_escapes() {
        assert_eq!(text(br#""a\u0041\n""#).as_deref(), Some("aA\n"));
        assert_eq!(text(b"12"), None);
        assert_eq!(text(b"\""), None);
    }
}
