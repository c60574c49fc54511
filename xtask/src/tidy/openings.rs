//! Each crate opens the same way: what it is, where it stands, what it must never know, where to start.

use anyhow::Result;

use super::{Finding, Repository};
use crate::tree;

/// What kind of root file a text is.
#[derive(Clone, Copy, PartialEq)]
enum Root {
    Library,
    Binary,
}

const N_LINES: usize = 3;

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for target in repository.workspace.members().flat_map(|package| &package.targets) {
        let root = if target.is_any(&["lib", "proc-macro"]) {
            Root::Library
        } else if target.is_any(&["bin"]) {
            Root::Binary
        } else {
            continue;
        };
        let place = target.src_path.strip_prefix(repository.root()).unwrap_or(&target.src_path);
        let problem = problem(root, &tree::read(&target.src_path)?);
        findings.extend(problem.map(|message| Finding::new(place.display(), message)));
    }
    Ok(findings)
}

fn problem(root: Root, text: &str) -> Option<String> {
    let opening: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    if opening.len() < N_LINES {
        return Some(format!(
            "opens with {} lines of `//!`: say what it is, where it stands, what it must never know and where to start",
            opening.len()
        ));
    }
    let states_one = opening.iter().any(|line| line.contains("**Invariant"));
    (root == Root::Library && !states_one)
        .then(|| "its opening states no `**Invariant:**`: say what is absent here".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "//! Keeps logs.\n//!\n//! **Invariant:** knows no HTTP.\n//! Start with `Log`.\nmod log;\n";

    #[test]
    fn an_opening_with_an_invariant_is_fine() {
        assert_eq!(problem(Root::Library, GOOD), None);
    }

    #[test]
    fn a_library_needs_an_invariant_and_a_binary_does_not() {
        let text = GOOD.replace("**Invariant:** ", "");
        assert!(problem(Root::Library, &text).is_some());
        assert_eq!(problem(Root::Binary, &text), None);
    }

    #[test]
    fn an_opening_that_is_short_or_not_first_is_found() {
        assert!(problem(Root::Binary, "//! Keeps logs.\nfn main() {}\n").is_some());
        assert!(problem(Root::Library, &format!("use std::fs;\n{GOOD}")).is_some());
    }
}
