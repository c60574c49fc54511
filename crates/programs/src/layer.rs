//! What the apps and scripts of the outputs template need: packages for Node and for Python, in one directory that
//! every sandbox sees read-only.
//!
//! The lock file beside this crate names each package with its hash, so nothing is resolved and nothing is run.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    InstallError, Installed, InstalledPackage, Programs, Progress, RemoveError, Report,
    archive::make_runnable,
    integrity::{Hasher, Integrity},
    place::{Held, Place, make_directory, remove_if_there},
    plan::{Part, Platform},
    python,
    registry::{PackageId, Registry},
};

/// The name of its directory, beside those of agents.
const NAME: &str = "template";
/// Every package for Node, for each kind of machine.
const LOCK: &str = include_str!("../layer/package-lock.json");
/// Where packages for Node are in the layer.
const NODE: &str = "node_modules";
/// What shows that they are there.
const PROGRAM: &str = "node_modules/next/dist/bin/next";

/// Whether packages for Python belong to a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Python {
    /// They do, if this machine has a Python that sandboxes see.
    IfThere,
    /// They do not.
    Without,
}

impl Python {
    /// Whether a layer has what was asked for, as far as this machine can have it.
    fn is_met_by(self, installed: &Installed) -> bool {
        self == Python::Without || installed.python_packages().is_some() || python::interpreter().is_none()
    }
}

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Locked>,
}

/// A package as `package-lock.json` names it, by its place.
#[derive(Deserialize)]
struct Locked {
    version: Option<String>,
    integrity: Option<String>,
    /// The processors it is for; all if there are none.
    #[serde(default)]
    cpu: Vec<String>,
    /// Its programs, by name.
    #[serde(default)]
    bin: BTreeMap<String, String>,
}

/// A package that belongs to the layer on this machine.
struct Wanted {
    id: PackageId,
    integrity: Integrity,
    directory: String,
    bin: BTreeMap<String, String>,
}

impl Installed {
    /// A layer's packages for Node.
    #[must_use]
    pub fn node_packages(&self) -> Option<PathBuf> {
        Some(self.directory.join(NODE)).filter(|path| path.is_dir())
    }

    /// A layer's packages for Python.
    #[must_use]
    pub fn python_packages(&self) -> Option<PathBuf> {
        Some(self.directory.join(python::DIRECTORY)).filter(|path| path.is_dir())
    }
}

impl Programs {
    /// The layer, if it is installed; maybe an older one.
    #[must_use]
    pub fn layer(&self) -> Option<Installed> {
        self.layer_place().read()
    }

    /// What a layer that were made now would be called: another name for other packages.
    #[must_use]
    pub fn layer_version() -> String {
        let mut hasher = Hasher::new();
        hasher.update(LOCK.as_bytes());
        hasher.update(python::REQUIREMENTS.as_bytes());
        let name = hasher.finish().map(|hash| hash.file_name()).unwrap_or_default();
        name.chars().take(16).collect()
    }

    /// Installs the layer, unless it is there. Two at once do not clash.
    ///
    /// # Errors
    /// When a package cannot be got, verified or written. What was installed before stays.
    pub async fn layer_install(&self, python: Python, report: &Report) -> Result<Installed, InstallError> {
        self.make_root()?;
        let place = self.layer_place();
        let held = place.lock(Some(report)).await?;
        let version = Self::layer_version();
        let is_enough = |installed: &Installed| installed.version == version && python.is_met_by(installed);
        if let Some(installed) = place.read().filter(is_enough) {
            return Ok(installed);
        }
        let draft = place.draft(&held)?;
        let made = self.layer_make(python, &draft, report, &held).await;
        let published = made.and_then(|installed| place.publish(&draft, installed, &held));
        if published.is_err()
            && let Err(error) = remove_if_there(&draft)
        {
            // It is no installation, and the next one begins by removing it.
            tracing::warn!(%error, "what a failed installation left was not removed");
        }
        published
    }

    /// Removes the layer. New sessions begin without the template then.
    ///
    /// # Errors
    /// When there is none, or the disk does not let it go.
    pub async fn layer_remove(&self) -> Result<(), RemoveError> {
        self.clear(&self.layer_place(), NAME).await
    }

