//! System packages: what a verb needs from Debian, installed if we may, else the one command that does it.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::cargo;

/// Makes sure that each of `packages` is there: `(package, whether it already is)`.
pub(crate) fn ensure(packages: &[(&str, bool)]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let may = rustix::process::geteuid().is_root() && cargo::is_there("apt-get", "--version");
    if !may {
        bail!(
            "not installed: {names}\nhint: run `sudo apt-get install -y --no-install-recommends {names}`, then this again"
        );
    }
    eprintln!("· installing {names} (apt-get)");
    if missing.contains(&"postgresql") {
        keep_postgresql_from_starting()?;
    }
    if let Err(error) = cargo::output(&mut apt_get(&["update", "-qq"])) {
        // One unreachable source among many is no reason to stop: the lists that are there may do.
        eprintln!("warning: {error:#}");
    }
    cargo::output(apt_get(&["install", "-y", "-qq", "--no-install-recommends"]).args(&missing)).map(drop)
}

/// Bubblewrap, as [`ensure`] wants it.
pub(crate) fn bubblewrap() -> (&'static str, bool) {
    ("bubblewrap", cargo::is_there("bwrap", "--version"))
}

/// A part of LibreOffice without its windows, as [`ensure`] wants it: known by a library that no other part has.
pub(crate) fn libreoffice(package: &'static str, library: &str) -> (&'static str, bool) {
    (package, Path::new("/usr/lib/libreoffice/program").join(library).exists())
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("UCF_FORCE_CONFFOLD", "1");
    command
}

/// Debian's server package makes a cluster and starts it when it is installed. Nobody asked for that one: tests
/// bring their own. A file that is there is the administrator's word and stays.
fn keep_postgresql_from_starting() -> Result<()> {
    let path = Path::new("/etc/postgresql-common/createcluster.conf");
    if path.exists() {
        return Ok(());
    }
    fs::create_dir_all("/etc/postgresql-common")
        .and_then(|()| fs::write(path, "create_main_cluster = false\n"))
        .with_context(|| format!("failed to write `{}`", path.display()))
}
