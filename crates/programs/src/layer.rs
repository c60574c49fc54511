//! What the apps and scripts of the outputs template need: packages for Node and for Python, in one directory that
//! every sandbox sees read-only.
//!
//! The lock file beside this crate names each package with its hash, so nothing is resolved and nothing is run.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use crate::{
    InstallError, Installed, InstalledPackage, Programs, Progress, RemoveError, Report,
    archive::make_runnable,
    integrity::Hasher,
    lock::{Lock, Placed},
    place::{Held, Place, make_directory, remove_if_there},
    plan::{Part, Platform},
    python,
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
        let registry = self.registry()?;
        let downloads = self.downloads(draft)?;
        let (mut packages, mut size_bytes) = (Vec::new(), 0);
        for placed in Lock::parse(NAME, LOCK)?.placed(&Platform::this())? {
            report(Progress::Resolving { package: placed.pinned.id.to_string() });
            let part = Part::locate(&placed, &registry).await?;
            size_bytes += self.unpack(&part, &registry, &downloads, draft, report, held).await?;
            link_programs(draft, &placed)
                .map_err(|source| InstallError::Write { path: draft.join(NODE), source })?;
            packages.push(InstalledPackage {
                name: placed.pinned.id.name,
                version: placed.pinned.id.version,
                integrity: placed.pinned.integrity.to_string(),
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

/// Makes a package's programs what npm would find.
fn link_programs(draft: &Path, placed: &Placed) -> io::Result<()> {
    let bin = draft.join(NODE).join(".bin");
    for (name, file) in &placed.bin {
        make_directory(&bin)?;
        let inside = placed.directory.trim_start_matches("node_modules/");
        symlink(format!("../{inside}/{}", file.trim_start_matches("./")), bin.join(name))?;
        make_runnable(&draft.join(&placed.directory).join(file))?;
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
    use super::{LOCK, Lock, NAME, Platform};

    fn names(platform: &Platform) -> Vec<String> {
        let lock = Lock::parse(NAME, LOCK).expect("the lock file is right");
        let placed = lock.placed(platform).expect("the lock file is right");
        placed.into_iter().map(|placed| placed.pinned.id.name).collect()
    }

    #[test]
    fn the_lock_file_has_what_an_app_needs_on_each_kind_of_machine_and_nothing_of_the_other() {
        let [x64, _, arm64] = Platform::ALL;
        for (platform, own, other) in [(x64, "x64", "arm64"), (arm64, "arm64", "x64")] {
            let names = names(&platform);
            let platform = platform.name;
            for name in ["next", "react", "react-dom", "typescript", &format!("@next/swc-linux-{own}-gnu")] {
                assert!(names.iter().any(|it| it == name), "{platform}: {name}");
            }
            assert!(!names.iter().any(|name| name.contains(other)), "{platform}: {names:?}");
        }
    }
}
