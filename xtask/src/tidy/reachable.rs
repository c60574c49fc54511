//! Every `.rs` file is compiled: reachable from some target's root by `mod` lines.
//!
//! A file no `mod` line names is code that reads as if it ran. This walks the lines as the compiler would.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{Finding, Repository};
use crate::{
    source::{self, Word},
    tree,
    workspace::Workspace,
};

pub(super) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut compiled = BTreeSet::new();
    for workspace in std::iter::once(&repository.workspace).chain(&repository.examples) {
        for root in roots(workspace) {
            walk(&root, ModuleDirectory::OfRoot, &mut compiled)?;
        }
    }
    let written = repository.with_extension("rs").filter(|path| !is_fixture(path));
    let lost = written.filter(|path| !compiled.contains(&repository.root().join(path)));
    Ok(lost
        .map(|path| Finding::new(path.display(), "no `mod` line leads here: name it or delete it"))
        .collect())
}

/// The root files of all targets: `lib.rs`, `main.rs`, tests, benches, examples, build scripts.
fn roots(workspace: &Workspace) -> impl Iterator<Item = PathBuf> {
    workspace.members().flat_map(|package| &package.targets).map(|target| target.src_path.clone())
}

/// Fixtures are data, even when they are Rust.
fn is_fixture(path: &Path) -> bool {
    path.iter().any(|part| part == "fixtures")
}

/// Where the compiler looks for the children of a file.
#[derive(Clone, Copy)]
enum ModuleDirectory {
    /// Beside it: a target's root, a `mod.rs`, a file named by `#[path]`.
    OfRoot,
    /// In the folder of its name.
    OfModule,
}

fn walk(file: &Path, place: ModuleDirectory, compiled: &mut BTreeSet<PathBuf>) -> Result<()> {
    if !file.is_file() || !compiled.insert(file.to_path_buf()) {
        return Ok(());
    }
    let beside = file.parent().unwrap_or(Path::new("/"));
    let children = match place {
        ModuleDirectory::OfRoot => beside.to_path_buf(),
        ModuleDirectory::OfModule => file.with_extension(""),
    };
    for child in children_of(&tree::read(file)?) {
        match child {
            Child::Module(path) => {
                walk(&children.join(&path).with_extension("rs"), ModuleDirectory::OfModule, compiled)?;
                walk(&children.join(&path).join("mod.rs"), ModuleDirectory::OfRoot, compiled)?;
            }
            Child::File(path) => walk(&beside.join(path), ModuleDirectory::OfRoot, compiled)?,
        }
    }
    Ok(())
}

/// What one file brings in.
#[derive(Debug, PartialEq, Eq)]
enum Child {
    /// `mod name;`, below the inline modules it stands in.
    Module(PathBuf),
    /// `#[path = "…"] mod name;` or `include!("….rs")`.
    File(String),
}

fn children_of(text: &str) -> Vec<Child> {
    let code = source::blank(text);
    let words = source::words(&code);
    let mut children = Vec::new();
    // One entry for each open brace: the inline module it belongs to, if it is one.
    let mut braces: Vec<Option<&str>> = Vec::new();
    let mut explicit: Option<String> = None;
    for (at, word) in words.iter().enumerate() {
        let next = |n: usize| words.get(at + n).map_or("", |word| word.text);
        match (word.text, next(1), next(2)) {
            ("mod", name, ";") => children.push(match explicit.take() {
                Some(path) => Child::File(path),
                None => Child::Module(braces.iter().flatten().copied().chain([name]).collect()),
            }),
            ("path", "=", _) if at > 1 && words[at - 1].text == "[" => explicit = literal_after(text, word),
            ("include", "!", "(") => children.extend(literal_after(text, word).map(Child::File)),
            ("{", ..) => braces.push(inline_module(&words[..at])),
            ("}", ..) => drop(braces.pop()),
            _ => {}
        }
    }
    children
}

/// The name of the inline module whose opening brace comes next.
fn inline_module<'a>(before: &[Word<'a>]) -> Option<&'a str> {
    match before {
        [.., keyword, name] if keyword.text == "mod" => Some(name.text),
        _ => None,
    }
}

/// The string literal that follows a word, read from the text that still has it.
fn literal_after(text: &str, word: &Word<'_>) -> Option<String> {
    text[word.at..].split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn module(path: &str) -> Child {
        Child::Module(PathBuf::from(path))
    }

    #[test]
    fn mod_lines_are_read_with_the_inline_modules_around_them() {
        let text = r#"
            //! mod not_this;
            pub(crate) mod a;
            mod b { fn f() { let s = "mod nor_this;"; } mod c; }
            #[path = "elsewhere/d.rs"]
            mod d;
            include!("e.rs");
            mod f;
        "#;
        let expect = [
            module("a"),
            module("b/c"),
            Child::File("elsewhere/d.rs".to_owned()),
            Child::File("e.rs".to_owned()),
            module("f"),
        ];
        assert_eq!(children_of(text), expect);
    }

    #[test]
    fn a_file_is_reached_through_its_parents_only() {
        let crate_directory = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = crate_directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/lib.rs", "mod a;");
        write("src/a.rs", "mod b;");
        write("src/a/b.rs", "");
        write("src/b.rs", "// reached by nobody: `a`'s `b` is in its own folder");
        write("src/lost.rs", "");

        let mut compiled = BTreeSet::new();
        walk(&crate_directory.path().join("src/lib.rs"), ModuleDirectory::OfRoot, &mut compiled).unwrap();

        let expect = ["src/a.rs", "src/a/b.rs", "src/lib.rs"].map(|path| crate_directory.path().join(path));
        assert_eq!(compiled, BTreeSet::from(expect));
    }
}
