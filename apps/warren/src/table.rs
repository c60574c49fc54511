//! Columns of text.

use crate::render::Paint;

/// Rows under a heading, each column as wide as its widest cell.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(str::to_owned)] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub(crate) fn to_text(&self, paint: Paint) -> String {
        let widths: [usize; N] = std::array::from_fn(|column| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        });
        let mut text = String::new();
        for (n, row) in self.rows.iter().enumerate() {
            let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = padded.collect::<Vec<_>>().join("  ");
            let line = line.trim_end();
            text.push_str(&if n == 0 { paint.dim(line) } else { line.to_owned() });
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::render::Paint;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["ID", "NAME"]);
        table.row(["1".to_owned(), "größer".to_owned()]);
        table.row(["1234".to_owned(), String::new()]);
        assert_eq!(table.to_text(Paint::Plain), "ID    NAME\n1     größer\n1234\n");
    }
}
