//! The one stdout that two sources share: never a line inside another.

use std::io::{self, Write};

use serde::Serialize;

/// A program's line longer than this is passed on in pieces.
const HELD: usize = 1024 * 1024;

/// A line of a file, as it is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "warren.file")]
pub(super) struct FileLine<'a> {
    /// Beneath the directory that is followed.
    pub(super) path: &'a str,
    pub(super) line: &'a str,
    /// The file begins anew with this line.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) restart: bool,
    /// The line was longer than this.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) cut: bool,
}

/// What is printed. Blocks when nobody reads, and so holds the program back.
pub(super) struct Output<W> {
    to: W,
    /// The beginning of a line of the program.
    held: Vec<u8>,
    /// The beginning of the program's present line was printed already.
    is_mid_line: bool,
}

impl<W: Write> Output<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, held: Vec::new(), is_mid_line: false }
    }

    /// Whether a line of a file may be printed now.
    pub(super) fn is_between_lines(&self) -> bool {
        !self.is_mid_line
    }

    /// Prints the whole lines among what the program said, and keeps the rest until its end is there.
    pub(super) fn said(&mut self, bytes: &[u8]) -> io::Result<()> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (lines, rest) = bytes.split_at(whole);
        if !lines.is_empty() {
            self.to.write_all(&self.held)?;
            self.to.write_all(lines)?;
            self.held.clear();
            self.is_mid_line = false;
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > HELD {
            self.to.write_all(&self.held)?;
            self.held.clear();
            self.is_mid_line = true;
        }
        self.to.flush()
    }

    /// Prints a line of a file.
    pub(super) fn wrote(&mut self, line: &FileLine<'_>) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.to.write_all(&text)
    }

    /// The program says no more: its last line ends here, whether or not it said so.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if !self.held.is_empty() || self.is_mid_line {
            self.said(b"\n")?;
        }
        self.to.flush()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::{FileLine, HELD, Output};

    #[test]
    fn a_line_of_a_file_never_stands_inside_a_line_of_the_program() {
        let mut printed = Vec::new();
        let mut output = Output::new(&mut printed);
        let line = FileLine { path: "a.jsonl", line: "{}", restart: false, cut: false };
        output.said(b"one\ntw").expect("printed");
        output.wrote(&line).expect("printed");
        output.said(b"o\nthree").expect("printed");
        output.finish().expect("printed");
        let printed = String::from_utf8(printed).expect("text");
        assert_eq!(
            printed,
            "one\n{\"type\":\"warren.file\",\"path\":\"a.jsonl\",\"line\":\"{}\"}\ntwo\nthree\n"
        );
    }

    #[test]
    fn a_very_long_line_is_not_kept() {
        let mut output = Output::new(Vec::new());
        output.said(&vec![b'x'; HELD + 1]).expect("printed");
        assert!(!output.is_between_lines());
        assert!(output.held.is_empty());
        output.said(b"x\n").expect("printed");
        assert!(output.is_between_lines());
        assert_eq!(output.to.len(), HELD + 3);
    }
}