    async fn layer_make(
        &self,
        python: Python,
        draft: &Path,
        report: &Report,
        held: &Held,
    ) -> Result<Installed, InstallError> {
        let registry = self.registry(NAME)?;
        let downloads = self.downloads(draft)?;
        let (mut packages, mut size_bytes) = (Vec::new(), 0);
        for wanted in wanted(LOCK, &Platform::this())? {
            report(Progress::Resolving { package: wanted.id.to_string() });
            let part = part(&wanted, &registry).await?;
            size_bytes += self.unpack(&part, &registry, &downloads, draft, report, held).await?;
            link_programs(draft, &wanted)
                .map_err(|source| InstallError::Write { path: draft.join(NODE), source })?;
            packages.push(InstalledPackage {
                name: wanted.id.name,
                version: wanted.id.version,
                integrity: wanted.integrity.to_string(),
            });
        }
        if python == Python::IfThere {
            packages.extend(python::install(draft, report).await?);
            let found = draft.join(python::DIRECTORY);
            size_bytes +=
                open_up(&found).map_err(|source| InstallError::Write { path: found.clone(), source })?;
        }
        self.drop_downloads(&downloads)?;
        if !draft.join(PROGRAM).is_file() {
            let (package, file) = (NAME.to_owned(), PROGRAM.to_owned());
            return Err(InstallError::NoProgram { package, file });
        }
        Ok(Installed {
            name: NAME.to_owned(),
            version: Self::layer_version(),
            packages,
            size_bytes,
            installed_at: self.now(),
            file: PROGRAM.to_owned(),
            interpreter: Some("node".to_owned()),
            path: Vec::new(),
            directory: PathBuf::new(),
        })
    }

    fn layer_place(&self) -> Place {
        Place::new(self.root(), NAME)
    }
}

/// The packages of a lock file that are for this machine.
fn wanted(lock: &str, platform: &Platform) -> Result<Vec<Wanted>, InstallError> {
    let broken = |problem| InstallError::Document { package: NAME.to_owned(), problem };
    let lock: Lock = serde_json::from_str(lock).map_err(|_| broken("it is no lock file"))?;
    let cpu = platform.name.rsplit('-').next().unwrap_or_default();
    let is_ours = |locked: &Locked| locked.cpu.is_empty() || locked.cpu.iter().any(|name| name == cpu);
    let packages = lock.packages.into_iter().filter(|(at, locked)| !at.is_empty() && is_ours(locked));
    let wanted = packages.map(|(directory, locked)| {
        let name = directory.rsplit("node_modules/").next().unwrap_or_default().to_owned();
        let version = locked.version.ok_or_else(|| broken("a package has no version"))?;
        let integrity = locked.integrity.as_deref().and_then(Integrity::parse);
        let integrity = integrity.ok_or_else(|| broken("a package has no SHA-512"))?;
        Ok(Wanted { id: PackageId { name, version }, integrity, directory, bin: locked.bin })
    });
    wanted.collect()
}

/// Where the registry has it is the registry's to say; what it is, is not.
async fn part(wanted: &Wanted, registry: &Registry) -> Result<Part, InstallError> {
    let mut package = registry.describe(&wanted.id).await?;
    package.integrity = wanted.integrity;
    Ok(Part { package, directory: wanted.directory.clone() })
}

/// Makes a package's programs what npm would find.
fn link_programs(draft: &Path, wanted: &Wanted) -> io::Result<()> {
    let bin = draft.join(NODE).join(".bin");
    for (name, file) in &wanted.bin {
        make_directory(&bin)?;
        let inside = wanted.directory.trim_start_matches("node_modules/");
        symlink(format!("../{inside}/{}", file.trim_start_matches("./")), bin.join(name))?;
        make_runnable(&draft.join(&wanted.directory).join(file))?;
    }
    Ok(())
}

/// Lets every sandbox's user read what is in a directory, whatever mask it was written under. Counts its bytes.
fn open_up(directory: &Path) -> io::Result<u64> {
    if !directory.exists() {
        return Ok(0);
    }
    let mut n_bytes = 0;
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_dir() {
            n_bytes += open_up(&entry.path())?;
        } else if found.is_file() {
            let runnable = if found.permissions().mode() & 0o100 == 0 { 0o644 } else { 0o755 };
            fs::set_permissions(entry.path(), Permissions::from_mode(runnable))?;
            n_bytes += found.len();
        }
    }
    Ok(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::{LOCK, Platform, wanted};

    fn names(platform: &'static str) -> Vec<String> {
        let platform = Platform { name: platform, triple: "t", is_baseline: false };
        let wanted = wanted(LOCK, &platform).expect("the lock file is right");
        wanted.into_iter().map(|wanted| wanted.id.name).collect()
    }

    #[test]
    fn the_lock_file_has_what_an_app_needs_on_each_kind_of_machine_and_nothing_of_the_other() {
        for (platform, own, other) in [("linux-x64", "x64", "arm64"), ("linux-arm64", "arm64", "x64")] {
            let names = names(platform);
            for name in ["next", "react", "react-dom", "typescript", &format!("@next/swc-linux-{own}-gnu")] {
                assert!(names.iter().any(|it| it == name), "{platform}: {name}");
            }
            assert!(!names.iter().any(|name| name.contains(other)), "{platform}: {names:?}");
        }
    }

    #[test]
    fn a_package_without_a_strong_hash_is_refused() {
        let platform = Platform { name: "linux-x64", triple: "t", is_baseline: false };
        for hash in ["", r#", "integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=""#] {
            let lock = format!(r#"{{"packages": {{"node_modules/a": {{"version": "1.0.0"{hash}}}}}}}"#);
            assert!(wanted(&lock, &platform).is_err(), "{hash}");
        }
    }
}
