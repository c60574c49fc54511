//! Builds the guest, a static program for the same machine, and packs it for the program that carries it.
//!
//! A nested cargo with a target directory of its own: no lock is shared with the build that runs this, and the flag
//! that makes the guest static applies to nothing else.
#![allow(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::{
    env,
    error::Error,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};

/// What the guest is made of.
const SOURCES: [&str; 7] = [
    "crates/guest",
    "crates/guest-api",
    "crates/link",
    "crates/domain",
    "crates/tree",
    "Cargo.toml",
    "Cargo.lock",
];

/// Names a guest that was built elsewhere, for packagers whose builds must not nest.
const PREBUILT: &str = "WARREN_PREBUILT_GUEST";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    let guest = match env::var_os(PREBUILT) {
        Some(prebuilt) => {
            let prebuilt = PathBuf::from(prebuilt);
            println!("cargo::rerun-if-changed={}", prebuilt.display());
            prebuilt
        }
        None => build(&root, &format!("{}-unknown-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH")?))?,
    };
    println!("cargo::rustc-env=WARREN_GUEST={}", guest.display());
    pack(&fs::read(guest)?)
}

/// Packed, it is a third as large; and who finds it unpacked, by its hash, does not have to read it at all.
fn pack(guest: &[u8]) -> Result<(), Box<dyn Error>> {
    let packed = PathBuf::from(env::var("OUT_DIR")?).join("guest.gz");
    let mut file = GzEncoder::new(fs::File::create(&packed)?, Compression::best());
    file.write_all(guest)?;
    file.finish()?;
    println!("cargo::rustc-env=WARREN_GUEST_PACKED={}", packed.display());
    println!("cargo::rustc-env=WARREN_GUEST_HASH={}", blake3::hash(guest).to_hex());
    Ok(())
}

/// Whoever waits for the first start waits for this too: a guest that is a few megabytes larger is there much sooner.
#[rustfmt::skip]
const SOON: [&str; 6] = [
    "--config", "profile.guest.opt-level=1",
    "--config", "profile.guest.lto=\"off\"",
    "--config", "profile.guest.codegen-units=16",
];

/// In a debug build what counts is how soon it is built again.
const AGAIN: [&str; 2] = ["--config", "profile.guest.incremental=true"];

fn build(root: &Path, target: &str) -> Result<PathBuf, Box<dyn Error>> {
    // `PROFILE` only knows `debug` and `release`; the directory tells profiles apart that come of either.
    let (target_directory, profile) = products()?;
    let directory = target_directory.join(format!("guest-{profile}"));
    let mut cargo = cargo()?;
    cargo
        .current_dir(root)
        .args(["build", "--package", "warren-guest", "--bin", "warren-guest", "--profile", "guest"])
        .args(["--target", target, "--target-dir"])
        .arg(&directory)
        .env("RUSTFLAGS", "-C target-feature=+crt-static");
    if profile != "release" {
        cargo.args(SOON);
    }
    if profile == "debug" {
        cargo.args(AGAIN);
    }
    if !cargo.status()?.success() {
        return Err("the guest does not build".into());
    }
    Ok(directory.join(target).join("guest").join("warren-guest"))
}

/// Cargo without what the outer cargo, clippy or rustdoc has put into the environment for its own use.
fn cargo() -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(env::var("CARGO")?);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let is_ours = (name.starts_with("CARGO") && name != "CARGO_HOME")
            || matches!(
                &*name,
                "RUSTFLAGS" | "RUSTC" | "RUSTDOC" | "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER"
            );
        if is_ours {
            command.env_remove(&*name);
        }
    }
    Ok(command)
}

/// The target directory and the name of the profile: `OUT_DIR` is `<target>/<profile>/build/<package>/out`, with one more
/// level when a target was named.
fn products() -> Result<(PathBuf, String), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let build = out.ancestors().find(|path| path.file_name().is_some_and(|name| name == "build"));
    let profile = build.and_then(Path::parent).ok_or("OUT_DIR is not where cargo puts it")?;
    let name = profile.file_name().ok_or("OUT_DIR has no profile")?.to_string_lossy().into_owned();
    Ok((profile.parent().ok_or("OUT_DIR has no target directory")?.to_owned(), name))
}
