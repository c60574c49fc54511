//! The files of the repository, as a reader of it would list them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Directories that hold what was made, fetched or recorded, not what was written.
const SKIPPED: &[&str] = &["target", "node_modules", "dist", ".git", ".warren"];

/// Every file below `root`, sorted; paths are relative to it. Links are not followed.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let entries =
            fs::read_dir(&directory).with_context(|| format!("failed to list `{}`", directory.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("failed to list `{}`", directory.display()))?;
            let kind = entry.file_type().context("failed to read a file's type")?;
            let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !skipped {
                pending.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path();
                found.push(path.strip_prefix(root).map(Path::to_path_buf).unwrap_or(path));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file; the error names it.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("failed to read `{}`", path.display()))
}

/// Whether the file's name ends in `.extension`.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
