//! `cargo xtask up`: from a fresh clone on a fresh machine to a running server, in one command.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{
    cargo, packages,
    web::Web,
    workspace::{self, Workspace},
};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Build as for a release: slower to build, faster to run.
    #[arg(long, conflicts_with = "dev")]
    release: bool,
    /// Build without optimisation: quickest after an edit.
    #[arg(long)]
    dev: bool,
    /// Handed to `warren up` as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

impl Args {
    fn profile(&self) -> &'static str {
        match (self.release, self.dev) {
            (true, _) => "release",
            (_, true) => "dev",
            _ => "up",
        }
    }
}

/// A build that took longer than this is worth a line.
const NOTABLE: Duration = Duration::from_secs(2);

/// Runs the verb; on success it never returns, because `warren` has taken our place and gets our signals.
pub(crate) fn run(args: &Args) -> Result<()> {
    packages::ensure(&[packages::bubblewrap()])?;
    let workspace = Workspace::load_members(&workspace::root()?)?;
    let profile = args.profile();
    let warren = workspace.target_directory.join(directory(profile)).join("warren");
    if !warren.exists() {
        eprintln!("· building Warren; the first time this takes a few minutes");
    }
    if let Some(web) = Web::prepare(&workspace.workspace_root, &workspace.target_directory)? {
        web.build()?;
    }
    build(&workspace.workspace_root, profile)?;
    let error = Command::new(&warren).arg("up").args(&args.rest).exec();
    Err(error).with_context(|| format!("failed to start `{}`", warren.display()))
}

fn build(root: &Path, profile: &str) -> Result<()> {
    let started = Instant::now();
    let mut build = cargo::cargo(root);
    cargo::run(build.args(["build", "--package", "warren", "--bin", "warren", "--profile", profile]))?;
    if started.elapsed() > NOTABLE {
        eprintln!("· built in {} s; the next start takes none of it", started.elapsed().as_secs());
    }
    Ok(())
}

/// Where cargo puts what a profile made.
fn directory(profile: &str) -> &str {
    if profile == "dev" { "debug" } else { profile }
}
