//! Keeps the beginning and the end of an output of any length.

use std::collections::VecDeque;

/// How much of each end is kept. Together about 16,000 tokens: a model drowns in more.
const KEPT: usize = 32 * 1024;

/// A longer rest of a line is worth keeping.
const MAX_CUT_LINE: usize = 1_024;

/// An output of any length, in bounded memory.
#[derive(Debug, Default)]
pub(super) struct Capture {
    decoder: Decoder,
    head: String,
    tail: VecDeque<u8>,
    /// Bytes of text that came after the head.
    n_after: usize,
}

/// Bytes to text, where a letter may be cut between two reads.
#[derive(Debug, Default)]
struct Decoder {
    rest: Vec<u8>,
}

impl Capture {
    /// Takes bytes in, and gives what of them belongs to the beginning, to be shown at once.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let text = self.decoder.decode(bytes);
        self.push_text(&text)
    }

    /// The whole output, or its two ends and how much is missing between them.
    pub(super) fn finish(mut self) -> String {
        if !self.decoder.rest.is_empty() {
            self.push_text("\u{fffd}");
        }
        let bytes: Vec<u8> = self.tail.into();
        let tail = String::from_utf8_lossy(&bytes);
        if self.n_after == bytes.len() {
            return self.head + &tail;
        }
        // The ring may begin inside a letter, and the rest of a cut line is no loss unless it is all there is.
        let tail = match tail.find('\n') {
            Some(end) if end < MAX_CUT_LINE => &tail[end + 1..],
            _ => tail.trim_start_matches('\u{fffd}'),
        };
        let n_missing = self.n_after - tail.len();
        format!("{}\n[… {n_missing} bytes left out …]\n{tail}", self.head)
    }

    fn push_text(&mut self, text: &str) -> String {
        let room = KEPT - self.head.len();
        let cut = if self.n_after > 0 { 0 } else { text.floor_char_boundary(room) };
        let (first, rest) = text.split_at(cut);
        self.head.push_str(first);
        self.n_after += rest.len();
        self.tail.extend(rest.as_bytes());
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
        first.to_owned()
    }
}

/// A text that may be too long for the model, with its middle left out.
pub(in crate::agent) fn shortened(text: String) -> String {
    if text.len() <= 2 * KEPT {
        return text;
    }
    let mut capture = Capture::default();
    capture.push_text(&text);
    capture.finish()
}

impl Decoder {
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = self.rest.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, broken) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = broken;
                    let Some(n_broken) = error.error_len() else { break };
                    text.push('\u{fffd}');
                    rest = &rest[n_broken..];
                }
            }
        }
        self.rest = rest.to_vec();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, KEPT, shortened};

    #[test]
    fn a_letter_that_is_cut_between_two_reads_stays_whole() {
        let mut capture = Capture::default();
        let shown: String = "aé🦀b".as_bytes().chunks(1).map(|byte| capture.push(byte)).collect();
        assert_eq!((shown.as_str(), capture.finish().as_str()), ("aé🦀b", "aé🦀b"));
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let mut capture = Capture::default();
        capture.push(b"a\xffb\xc3");
        assert_eq!(capture.finish(), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_long_output_keeps_both_ends_and_says_how_much_is_missing() {
        let line = "0123456789abcde\n";
        let mut capture = Capture::default();
        let mut shown = 0;
        for _ in 0..100_000 {
            shown += capture.push(line.as_bytes()).len();
        }
        let text = capture.finish();
        assert_eq!(shown, KEPT);
        let (head, rest) = text.split_once("\n[… ").expect("a note");
        let (n_missing, tail) = rest.split_once(" bytes left out …]\n").expect("a number");
        assert_eq!(head.len() + tail.len() + n_missing.parse::<usize>().expect("a number"), 1_600_000);
        assert!(head.starts_with(line) && tail.ends_with(line) && tail.len() > KEPT - line.len() - 1);
    }

    #[test]
    fn what_fits_is_left_alone() {
        let text = "x".repeat(2 * KEPT);
        assert_eq!(shortened(text.clone()), text);
        assert!(shortened(text + "x").len() <= 2 * KEPT + 40);
    }
}
