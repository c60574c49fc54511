//! The Landlock rules that every exec'd child is put under: a wall behind the mounts.

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};
use warren_guest_api::Landlock;

use crate::{
    args::{Args, LandlockMode},
    sys,
};

/// The newest ABI our rules were written for; on an older kernel a part of them is dropped.
const RULES_ABI: ABI = ABI::V6;
const RULES_ABI_NUMBER: u32 = 6;

/// Trees a program may write besides the roots.
const WRITABLE: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"];

/// Devices a program may use.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];

/// Trees a program may read and execute from.
const READABLE: &[&str] = &[
    "/usr",
    "/etc",
    "/opt",
    "/node_modules",
    "/knowledge",
    "/instructions",
    "/proc",
    "/warren",
    "/sys",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
];

/// A ruleset, ready to be entered, and what it is worth.
#[derive(Debug)]
pub(crate) struct Confinement {
    pub(crate) ruleset: Option<OwnedFd>,
    pub(crate) report: Landlock,
}

impl Confinement {
    /// Makes the rules, as good as the kernel can. Without Landlock there are none, and the report says so.
    pub(crate) fn new(args: &Args) -> Result<Self, RulesetError> {
        let none = Confinement { ruleset: None, report: Landlock::Off };
        let (LandlockMode::BestEffort, Some(abi)) = (args.landlock.mode, sys::landlock_abi()) else {
            return Ok(none);
        };
        let Some(ruleset) = ruleset(args)? else { return Ok(none) };
        let whole = abi >= RULES_ABI_NUMBER;
        Ok(Self { ruleset: Some(ruleset), report: Landlock::Enforced { abi, fully: whole, scoped: whole } })
    }
}

fn ruleset(args: &Args) -> Result<Option<OwnedFd>, RulesetError> {
    let everything = AccessFs::from_all(RULES_ABI);
    let reading = AccessFs::from_read(RULES_ABI);
    // Names may be listed everywhere: `ls /` is how an agent looks around.
    let listing = BitFlags::from(AccessFs::ReadDir);
    let created = Ruleset::default()
        .handle_access(everything)?
        .scope(Scope::from_all(RULES_ABI))?
        .create()?
        // Rules for paths that do not exist are left out.
        .add_rules(path_beneath_rules(["/"], listing))?
        .add_rules(path_beneath_rules(paths(READABLE, &args.landlock.readable), reading))?
        .add_rules(path_beneath_rules(paths(WRITABLE, &args.landlock.writable), everything))?
        .add_rules(path_beneath_rules(args.roots.values(), everything))?
        .add_rules(path_beneath_rules(DEVICES, everything))?;
    Ok(created.into())
}

fn paths<'a>(usual: &'a [&str], more: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    usual.iter().map(Path::new).chain(more.iter().map(PathBuf::as_path))
}
