//! `cargo xtask codegen`: files that are written by programs, committed, and checked for drift by `cargo xtask test`.

mod error_index;

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::{tree, workspace};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail if a file is not what it would be.
    #[arg(long)]
    check: bool,
}

/// One generated file.
struct Generated {
    /// Where it goes, relative to the repository's root.
    path: &'static str,
    /// Its whole text.
    generate: fn(root: &Path) -> Result<String>,
}

/// All of them. A new one is a line here.
const GENERATED: &[Generated] =
    &[Generated { path: "docs/errors/README.md", generate: error_index::generate }];

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root()?;
    if args.check { check(&root) } else { write(&root) }
}

/// Fails if a generated file is not what its generator would write.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut stale = Vec::new();
    for file in GENERATED {
        if !is_current(root, file.path, &(file.generate)(root)?) {
            stale.push(file.path);
        }
    }
    if !stale.is_empty() {
        bail!(
            "not what would be generated: {}\nhint: run `cargo xtask codegen` and commit",
            stale.join(", ")
        );
    }
    println!("{} generated files are current", GENERATED.len());
    Ok(())
}

fn write(root: &Path) -> Result<()> {
    for file in GENERATED {
        let text = (file.generate)(root)?;
        let is_current = is_current(root, file.path, &text);
        if !is_current {
            fs::write(root.join(file.path), text)
                .with_context(|| format!("failed to write `{}`", file.path))?;
        }
        println!("{} {}", if is_current { "current" } else { "written" }, file.path);
    }
    Ok(())
}

fn is_current(root: &Path, path: &str, text: &str) -> bool {
    tree::read(&root.join(path)).is_ok_and(|found| found == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_current_only_if_it_is_there_and_equal() {
        let root = tempfile::tempdir().unwrap();
        assert!(!is_current(root.path(), "a.md", "text"));
        fs::write(root.path().join("a.md"), "text").unwrap();
        assert!(is_current(root.path(), "a.md", "text"));
        assert!(!is_current(root.path(), "a.md", "other"));
    }
}
