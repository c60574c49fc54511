//! The fields of a JSON object, found without reading their values.
//!
//! Most of a transcript says nothing about blocks: snapshots of prompts, second copies of tool results. What is not
//! needed is only jumped over, and is not checked.

use std::borrow::Cow;

use memchr::memchr2;
use serde::Deserialize;

/// Walks over the fields of the object in `line`.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    state: State,
}

enum State {
    Before,
    Within,
    After,
}

/// Why a line is not one object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        Self { line, at: 0, state: State::Before }
    }

    /// The next field's key as it is written, and its value as it is written. `None` after the last one, when nothing
    /// but white space follows.
    pub(super) fn next(&mut self) -> Result<Option<(&'a [u8], &'a [u8])>, Malformed> {
        match self.state {
            State::Before => self.take(b'{')?,
            State::Within => {}
            State::After => return Ok(None),
        }
        let is_first = matches!(std::mem::replace(&mut self.state, State::Within), State::Before);
        match self.peek() {
            Some(b'}') => return self.end(),
            Some(b',') if !is_first => self.at += 1,
            Some(_) if is_first => {}
            _ => return Err(Malformed),
        }
        self.skip_space();
        let key = self.string()?;
        self.take(b':')?;
        self.skip_space();
        let from = self.at;
        self.value()?;
        Ok(Some((&key[1..key.len() - 1], &self.line[from..self.at])))
    }

    fn end(&mut self) -> Result<Option<(&'a [u8], &'a [u8])>, Malformed> {
        self.take(b'}')?;
        self.state = State::After;
        if self.peek().is_some() { Err(Malformed) } else { Ok(None) }
    }

    /// Passes over one value of any depth.
    fn value(&mut self) -> Result<(), Malformed> {
        match self.line.get(self.at) {
            Some(b'"') => self.string().map(drop),
            Some(b'{' | b'[') => self.nested(),
            Some(_) => self.plain(),
            None => Err(Malformed),
        }
    }

    fn nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0_usize;
        loop {
            match self.line.get(self.at).ok_or(Malformed)? {
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
        let rest = &self.line[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r'));
        match length.unwrap_or(rest.len()) {
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
        if self.line.get(from) != Some(&b'"') {
            return Err(Malformed);
        }
        self.at += 1;
        loop {
            let rest = self.line.get(self.at..).ok_or(Malformed)?;
            let found = string_end(rest).ok_or(Malformed)?;
            if rest[found] == b'"' {
                self.at += found + 1;
                return Ok(&self.line[from..self.at]);
            }
            self.at += found + 2;
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
        self.line.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }
}

/// The place of the first quote or backslash.
fn string_end(bytes: &[u8]) -> Option<usize> {
    // Most strings are keys and ids: for those, eight bytes at a time are quicker than a search made for long ones.
    const NEAR: usize = 32;
    let words = bytes.chunks_exact(8).take(NEAR / 8).filter_map(|chunk| chunk.try_into().ok());
    for (n, word) in words.map(u64::from_le_bytes).enumerate() {
        let found = zero_bytes(word ^ 0x2222_2222_2222_2222) | zero_bytes(word ^ 0x5c5c_5c5c_5c5c_5c5c);
        if found != 0 {
            return Some(n * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let near = NEAR.min(bytes.len() / 8 * 8);
    memchr2(b'"', b'\\', &bytes[near..]).map(|found| near + found)
}

/// The high bit of the lowest byte that is zero; above it anything.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

/// A raw value as text, if it is one.
pub(super) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let within = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr2(b'\\', b'\n', within).is_none() {
        return std::str::from_utf8(within).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice::<String>(raw).ok().map(Cow::Owned)
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
    use super::{Fields, Malformed, text};

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
