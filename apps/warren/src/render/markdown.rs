//! Markdown as a terminal shows it: wrapped at words, with headings, lists, tables and code.

mod chunks;
mod flow;
mod grid;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

pub(super) use chunks::Chunks;
pub(super) use flow::{Run, Style, wrap};
use grid::Grid;

use super::Paint;

/// Width of a horizontal rule.
const RULE: usize = 40;
/// Narrower than this, nothing is wrapped any further.
const MIN_WIDTH: usize = 20;

/// Draws a text, without a line end after its last line.
pub(super) fn draw(text: &str, width: usize, paint: Paint) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut drawing = Drawing { width, paint, ..Drawing::default() };
    for event in Parser::new_ext(text, options) {
        drawing.event(event);
    }
    drawing.paragraph();
    drawing.lines.join("\n")
}

/// A drawing in progress.
#[derive(Default)]
struct Drawing {
    width: usize,
    paint: Paint,
    lines: Vec<String>,
    /// Text of the current paragraph or cell.
    runs: Vec<Run>,
    style: Style,
    /// Targets of the open links, outermost first.
    links: Vec<String>,
    /// Lists and quotes around the current paragraph, outermost first.
    nesting: Vec<Nesting>,
    /// Content of the current code block.
    code: Option<String>,
    grid: Option<Grid>,
    /// The last line belongs to a block that wants an empty line after it.
    wants_gap: bool,
}

/// Something that indents what it contains.
struct Nesting {
    /// The next number of an ordered list, or `None` for bullets and quotes.
    number: Option<u64>,
    /// Written once, before the first line of an item.
    marker: Option<String>,
    /// Written before every other line.
    indent: String,
    is_list: bool,
}

