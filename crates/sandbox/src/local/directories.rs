//! Makes a spec's directories ready, and turns them into mounts.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat, mkdirat, openat},
    io::Errno,
};

use crate::{Mounts, launcher::Mount};

/// A directory that could not be made ready.
pub(super) struct Unready {
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}

/// The directories an agent may write to.
pub(super) fn writable(mounts: &Mounts) -> Vec<PathBuf> {
    [Some(&mounts.workspace), Some(&mounts.home), mounts.user_input.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect()
}

/// Makes the writable directories if they are new; `owner` gets those that belong to nobody but us yet.
pub(super) fn prepare(mounts: &Mounts, owner: Option<u32>) -> Result<(), Unready> {
    for path in writable(mounts) {
        let hand_over = || make(CWD, &path, owner);
        hand_over().map_err(|source| Unready { path: path.clone(), source })?;
    }
    let outputs = || {
        let workspace = open(CWD, &mounts.workspace)?;
        make(&workspace, Path::new("outputs"), owner)
    };
    match outputs() {
        // The agent may have put something else there; that is its own business.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => Ok(()),
        made => made.map_err(|source| Unready { path: mounts.workspace.join("outputs"), source }),
    }
}

/// The mounts of a spec, as the launcher takes them.
pub(super) fn mounts(mounts: &Mounts) -> Vec<Mount> {
    let mount = |source: &Path, target: &str, writable| Mount {
        source: source.into(),
        target: target.into(),
        writable,
    };
    let mut all =
        vec![mount(&mounts.workspace, "/workspace", true), mount(&mounts.home, "/home/agent", true)];
    all.extend(mounts.user_input.iter().map(|source| mount(source, "/user-input", true)));
    all.extend(mounts.knowledge.iter().map(|source| mount(source, "/knowledge", false)));
    all.extend(mounts.instructions.iter().map(|source| mount(source, "/instructions", false)));
    all.extend(mounts.node_packages.iter().map(|source| mount(source, "/node_modules", false)));
    all.extend(mounts.python_packages.iter().map(|source| mount(source, "/opt/python", false)));
    all.extend(
        mounts.agents.iter().map(|(name, source)| mount(source, &format!("/opt/agents/{name}"), false)),
    );
    all.extend(mounts.read_only.iter().map(|(target, source)| mount(source, target, false)));
    all
}

/// Makes a directory and gives it to `owner`, unless it has one. Never follows a link in the last place, so an
/// agent that swaps a directory for a link gains nothing.
fn make(parent: impl rustix::fd::AsFd, path: &Path, owner: Option<u32>) -> io::Result<()> {
    match mkdirat(&parent, path, Mode::RWXU) {
        Err(Errno::EXIST) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    let directory = open(&parent, path)?;
    let found = fstat(&directory)?;
    if let Some(owner) = owner
        && found.st_uid != owner
        && found.st_uid == rustix::process::geteuid().as_raw()
    {
        fchmod(&directory, Mode::RWXU)?;
        fchown(&directory, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)))?;
    }
    Ok(())
}

fn open(parent: impl rustix::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(parent, path, flags, Mode::empty())?)
}
