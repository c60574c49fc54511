//! The repository stays small: nothing large is tracked, and nothing that a build or a run makes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{Finding, Repository};
use crate::cargo;

/// The largest file that is tracked without a word, in bytes.
const MAX_BYTES: u64 = 512 << 10;

/// Files that may be larger: whole by nature, and each made by a command that can make it again.
const MAY_BE_LARGE: &[&str] = &["Cargo.lock", "package-lock.json", "openapi.json"];

/// Archives that are tracked: what an earlier server stored, byte for byte. A script beside them makes them.
const MAY_BE_ARCHIVES: &str = "apps/warren/fixtures/old-data";

/// Directories that hold what was made or fetched.
const MADE: &[&str] =
    &["target", "node_modules", "dist", ".warren", "coverage", "test-results", "playwright-report"];

/// Endings of databases, archives and programs.
const MADE_ENDINGS: &[&str] = &[
    "a",
    "o",
    "so",
    "exe",
    "wasm",
    "rlib",
    "rmeta",
    "pdb",
    "gz",
    "tgz",
    "xz",
    "zst",
    "zip",
    "tar",
    "sqlite",
    "sqlite3",
    "db",
    "db-wal",
    "db-shm",
    "tsbuildinfo",
];

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in tracked(repository)? {
        let Ok(metadata) = fs::symlink_metadata(repository.root().join(&path)) else {
            // Removed, and the removal not committed yet.
            continue;
        };
        findings.extend(check_file(&path, metadata.len()));
    }
    Ok(findings)
}

/// What git would commit; everything there is, where this is no clone.
fn tracked(repository: &Repository) -> Result<Vec<PathBuf>> {
    if !repository.root().join(".git").exists() {
        return Ok(repository.files.clone());
    }
    let mut list = std::process::Command::new("git");
    list.current_dir(repository.root()).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let listed = cargo::output(&mut list).context("failed to list what is tracked")?;
    Ok(listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect())
}

fn check_file(path: &Path, bytes: u64) -> Option<Finding> {
    let is_made =
        path.parent().is_some_and(|parent| parent.iter().any(|part| MADE.iter().any(|made| part == *made)));
    // Such a file only says that the directory is there, and what of it is not tracked.
    let is_keeper = path.ends_with(".gitkeep") || path.ends_with(".gitignore");
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_archive = MADE_ENDINGS.contains(&ending) && !path.starts_with(MAY_BE_ARCHIVES);
    if (is_made && !is_keeper) || is_archive {
        return Some(Finding::new(
            path.display(),
            "is made by a build or a run: let a script make it, and ignore it",
        ));
    }
    let may_be_large = MAY_BE_LARGE.iter().any(|name| path.ends_with(name));
    let message = format!("has {} KB; no more than {} are tracked", bytes >> 10, MAX_BYTES >> 10);
    (bytes > MAX_BYTES && !may_be_large).then(|| Finding::new(path.display(), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(path: &str, bytes: u64) -> bool {
        check_file(Path::new(path), bytes).is_some()
    }

    #[test]
    fn large_files_are_refused_but_for_those_that_are_whole_by_nature() {
        assert!(is_refused("crates/a/fixtures/x.jsonl", MAX_BYTES + 1));
        assert!(!is_refused("crates/a/fixtures/x.jsonl", MAX_BYTES));
        assert!(!is_refused("web/package-lock.json", 4 * MAX_BYTES));
        assert!(!is_refused("docs/openapi.json", 4 * MAX_BYTES));
    }

    #[test]
    fn what_a_build_makes_is_refused_however_small() {
        let made = [
            "web/dist/index.html",
            "web/node_modules/a/b.js",
            "x/warren.sqlite",
            "a/guest.wasm",
            "a/b.tar.gz",
        ];
        assert_eq!(made.map(|path| is_refused(path, 1)), [true; 5]);
        let written = [
            "web/src/dist.ts",
            "xtask/src/target.rs",
            "docs/a.md",
            "web/dist/.gitkeep",
            "apps/warren/fixtures/old-data/a.tar.zst",
        ];
        assert_eq!(written.map(|path| is_refused(path, 1)), [false; 5]);
        assert!(is_refused("apps/warren/fixtures/old-data/a.tar.zst", MAX_BYTES + 1));
    }
}
