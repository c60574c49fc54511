//! The table of error codes, read from the source that defines it.

use std::path::Path;

use anyhow::{Result, bail};

use crate::tree;

/// Where the table is.
pub(crate) const SOURCE: &str = "crates/domain/src/error.rs";
/// Where each code has its page: `<CODE>.md`.
pub(crate) const PAGES: &str = "docs/errors";

/// One row: `/// meaning` above `Name = "CODE", status;`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ErrorCode {
    pub(crate) code: String,
    pub(crate) status: u16,
    pub(crate) meaning: String,
}

/// All rows, in the order of the source. That there are none means that this no longer knows how to read it.
pub(crate) fn read(root: &Path) -> Result<Vec<ErrorCode>> {
    let codes = rows(&tree::read(&root.join(SOURCE))?);
    if codes.is_empty() {
        bail!("found no error codes in `{SOURCE}`");
    }
    Ok(codes)
}

fn rows(text: &str) -> Vec<ErrorCode> {
    let mut rows = Vec::new();
    let mut meaning = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("/// ") {
            meaning.push(doc);
            continue;
        }
        rows.extend(row(line).map(|(code, status)| ErrorCode { code, status, meaning: meaning.join(" ") }));
        meaning.clear();
    }
    rows
}

fn row(line: &str) -> Option<(String, u16)> {
    let (_, rest) = line.split_once(" = \"")?;
    let (code, rest) = rest.split_once("\", ")?;
    let status = rest.strip_suffix(';')?.parse().ok()?;
    Some((code.to_owned(), status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_the_meaning_above_them() {
        let text = "
            /// About something else.
            fn other() {}
            codes! {
                /// A run is
                /// going on.
                RunInProgress = \"RUN_IN_PROGRESS\", 409;
                Internal = \"INTERNAL\", 500;
            }";
        let row = |code: &str, status, meaning: &str| ErrorCode {
            code: code.to_owned(),
            status,
            meaning: meaning.to_owned(),
        };
        assert_eq!(rows(text), [row("RUN_IN_PROGRESS", 409, "A run is going on."), row("INTERNAL", 500, "")]);
    }
}
