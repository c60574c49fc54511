//! Every package takes the workspace's lints: one that forgets the line is silently judged by none of them.

use anyhow::Result;

use super::{Finding, Repository};
use crate::tree;

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in repository.workspace.members() {
        if !takes_lints(&tree::read(&package.manifest_path)?) {
            findings.push(Finding::new(&package.name, "its manifest must say `[lints] workspace = true`"));
        }
    }
    Ok(findings)
}

fn takes_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().skip_while(|line| line.trim() != "[lints]").skip(1);
    lines.next().is_some_and(|line| line.trim() == "workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_line_is_found() {
        assert!(takes_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
        assert!(!takes_lints("[package]\nname = \"a\"\n"));
        assert!(!takes_lints("[lints.clippy]\nworkspace = true\n"));
    }
}
