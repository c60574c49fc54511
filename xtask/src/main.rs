//! The verbs of this repository: everything a person or CI does to it is `cargo xtask <verb>`.
//!
//! Stands outside the flow: it builds, starts and checks Warren, and nothing depends on it. One file per verb;
//! what a verb needs for itself lies in a folder of its name.
//! It must never hold product logic: what a user's machine needs at run time belongs to `warren` itself.
//! Start with [`Verb`], then the file of the verb you came for.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod cargo;
mod error_codes;
mod packages;
mod source;
mod tree;
mod web;
mod workspace;

mod bench;
mod codegen;
mod lock_agents;
mod record;
mod test;
mod tidy;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, starts, tests and measures Warren.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Sets the machine up, builds Warren and starts it.
    Up(up::Args),
    /// Installs and starts what the tests need, runs every test, and cleans up.
    Test(test::Args),
    /// Checks the rules of the repository that no compiler checks.
    Tidy,
    /// Writes the generated files anew.
    Codegen(codegen::Args),
    /// Writes the hashes of agents' packages anew, after a pinned version was changed.
    LockAgents(lock_agents::Args),
    /// Runs a real agent against the demo model and keeps what it said as a recording for the tests.
    Record(record::Args),
    /// Measures, and prints one table.
    Bench(bench::Args),
    /// Owns a test run's directory and PostgreSQL until its standard input ends.
    #[command(hide = true)]
    Guard(test::GuardArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::Up(args) => up::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Tidy => tidy::run(),
        Verb::Codegen(args) => codegen::run(&args),
        Verb::LockAgents(args) => lock_agents::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Guard(args) => test::guard(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
