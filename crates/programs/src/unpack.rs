//! Writes a package's files, trusting nothing that is in it.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Component, Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

/// How much a package may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// Why a package was not unpacked.
#[derive(Debug)]
pub(crate) enum UnpackError {
    /// It has something in it that must not be, or is no package.
    Package(String),
    /// The disk does not take it.
    Write { path: PathBuf, source: io::Error },
}

/// The longest path inside a package.
const MAX_PATH: usize = 1024;

impl Default for Limits {
    /// Several times what the largest agent needs.
    fn default() -> Self {
        Self { entries: 100_000, bytes: 4 << 30 }
    }
}

/// Writes the files of the compressed `package` below `root`, which exists. Returns how many bytes they have.
pub(crate) fn unpack(package: impl Read, root: &Path, limits: Limits) -> Result<u64, UnpackError> {
    let mut archive = Archive::new(MultiGzDecoder::new(package));
    let mut links = BTreeMap::new();
    let (mut n_entries, mut n_bytes) = (0, 0);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        n_entries += 1;
        if n_entries > limits.entries {
            return Err(UnpackError::Package(format!("it has more than {} files", limits.entries)));
        }
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let Some(path) = inside(&entry)? else { continue };
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                n_bytes += write(&mut entry, &root.join(&path), limits.bytes.saturating_sub(n_bytes))?;
            }
            EntryType::Directory => make_directory(&root.join(&path))?,
            EntryType::Symlink => {
                let target = link_target(&entry, &path)?;
                links.insert(path, target);
            }
            other => {
                let path = path.display();
                return Err(UnpackError::Package(format!(
                    "`{path}` is neither file nor directory: {other:?}"
                )));
            }
        }
    }
    // Last of all, so that nothing is ever written through a link.
    make_links(root, &links)?;
    Ok(n_bytes)
}

fn broken(source: io::Error) -> UnpackError {
    UnpackError::Package(format!("it is damaged: {source}"))
}

/// An entry's path below the package's own directory, which all have and whose name is of no matter.
fn inside<R: Read>(entry: &Entry<'_, R>) -> Result<Option<PathBuf>, UnpackError> {
    let path = entry.path().map_err(broken)?;
    let refused = |why| UnpackError::Package(format!("the path `{}` {why}", path.display()));
    if path.as_os_str().len() > MAX_PATH {
        return Err(refused("is too long"));
    }
    let mut inside = PathBuf::new();
    let mut n_parts = 0;
    for part in path.components() {
        match part {
            Component::Normal(name) => {
                n_parts += 1;
                if n_parts > 1 {
                    inside.push(name);
                }
            }
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refused("leads out of the package"));
            }
        }
    }
    Ok((n_parts > 1).then_some(inside))
}

fn write<R: Read>(entry: &mut Entry<'_, R>, path: &Path, room: u64) -> Result<u64, UnpackError> {
    let failed = |source| UnpackError::Write { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        make_directory(parent)?;
    }
    // Of a mode only whether it can be run counts; one that cannot be read gives no rights.
    let mode = if entry.header().mode().unwrap_or(0) & 0o111 == 0 { 0o644 } else { 0o755 };
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path).map_err(failed)?;
    let written = copy(entry, &mut file, room, path)?;
    // Whatever mask this process has: sandboxes have users of their own.
    file.set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
    Ok(written)
}

/// Copies until the end or until there is no more room; tells apart which side failed.
fn copy(from: &mut impl Read, to: &mut File, room: u64, path: &Path) -> Result<u64, UnpackError> {
    let mut buffer = vec![0; 256 * 1024];
    let mut written = 0;
    loop {
        let n = from.read(&mut buffer).map_err(broken)?;
        if n == 0 {
            return Ok(written);
        }
        written += u64::try_from(n).unwrap_or(u64::MAX);
        if written > room {
            return Err(UnpackError::Package("its files are too large".to_owned()));
        }
        let failed = |source| UnpackError::Write { path: path.to_owned(), source };
        io::Write::write_all(to, &buffer[..n]).map_err(failed)?;
    }
}

/// Makes a directory and those above it. Sandboxes' users can enter each, whatever mask this process has.
fn make_directory(path: &Path) -> Result<(), UnpackError> {
    if path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_directory)?;
    let made = fs::create_dir(path).and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o755)));
    made.map_err(|source| UnpackError::Write { path: path.to_owned(), source })
}

/// Where a link at `path` points: up only as far as the package goes, then down.
fn link_target<R: Read>(entry: &Entry<'_, R>, path: &Path) -> Result<PathBuf, UnpackError> {
    let refused = || UnpackError::Package(format!("the link `{}` leads out of the package", path.display()));
    let target = entry.link_name().map_err(broken)?.ok_or_else(refused)?.into_owned();
    let mut ups_left = path.components().count().saturating_sub(1);
    let mut is_going_up = true;
    for part in target.components() {
        match part {
            Component::ParentDir if is_going_up && ups_left > 0 => ups_left -= 1,
            Component::Normal(_) => is_going_up = false,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(refused()),
        }
    }
    Ok(target)
}

fn make_links(root: &Path, links: &BTreeMap<PathBuf, PathBuf>) -> Result<(), UnpackError> {
    for (path, target) in links {
        // A link below a link is somewhere else than its path says, so its target could not be judged.
        if path.ancestors().skip(1).any(|above| links.contains_key(above)) {
            return Err(UnpackError::Package(format!("`{}` is below a link", path.display())));
        }
        let at = root.join(path);
        if let Some(parent) = at.parent() {
            make_directory(parent)?;
        }
        if fs::symlink_metadata(&at).is_ok() {
            return Err(UnpackError::Package(format!("`{}` is there twice", path.display())));
        }
        symlink(target, &at).map_err(|source| UnpackError::Write { path: at.clone(), source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
