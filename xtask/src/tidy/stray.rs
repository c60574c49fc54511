//! Files that should not be in a repository at all.

use std::path::Path;

use anyhow::Result;

use super::{Finding, Repository};

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    Ok(repository.files.iter().filter_map(|path| check_file(path)).collect())
}

fn check_file(path: &Path) -> Option<Finding> {
    let name = path.file_name()?.to_str()?;
    let message = match name {
        "mod.rs" => "modules are `foo.rs` beside `foo/`, never `foo/mod.rs`",
        _ if name.ends_with(".snap.new") => "a snapshot nobody accepted: review it or delete it",
        _ if [".orig", ".rej", ".bak", "~"].iter().any(|end| name.ends_with(end)) => "a leftover of an edit",
        _ => return None,
    };
    Some(Finding::new(path.display(), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_and_mod_rs_are_found_and_sources_are_not() {
        let found = |path: &str| check_file(Path::new(path)).is_some();
        let strays = ["crates/a/src/b/mod.rs", "crates/a/src/snapshots/x.snap.new", "README.md.orig", "x~"];
        assert_eq!(strays.map(found), [true; 4]);
        let sources = ["crates/a/src/mod_table.rs", "crates/a/src/snapshots/x.snap", "README.md"];
        assert_eq!(sources.map(found), [false; 3]);
    }
}
