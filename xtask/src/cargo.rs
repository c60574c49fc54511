//! Starting other programs, and cargo in particular, from within `cargo run`.

use std::{
    env,
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Cargo at `root`, with the environment it would have had if the user had called it.
///
/// `cargo run` tells the program it starts about its package by `CARGO_PKG_*` and friends. Handed on, they reach
/// build scripts that watch them (ring's does), and everything above those would be built again each time
/// `cargo xtask` and plain `cargo` take turns.
pub(crate) fn cargo(root: &Path) -> Command {
    at(root, Command::new("cargo"))
}

/// [`cargo`], asked to end when we do: a run of the tests that is killed takes them along.
pub(crate) fn mortal_cargo(root: &Path) -> Command {
    if !is_there("setpriv", "--version") {
        return cargo(root);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "cargo"]);
    at(root, command)
}

fn at(root: &Path, mut command: Command) -> Command {
    command.current_dir(root);
    for (name, _) in env::vars_os() {
        if is_of_this_package(&name) {
            command.env_remove(name);
        }
    }
    command
}

fn is_of_this_package(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name == "CARGO"
        || ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Runs `command` on our terminal; anything but success is an error that names it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("failed to start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs `command` and gives what it printed; its complaints, if it fails, become the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("failed to start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// Whether `program` can be started at all.
pub(crate) fn is_there(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
