//! `cargo xtask tidy`: the rules of the repository that no compiler checks.
//!
//! Each rule is a file of its own that takes the [`Repository`] and gives [`Finding`]s. A finding fails the verb;
//! the list of the largest files and functions only informs.

mod arrows;
mod bulk;
mod error_pages;
mod lints;
mod named;
mod notes;
mod openings;
mod reachable;
mod sizes;
mod stray;
mod tls;
mod words;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

use crate::{
    tree,
    workspace::{self, Workspace},
};

/// What the rules look at, read once.
struct Repository {
    workspace: Workspace,
    /// Packages in `examples/`, each a workspace of its own, as an outsider's would be.
    examples: Vec<Workspace>,
    /// Every file, relative to the root.
    files: Vec<PathBuf>,
}

/// One breach of one rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// File or package that has to change.
    place: String,
    /// What is wrong with it and what would be right.
    message: String,
}

/// A rule: its name and the function that looks for breaches.
type Rule = (&'static str, fn(&Repository) -> Result<Vec<Finding>>);

const RULES: &[Rule] = &[
    ("dependency arrows", arrows::check),
    ("every file reachable", reachable::check),
    ("no stray files", stray::check),
    ("nothing large or made by a build is tracked", bulk::check),
    ("what the pages name is there", named::check),
    ("crates open with what they are", openings::check),
    ("every crate takes the lints", lints::check),
    ("one TLS stack", tls::check),
    ("no word about one machine", words::check),
    ("a page for each error code", error_pages::check),
    ("release notes", notes::check),
];

/// Runs the verb.
pub(crate) fn run() -> Result<()> {
    let repository = Repository::read(&workspace::root()?)?;
    let mut n_findings = 0;
    for (name, rule) in RULES {
        let findings = rule(&repository)?;
        println!("{} {name}", if findings.is_empty() { "ok    " } else { "BROKEN" });
        for finding in &findings {
            println!("       {finding}");
        }
        n_findings += findings.len();
    }
    sizes::print(&repository)?;
    if n_findings > 0 {
        bail!("{n_findings} breaches of the repository's rules");
    }
    Ok(())
}

impl Repository {
    fn read(root: &Path) -> Result<Repository> {
        Ok(Repository {
            workspace: Workspace::load_whole(root)?,
            examples: examples(root)?
                .iter()
                .map(|directory| Workspace::load_members(directory))
                .collect::<Result<_>>()?,
            files: tree::files(root)?,
        })
    }

    fn root(&self) -> &Path {
        &self.workspace.workspace_root
    }

    /// Files with the given extension.
    fn with_extension(&self, extension: &str) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path).filter(move |path| tree::has_extension(path, extension))
    }

    fn read_file(&self, relative: &Path) -> Result<String> {
        tree::read(&self.root().join(relative))
    }
}

/// Directories of `examples/` that are packages.
pub(crate) fn examples(root: &Path) -> Result<Vec<PathBuf>> {
    let directory = root.join("examples");
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let files = tree::files(&directory)?;
    let manifests =
        files.iter().filter(|path| path.ends_with("Cargo.toml") && path.components().count() == 2);
    Ok(manifests.filter_map(|path| path.parent()).map(|package| directory.join(package)).collect())
}

impl Finding {
    fn new(place: impl fmt::Display, message: impl fmt::Display) -> Finding {
        Finding { place: place.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}
