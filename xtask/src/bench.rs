//! `cargo xtask bench`: measures with optimised code, and prints one table.
//!
//! What is measured, and how, is in `crates/testkit`; this builds it as for a server that serves many, and hands the names
//! on. The page is measured in Chromium by a program of its own, `web/bench/bench.mjs`, because it needs no server.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{cargo, packages, web::Web, workspace, workspace::Workspace};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Names of the measurements to take, `web` (or `--web`) being the page; all measurements if none is named.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    names: Vec<String>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root()?;
    let (page, others) = wanted(&args.names);
    if let Some(names) = others {
        programs(&root, &names)?;
    }
    if page { self::page(&root) } else { Ok(()) }
}

/// Whether the page is wanted, and which of the rest: none at all, or all of it if no name is given.
fn wanted(names: &[String]) -> (bool, Option<Vec<&String>>) {
    if names.is_empty() {
        return (true, Some(Vec::new()));
    }
    let (page, others): (Vec<_>, Vec<_>) =
        names.iter().partition(|name| ["web", "--web"].contains(&name.as_str()));
    (!page.is_empty(), (!others.is_empty()).then_some(others))
}

fn programs(root: &Path, names: &[&String]) -> Result<()> {
    packages::ensure(&[packages::bubblewrap()])?;
    // What trees are measured beside.
    if names.is_empty() || names.iter().any(|name| *name == "snapshots") {
        let version = |name, argument| (name, cargo::is_there(name, argument));
        packages::ensure(&[
            version("restic", "version"),
            version("zstd", "--version"),
            version("git", "--version"),
        ])?;
    }
    // The bench starts the real program, which stands beside it.
    let mut program = cargo::cargo(root);
    cargo::run(program.args(["build", "--release", "--package", "warren"]))?;
    let mut bench = cargo::cargo(root);
    bench.args(["run", "--release", "--package", "warren-testkit", "--bin", "bench", "--"]);
    cargo::run(bench.args(names))
}

fn page(root: &Path) -> Result<()> {
    packages::ensure(&[("chromium", cargo::is_there("chromium", "--version"))])?;
    let Some(web) = Web::prepare(root, &Workspace::load_members(root)?.target_directory)? else {
        bail!("there is no page to measure here");
    };
    web.build()?;
    web.script("bench", &[])
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn the_page_is_one_name_among_the_others() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(wanted(&[]), (true, Some(Vec::new())));
        assert_eq!(wanted(&names(&["--web"])), (true, None));
        assert_eq!(wanted(&names(&["log"])), (false, Some(vec![&"log".to_owned()])));
        assert_eq!(wanted(&names(&["web", "log"])), (true, Some(vec![&"log".to_owned()])));
    }
}
