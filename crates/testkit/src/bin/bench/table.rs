//! One row for each figure.

use super::stats::Times;

/// What was measured.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a row: what, our figure, its reference, and what was promised.
    pub(crate) fn row(
        &mut self,
        what: &str,
        ours: impl Into<String>,
        reference: impl Into<String>,
        promise: &str,
    ) {
        let row = [what.to_owned(), ours.into(), reference.into(), promise.to_owned()];
        eprint(&row.join(" | "));
        self.rows.push(row);
    }

    /// Adds a row that compares one percentile of two sets of times.
    pub(crate) fn compare(
        &mut self,
        what: &str,
        percent: usize,
        ours: &Times,
        theirs: &Times,
        promise: &str,
    ) {
        let (ours, theirs) = (ours.at(percent), theirs.at(percent));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let reference = format!("{:.2} ms (× {ratio:.2})", theirs.as_secs_f64() * 1e3);
        self.row(&format!("{what}, p{percent}"), millis(ours), reference, promise);
    }

    pub(crate) fn print(&self) {
        println!("| what | measured | reference in the same run | promised |");
        println!("|---|---|---|---|");
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
    }
}

pub(crate) fn millis(time: std::time::Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[expect(clippy::print_stderr, reason = "progress, for whoever waits")]
fn eprint(line: &str) {
    eprintln!("{line}");
}
