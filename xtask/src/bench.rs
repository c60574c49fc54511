//! `cargo xtask bench`: measures with optimised code, and prints one table.
//!
//! What is measured, and how, is in `crates/testkit`; this builds it and hands the names on. The profile is the one of
//! `cargo xtask up`: what is measured is what people run.

use anyhow::Result;

use crate::{cargo, workspace};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Names of the measurements to take, and options of the bench; all measurements if none is named.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    names: Vec<String>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root()?;
    // The bench starts the real program, which stands beside it.
    let mut program = cargo::cargo(&root);
    cargo::run(program.args(["build", "--profile", "up", "--package", "warren"]))?;
    let mut bench = cargo::cargo(&root);
    bench.args(["run", "--profile", "up", "--package", "warren-testkit", "--bin", "bench", "--"]);
    cargo::run(bench.args(&args.names))
}
