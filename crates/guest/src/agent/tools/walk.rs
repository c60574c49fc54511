//! Walks the files below a directory, as the searching tools see them.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

/// The files below `root`, without what version control ignores. Symbolic links are not followed.
pub(super) fn files(root: &Path) -> impl Iterator<Item = PathBuf> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    // What cannot be looked at is not there for the agent.
    walk.filter_map(Result::ok).filter(is_file).map(ignore::DirEntry::into_path)
}

/// A pattern of paths relative to the root of a walk. One without a slash means names at any depth.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("the pattern cannot be used: {error}"))
}

/// A path as the model should use it: relative to the working directory where it can be.
pub(super) fn shown(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}
