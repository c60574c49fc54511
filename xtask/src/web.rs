//! The page: a node that is new enough, its packages, and its scripts. What was done for the same input is not done again.

use std::{
    env,
    ffi::OsString,
    fs,
    hash::{DefaultHasher, Hasher as _},
    io,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{cargo, packages, tree};

/// The oldest node that the page's tools work with.
const OLDEST_NODE: (u32, u32) = (20, 19);

/// The npm package that brings a node along where the system's is older.
const NODE_PACKAGE: &str = "node@22";

/// Remembers, in `node_modules`, of which lock file it was made.
const INSTALLED: &str = ".warren-lock";

/// Remembers, in `dist`, of which files it was made.
const BUILT: &str = ".warren-built";

/// The page's directory, and the node it is built with.
pub(crate) struct Web {
    directory: PathBuf,
    /// Goes before everything else that is found by name.
    node: Option<PathBuf>,
}

impl Web {
    /// The page of this tree, with a node to build it. `None`: there is no page.
    pub(crate) fn prepare(root: &Path, target: &Path) -> Result<Option<Web>> {
        let directory = root.join("web");
        if !directory.join("package.json").is_file() {
            return Ok(None);
        }
        let (node, npm) = (node_version().is_some(), cargo::is_there("npm", "--version"));
        packages::ensure(&[("nodejs", node), ("npm", npm)]).context("the page is built with node and npm")?;
        let node = if is_new_enough(node_version()) { None } else { Some(newer_node(target)?) };
        Ok(Some(Web { directory, node }))
    }

    /// Fetches what the lock file names.
    pub(crate) fn install(&self) -> Result<()> {
        let lock = self.directory.join("package-lock.json");
        let bytes = fs::read(&lock).with_context(|| format!("failed to read `{}`", lock.display()))?;
        let mark = self.directory.join("node_modules").join(INSTALLED);
        if is_marked(&mark, &fingerprint([bytes.as_slice()])) {
            return Ok(());
        }
        eprintln!("· fetching what the page is built with (npm install)");
        // Not `npm ci`: it refuses a lock file that leaves out other systems' optional packages, as npm writes it.
        let mut install = self.npm();
        install.args(["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
        // What a verb prints for scripts stands alone on standard output.
        cargo::run(install.stdout(io::stderr()))?;
        note(&mark, &fingerprint([bytes.as_slice()]))
    }

    /// Makes `dist`, which becomes a part of the program.
    pub(crate) fn build(&self) -> Result<()> {
        self.install()?;
        let mark = self.directory.join("dist").join(BUILT);
        let sources = self.sources()?;
        if is_marked(&mark, &sources) {
            return Ok(());
        }
        eprintln!("· building the page");
        cargo::run(self.npm().args(["run", "--silent", "build"]).stdout(io::stderr()))?;
        note(&mark, &sources)
    }

    /// Runs one of the page's own scripts.
    pub(crate) fn script(&self, name: &str, variables: &[(&str, &Path)]) -> Result<()> {
        let mut script = self.npm();
        script.args(["run", "--silent", name]).envs(variables.iter().copied());
        cargo::run(&mut script)
    }

    /// Whether the stories that a browser walks are there.
    pub(crate) fn has_stories(&self) -> bool {
        self.directory.join("e2e").is_dir()
    }

    fn npm(&self) -> Command {
        let mut command = Command::new("npm");
        command.current_dir(&self.directory);
        if let Some(node) = &self.node {
            command.env("PATH", before_path(node));
        }
        command
    }

    /// What the page is made of, in a few bytes: every file that is written by hand, and the description of the API.
    fn sources(&self) -> Result<String> {
        let mut all = Vec::new();
        for path in tree::files(&self.directory)? {
            let bytes = fs::read(self.directory.join(&path));
            all.push(path.to_string_lossy().into_owned().into_bytes());
            all.push(bytes.with_context(|| format!("failed to read `{}`", path.display()))?);
        }
        Ok(fingerprint(all.iter().map(Vec::as_slice)))
    }
}

#[expect(clippy::disallowed_methods, reason = "whatever is started here is found by it")]
fn before_path(directory: &Path) -> OsString {
    let rest = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(directory.to_path_buf()).chain(env::split_paths(&rest));
    // A directory with a colon in its name cannot be on the path; then the one that is there has to do.
    env::join_paths(all).unwrap_or(rest)
}

/// A node of its own beneath the build's products.
fn newer_node(target: &Path) -> Result<PathBuf> {
    let place = target.join("node");
    let bin = place.join("node_modules/node/bin");
    if !bin.join("node").is_file() {
        let (major, minor) = OLDEST_NODE;
        eprintln!("· node is older than {major}.{minor}: fetching a newer one (npm)");
        fs::create_dir_all(&place).with_context(|| format!("failed to make `{}`", place.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(&place)
            .arg(NODE_PACKAGE);
        cargo::run(&mut npm)?;
    }
    if !bin.join("node").is_file() {
        bail!(
            "the npm package `{NODE_PACKAGE}` brought no node\nhint: install node {} or newer",
            OLDEST_NODE.0
        );
    }
    Ok(bin)
}

fn node_version() -> Option<String> {
    cargo::output(Command::new("node").arg("--version")).ok()
}

fn is_new_enough(version: Option<String>) -> bool {
    let version = version.unwrap_or_default();
    let mut parts = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST_NODE,
        _ => false,
    }
}

fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    format!("{:016x}", hasher.finish())
}

fn is_marked(mark: &Path, fingerprint: &str) -> bool {
    fs::read_to_string(mark).is_ok_and(|found| found == fingerprint)
}

fn note(mark: &Path, fingerprint: &str) -> Result<()> {
    fs::write(mark, fingerprint).with_context(|| format!("failed to write `{}`", mark.display()))
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, is_marked, is_new_enough, note};

    #[test]
    fn a_node_is_new_enough_from_the_oldest_that_works() {
        let check = |version: &str| is_new_enough(Some(version.to_owned()));
        assert_eq!(["v20.19.0\n", "v22.0.1", "v100.1.0"].map(check), [true; 3]);
        assert_eq!(["v18.20.4", "v20.18.9", "", "node"].map(check), [false; 4]);
        assert!(!is_new_enough(None));
    }

    #[test]
    fn what_was_done_is_known_by_what_it_was_done_for() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("mark");
        let first = fingerprint([&b"a"[..], b"bc"]);
        assert!(!is_marked(&mark, &first));
        note(&mark, &first).unwrap();
        assert!(is_marked(&mark, &first));
        assert_ne!(fingerprint([&b"ab"[..], b"c"]), first, "where one part ends counts");
    }
}
