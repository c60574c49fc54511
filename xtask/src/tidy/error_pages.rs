//! Each error code that leaves the process has a page a user can be sent to, and no page speaks of a dead code.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{Finding, Repository};
use crate::{
    error_codes::{self, ErrorCode, PAGES},
    tree,
};

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let codes = error_codes::read(repository.root())?;
    let mut findings = stale(&codes, &repository.files);
    for code in &codes {
        let page = Path::new(PAGES).join(&code.code).with_extension("md");
        let text = repository.files.contains(&page).then(|| repository.read_file(&page)).transpose()?;
        findings.extend(problem(code, text.as_deref()).map(|message| Finding::new(page.display(), message)));
    }
    Ok(findings)
}

fn problem(code: &ErrorCode, page: Option<&str>) -> Option<String> {
    let ErrorCode { code, status, .. } = code;
    let Some(text) = page else { return Some("missing: clients can receive this code".to_owned()) };
    if !text.starts_with(&format!("# {code}\n")) {
        return Some(format!("must begin with `# {code}`"));
    }
    (!text.contains(&format!("Status {status}."))).then(|| format!("must say `Status {status}.`"))
}

fn stale(codes: &[ErrorCode], files: &[PathBuf]) -> Vec<Finding> {
    let known: BTreeSet<&str> = codes.iter().map(|code| code.code.as_str()).chain(["README"]).collect();
    let pages = files.iter().filter(|path| path.starts_with(PAGES) && tree::has_extension(path, "md"));
    pages
        .filter(|path| {
            path.file_stem().and_then(|stem| stem.to_str()).is_none_or(|stem| !known.contains(stem))
        })
        .map(|path| Finding::new(path.display(), "stale: there is no such code"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict() -> ErrorCode {
        ErrorCode { code: "CONFLICT".to_owned(), status: 409, meaning: String::new() }
    }

    #[test]
    fn a_page_has_its_code_as_title_and_the_status() {
        assert_eq!(problem(&conflict(), Some("# CONFLICT\n\nStatus 409. Not now.\n")), None);
        assert!(problem(&conflict(), Some("# CONFLICT\n\nStatus 400. Not now.\n")).is_some());
        assert!(problem(&conflict(), Some("# Conflict\n\nStatus 409. Not now.\n")).is_some());
        assert!(problem(&conflict(), None).is_some());
    }

    #[test]
    fn a_page_without_a_code_is_stale_and_the_index_is_not() {
        let files = ["docs/errors/CONFLICT.md", "docs/errors/GONE.md", "docs/errors/README.md", "GONE.md"];
        let found = stale(&[conflict()], &files.map(PathBuf::from));
        assert_eq!(found, [Finding::new("docs/errors/GONE.md", "stale: there is no such code")]);
    }
}
