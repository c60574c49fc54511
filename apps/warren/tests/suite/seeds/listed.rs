//! The differences that `docs/protocols.md` lists, each with its reason.

use std::{collections::BTreeSet, fs, path::Path};

use super::shape::Difference;

const BEGIN: &str = "<!-- differences of types -->";
const END: &str = "<!-- end of differences -->";

/// Reads them from the page: a row of the table is one or more types, `adds` or `lacks` and names, and the reason.
pub(super) fn listed() -> BTreeSet<Difference> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols.md");
    let text = fs::read_to_string(path).expect("the page is there");
    let (_, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, _) = rest.split_once(END).expect("the table ends");
    // The first two lines are the head.
    table.trim().lines().skip(2).flat_map(row).collect()
}

fn row(line: &str) -> Vec<Difference> {
    let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [types, what, reason] = cells[..] else { panic!("three cells: {line}") };
    assert!(!reason.is_empty(), "every difference has its reason: {line}");
    let difference: fn(String, String) -> Difference = match what.split(' ').next() {
        Some("adds") => Difference::Adds,
        Some("lacks") => Difference::Lacks,
        _ => panic!("`adds` or `lacks`: {line}"),
    };
    let pair =
        |of: &String| names(what).into_iter().map(|name| difference(of.clone(), name)).collect::<Vec<_>>();
    names(types).iter().flat_map(pair).collect()
}

/// What is between backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
