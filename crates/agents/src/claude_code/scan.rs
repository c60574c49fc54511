//! The parts of a JSON text, found without reading them.
//!
//! Most of a transcript says nothing about blocks: snapshots of prompts, second copies of tool results. What is not
//! needed is only jumped over, and is not checked. Texts that are needed are copied once.

mod search;
mod unescape;
mod value;

use std::borrow::Cow;

use serde::Deserialize;

use search::{mark, quote};
use unescape::{plain, unescaped};
pub(super) use value::{any, number};

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
        // Between two fields there is nearly always a comma and nothing else.
        if *progress == Progress::Within && self.text[self.at..].starts_with(b",\"") {
            self.at += 1;
        } else {
            if !self.advance(progress, b'{', b'}')? {
                return Ok(None);
            }
            self.skip_space();
        }
        let key = self.string()?.within;
        self.take(b':')?;
        Ok(Some(key))
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
        if self.peek() == Some(b'"') {
            return self.string()?.text().ok_or(Malformed);
        }
        self.value().map(|_| Cow::default())
    }

    /// A name out of a known set, as it is written; nothing if it is no text.
    pub(super) fn word(&mut self) -> Result<&'a [u8], Malformed> {
        if self.peek() == Some(b'"') {
            return self.string().map(|word| word.within);
        }
        self.value().map(|_| [].as_slice())
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
            Some(b'"') => {
                self.string()?;
            }
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

    /// A string.
    fn string(&mut self) -> Result<Quoted<'a>, Malformed> {
        let from = self.at + 1;
        if self.text.get(self.at) != Some(&b'"') {
            return Err(Malformed);
        }
        let (length, has_escapes) = quote(&self.text[from..]).ok_or(Malformed)?;
        self.at = from + length + 1;
        Ok(Quoted { within: &self.text[from..from + length], has_escapes })
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

/// What stands between two quotes.
struct Quoted<'a> {
    within: &'a [u8],
    has_escapes: bool,
}

impl<'a> Quoted<'a> {
    fn text(&self) -> Option<Cow<'a, str>> {
        if self.has_escapes { unescaped(self.within) } else { plain(self.within) }
    }
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
