//! Packages for Python, by this machine's own pip: it knows where its index is.
//!
//! Wheels only, each with a hash that is named beside this crate: pip unpacks them and runs nothing of them.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{InstallError, InstalledPackage, Progress, Report};

/// Every package with the hashes of its wheels, for each kind of machine.
pub(crate) const REQUIREMENTS: &str = include_str!("../layer/requirements.txt");
/// Where they are in the layer.
pub(crate) const DIRECTORY: &str = "python";
/// The Pythons that a sandbox finds, in its order.
const INTERPRETERS: [&str; 2] = ["/usr/local/bin/python3", "/usr/bin/python3"];
/// How much of a complaint is shown.
const TAIL: usize = 600;

/// The Python that sandboxes see, if there is one.
pub(crate) fn interpreter() -> Option<PathBuf> {
    INTERPRETERS.into_iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Installs all of them into `draft`, if there is a Python.
pub(crate) async fn install(draft: &Path, report: &Report) -> Result<Vec<InstalledPackage>, InstallError> {
    let Some(interpreter) = interpreter() else {
        tracing::warn!("there is no python3 that sandboxes would see, so the layer has no packages for it");
        return Ok(Vec::new());
    };
    let packages = packages(REQUIREMENTS);
    report(Progress::Resolving { package: format!("{} packages for Python", packages.len()) });
    let failed = |problem: String| InstallError::Python { problem };
    let list = tempfile::NamedTempFile::new().map_err(|error| failed(error.to_string()))?;
    std::fs::write(list.path(), REQUIREMENTS).map_err(|error| failed(error.to_string()))?;
    let output = Command::new(interpreter)
        .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args([
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--root-user-action=ignore",
            "--target",
        ])
        .arg(draft.join(DIRECTORY))
        .arg("--requirement")
        .arg(list.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(packages);
    }
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let from = complaint.floor_char_boundary(complaint.len().saturating_sub(TAIL));
    Err(failed(complaint[from..].to_owned()))
}

/// The packages of a list, each with the first of its hashes.
fn packages(requirements: &str) -> Vec<InstalledPackage> {
    let lines = requirements.lines().filter(|line| !line.starts_with(['#', ' ']));
    let package = |line: &str| {
        let (name, rest) = line.trim_end_matches(['\\', ' ']).split_once("==")?;
        let version = rest.split_whitespace().next()?.to_owned();
        let after = requirements.split_once(line)?.1;
        let integrity = after.split_once("--hash=")?.1.split_whitespace().next()?.to_owned();
        Some(InstalledPackage { name: name.to_owned(), version, integrity })
    };
    lines.filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::{REQUIREMENTS, packages};

    #[test]
    fn every_package_has_an_exact_version_and_a_hash() {
        let packages = packages(REQUIREMENTS);
        assert!(packages.iter().any(|package| package.name == "matplotlib"), "{packages:?}");
        for package in packages {
            assert!(package.version.starts_with(|first: char| first.is_ascii_digit()), "{package:?}");
            assert!(package.integrity.starts_with("sha256:"), "{package:?}");
        }
    }
}
