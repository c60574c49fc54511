//! What cargo knows about the workspace: its packages, their targets, who depends on whom.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cargo;

/// The repository's root, from wherever inside it the verb was called.
pub(crate) fn root() -> Result<PathBuf> {
    let here = env::current_dir().context("failed to find the current directory")?;
    let mut locate = cargo::cargo(&here);
    let manifest =
        cargo::output(locate.args(["locate-project", "--workspace", "--message-format", "plain"]))?;
    let manifest = Path::new(manifest.trim_end());
    Ok(manifest.parent().context("the workspace manifest has no directory")?.to_path_buf())
}

/// `cargo metadata`, the part we read.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    /// All packages: members and, unless loaded with [`Workspace::load_members`], what they depend on.
    pub(crate) packages: Vec<Package>,
    /// Ids of the packages that are ours.
    pub(crate) workspace_members: Vec<String>,
    /// Where build products go.
    pub(crate) target_directory: PathBuf,
    /// Directory of the workspace manifest.
    pub(crate) workspace_root: PathBuf,
}

/// One package.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// One `[dependencies]`, `[dev-dependencies]` or `[build-dependencies]` line.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `null` for an ordinary one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

/// A thing cargo compiles: its root file tells where reading begins.
#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Workspace {
    /// Members only; resolves and fetches nothing.
    pub(crate) fn load_members(root: &Path) -> Result<Workspace> {
        Workspace::load(root, &["--no-deps"])
    }

    /// Members and everything they can pull in on this platform, whatever features are asked for.
    pub(crate) fn load_whole(root: &Path) -> Result<Workspace> {
        let host = host_platform(root)?;
        Workspace::load(root, &["--all-features", "--filter-platform", &host])
    }

    fn load(root: &Path, arguments: &[&str]) -> Result<Workspace> {
        let mut metadata = cargo::cargo(root);
        let json = cargo::output(metadata.args(["metadata", "--format-version", "1"]).args(arguments))?;
        serde_json::from_str(&json).context("failed to read what `cargo metadata` printed")
    }

    /// Our own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}

impl Target {
    /// Whether the target is of one of `kinds` (`lib`, `bin`, `test`, …).
    pub(crate) fn is_any(&self, kinds: &[&str]) -> bool {
        self.kind.iter().any(|kind| kinds.contains(&kind.as_str()))
    }
}

fn host_platform(root: &Path) -> Result<String> {
    let version = cargo::output(cargo::cargo(root).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`cargo -vV` named no host")?.to_owned())
}
