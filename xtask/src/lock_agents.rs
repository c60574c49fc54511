//! `cargo xtask lock-agents`: the hashes of agents' packages, written anew after a pinned version was changed.
//!
//! Which packages those are is known to `crates/programs`; its example `lock` asks the registry for them.
//! Whoever commits the result vouches for it: installations accept these hashes and no others.

use anyhow::Result;

use crate::{cargo, workspace};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agents; all if none is named.
    agents: Vec<String>,
    /// The npm registry to ask; that of npm's configuration unless said.
    #[arg(long)]
    registry: Option<String>,
}

const PUBLIC: &str = "https://registry.npmjs.org";

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root()?;
    let registry = match &args.registry {
        Some(registry) => registry.clone(),
        None => of_npm()?,
    };
    let mut lock = cargo::cargo(&root);
    lock.args(["run", "--quiet", "--package", "warren-programs", "--example", "lock", "--"]);
    lock.arg(root.join("crates/programs/agents")).arg(registry).args(&args.agents);
    cargo::run(&mut lock)
}

/// The registry that npm would use.
fn of_npm() -> Result<String> {
    if !cargo::is_there("npm", "--version") {
        return Ok(PUBLIC.to_owned());
    }
    let printed = cargo::output(std::process::Command::new("npm").args(["config", "get", "registry"]))?;
    Ok(printed.trim().trim_end_matches('/').to_owned())
}
