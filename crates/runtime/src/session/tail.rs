//! The last lines an agent printed: what is looked at first when its run failed.

use std::collections::VecDeque;

use bytes::Bytes;

/// Maximum length of the tail; at least the last line is kept.
const MAX_BYTES: usize = 64 << 10;

/// Lines, oldest first. Copies: a line as it came shares its memory with what came with it.
#[derive(Default)]
pub(super) struct Tail {
    lines: VecDeque<Box<[u8]>>,
    n_bytes: usize,
}

impl Tail {
    /// Keeps a line, without its end. Of one that is too long by itself, the beginning.
    pub(super) fn push(&mut self, line: &[u8]) {
        let line = &line[..line.len().min(MAX_BYTES)];
        self.n_bytes += line.len();
        self.lines.push_back(line.into());
        while self.n_bytes > MAX_BYTES
            && let Some(oldest) = self.lines.pop_front()
        {
            self.n_bytes -= oldest.len();
        }
    }

    /// All of it, a line each. `None`: nothing was said.
    pub(super) fn joined(&self) -> Option<Bytes> {
        let mut all = Vec::with_capacity(self.n_bytes + self.lines.len());
        for line in &self.lines {
            all.extend_from_slice(line);
            all.push(b'\n');
        }
        (!all.is_empty()).then(|| Bytes::from(all))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, Tail};

    #[test]
    fn the_last_lines_are_kept_whole_and_the_first_go() {
        let mut tail = Tail::default();
        assert_eq!(tail.joined(), None);
        for n in 0..10_000 {
            tail.push(format!("line {n} {}", "x".repeat(20)).as_bytes());
        }
        let all = tail.joined().expect("lines");
        assert!(all.len() < 2 * MAX_BYTES);
        assert!(all.starts_with(b"line ") && all.ends_with(b"\n"));
        assert!(all.windows(10).any(|window| window == b"line 9999 "));
    }

    #[test]
    fn a_line_that_is_too_long_shows_how_it_began() {
        let mut tail = Tail::default();
        tail.push(b"before");
        tail.push(&vec![b'y'; 3 * MAX_BYTES]);
        assert_eq!(tail.joined().map(|all| all.len()), Some(MAX_BYTES + 1));
    }
}
