//! Why a program was not installed or removed.

use std::{io, path::PathBuf};

use crate::{integrity::Integrity, registry::PackageId};

/// What cannot be told in more detail.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a program was not installed. What was there before still is.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A version that is neither a number nor a tag.
    #[error("`{version}` is not a version of `{name}`")]
    Version {
        /// The agent.
        name: String,
        /// What was asked for.
        version: String,
    },
    /// A program of one's own that cannot be used.
    #[error("`{path}` cannot be installed as `{name}`: {problem}")]
    Local {
        /// The agent.
        name: String,
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A name that an agent cannot have.
    #[error("`{id}` cannot be the name of an agent: {problem}")]
    Id {
        /// The name.
        id: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A package that needs something which cannot be got.
    #[error("`{package}` needs `{needs}`, which the registry does not have")]
    Dependency {
        /// The package and its version.
        package: String,
        /// What it needs.
        needs: String,
    },
    /// A package that has nothing to start.
    #[error("`{package}` has no program")]
    NoBin {
        /// The package and its version.
        package: String,
    },
    /// A package whose program has to be chosen.
    #[error("`{package}` has {}: {}", match wanted { Some(bin) => format!("no program `{bin}`; it has"), None => "several programs".to_owned() }, names.join(", "))]
    Bins {
        /// The package and its version.
        package: String,
        /// The program that was asked for.
        wanted: Option<String>,
        /// Those there are.
        names: Vec<String>,
    },
    /// No agent of that name is in the table.
    #[error("there is no agent `{name}` to install")]
    UnknownAgent {
        /// The name.
        name: String,
    },
    /// The agent is not made for this kind of machine.
    #[error("`{package}` has no package for this machine ({platform})")]
    Platform {
        /// The agent's package.
        package: String,
        /// What this machine is.
        platform: String,
    },
    /// The registry has no such package, or not in that version.
    #[error("the registry has no `{package}`")]
    NotFound {
        /// The package and its version.
        package: String,
    },
    /// The registry cannot be reached, or refuses.
    #[error("failed to get `{package}` from the registry")]
    Registry {
        /// The package and its version.
        package: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// What the registry says about a package makes no sense.
    #[error("the registry's description of `{package}` cannot be used: {problem}")]
    Document {
        /// The package and its version.
        package: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A registry's address that is not used.
    #[error("the registry `{address}` is refused: {problem}")]
    Address {
        /// Scheme, host and port.
        address: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A lock file that was compiled in makes no sense.
    #[error("the lock file of `{name}` cannot be used: {problem}")]
    Lock {
        /// The agent, or the template.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No hash of the package is known, so it cannot be verified.
    #[error("this release of Warren has no hash for `{package}`")]
    Unpinned {
        /// The package and its version.
        package: String,
    },
    /// The package is not the one that was pinned.
    #[error("`{package}` has the wrong hash: expected {expected}, found {found}")]
    Integrity {
        /// The package and its version.
        package: String,
        /// The pinned hash.
        expected: String,
        /// The hash of what the registry has.
        found: String,
    },
    /// The package has something in it that must not be written.
    #[error("`{package}` cannot be unpacked: {problem}")]
    Package {
        /// The package and its version.
        package: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The package does not have the program in it.
    #[error("`{package}` has no file `{file}`")]
    NoProgram {
        /// The package and its version.
        package: String,
        /// The program's file.
        file: String,
    },
    /// The machine's pip does not install what it was told to.
    #[error("failed to install the packages for Python: {problem}")]
    Python {
        /// The last of what it said.
        problem: String,
    },
    /// The disk does not take it.
    #[error("failed to write `{path}`")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl InstallError {
    pub(crate) fn integrity(package: &PackageId, expected: Integrity, found: Option<Integrity>) -> Self {
        InstallError::Integrity {
            package: package.to_string(),
            expected: expected.to_string(),
            found: found.map_or_else(|| "none".to_owned(), |found| found.to_string()),
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            InstallError::UnknownAgent { .. } => Some("`warren agents list` lists agents"),
            InstallError::Id { .. } => Some("choose another name with `--id NAME`"),
            InstallError::NoBin { .. } => Some("an agent is a package with a program that speaks ACP"),
            InstallError::Bins { .. } => Some("choose one of them with `--bin NAME`"),
            InstallError::Version { .. } => Some("write a version such as `2.1.326`, or `latest`"),
            InstallError::NotFound { .. }
            | InstallError::Document { .. }
            | InstallError::Dependency { .. } => {
                Some("check that `agents.registry` names an npm registry with the public packages")
            }
            InstallError::Registry { .. } => {
                Some("check that this machine can reach the registry in `agents.registry`, and retry")
            }
            InstallError::Integrity { .. } => Some(
                "retry; if it persists, do not trust the registry in `agents.registry`: it serves another \
                 package than the one that was pinned",
            ),
            InstallError::Address { .. } => Some(
                "write an address with `https://` in `agents.registry`; if you trust the network to the registry, set \
                 `agents.allow_http_registry = true`: packages are verified by their hashes all the same",
            ),
            InstallError::Lock { .. } | InstallError::Unpinned { .. } => Some(
                "this build of Warren is broken: use another build, or run `cargo xtask lock-agents` and build it",
            ),
            InstallError::Python { .. } => Some(
                "check that `python3 -m pip` works and can reach its index, or leave it out with `--no-python`",
            ),
            InstallError::Write { .. } => {
                Some("check that there is free space, and that the directory is writable")
            }
            InstallError::Local { .. }
            | InstallError::Platform { .. }
            | InstallError::Package { .. }
            | InstallError::NoProgram { .. } => None,
        }
    }
}

/// Why a program was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// It is not there.
    #[error("`{name}` is not installed")]
    NotInstalled {
        /// The agent.
        name: String,
    },
    /// The disk does not let it go.
    #[error("failed to remove `{path}`")]
    Remove {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}
