//! Nothing written here may depend on, or tell about, the machine it was written on.

use std::path::Path;

use anyhow::Result;

use super::{Finding, Repository};
use crate::tree;

/// Beginnings of absolute paths that exist on somebody's machine only.
const FORBIDDEN: &[&str] = &["/work/", "/root/", "/home/user/", "/Users/"];

/// What we write, and what we record: recordings are redacted.
const EXTENSIONS: &[&str] = &["rs", "md", "toml", "sql", "json", "jsonl", "ts", "tsx", "css", "html", "sh"];

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in &repository.files {
        let is_text = EXTENSIONS.iter().any(|extension| tree::has_extension(path, extension));
        if is_text && !may_name_paths(path) {
            findings.extend(check_text(path, &repository.read_file(path)?));
        }
    }
    Ok(findings)
}

/// Tests try to reach such paths from a sandbox, and this file lists them.
fn may_name_paths(path: &Path) -> bool {
    path.ends_with("tidy/words.rs") || path.iter().any(|part| part == "tests" || part == "tests.rs")
}

fn check_text(path: &Path, text: &str) -> Vec<Finding> {
    let lines = text.lines().enumerate();
    let found =
        lines.filter_map(|(n, line)| FORBIDDEN.iter().find(|word| names(line, word)).map(|word| (n, word)));
    found
        .map(|(n, word)| {
            Finding::new(
                format_args!("{}:{}", path.display(), n + 1),
                format_args!("names a path under `{word}`"),
            )
        })
        .collect()
}

/// Whether an absolute path in `line` begins with `word`; `artifacts/work/` does not.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|character| !character.is_alphanumeric() && !"._-/}~*".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_with_its_line() {
        let found = check_text(Path::new("docs/a.md"), "fine\nsee `/root/notes`\n");
        assert_eq!(found, [Finding::new("docs/a.md:2", "names a path under `/root/`")]);
    }

    #[test]
    fn paths_that_only_look_alike_are_fine() {
        let text = "/workspace/outputs\nartifacts/work/x\n/rootfs\n{dir}/root/etc\n";
        assert_eq!(check_text(Path::new("a.rs"), text), []);
    }
}
