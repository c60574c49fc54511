//! Cuts text that arrives in pieces into blocks that can be drawn on their own.

/// Text that has arrived and not been drawn.
#[derive(Debug, Default)]
pub(in crate::render) struct Chunks {
    /// Whole lines of the current block.
    block: String,
    /// The line that has not ended.
    line: String,
    /// The marker of the code block that is open, and whether it began the block.
    fence: Option<Fence>,
    /// The block is a list: it goes on after empty lines.
    is_list: bool,
    ends_blank: bool,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    marker: char,
    length: usize,
    is_outermost: bool,
}

impl Chunks {
    /// Takes the next piece and returns the blocks that it completes.
    pub(in crate::render) fn push(&mut self, piece: &str) -> Vec<String> {
        let mut done = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, &mut done);
            }
        }
        done
    }

    /// The remaining text.
    pub(in crate::render) fn finish(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, &mut done);
        }
        self.flush(&mut done);
        done
    }

    /// The end of what has not been drawn: shown while it grows.
    pub(in crate::render) fn tail(&self) -> Option<&str> {
        let line =
            if self.line.trim().is_empty() { self.block.trim_end().rsplit('\n').next()? } else { &self.line };
        Some(line.trim()).filter(|line| !line.is_empty())
    }

    fn take_line(&mut self, line: &str, done: &mut Vec<String>) {
        if let Some(fence) = self.fence {
            self.block.push_str(line);
            if closes(line, fence) {
                self.fence = None;
                if fence.is_outermost {
                    self.flush(done);
                }
            }
            return;
        }
        if line.trim().is_empty() {
            // Only a list may go on after it.
            if !self.is_list {
                return self.flush(done);
            }
            self.ends_blank = true;
            self.block.push_str(line);
            return;
        }
        let goes_on = self.is_list && (line.starts_with("  ") || line.starts_with('\t') || is_item(line));
        if self.ends_blank && !goes_on {
            self.flush(done);
        }
        self.ends_blank = false;
        let is_heading = line.starts_with('#') && !goes_on;
        let opened = opens(line);
        if (is_heading || opened.is_some()) && !goes_on && !(self.is_list && line.starts_with(' ')) {
            self.flush(done);
        }
        if self.block.trim().is_empty() {
            self.is_list = is_item(line);
        }
        self.fence = opened.map(|(marker, length)| Fence {
            marker,
            length,
            is_outermost: self.block.trim().is_empty(),
        });
        self.block.push_str(line);
        if is_heading {
            self.flush(done);
        }
    }

    fn flush(&mut self, done: &mut Vec<String>) {
        let block = std::mem::take(&mut self.block);
        (self.is_list, self.ends_blank, self.fence) = (false, false, None);
        if !block.trim().is_empty() {
            done.push(block.trim_end().to_owned());
        }
    }
}

/// The marker that opens a code block.
fn opens(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let marker = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == marker).count();
    // Backticks in the rest of the line are code within a sentence.
    (length >= 3 && !(marker == '`' && line[length..].contains('`'))).then_some((marker, length))
}

fn closes(line: &str, fence: Fence) -> bool {
    let line = line.trim();
    line.chars().count() >= fence.length && line.chars().all(|c| c == fence.marker)
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        after_digits.len() < line.len() && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
    is_numbered || ["- ", "* ", "+ "].iter().any(|marker| line.starts_with(marker))
}
