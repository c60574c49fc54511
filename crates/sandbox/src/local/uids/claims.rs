//! The directory in which the servers of a host claim ranges: one file for each.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{RECORD, Record, UidRange};

/// Held while a server looks for a range.
const LOCK: &str = "lock";

/// All claims of a host, for as long as this exists nobody else's to change.
pub(super) struct Claims {
    directory: PathBuf,
    _lock: File,
}

/// A range that a server has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) range: UidRange,
    /// The server's data directory.
    pub(super) directory: PathBuf,
    /// The data directory's own id.
    id: String,
}

impl Claims {
    /// Waits for whoever looks for a range.
    pub(super) fn open(directory: &Path) -> io::Result<Claims> {
        DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
        if fs::symlink_metadata(directory)?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("the directory belongs to another user"));
        }
        fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(directory.join(LOCK))?;
        lock.lock()?;
        Ok(Claims { directory: directory.to_owned(), _lock: lock })
    }

    /// The claims of other data directories. Those whose directory is gone are removed.
    pub(super) fn of_others(&self, directory: &Path, id: &str) -> io::Result<Vec<Claim>> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let claim: Claim = serde_json::from_slice(&fs::read(&path)?)?;
            if !claim.is_held() {
                fs::remove_file(&path)?;
            } else if claim.directory != directory || claim.id != id {
                others.push(claim);
            }
        }
        Ok(others)
    }

    pub(super) fn put(&self, range: UidRange, directory: &Path, id: &str) -> io::Result<()> {
        let claim = Claim { range, directory: directory.to_owned(), id: id.to_owned() };
        write(&self.directory.join(format!("{range}.json")), &claim)
    }
}

impl Claim {
    /// Whether the data directory is still there and is the same one. One that cannot be looked at is taken to be there.
    fn is_held(&self) -> bool {
        match fs::read(self.directory.join(RECORD)) {
            Ok(bytes) => serde_json::from_slice::<Record>(&bytes)
                .is_ok_and(|record| record.id == self.id && record.ranges.contains(&self.range)),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }
}

/// Readers see the old file or the new one, never a part.
pub(super) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    file.sync_all()?;
    fs::rename(draft, path)
}