impl Drawing {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.push(&text, Style { code: true, ..self.style }),
            Event::InlineHtml(text) | Event::Html(text) => self.push(text.trim_end_matches('\n'), self.style),
            // Agents end lines on purpose.
            Event::SoftBreak | Event::HardBreak => self.push("\n", self.style),
            Event::Rule => {
                self.gap();
                let line = self.paint.dim(&"─".repeat(RULE.min(self.width)));
                self.lines.push(line);
                self.wants_gap = true;
            }
            Event::TaskListMarker(is_done) => {
                self.push(if is_done { "[x] " } else { "[ ] " }, self.style);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.push(&text, self.style),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), self.style),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.paragraph();
                self.style.bold = true;
                self.style.underline = level == HeadingLevel::H1;
            }
            Tag::BlockQuote(_) => self.open(Nesting::quote(self.paint)),
            Tag::List(start) => {
                // The text of the item that contains it.
                let is_nested = self.nesting.iter().any(|nesting| nesting.is_list);
                self.paragraph();
                self.wants_gap &= !is_nested;
                self.open(Nesting::list(start));
            }
            Tag::Item => self.item(),
            Tag::CodeBlock(_) => {
                self.paragraph();
                self.code = Some(String::new());
            }
            Tag::Table(alignments) => {
                self.paragraph();
                self.grid = Some(Grid::new(alignments));
            }
            Tag::Emphasis => self.style.italic = true,
            Tag::Strong => self.style.bold = true,
            Tag::Strikethrough => self.style.strike = true,
            Tag::Link { dest_url, .. } => self.links.push(dest_url.into_string()),
            Tag::Image { .. } => self.push("[image: ", self.style),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.paragraph();
                self.wants_gap = true;
            }
            TagEnd::Heading(_) => {
                self.paragraph();
                self.style = Style::default();
                self.wants_gap = true;
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.paragraph();
                self.nesting.pop();
                self.wants_gap |= self.nesting.is_empty();
            }
            TagEnd::Item => {
                self.paragraph();
                if let Some(list) = self.nesting.last_mut() {
                    list.marker = None;
                }
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::Table => self.table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(grid) = &mut self.grid {
                    grid.end_row();
                }
            }
            TagEnd::TableCell => {
                let runs = std::mem::take(&mut self.runs);
                if let Some(grid) = &mut self.grid {
                    grid.cell(runs);
                }
            }
            TagEnd::Emphasis => self.style.italic = false,
            TagEnd::Strong => self.style.bold = false,
            TagEnd::Strikethrough => self.style.strike = false,
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.push("]", self.style),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.push_str(text),
            None => self.push(text, self.style),
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        let style = Style { link: !self.links.is_empty(), ..style };
        self.runs.push(Run { text: text.to_owned(), style });
    }

    /// The target of a link stands after its text, unless it is the text.
    fn end_link(&mut self) {
        let Some(url) = self.links.pop() else { return };
        let shown: String =
            self.runs.iter().filter(|run| run.style.link).map(|run| run.text.as_str()).collect();
        if !shown.ends_with(url.trim_start_matches("mailto:")) {
            self.runs.push(Run { text: format!(" ({url})"), style: Style { dim: true, ..Style::default() } });
        }
        for run in &mut self.runs {
            run.style.link = false;
        }
    }

    fn open(&mut self, nesting: Nesting) {
        self.paragraph();
        self.gap();
        self.nesting.push(nesting);
    }

    fn item(&mut self) {
        self.paragraph();
        let Some(list) = self.nesting.last_mut() else { return };
        let marker = match &mut list.number {
            Some(number) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            None => "• ".to_owned(),
        };
        list.indent = " ".repeat(marker.chars().count());
        list.marker = Some(marker);
    }

    /// Ends the current paragraph, if there is one.
    fn paragraph(&mut self) {
        if self.grid.is_some() || self.runs.iter().all(|run| run.text.trim().is_empty()) {
            if self.grid.is_none() {
                self.runs.clear();
            }
            return;
        }
        self.gap();
        let runs = std::mem::take(&mut self.runs);
        let (first, rest) = self.prefixes();
        let room = self.room(&rest);
        let lines = wrap(&runs, room, self.paint);
        for (n, line) in lines.into_iter().enumerate() {
            let prefix = if n == 0 { &first } else { &rest };
            self.lines.push(format!("{prefix}{line}").trim_end().to_owned());
        }
    }

    fn code_block(&mut self) {
        self.gap();
        let code = self.code.take().unwrap_or_default();
        let (first, rest) = self.prefixes();
        for (n, line) in code.trim_end_matches('\n').split('\n').enumerate() {
            let prefix = if n == 0 { &first } else { &rest };
            let line = line.replace('\t', "    ");
            self.lines.push(format!("{prefix}  {}", self.paint.cyan(&line)).trim_end().to_owned());
        }
        self.wants_gap = true;
    }

    fn table(&mut self) {
        let Some(grid) = self.grid.take() else { return };
        self.gap();
        let (_, rest) = self.prefixes();
        let room = self.room(&rest);
        let lines = grid.draw(room, self.paint);
        self.lines.extend(lines.into_iter().map(|line| format!("{rest}{line}").trim_end().to_owned()));
        self.wants_gap = true;
    }

    fn room(&self, prefix: &str) -> usize {
        let taken = if self.nesting.is_empty() { 0 } else { flow::width_of(prefix) };
        self.width.saturating_sub(taken).max(MIN_WIDTH)
    }

    /// What stands before the first line and before the others. Markers are used up.
    fn prefixes(&mut self) -> (String, String) {
        let rest: String = self.nesting.iter().map(|nesting| nesting.indent.as_str()).collect();
        let first = self
            .nesting
            .iter_mut()
            .map(|nesting| nesting.marker.take().unwrap_or_else(|| nesting.indent.clone()));
        (first.collect(), rest)
    }

    /// An empty line between blocks.
    fn gap(&mut self) {
        if std::mem::take(&mut self.wants_gap) && !self.lines.is_empty() {
            let quotes: String = self
                .nesting
                .iter()
                .filter(|nesting| !nesting.is_list)
                .map(|nesting| nesting.indent.as_str())
                .collect();
            self.lines.push(quotes.trim_end().to_owned());
        }
    }
}

impl Nesting {
    fn list(number: Option<u64>) -> Self {
        Self { number, marker: None, indent: String::new(), is_list: true }
    }

    fn quote(paint: Paint) -> Self {
        Self { number: None, marker: None, indent: paint.dim("│ "), is_list: false }
    }
}

#[cfg(test)]
mod tests;
