//! Tables: columns as wide as their content, narrowed until the table fits.

use pulldown_cmark::Alignment;

use super::flow::{Run, width_of, wrap};
use crate::render::Paint;

/// Between two columns.
const GAP: &str = "  ";
/// A column is not made narrower than this.
const MIN_COLUMN: usize = 6;

/// A table in progress. The first row is the heading.
pub(super) struct Grid {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<Run>>>,
    row: Vec<Vec<Run>>,
}

impl Grid {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, runs: Vec<Run>) {
        self.row.push(runs);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    pub(super) fn draw(mut self, width: usize, paint: Paint) -> Vec<String> {
        if let Some(heading) = self.rows.first_mut() {
            heading.iter_mut().flatten().for_each(|run| run.style.bold = true);
        }
        let widths = self.widths(width);
        let mut lines = Vec::new();
        for (n, row) in self.rows.iter().enumerate() {
            lines.extend(self.row_lines(row, &widths, paint));
            if n == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(paint.dim(&rule.join(GAP)));
            }
        }
        lines
    }

    /// The widest column gives way first.
    fn widths(&self, room: usize) -> Vec<usize> {
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let width = |cell: &Vec<Run>| {
                wrap(cell, usize::MAX, Paint::Plain).iter().map(|line| width_of(line)).max().unwrap_or(0)
            };
            cells.map(width).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..self.alignments.len()).map(natural).collect();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > room {
            match widths.iter_mut().max() {
                Some(widest) if *widest > MIN_COLUMN => *widest -= 1,
                _ => break,
            }
        }
        widths
    }

    fn row_lines(&self, row: &[Vec<Run>], widths: &[usize], paint: Paint) -> Vec<String> {
        let cell =
            |column: usize| row.get(column).map(|runs| wrap(runs, widths[column], paint)).unwrap_or_default();
        let cells: Vec<Vec<String>> = (0..widths.len()).map(cell).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |n: usize| {
            let parts = cells.iter().zip(widths).zip(&self.alignments).map(|((lines, width), alignment)| {
                padded(lines.get(n).map(String::as_str).unwrap_or_default(), *width, *alignment)
            });
            parts.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

fn padded(text: &str, width: usize, alignment: Alignment) -> String {
    let free = width.saturating_sub(width_of(text));
    let (before, after) = match alignment {
        Alignment::Right => (free, 0),
        Alignment::Center => (free / 2, free - free / 2),
        Alignment::None | Alignment::Left => (0, free),
    };
    format!("{}{text}{}", " ".repeat(before), " ".repeat(after))
}
