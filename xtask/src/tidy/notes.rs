//! A visible change brings a note: `release-notes/unreleased/<number>-<slug>.md`.

use std::path::Path;

use anyhow::Result;

use super::{Finding, Repository};
use crate::tree;

/// Where notes wait for a release.
const NOTES: &str = "release-notes/unreleased";

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut notes = repository.files.iter().filter(|path| path.starts_with(NOTES)).peekable();
    if notes.peek().is_none() && !repository.root().join("release-notes").is_dir() {
        return Ok(vec![Finding::new(NOTES, "there are no release notes")]);
    }
    let mut findings = Vec::new();
    for path in notes {
        findings
            .extend(problem(path, &repository.read_file(path)?).map(|it| Finding::new(path.display(), it)));
    }
    Ok(findings)
}

fn problem(path: &Path, text: &str) -> Option<&'static str> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let (number, slug) = stem.split_once('-').unwrap_or((stem, ""));
    let is_named = number.parse::<u32>().is_ok() && !slug.is_empty() && tree::has_extension(path, "md");
    if !is_named {
        return Some("must be named `<number>-<slug>.md`");
    }
    (!text.starts_with("# ")).then_some("must begin with a title for the user: `# …`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_a_number_a_slug_and_a_title() {
        let problem = |path: &str, text: &str| problem(Path::new(path), text);
        assert_eq!(problem("2-first.md", "# Run an agent\n"), None);
        assert!(problem("first.md", "# Run an agent\n").is_some());
        assert!(problem("2-first.txt", "# Run an agent\n").is_some());
        assert!(problem("2-first.md", "Run an agent\n").is_some());
    }
}
