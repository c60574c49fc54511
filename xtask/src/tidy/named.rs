//! Pages name tests and files as proof of what they say: each of them must be there.

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{Finding, Repository};
use crate::source;

/// A name with so many underscores is a sentence, and a sentence is a test's name.
const MIN_UNDERSCORES: usize = 3;

/// Where the files lie that pages name.
const FOLDERS: &[&str] = &["crates", "apps", "xtask", "docs", "examples", "web"];

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut functions = HashSet::new();
    for path in repository.with_extension("rs") {
        let code = source::blank(&repository.read_file(path)?);
        let words = source::words(&code);
        functions
            .extend(words.windows(2).filter(|pair| pair[0].text == "fn").map(|pair| pair[1].text.to_owned()));
    }
    let files: HashSet<&Path> = repository.files.iter().map(PathBuf::as_path).collect();
    let is_there = |name: &str| {
        let path = Path::new(name.trim_end_matches('/'));
        functions.contains(name) || files.contains(path) || repository.root().join(path).is_dir()
    };
    let mut findings = Vec::new();
    for page in repository.with_extension("md").filter(|page| !page.starts_with("release-notes")) {
        let text = repository.read_file(page)?;
        let missing: BTreeSet<&str> = names(&text).filter(|name| !is_there(name)).collect();
        let finding = |name| Finding::new(page.display(), format_args!("names `{name}`, which is nowhere"));
        findings.extend(missing.into_iter().map(finding));
    }
    Ok(findings)
}

/// What stands between backticks and is the name of a test or the path of a file.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    let quoted = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .filter(|name| is_sentence(name) || is_path(name))
}

fn is_sentence(name: &str) -> bool {
    let is_snake =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    is_snake && !name.starts_with('_') && name.matches('_').count() >= MIN_UNDERSCORES
}

/// A path with nothing to be put into it.
fn is_path(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
    let folder = name.split_once('/').map(|(folder, _)| folder);
    is_plain && folder.is_some_and(|folder| FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_files_are_found_among_what_is_quoted() {
        let text = "It holds: `a_test_that_shows_it`, in `crates/a/tests/b.rs`.\n\
                    Not `text_delta`, `__pycache__`, `WARREN_HOME`, `GET /api/x`, `crates/<name>` or crates/a/b.\n\
                    ```sh\nls docs/x.md\n```\nand `suite::another_of_the_same`";
        let found: Vec<&str> = names(text).collect();
        assert_eq!(found, ["a_test_that_shows_it", "crates/a/tests/b.rs", "another_of_the_same"]);
    }
}
