//! The largest files and functions, so that the list is visible. It judges nothing.

use std::path::Path;

use anyhow::Result;

use super::Repository;
use crate::source;

const N_SHOWN: usize = 10;

pub(super) fn print(repository: &Repository) -> Result<()> {
    let (mut files, mut functions) = (Vec::new(), Vec::new());
    for path in repository.with_extension("rs") {
        let text = repository.read_file(path)?;
        files.push((text.lines().count(), path.display().to_string()));
        if !is_test(path) {
            let found = source::functions(&text).into_iter();
            functions.extend(
                found.map(|it| (it.n_lines, format!("{} ({}:{})", it.name, path.display(), it.line))),
            );
        }
    }
    print_largest("files", files);
    print_largest("functions", functions);
    Ok(())
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

fn print_largest(what: &str, mut all: Vec<(usize, String)>) {
    all.sort_unstable_by(|a, b| b.cmp(a));
    println!("\nlargest {what}, in lines");
    for (n_lines, name) in all.iter().take(N_SHOWN) {
        println!("{n_lines:>6}  {name}");
    }
}
