//! Lock files: the packages of an agent or of the template layer, each in one version with its SHA-512.
//!
//! They are part of this repository and of the program. A registry says where a package is, never what it is.
//! The format is npm's `package-lock.json`, as far as it is needed here.

mod make;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use make::lock_of_version;
pub use make::{LockError, LockFile, lock_file};

use crate::{Agent, InstallError, integrity::Integrity, plan::Platform, registry::PackageId};

/// Where a package stands in a lock file, before its name.
const NODE_MODULES: &str = "node_modules/";

/// A lock file.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Lock {
    name: String,
    #[serde(rename = "lockfileVersion")]
    format: u32,
    /// By place; the empty place is the root, which names what was asked for.
    packages: BTreeMap<String, Locked>,
}

/// A package as a lock file names it.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Locked {
    /// Its name in the registry, if its place says another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integrity: Option<String>,
    /// The processors it is for; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cpu: Vec<String>,
    /// Its programs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    bin: BTreeMap<String, String>,
    /// Of the root: what was asked for, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    dependencies: BTreeMap<String, String>,
}

/// A package in one version, with the only hash that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pinned {
    pub(crate) id: PackageId,
    pub(crate) integrity: Integrity,
}

/// A pinned package, and where its files go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) pinned: Pinned,
    /// `node_modules/next`
    pub(crate) directory: String,
    /// Its programs, by name.
    pub(crate) bin: BTreeMap<String, String>,
}

/// A package in its place, as it was resolved.
pub(crate) struct Resolved {
    /// Its name in the registry, if its place says another one.
    pub(crate) name: Option<String>,
    pub(crate) version: String,
    pub(crate) integrity: Integrity,
    pub(crate) bin: BTreeMap<String, String>,
}

impl Lock {
    /// The lock file of a package with everything that it needs.
    pub(crate) fn of_tree(
        owner: &str,
        (package, version): (&str, &str),
        resolved: impl Iterator<Item = (String, Resolved)>,
    ) -> Lock {
        let dependencies = BTreeMap::from([(package.to_owned(), version.to_owned())]);
        let root = Locked { dependencies, ..Locked::default() };
        let mut packages = BTreeMap::from([(String::new(), root)]);
        packages.extend(resolved.map(|(place, it)| {
            let (version, integrity) = (Some(it.version), Some(it.integrity.to_string()));
            (place, Locked { name: it.name, version, integrity, bin: it.bin, ..Locked::default() })
        }));
        Lock { name: owner.to_owned(), format: 3, packages }
    }

    /// Reads the lock file of `owner`.
    pub(crate) fn parse(owner: &str, text: &str) -> Result<Lock, InstallError> {
        serde_json::from_str(text).map_err(|_| broken(owner, "it is not a lock file"))
    }

    /// Reads an agent's lock file.
    ///
    /// # Errors
    /// When it is broken, or was made for another version.
    pub(crate) fn of(agent: &Agent) -> Result<Lock, InstallError> {
        let lock = Lock::parse(agent.name, agent.lock)?;
        if lock.version_of(agent.package) == Some(agent.version) {
            return Ok(lock);
        }
        Err(InstallError::Unpinned { package: format!("{}@{}", agent.package, agent.version) })
    }

