//! Styled text, wrapped between words.

use unicode_width::UnicodeWidthStr as _;

use crate::render::Paint;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::render) struct Style {
    pub(in crate::render) bold: bool,
    pub(in crate::render) italic: bool,
    pub(in crate::render) underline: bool,
    pub(in crate::render) strike: bool,
    pub(in crate::render) code: bool,
    pub(in crate::render) dim: bool,
    /// Inside the text of a link that has not ended.
    pub(in crate::render) link: bool,
}

/// A piece of text of one style. A line end in it is one in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::render) struct Run {
    pub(in crate::render) text: String,
    pub(in crate::render) style: Style,
}

impl Style {
    fn paint(self, text: &str, paint: Paint) -> String {
        let codes = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underline, "4"),
            (self.strike, "9"),
            (self.code, "36"),
        ];
        let codes: Vec<&str> = codes.into_iter().filter(|(is_on, _)| *is_on).map(|(_, code)| code).collect();
        if codes.is_empty() { text.to_owned() } else { paint.sequence(&codes.join(";"), text) }
    }
}

/// A word, which may change its style within.
#[derive(Default)]
struct Word {
    pieces: Vec<Run>,
    /// A line end, not spaces, precedes it.
    starts_line: bool,
}

impl Word {
    fn width(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.width()).sum()
    }
}

/// Lines of at most `width` columns. A word that is wider has a line of its own.
pub(in crate::render) fn wrap(runs: &[Run], width: usize, paint: Paint) -> Vec<String> {
    let mut lines: Vec<Vec<Run>> = vec![Vec::new()];
    let mut column = 0;
    for word in words(runs) {
        let needed = word.width();
        let is_first = lines.last().is_none_or(Vec::is_empty);
        let fits = column + usize::from(!is_first) + needed <= width;
        if word.starts_line || (!is_first && !fits) {
            lines.push(Vec::new());
            column = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() {
            // A space between two words of one style has that style too, so that underlines have no holes.
            let style = match (line.last(), word.pieces.first()) {
                (Some(before), Some(after)) if before.style == after.style => before.style,
                _ => Style::default(),
            };
            line.push(Run { text: " ".to_owned(), style });
            column += 1;
        }
        line.extend(word.pieces);
        column += needed;
    }
    lines.iter().map(|line| line_text(line, paint)).collect()
}

/// A line with one escape sequence per style, not per word.
fn line_text(line: &[Run], paint: Paint) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(first) = rest.first() {
        let n = rest.iter().take_while(|run| run.style == first.style).count();
        let same: String = rest[..n].iter().map(|run| run.text.as_str()).collect();
        text.push_str(&first.style.paint(&same, paint));
        rest = &rest[n..];
    }
    text
}

fn words(runs: &[Run]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    for run in runs {
        for (n, line) in run.text.split('\n').enumerate() {
            if n > 0 {
                words.push(std::mem::take(&mut word));
                word.starts_line = true;
            }
            for (n, part) in line.split([' ', '\t']).enumerate() {
                if n > 0 && !word.pieces.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                if !part.is_empty() {
                    word.pieces.push(Run { text: part.to_owned(), style: run.style });
                }
            }
        }
    }
    words.push(word);
    // An empty word counts only where it is an empty line.
    words.retain(|word| word.starts_line || !word.pieces.is_empty());
    words
}

/// Columns that a text takes on a terminal; escape sequences of our own take none.
pub(super) fn width_of(text: &str) -> usize {
    let mut width = 0;
    for (n, part) in text.split('\x1b').enumerate() {
        let shown = if n == 0 { part } else { part.split_once('m').map_or("", |(_, shown)| shown) };
        width += shown.width();
    }
    width
}