    /// The package that is known as `name`.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Pinned>, InstallError> {
        let place = format!("{NODE_MODULES}{name}");
        self.packages.get(&place).map(|locked| self.pinned(&place, locked)).transpose()
    }

    /// The programs of the package that is known as `name`.
    pub(crate) fn bin(&self, name: &str) -> BTreeMap<String, String> {
        self.packages
            .get(&format!("{NODE_MODULES}{name}"))
            .map(|locked| locked.bin.clone())
            .unwrap_or_default()
    }

    /// The version that was asked for.
    pub(crate) fn version_of(&self, package: &str) -> Option<&str> {
        self.packages.get("").and_then(|root| root.dependencies.get(package)).map(String::as_str)
    }

    /// Whether the lock file has a package under this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.packages.contains_key(&format!("{NODE_MODULES}{name}"))
    }

    /// Whether a package of this name and version has this hash.
    pub(crate) fn allows(&self, id: &PackageId, integrity: &str) -> bool {
        let is_it = |(place, locked): (&String, &Locked)| {
            self.pinned(place, locked)
                .is_ok_and(|pinned| pinned.id == *id && Some(pinned.integrity) == Integrity::parse(integrity))
        };
        self.packages.iter().filter(|(place, _)| !place.is_empty()).any(is_it)
    }

    /// Every package for one kind of machine.
    pub(crate) fn placed(&self, platform: &Platform) -> Result<Vec<Placed>, InstallError> {
        let is_ours =
            |locked: &Locked| locked.cpu.is_empty() || locked.cpu.iter().any(|it| it == platform.cpu());
        let packages = self.packages.iter().filter(|(place, locked)| !place.is_empty() && is_ours(locked));
        let placed = packages.map(|(place, locked)| {
            let pinned = self.pinned(place, locked)?;
            Ok(Placed { pinned, directory: place.clone(), bin: locked.bin.clone() })
        });
        placed.collect()
    }

    fn pinned(&self, place: &str, locked: &Locked) -> Result<Pinned, InstallError> {
        let known_as = place.rsplit(NODE_MODULES).next().unwrap_or_default();
        let name = locked.name.as_deref().unwrap_or(known_as).to_owned();
        let version = locked.version.clone().ok_or_else(|| broken(&self.name, "a package has no version"))?;
        let id = PackageId { name, version };
        let Some(integrity) = &locked.integrity else {
            return Err(InstallError::Unpinned { package: id.to_string() });
        };
        let integrity = Integrity::parse(integrity);
        let integrity = integrity.ok_or_else(|| broken(&self.name, "a package's hash is not a SHA-512"))?;
        Ok(Pinned { id, integrity })
    }

    /// Packages that no hash is known of.
    fn without_hash(&self) -> Vec<String> {
        let refused = |(place, locked): (&String, &Locked)| match self.pinned(place, locked) {
            Err(InstallError::Unpinned { package }) => Some(package),
            _ => None,
        };
        self.packages.iter().filter(|(place, _)| !place.is_empty()).filter_map(refused).collect()
    }
}

fn broken(owner: &str, problem: &'static str) -> InstallError {
    InstallError::Lock { name: owner.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::Lock;
    use crate::{
        AGENTS, InstallError,
        plan::{Platform, plan},
    };

    /// Packages that the registry did not have when their agent was pinned. Their agent cannot be installed there.
    const UNPUBLISHED: &[&str] = &["opencode-linux-arm64@1.18.33"];

    #[test]
    fn every_pinned_version_has_its_hashes_for_every_platform() {
        let mut without_hash = Vec::new();
        for agent in AGENTS {
            let lock =
                Lock::of(agent).unwrap_or_else(|error| panic!("{error}; run `cargo xtask lock-agents`"));
            for platform in Platform::ALL {
                match plan(agent, &platform, &lock) {
                    Ok(parts) => assert!(!parts.is_empty(), "{} on {}", agent.name, platform.name),
                    Err(InstallError::Unpinned { package }) => without_hash.push(package),
                    Err(error) => panic!("{}: {error}", agent.name),
                }
            }
        }
        assert_eq!(without_hash, UNPUBLISHED, "run `cargo xtask lock-agents`");
    }

    #[test]
    fn a_lock_file_of_another_version_is_refused() {
        let agent = crate::Agent { version: "0.0.1", ..AGENTS[0] };
        let error = Lock::of(&agent).expect_err("refused");
        assert_eq!(
            error.to_string(),
            format!("this release of Warren has no hash for `{}@0.0.1`", agent.package)
        );
    }

    #[test]
    fn a_package_without_a_strong_hash_is_refused() {
        for hash in ["", r#", "integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=""#] {
            let text = format!(
                r#"{{"name": "it", "lockfileVersion": 3, "packages": {{"node_modules/a": {{"version": "1.0.0"{hash}}}}}}}"#
            );
            let lock = Lock::parse("it", &text).expect("a lock file");
            assert!(lock.find("a").is_err(), "{hash}");
            assert!(lock.placed(&Platform::ALL[0]).is_err(), "{hash}");
        }
    }
}
